// Functions that copy some of the values of a packed column or of a heap one after another.
#include "CRealmPlatform.h"

#include <string.h>

typedef uint16_t unaligned_16 __attribute__((aligned(1)));
typedef uint32_t unaligned_32 __attribute__((aligned(1)));
typedef uint64_t unaligned_64 __attribute__((aligned(1)));

#define CP_GATHER(type)                                                                            \
  for (size_t index = 0; index < count; index++) {                                                 \
    uint64_t value = ((const type *)values)[places[index]];                                        \
    least = value < least ? value : least;                                                         \
    greatest = value > greatest ? value : greatest;                                                \
    out[index] = value;                                                                            \
  }

void cp_gather_packed(const void *values, unsigned width, const uint16_t *places, size_t count, uint64_t *out,
                      uint64_t bounds[2]) {
  uint64_t least = UINT64_MAX, greatest = 0;
  switch (width) {
  case 8: CP_GATHER(uint8_t) break;
  case 16: CP_GATHER(unaligned_16) break;
  case 32: CP_GATHER(unaligned_32) break;
  case 64: CP_GATHER(unaligned_64) break;
  default:
    for (size_t index = 0; index < count; index++) {
      size_t bit = (size_t)places[index] * width;
      uint64_t value = (((const uint8_t *)values)[bit / 8] >> (bit % 8)) & ((1u << width) - 1);
      least = value < least ? value : least;
      greatest = value > greatest ? value : greatest;
      out[index] = value;
    }
  }
  bounds[0] = least;
  bounds[1] = greatest;
}

#define CP_PACK(type)                                                                              \
  for (size_t index = 0; index < count; index++) ((type *)out)[index] = (type)(numbers[index] - base);

void cp_pack(const uint64_t *numbers, size_t count, uint64_t base, unsigned width, void *out) {
  switch (width) {
  case 8: CP_PACK(uint8_t) break;
  case 16: CP_PACK(unaligned_16) break;
  case 32: CP_PACK(unaligned_32) break;
  case 64: CP_PACK(unaligned_64) break;
  default:
    memset(out, 0, (count * width + 7) / 8);
    for (size_t index = 0; index < count; index++)
      ((uint8_t *)out)[index * width / 8] |= (uint8_t)((numbers[index] - base) << (index * width % 8));
  }
}

void cp_gather_fixed(const void *values, size_t size, const uint16_t *places, size_t count, void *out) {
  const uint8_t *from = values;
  uint8_t *to = out;
  if (size == 8) {
    for (size_t index = 0; index < count; index++) memcpy(to + 8 * index, from + 8 * places[index], 8);
  } else {
    for (size_t index = 0; index < count; index++)
      memcpy(to + size * index, from + size * places[index], size);
  }
}

size_t cp_gathered_length(const void *words, unsigned end_bits, const uint16_t *places, size_t count, size_t first) {
  const unaligned_16 *ends = words;
  uint16_t mask = (uint16_t)((1u << end_bits) - 1);
  size_t length = 0;
  for (size_t index = 0; index < count; index++) {
    size_t place = places[index] - first;
    length += (size_t)(ends[place] & mask) - (place == 0 ? 0 : ends[place - 1] & mask);
  }
  return length;
}

size_t cp_gather_values(const void *words, unsigned end_bits, const void *heap, size_t heap_length,
                        const uint16_t *places, size_t count, size_t first, void *out, size_t room, size_t start,
                        void *out_words) {
  const unaligned_16 *ends = words;
  unaligned_16 *out_ends = out_words;
  const uint8_t *from = heap;
  uint8_t *to = out;
  uint16_t mask = (uint16_t)((1u << end_bits) - 1);
  size_t at = start;
  for (size_t index = 0; index < count; index++) {
    size_t place = places[index] - first;
    size_t begin = place == 0 ? 0 : ends[place - 1] & mask;
    size_t length = (size_t)(ends[place] & mask) - begin;
    // If a value ends before it begins, its length overflows to a number that is greater than the heap.
    if (length > heap_length || length > room) return SIZE_MAX;
    size_t steps = (length + 15) / 16 * 16;
    if (begin + steps <= heap_length && at + steps <= room) {
      for (size_t step = 0; step < steps; step += 16) memcpy(to + at + step, from + begin + step, 16);
    } else {
      if (at > room - length || begin > heap_length - length) return SIZE_MAX;
      if (length > 0) memcpy(to + at, from + begin, length);
    }
    at += length;
    out_ends[index] = (uint16_t)(at | (ends[place] & ~mask));
  }
  return at;
}

void cp_gather_keys(const uint8_t *prefix, size_t prefix_length, const void *words, size_t width,
                    const uint8_t *suffixes, const uint16_t *places, size_t count, uint8_t *out, size_t end,
                    size_t *ends) {
  const unaligned_16 *suffix_ends = words;
  for (size_t index = 0; index < count; index++) {
    size_t place = places[index];
    size_t start = words == NULL ? place * width : place == 0 ? 0 : suffix_ends[place - 1];
    size_t length = words == NULL ? width : suffix_ends[place] - start;
    memcpy(out, prefix, prefix_length);
    memcpy(out + prefix_length, suffixes + start, length);
    out += prefix_length + length;
    end += prefix_length + length;
    ends[index] = end;
  }
}

/// Copies a suffix or a prefix. Most have at most 16 bytes, and are copied without a call. Bytes behind them may be
/// copied, too, if there is room. Returns 0 if there is no room, or the bytes are not inside the source.
static inline int copy_few(uint8_t *to, size_t at, size_t room, const uint8_t *from, size_t begin, size_t end,
                           size_t length) {
  if (length <= 16 && begin + 16 <= end && at + 16 <= room) {
    memcpy(to + at, from + begin, 16);
    return 1;
  }
  if (length > room - at || begin > end || length > end - begin) return 0;
  if (length > 0) memcpy(to + at, from + begin, length);
  return 1;
}

size_t cp_copy_suffixes(const void *prefix, size_t prefix_length, size_t dropped, const void *words, size_t start,
                        size_t width, const void *suffixes, size_t suffixes_length, size_t count, void *out,
                        size_t room) {
  const unaligned_16 *ends = words;
  uint8_t *to = out;
  if (prefix_length == 0 && dropped == 0) {
    if (suffixes_length > room) return SIZE_MAX;
    if (suffixes_length > 0) memcpy(to, suffixes, suffixes_length);
    return suffixes_length;
  }
  size_t at = 0, begin = 0;
  for (size_t index = 0; index < count; index++) {
    size_t end = words == NULL ? begin + width : (size_t)ends[index] - start;
    // If a value ends before it begins, its length overflows to a number that is greater than all suffixes.
    size_t length = end - begin - dropped;
    if (length > suffixes_length) return SIZE_MAX;
    if (!copy_few(to, at, room, prefix, 0, prefix_length, prefix_length)) return SIZE_MAX;
    at += prefix_length;
    if (!copy_few(to, at, room, suffixes, begin + dropped, suffixes_length, length)) return SIZE_MAX;
    at += length;
    begin = end;
  }
  return at;
}
