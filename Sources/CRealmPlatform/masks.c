// Tests of packed columns that give a bit for each row, the lowest bit first, in words of 64 bits.
//
// Each test compares 64 rows at a time into bytes, for which the compiler uses vector instructions, and gathers the
// bytes into a word. Processors with AVX-512 compare directly into the word.
#include "CRealmPlatform.h"

#include "clones.h"

#include <string.h>

#ifdef CP_HAS_CLONES
#include <immintrin.h>
#define CP_WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define CP_HAS_WIDE (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
#endif

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Gathers bytes of 0 or 1 into bits.
static inline uint64_t gather(const uint8_t flags[64]) {
  uint64_t mask = 0;
#ifdef __SSE2__
  for (int part = 0; part < 4; part++) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(flags + 16 * part));
    // The lowest bit of each byte becomes the highest one.
    mask |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_slli_epi16(bytes, 7)) << (16 * part);
  }
  return mask;
#else
  for (int part = 0; part < 8; part++) {
    uint64_t word;
    memcpy(&word, flags + 8 * part, sizeof word);
    mask |= (word * 0x0102040810204080u >> 56) << (8 * part);
  }
  return mask;
#endif
}

// `test` is an expression of `value`.
#define CP_MASK(name, type, parameters, test)                                                      \
  typedef type unaligned_##name __attribute__((aligned(1)));                                       \
  CP_CLONES static void narrow_##name(const void *values, size_t count, parameters,                \
                                      uint64_t *mask) {                                            \
    const unaligned_##name *next = values;                                                         \
    for (; count >= 64; count -= 64, next += 64) {                                                 \
      uint8_t flags[64];                                                                           \
      for (int row = 0; row < 64; row++) {                                                         \
        type value = next[row];                                                                    \
        flags[row] = test;                                                                         \
      }                                                                                            \
      *mask++ = gather(flags);                                                                     \
    }                                                                                              \
    if (count > 0) {                                                                               \
      uint8_t flags[64] = {0};                                                                     \
      for (size_t row = 0; row < count; row++) {                                                   \
        type value = next[row];                                                                    \
        flags[row] = test;                                                                         \
      }                                                                                            \
      *mask = gather(flags);                                                                       \
    }                                                                                              \
  }

#define CP_COMMA ,
#define CP_MASK_INTEGERS(bits)                                                                     \
  CP_MASK(integers_##bits, uint##bits##_t, uint##bits##_t low CP_COMMA uint##bits##_t span,        \
          (uint##bits##_t)(value - low) <= span)
CP_MASK_INTEGERS(8)
CP_MASK_INTEGERS(16)
CP_MASK_INTEGERS(32)
CP_MASK_INTEGERS(64)
CP_MASK(doubles, double, double low CP_COMMA double high,
        (value >= low) & (value <= high))
CP_MASK(floats, float, float low CP_COMMA float high,
        (value >= low) & (value <= high))

#ifdef CP_WIDE
// The loop tests `lanes` rows at a time. The last rows are loaded with a mask, so that no byte behind them is read.
#define CP_MASK_WIDE(name, parameters, prepare, lanes, word, load, compare)                        \
  CP_WIDE static void wide_##name(const void *values, size_t count, parameters, uint64_t *mask) {  \
    const uint8_t *next = values;                                                                  \
    prepare;                                                                                       \
    while (count > 0) {                                                                            \
      uint64_t found = 0;                                                                          \
      for (int shift = 0; shift < 64 && count > 0; shift += lanes, next += 64) {                   \
        size_t rows = count < lanes ? count : lanes;                                               \
        word some = rows == 64 ? (word)~0ull : (word)((1ull << rows) - 1);                         \
        __auto_type x = load(some, next);                                                          \
        found |= (uint64_t)(compare) << shift;                                                     \
        count -= rows;                                                                             \
      }                                                                                            \
      *mask++ = found;                                                                             \
    }                                                                                              \
  }

CP_MASK_WIDE(integers_8, uint8_t low CP_COMMA uint8_t span,
             __m512i lows = _mm512_set1_epi8((char)low);
             __m512i spans = _mm512_set1_epi8((char)span), 64, __mmask64, _mm512_maskz_loadu_epi8,
             _mm512_mask_cmple_epu8_mask(some, _mm512_sub_epi8(x, lows), spans))
CP_MASK_WIDE(integers_16, uint16_t low CP_COMMA uint16_t span,
             __m512i lows = _mm512_set1_epi16((short)low);
             __m512i spans = _mm512_set1_epi16((short)span), 32, __mmask32, _mm512_maskz_loadu_epi16,
             _mm512_mask_cmple_epu16_mask(some, _mm512_sub_epi16(x, lows), spans))
CP_MASK_WIDE(integers_32, uint32_t low CP_COMMA uint32_t span,
             __m512i lows = _mm512_set1_epi32((int)low);
             __m512i spans = _mm512_set1_epi32((int)span), 16, __mmask16, _mm512_maskz_loadu_epi32,
             _mm512_mask_cmple_epu32_mask(some, _mm512_sub_epi32(x, lows), spans))
CP_MASK_WIDE(integers_64, uint64_t low CP_COMMA uint64_t span,
             __m512i lows = _mm512_set1_epi64((long long)low);
             __m512i spans = _mm512_set1_epi64((long long)span), 8, __mmask8, _mm512_maskz_loadu_epi64,
             _mm512_mask_cmple_epu64_mask(some, _mm512_sub_epi64(x, lows), spans))
CP_MASK_WIDE(doubles, double low CP_COMMA double high, __m512d lows = _mm512_set1_pd(low);
             __m512d highs = _mm512_set1_pd(high), 8, __mmask8, _mm512_maskz_loadu_pd,
             _mm512_mask_cmp_pd_mask(_mm512_mask_cmp_pd_mask(some, x, lows, _CMP_GE_OQ), x, highs,
                                     _CMP_LE_OQ))
CP_MASK_WIDE(floats, float low CP_COMMA float high, __m512 lows = _mm512_set1_ps(low);
             __m512 highs = _mm512_set1_ps(high), 16, __mmask16, _mm512_maskz_loadu_ps,
             _mm512_mask_cmp_ps_mask(_mm512_mask_cmp_ps_mask(some, x, lows, _CMP_GE_OQ), x, highs,
                                     _CMP_LE_OQ))
#define CP_CHOOSE(name, ...) (CP_HAS_WIDE ? wide_##name(__VA_ARGS__) : narrow_##name(__VA_ARGS__))
#else
#define CP_CHOOSE(name, ...) narrow_##name(__VA_ARGS__)
#endif

void cp_mask_in_range_8(const void *values, size_t count, uint8_t low, uint8_t span, uint64_t *mask) {
  CP_CHOOSE(integers_8, values, count, low, span, mask);
}
void cp_mask_in_range_16(const void *values, size_t count, uint16_t low, uint16_t span,
                         uint64_t *mask) {
  CP_CHOOSE(integers_16, values, count, low, span, mask);
}
void cp_mask_in_range_32(const void *values, size_t count, uint32_t low, uint32_t span,
                         uint64_t *mask) {
  CP_CHOOSE(integers_32, values, count, low, span, mask);
}
void cp_mask_in_range_64(const void *values, size_t count, uint64_t low, uint64_t span,
                         uint64_t *mask) {
  CP_CHOOSE(integers_64, values, count, low, span, mask);
}
void cp_mask_doubles(const void *values, size_t count, double low, double high, uint64_t *mask) {
  CP_CHOOSE(doubles, values, count, low, high, mask);
}
void cp_mask_floats(const void *values, size_t count, float low, float high, uint64_t *mask) {
  CP_CHOOSE(floats, values, count, low, high, mask);
}

// MARK: Narrow values, widened

#define CP_WIDEN(bits)                                                                             \
  CP_CLONES static void widen_##bits(const uint8_t *packed, size_t count, uint8_t *out) {          \
    size_t each = 8 / bits;                                                                        \
    for (size_t byte = 0; byte < (count + each - 1) / each; byte++)                                \
      for (size_t part = 0; part < each; part++)                                                   \
        out[byte * each + part] = packed[byte] >> (part * bits) & ((1 << bits) - 1);               \
  }
CP_WIDEN(2)
CP_WIDEN(4)

#define CP_MASK_NARROW(bits)                                                                       \
  void cp_mask_in_range_##bits(const void *values, size_t count, uint8_t low, uint8_t span,        \
                               uint64_t *mask) {                                                   \
    uint8_t wide[512 + 8];                                                                         \
    for (const uint8_t *next = values; count > 0;) {                                               \
      size_t rows = count < 512 ? count : 512;                                                     \
      widen_##bits(next, rows, wide);                                                              \
      cp_mask_in_range_8(wide, rows, low, span, mask);                                             \
      mask += 8, next += 512 * bits / 8, count -= rows;                                            \
    }                                                                                              \
  }
CP_MASK_NARROW(2)
CP_MASK_NARROW(4)

// MARK: Sums

#define CP_SUM(bits)                                                                               \
  typedef uint##bits##_t summed_##bits __attribute__((aligned(1)));                                \
  CP_CLONES uint64_t cp_sum_##bits(const void *values, size_t count) {                             \
    const summed_##bits *next = values;                                                            \
    uint64_t sum = 0;                                                                              \
    for (size_t row = 0; row < count; row++) sum += next[row];                                     \
    return sum;                                                                                    \
  }
CP_SUM(8)
CP_SUM(16)
CP_SUM(32)

typedef uint64_t summed_64 __attribute__((aligned(1)));
CP_CLONES void cp_sum_64(const void *values, size_t count, uint64_t halves[2]) {
  const summed_64 *next = values;
  uint64_t low = 0, high = 0;
  for (size_t row = 0; row < count; row++) {
    low += next[row] & 0xffffffff;
    high += next[row] >> 32;
  }
  halves[0] = low, halves[1] = high;
}

// There are eight sums side by side, because the compiler must not change the order of additions.
#define CP_SUM_REALS(name, type)                                                                   \
  typedef type summed_##name __attribute__((aligned(1)));                                          \
  CP_CLONES double cp_sum_##name(const void *values, size_t count, size_t *numbers) {              \
    const summed_##name *next = values;                                                            \
    double sums[8] = {0};                                                                          \
    uint64_t counts[8] = {0};                                                                      \
    size_t row = 0;                                                                                \
    for (; row + 8 <= count; row += 8)                                                             \
      for (int lane = 0; lane < 8; lane++) {                                                       \
        double value = next[row + lane];                                                           \
        sums[lane] += value == value ? value : 0;                                                  \
        counts[lane] += value == value;                                                            \
      }                                                                                            \
    for (; row < count; row++) {                                                                   \
      double value = next[row];                                                                    \
      sums[row % 8] += value == value ? value : 0;                                                 \
      counts[row % 8] += value == value;                                                           \
    }                                                                                              \
    double sum = 0;                                                                                \
    *numbers = 0;                                                                                  \
    for (int lane = 0; lane < 8; lane++) sum += sums[lane], *numbers += counts[lane];              \
    return sum;                                                                                    \
  }
CP_SUM_REALS(doubles, double)
CP_SUM_REALS(floats, float)

#define CP_EXTREMES(name, type)                                                                    \
  CP_CLONES void cp_extremes_##name(const void *values, size_t count, double out[2]) {             \
    const summed_##name *next = values;                                                            \
    type least[8], greatest[8];                                                                    \
    for (int lane = 0; lane < 8; lane++) least[lane] = __builtin_inf(), greatest[lane] = -__builtin_inf(); \
    size_t row = 0;                                                                                \
    for (; row + 8 <= count; row += 8)                                                             \
      for (int lane = 0; lane < 8; lane++) {                                                       \
        type value = next[row + lane];                                                             \
        least[lane] = value < least[lane] ? value : least[lane];                                   \
        greatest[lane] = value > greatest[lane] ? value : greatest[lane];                          \
      }                                                                                            \
    for (int lane = 0; row < count; row++) {                                                       \
        type value = next[row];                                                                    \
        least[lane] = value < least[lane] ? value : least[lane];                                   \
        greatest[lane] = value > greatest[lane] ? value : greatest[lane];                          \
      }                                                                                            \
    out[0] = least[0], out[1] = greatest[0];                                                       \
    for (int lane = 1; lane < 8; lane++) {                                                         \
      if (least[lane] < out[0]) out[0] = least[lane];                                              \
      if (greatest[lane] > out[1]) out[1] = greatest[lane];                                        \
    }                                                                                              \
  }
CP_EXTREMES(doubles, double)
CP_EXTREMES(floats, float)
