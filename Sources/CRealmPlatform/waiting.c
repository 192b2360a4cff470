#include "CRealmPlatform.h"

#if defined(__linux__)

#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

// The numbers of futex(2) operations, for one process only. They are defined here, because the kernel's headers may be
// missing.
enum { futex_wait = 128, futex_wake = 129 };

void cp_wait_while(const uint32_t *word, uint32_t value) {
  (void)syscall(SYS_futex, word, futex_wait, value, (void *)0);
}

void cp_wake(const uint32_t *word, int all) { (void)syscall(SYS_futex, word, futex_wake, all ? INT_MAX : 1); }

#else

#include <os/os_sync_wait_on_address.h>

void cp_wait_while(const uint32_t *word, uint32_t value) {
  (void)os_sync_wait_on_address((void *)(uintptr_t)word, value, sizeof *word, OS_SYNC_WAIT_ON_ADDRESS_NONE);
}

void cp_wake(const uint32_t *word, int all) {
  if (all) {
    (void)os_sync_wake_by_address_all((void *)(uintptr_t)word, sizeof *word, OS_SYNC_WAKE_BY_ADDRESS_NONE);
  } else {
    (void)os_sync_wake_by_address_any((void *)(uintptr_t)word, sizeof *word, OS_SYNC_WAKE_BY_ADDRESS_NONE);
  }
}

#endif
