#include "CRealmPlatform.h"

#include <stdatomic.h>
#include <stdbool.h>

_Thread_local uint64_t cp_this_thread CP_FOUND_AT_ONCE;
_Thread_local struct cp_reader cp_readers[CP_KNOWN_READERS] CP_FOUND_AT_ONCE;

uint64_t cp_new_thread_number(void) {
  static _Atomic uint64_t last;
  cp_this_thread = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
  return cp_this_thread;
}

// A record is the distance to a type's descriptor, or, if bit 0 is set, the distance to a pointer to one.
static void visit_records(const int32_t *record, size_t count, void (*visit)(const void *, void *), void *context) {
  for (size_t i = 0; i < count; i++, record++) {
    const char *target = (const char *)record + (*record & ~3);
    if ((*record & 3) == 0) visit(target, context);
    if ((*record & 3) == 1) visit(*(const void *const *)target, context);
  }
}

#ifdef __APPLE__

#include <mach-o/dyld.h>
#include <mach-o/getsect.h>

void cp_for_each_type(void (*visit)(const void *descriptor, void *context), void *context) {
  for (uint32_t i = 0; i < _dyld_image_count(); i++) {
    const struct mach_header_64 *header = (const struct mach_header_64 *)_dyld_get_image_header(i);
    unsigned long size = 0;
    const uint8_t *section = header ? getsectiondata(header, "__TEXT", "__swift5_types", &size) : 0;
    if (section) visit_records((const int32_t *)section, size / sizeof(int32_t), visit, context);
  }
}

#else

// The start of the structure that each image registers with the Swift runtime (swift/shims/MetadataSections.h).
struct section_range {
  uintptr_t start;
  size_t length;
};
struct metadata_sections {
  uintptr_t version;
  const void *base;
  void *unused[2];
  struct section_range protocols, conformances, types;
};
extern void swift_enumerateAllMetadataSections(bool (*body)(const struct metadata_sections *, void *), void *context)
    __attribute__((weak));

struct visitor {
  void (*visit)(const void *, void *);
  void *context;
};

static bool visit_sections(const struct metadata_sections *sections, void *context) {
  const struct visitor *visitor = context;
  visit_records((const int32_t *)sections->types.start, sections->types.length / sizeof(int32_t), visitor->visit,
                visitor->context);
  return true;
}

void cp_for_each_type(void (*visit)(const void *descriptor, void *context), void *context) {
  struct visitor visitor = {visit, context};
  if (swift_enumerateAllMetadataSections) swift_enumerateAllMetadataSections(visit_sections, &visitor);
}

#endif

struct metadata_response {
  const void *value;
  uintptr_t state;
};

const void *cp_type_metadata(const void *accessor) {
  __attribute__((swiftcall)) struct metadata_response (*function)(uintptr_t) =
      (__attribute__((swiftcall)) struct metadata_response (*)(uintptr_t))accessor;
  return function(0).value;
}

void *cp_call_allocating_init(const void *initializer, const void *metadata) {
  __attribute__((swiftcall)) void *(*function)(__attribute__((swift_context)) const void *) =
      (__attribute__((swiftcall)) void *(*)(__attribute__((swift_context)) const void *))initializer;
  return function(metadata);
}

extern void *swift_allocObject(const void *metadata, size_t size, size_t alignment_mask) __attribute__((weak));

void *cp_allocate_object(const void *metadata, size_t size, size_t alignment_mask) {
  return swift_allocObject ? swift_allocObject(metadata, size, alignment_mask) : 0;
}

// Without flags, the function only checks. It does not ask the executor, which might stop the program.
extern __attribute__((swiftcall)) bool swift_task_isCurrentExecutorWithFlags(
    uintptr_t identity, uintptr_t implementation, uintptr_t flags) __attribute__((weak));

bool cp_is_current_executor(uintptr_t identity, uintptr_t implementation) {
  return swift_task_isCurrentExecutorWithFlags && swift_task_isCurrentExecutorWithFlags(identity, implementation, 0);
}
