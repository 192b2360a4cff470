#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CRealmPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/vfs.h>
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#else
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#endif

int cp_sync(int descriptor, int kind) {
  int result;
  do {
#if defined(__APPLE__)
    (void)kind;
    result = fcntl(descriptor, F_FULLFSYNC);
    // Some file systems support only fsync.
    if (result == -1 && (errno == ENOTSUP || errno == EINVAL)) result = fsync(descriptor);
#else
    result = kind == CP_SYNC_DATA ? fdatasync(descriptor) : fsync(descriptor);
#endif
    // An interrupted flush has reported no error yet, so it is repeated. A failed flush must not be repeated.
  } while (result == -1 && errno == EINTR);
  return result == -1 ? errno : 0;
}

void cp_start_writing(int descriptor, uint64_t offset, uint64_t length) {
#if defined(__linux__)
  // The other flags would wait and would also consume an I/O error, which a later flush would then not report.
  (void)sync_file_range(descriptor, (off_t)offset, (off_t)length, SYNC_FILE_RANGE_WRITE);
#else
  (void)descriptor, (void)offset, (void)length;
#endif
}

// Linux has locks of open files since 3.15. Apple systems have them too, but their headers hide them from some
// programs.
#ifndef F_OFD_SETLK
#define F_OFD_SETLK 90
#define F_OFD_SETLKW 91
#define F_OFD_GETLK 92
#endif

// Makes a description of a lock on a range. A length of 0 means up to the end of all files.
static struct flock range(uint64_t offset, off_t length, short type) {
  struct flock lock;
  memset(&lock, 0, sizeof lock);
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = (off_t)offset;
  lock.l_len = length;
  return lock;
}

static struct flock one_byte(uint64_t offset, short type) { return range(offset, 1, type); }

int cp_lock(int descriptor, uint64_t offset, int exclusive, int wait) {
  int result;
  do {
    struct flock lock = one_byte(offset, exclusive ? F_WRLCK : F_RDLCK);
    result = fcntl(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
  } while (result == -1 && errno == EINTR);
  if (result == 0) return 0;
  return errno == EACCES || errno == EAGAIN ? EWOULDBLOCK : errno;
}

int cp_unlock(int descriptor, uint64_t offset) {
  struct flock lock = one_byte(offset, F_UNLCK);
  return fcntl(descriptor, F_OFD_SETLK, &lock) == -1 ? errno : 0;
}

void cp_unlock_all(int descriptor) {
  struct flock lock = range(0, 0, F_UNLCK);
  (void)fcntl(descriptor, F_OFD_SETLK, &lock);
}

int cp_is_locked(int descriptor, uint64_t offset) {
  struct flock lock = one_byte(offset, F_WRLCK);
  // If the system can't tell, the lock counts as held, which is the safe answer.
  if (fcntl(descriptor, F_OFD_GETLK, &lock) == -1) return 1;
  return lock.l_type != F_UNLCK;
}

int cp_populate(const void *address, size_t length) {
#if defined(__linux__)
  int result;
  do {
    result = madvise((void *)address, length, MADV_POPULATE_READ);
  } while (result == -1 && (errno == EINTR || errno == EAGAIN));
  // Kernels before 5.14 return EINVAL. Their pages are mapped when they are first read.
  if (result == 0 || errno == EINVAL) return 0;
  // EFAULT and EHWPOISON mean that bytes can't be brought to memory.
  return errno == EFAULT || errno == EHWPOISON ? EIO : errno;
#else
  (void)address;
  (void)length;
  return 0;
#endif
}

#define LARGE_PAGE ((uintptr_t)2 << 20)

void *cp_allocate_zeros(size_t length) {
  void *memory = calloc(1, length ? length : 1);
#if defined(__linux__)
  uintptr_t first = ((uintptr_t)memory + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
  uintptr_t end = ((uintptr_t)memory + length) & ~(LARGE_PAGE - 1);
  // The call is only a hint, so its result does not matter.
  if (memory && first < end) (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#endif
  return memory;
}

void cp_deallocate(void *memory) { free(memory); }

int cp_boot_id(uint8_t out[16]) {
  memset(out, 0, 16);
#if defined(__linux__)
  int descriptor = cp_above_standard(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  FILE *file = descriptor == -1 ? NULL : fdopen(descriptor, "r");
  if (!file) {
    int refusal = errno;
    if (descriptor != -1) close(descriptor);
    return refusal;
  }
  for (int i = 0; i < 16;) {
    unsigned byte;
    int character = fgetc(file);
    if (character == EOF) break;
    if (character == '-') continue;
    ungetc(character, file);
    if (fscanf(file, "%2x", &byte) != 1) break;
    out[i++] = (uint8_t)byte;
  }
  fclose(file);
  return 0;
#else
  struct timeval boot = {0, 0};
  size_t size = sizeof boot;
  if (sysctlbyname("kern.boottime", &boot, &size, NULL, 0) == -1) return errno;
  memcpy(out, &boot, sizeof boot < 16 ? sizeof boot : 16);
  return 0;
#endif
}

int cp_is_remote(int descriptor) {
  struct statfs info;
  if (fstatfs(descriptor, &info) == -1) return 0;
#if defined(__linux__)
  switch ((unsigned long)info.f_type) {
    case 0x6969:      // NFS
    case 0xff534d42:  // CIFS
    case 0xfe534d42:  // SMB 2
    case 0x517b:      // SMB
    case 0x01021997:  // 9p
    case 0x65735546:  // FUSE
      return 1;
    default:
      return 0;
  }
#else
  return (info.f_flags & MNT_LOCAL) ? 0 : 1;
#endif
}

int cp_is_ignored(int signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}
