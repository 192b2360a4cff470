#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "cplatform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
    // Some file systems know only the plain call.
    if (result == -1 && (errno == ENOTSUP || errno == EINVAL)) result = fsync(descriptor);
#else
    result = kind == CP_SYNC_DATA ? fdatasync(descriptor) : fsync(descriptor);
#endif
    // A flush that was interrupted has reported nothing yet; one that failed must not be tried again.
  } while (result == -1 && errno == EINTR);
  return result == -1 ? errno : 0;
}

int cp_lock(int descriptor, int exclusive, int wait) {
  int result;
  do {
#if defined(__linux__)
    struct flock lock = {.l_type = exclusive ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};
    result = fcntl(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
#else
    result = flock(descriptor, (exclusive ? LOCK_EX : LOCK_SH) | (wait ? 0 : LOCK_NB));
#endif
  } while (result == -1 && errno == EINTR);
  if (result == 0) return 0;
  return errno == EACCES || errno == EAGAIN ? EWOULDBLOCK : errno;
}

int cp_unlock(int descriptor) {
#if defined(__linux__)
  struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_OFD_SETLK, &lock) == -1 ? errno : 0;
#else
  return flock(descriptor, LOCK_UN) == -1 ? errno : 0;
#endif
}

int cp_populate(const void *address, size_t length) {
#if defined(__linux__)
  int result;
  do {
    result = madvise((void *)address, length, MADV_POPULATE_READ);
  } while (result == -1 && (errno == EINTR || errno == EAGAIN));
  // Kernels before 5.14 answer EINVAL: pages are then mapped in by being touched.
  return result == -1 && errno != EINVAL ? errno : 0;
#else
  (void)address;
  (void)length;
  return 0;
#endif
}

int cp_boot_id(uint8_t out[16]) {
  memset(out, 0, 16);
#if defined(__linux__)
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (!file) return errno;
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
