#include "CRealmAllocations.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__)

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

// Without a call that might ask for memory itself.
static __thread long count __attribute__((tls_model("initial-exec")));
static __thread size_t bytes __attribute__((tls_model("initial-exec")));

long ca_allocations(void) { return count; }
long ca_allocated_bytes(void) { return (long)bytes; }

static void note(size_t size) {
  count++;
  bytes += size;
}

void *malloc(size_t size) {
  note(size);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  note(number * size);
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  note(size);
  return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
  note(size);
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  note(size);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **found, size_t alignment, size_t size) {
  note(size);
  void *memory = __libc_memalign(alignment, size);
  if (!memory) return ENOMEM;
  *found = memory;
  return 0;
}

#else

long ca_allocations(void) { return -1; }
long ca_allocated_bytes(void) { return -1; }

#endif
