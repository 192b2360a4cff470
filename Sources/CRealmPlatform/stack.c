// The stack that a thread has left, and a way to free chains of objects with little of it.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CRealmPlatform.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// --- What is left

// A thread with less stack than this calls no function that may call itself again.
#define CP_STACK_RESERVE ((uintptr_t)96 << 10)

static _Thread_local uintptr_t stack_limit;

static uintptr_t find_stack_limit(void) {
  uintptr_t lowest = 0, size = 0;
#ifdef __APPLE__
  size = pthread_get_stacksize_np(pthread_self());
  lowest = (uintptr_t)pthread_get_stackaddr_np(pthread_self()) - size;
#else
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void *address = 0;
    size_t length = 0;
    if (pthread_attr_getstack(&attributes, &address, &length) == 0) {
      lowest = (uintptr_t)address;
      size = length;
    }
    pthread_attr_destroy(&attributes);
  }
#endif
  uintptr_t reserve = size / 4 < CP_STACK_RESERVE ? size / 4 : CP_STACK_RESERVE;
  // If the stack is not known, the limit is 1, because no frame is below that.
  return lowest ? lowest + reserve : 1;
}

int cp_stack_is_short(void) {
  if (!stack_limit) stack_limit = find_stack_limit();
  return (uintptr_t)__builtin_frame_address(0) < stack_limit;
}

// --- Freeing in turn

#if defined(__has_feature)
#if __has_feature(ptrauth_calls)
#define CP_SIGNED_POINTERS 1
#endif
#endif

typedef __attribute__((swiftcall)) void (*destroyer)(__attribute__((swift_context)) void *object);

// The class's destroyer and its value witnesses are directly before the address of its metadata (Swift ABI:
// TypeMetadata.rst).
static _Atomic(destroyer) *destroyer_of(const void *metadata) { return (_Atomic(destroyer) *)metadata - 2; }

// The original destroyers of classes, by their metadata. A table is replaced by a larger one and never freed, because
// another thread may still read it.
struct entry {
  _Atomic(const void *) metadata;
  destroyer original;
};
struct table {
  size_t mask, count;
  struct entry entries[];
};
static _Atomic(struct table *) known;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static size_t place_of(const void *metadata, size_t mask) { return ((uintptr_t)metadata >> 4) * 0x9E3779B97F4A7C15u >> 16 & mask; }

static destroyer search(const void *metadata) {
  struct table *table = atomic_load_explicit(&known, memory_order_acquire);
  for (size_t place = place_of(metadata, table->mask);; place = (place + 1) & table->mask) {
    struct entry *entry = &table->entries[place];
    const void *found = atomic_load_explicit(&entry->metadata, memory_order_acquire);
    if (found == metadata) return entry->original;
    if (!found) return 0;
  }
}

// The last class that this thread looked up. Objects that are freed one after another are mostly of one class.
static _Thread_local struct {
  const void *metadata;
  destroyer original;
} last_asked;

static destroyer original_of(const void *metadata) {
  if (last_asked.metadata == metadata) return last_asked.original;
  destroyer original = search(metadata);
  if (!original) {
    // The runtime's read of a class's destroyer is not ordered with the reads of the table. Another thread may have
    // added the class, and made the table larger, just now.
    atomic_thread_fence(memory_order_acquire);
    original = search(metadata);
    // Something has replaced the object's class since it was added, so the original destroyer is not known.
    if (!original) abort();
  }
  last_asked.metadata = metadata;
  last_asked.original = original;
  return original;
}

static void insert(struct table *table, const void *metadata, destroyer original) {
  size_t place = place_of(metadata, table->mask);
  while (atomic_load_explicit(&table->entries[place].metadata, memory_order_relaxed)) place = (place + 1) & table->mask;
  table->entries[place].original = original;
  atomic_store_explicit(&table->entries[place].metadata, metadata, memory_order_release);
  table->count++;
}

// Returns a table with room for one more class. At most half of a table is in use, so that a search ends.
static struct table *with_room(struct table *table) {
  if (table && (table->count + 1) * 2 <= table->mask + 1) return table;
  size_t size = table ? (table->mask + 1) * 2 : 64;
  struct table *larger = calloc(1, sizeof(struct table) + size * sizeof(struct entry));
  if (!larger) return 0;
  larger->mask = size - 1;
  for (size_t place = 0; table && place <= table->mask; place++) {
    const void *metadata = atomic_load_explicit(&table->entries[place].metadata, memory_order_relaxed);
    if (metadata) insert(larger, metadata, table->entries[place].original);
  }
  return larger;
}

// The number of nested destroyers up to which an object frees the next one directly.
enum { CP_MOST_NESTED = 24 };

// The depth of nested destroyers in this thread, and the objects that wait to be freed.
static _Thread_local struct {
  void **objects;
  size_t count, capacity;
  unsigned depth;
} waiting;

static int wait_in_turn(void *object) {
  if (waiting.count == waiting.capacity) {
    size_t capacity = waiting.capacity ? waiting.capacity * 2 : 64;
    void **objects = realloc(waiting.objects, capacity * sizeof(void *));
    if (!objects) return 0;
    waiting.objects = objects;
    waiting.capacity = capacity;
  }
  waiting.objects[waiting.count++] = object;
  return 1;
}

static __attribute__((swiftcall)) void free_in_turn(__attribute__((swift_context)) void *object) {
  if (waiting.depth >= CP_MOST_NESTED && wait_in_turn(object)) return;
  waiting.depth++;
  original_of(*(const void **)object)(object);
  if (waiting.depth == 1 && waiting.capacity) {
    while (waiting.count) {
      void *next = waiting.objects[--waiting.count];
      original_of(*(const void **)next)(next);
    }
    free(waiting.objects);
    waiting.objects = 0;
    waiting.capacity = 0;
  }
  waiting.depth--;
}

void cp_free_in_turn(const void *metadata) {
#ifndef CP_SIGNED_POINTERS
  _Atomic(destroyer) *place = destroyer_of(metadata);
  if (atomic_load_explicit(place, memory_order_relaxed) == free_in_turn) return;
  pthread_mutex_lock(&changing);
  destroyer original = atomic_load_explicit(place, memory_order_relaxed);
  struct table *old = atomic_load_explicit(&known, memory_order_relaxed);
  struct table *table = original == free_in_turn ? 0 : with_room(old);
  if (table) {
    insert(table, metadata, original);
    atomic_store_explicit(&known, table, memory_order_release);
    atomic_store_explicit(place, free_in_turn, memory_order_release);
  }
  pthread_mutex_unlock(&changing);
#else
  (void)metadata;
#endif
}
