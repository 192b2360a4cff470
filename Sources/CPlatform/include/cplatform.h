// What Swift can't say, or can't say fast: checksum instructions, file locks owned by an open file, and
// the flush and page-table calls whose names differ from system to system.
#ifndef CPLATFORM_H
#define CPLATFORM_H

#include <stddef.h>
#include <stdint.h>

/// CRC-32C of the even 8-byte words (low half) and of the odd ones (high half), each started from all
/// ones and inverted at the end. `length` is a multiple of 8. FORMAT.md, "Checksums".
uint64_t cp_checksum(const void *bytes, size_t length);

/// The same by tables alone, for processors without the instruction and for the test that compares both.
uint64_t cp_checksum_portable(const void *bytes, size_t length);

enum cp_sync_kind {
  /// The content and what is needed to read it back is durable: fdatasync; F_FULLFSYNC on Apple systems.
  CP_SYNC_DATA = 0,
  /// All metadata too: fsync; F_FULLFSYNC on Apple systems.
  CP_SYNC_ALL = 1,
};

/// 0, or the errno of the flush.
int cp_sync(int descriptor, int kind);

/// Takes a lock that belongs to the open file, not to the process (OFD on Linux, flock on Apple systems).
/// 0, or EWOULDBLOCK when another open file holds it and `wait` is 0, or another errno.
int cp_lock(int descriptor, int exclusive, int wait);
int cp_unlock(int descriptor);

/// Maps the pages in for reading, so that an I/O error is a return value and not a signal.
/// 0 when done or when the system has no such call, EFAULT or EIO when a page can't be read.
int cp_populate(const void *address, size_t length);

/// Asks for the cache lines of bytes that will be read soon; of any address, and without waiting.
static inline void cp_prefetch(const void *address, size_t length) {
  const char *line = (const char *)((uintptr_t)address & ~(uintptr_t)63);
  for (; line < (const char *)address + length; line += 64) __builtin_prefetch(line, 0, 3);
}

/// How many of the little-endian values, at any address, are `low` to `low + span`, counted around from the greatest
/// value to zero.
size_t cp_count_in_range_8(const void *values, size_t count, uint8_t low, uint8_t span);
size_t cp_count_in_range_16(const void *values, size_t count, uint16_t low, uint16_t span);
size_t cp_count_in_range_32(const void *values, size_t count, uint32_t low, uint32_t span);
size_t cp_count_in_range_64(const void *values, size_t count, uint64_t low, uint64_t span);

/// 16 bytes that are the same for all processes of one boot and differ from boot to boot. 0 or an errno.
int cp_boot_id(uint8_t out[16]);

/// 1 when the file system that holds the descriptor is a network or user-space one whose mappings and
/// locks are not coherent between processes; 0 when local or unknown.
int cp_is_remote(int descriptor);

#endif
