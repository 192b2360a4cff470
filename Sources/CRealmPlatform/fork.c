#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CRealmPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// The descriptors that a forked child closes, one bit for each. A growing table would need memory, which a child must
// not allocate between fork and exec. Descriptors are small numbers; the few that are greater than this table are left
// to the child.
enum { MINDED = 1 << 16 };
static _Atomic uint64_t minded[MINDED / 64];
static _Atomic uint64_t generation;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void) {
  atomic_fetch_add(&generation, 1);
  for (int word = 0; word < MINDED / 64; word++) {
    uint64_t bits = atomic_exchange(&minded[word], 0);
    while (bits) {
      close(word * 64 + __builtin_ctzll(bits));
      bits &= bits - 1;
    }
  }
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }

uint64_t cp_fork_generation(void) { return atomic_load_explicit(&generation, memory_order_relaxed); }

void cp_forget_in_child(int descriptor) {
  pthread_once(&once, watch_forks);
  if (descriptor >= 0 && descriptor < MINDED)
    atomic_fetch_or(&minded[descriptor / 64], (uint64_t)1 << (descriptor % 64));
}

int cp_close(int descriptor) {
  int is_minded = 1;
  if (descriptor >= 0 && descriptor < MINDED) {
    uint64_t bit = (uint64_t)1 << (descriptor % 64);
    is_minded = (atomic_fetch_and(&minded[descriptor / 64], ~bit) & bit) != 0;
  }
  // A child between fork and exec has a copy of the descriptor, which would keep the locks until the child runs its
  // program.
  if (is_minded) cp_unlock_all(descriptor);
  return close(descriptor) == -1 ? errno : 0;
}

int cp_above_standard(int descriptor) {
  if (descriptor < 0 || descriptor > 2) return descriptor;
  int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  int refusal = errno;
  close(descriptor);
  errno = refusal;
  return moved;
}

uint64_t cp_pid_namespace(void) {
#if defined(__linux__)
  // The namespace of a process never changes, and finding it takes longer than opening a file, so it is found once for
  // each process.
  static _Atomic uint64_t known, asked;
  uint64_t process = cp_fork_generation() << 32 | (uint64_t)getpid();
  if (atomic_load_explicit(&asked, memory_order_acquire) == process) return atomic_load(&known);
  struct stat info;
  uint64_t found = stat("/proc/self/ns/pid", &info) == 0 ? (uint64_t)info.st_ino : 0;
  atomic_store(&known, found);
  atomic_store_explicit(&asked, process, memory_order_release);
  return found;
#else
  return 0;
#endif
}
