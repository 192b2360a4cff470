#include "CRealmPlatform.h"

#include <pthread.h>
#include <string.h>

// The Castagnoli polynomial, reflected.
#define POLYNOMIAL 0x82f63b78u

static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) ? POLYNOMIAL : 0);
    table[0][byte] = crc;
  }
  for (int slice = 1; slice < 8; slice++)
    for (int byte = 0; byte < 256; byte++)
      table[slice][byte] = (table[slice - 1][byte] >> 8) ^ table[0][table[slice - 1][byte] & 0xff];
}

static inline uint64_t load(const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

static inline uint32_t table_step(uint32_t crc, uint64_t word) {
  word ^= crc;
  crc = 0;
  for (int byte = 0; byte < 8; byte++) crc ^= table[7 - byte][(word >> (8 * byte)) & 0xff];
  return crc;
}

static inline uint64_t both(uint32_t even, uint32_t odd) {
  return (uint64_t)(uint32_t)~even | ((uint64_t)(uint32_t)~odd << 32);
}

uint64_t cp_checksum_portable(const void *bytes, size_t length) {
  pthread_once(&table_once, make_table);
  const uint8_t *at = bytes;
  uint32_t even = ~0u, odd = ~0u;
  size_t words = length / 8;
  for (size_t i = 0; i < words; i++) {
    if (i & 1) odd = table_step(odd, load(at + 8 * i));
    else even = table_step(even, load(at + 8 * i));
  }
  return both(even, odd);
}

#if defined(__x86_64__)
#include <immintrin.h>

// The two streams hide each other's latency. The node is prefetched first, up to 16 KiB of it, because two short
// streams do not start the hardware prefetcher.
__attribute__((target("sse4.2"))) static uint64_t checksum_sse42(const void *bytes, size_t length) {
  const uint8_t *at = bytes, *end = at + length;
  size_t ahead = length < 16384 ? length : 16384;
  for (size_t i = 0; i < ahead; i += 64) _mm_prefetch((const char *)at + i, _MM_HINT_T0);
  uint64_t even = 0xffffffffu, odd = 0xffffffffu;
  for (; at + 64 <= end; at += 64) {
    even = _mm_crc32_u64(even, load(at));
    odd = _mm_crc32_u64(odd, load(at + 8));
    even = _mm_crc32_u64(even, load(at + 16));
    odd = _mm_crc32_u64(odd, load(at + 24));
    even = _mm_crc32_u64(even, load(at + 32));
    odd = _mm_crc32_u64(odd, load(at + 40));
    even = _mm_crc32_u64(even, load(at + 48));
    odd = _mm_crc32_u64(odd, load(at + 56));
  }
  for (; at + 16 <= end; at += 16) {
    even = _mm_crc32_u64(even, load(at));
    odd = _mm_crc32_u64(odd, load(at + 8));
  }
  if (at + 8 <= end) even = _mm_crc32_u64(even, load(at));
  return both((uint32_t)even, (uint32_t)odd);
}

uint64_t cp_checksum(const void *bytes, size_t length) {
  return __builtin_cpu_supports("sse4.2") ? checksum_sse42(bytes, length)
                                          : cp_checksum_portable(bytes, length);
}

#elif defined(__aarch64__) && (defined(__ARM_FEATURE_CRC32) || defined(__APPLE__))
#include <arm_acle.h>

uint64_t cp_checksum(const void *bytes, size_t length) {
  const uint8_t *at = bytes, *end = at + length;
  uint32_t even = ~0u, odd = ~0u;
  for (; at + 16 <= end; at += 16) {
    even = __crc32cd(even, load(at));
    odd = __crc32cd(odd, load(at + 8));
  }
  if (at + 8 <= end) even = __crc32cd(even, load(at));
  return both(even, odd);
}

#else

uint64_t cp_checksum(const void *bytes, size_t length) { return cp_checksum_portable(bytes, length); }

#endif
