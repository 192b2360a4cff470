// Tests of the texts of a piece. Each text has a word of 16 bits: 14 bits for its end, and two flags. The bytes of the
// texts follow one another in a heap.
#include "CRealmPlatform.h"

#include "clones.h"

#include <string.h>

#define END_MASK 0x3fff
#define FLAG_MASK 0xc000
#define MAXIMUM_HEAP (END_MASK + 1)

#ifdef CP_HAS_CLONES
#include <immintrin.h>
#define CP_AVX2 __attribute__((target("avx2")))
#endif

static inline uint16_t word_at(const uint8_t *ends, size_t row) {
  uint16_t word;
  memcpy(&word, ends + 2 * row, sizeof word);
  return word;
}

// MARK: Case

static inline uint8_t fold(uint8_t last, uint8_t byte) {
  uint8_t is_ascii = (uint8_t)(byte - 'A') < 26;
  uint8_t is_latin = (last == 0xc3) & ((uint8_t)(byte - 0x80) < 0x1f) & (byte != 0x97);
  return (uint8_t)(byte + ((is_ascii | is_latin) << 5));
}

CP_CLONES void cp_fold(const uint8_t *text, size_t length, uint8_t *out) {
  if (length == 0) return;
  out[0] = fold(0, text[0]);
  for (size_t at = 1; at < length; at++) out[at] = fold(text[at - 1], text[at]);
}

static inline uint8_t fold_at(const uint8_t *text, size_t at, int folds) {
  return folds ? fold(at > 0 ? text[at - 1] : 0, text[at]) : text[at];
}

static inline int equals(const uint8_t *text, size_t from, const uint8_t *other, size_t length, int folds) {
  if (!folds) return memcmp(text + from, other, length) == 0;
  for (size_t at = 0; at < length; at++)
    if (fold_at(text, from + at, 1) != other[at]) return 0;
  return 1;
}

// MARK: Search

// Returns the place of a needle in a text; the length of the text if it is not there.
static size_t find_plain(const uint8_t *text, size_t length, const uint8_t *needle, size_t count) {
  if (count > length) return length;
  for (size_t at = 0; at + count <= length;) {
    const uint8_t *first = memchr(text + at, needle[0], length - count + 1 - at);
    if (!first) return length;
    at = (size_t)(first - text);
    if (memcmp(first, needle, count) == 0) return at;
    at++;
  }
  return length;
}

#ifdef CP_AVX2
// Returns the places, of 32 from `text` on, at which the first and the last byte of the needle match.
CP_AVX2 static inline uint32_t fitting(const uint8_t *text, size_t count, __m256i first, __m256i last) {
  __m256i starts = _mm256_loadu_si256((const __m256i *)text);
  __m256i ends = _mm256_loadu_si256((const __m256i *)(text + count - 1));
  return (uint32_t)_mm256_movemask_epi8(
      _mm256_and_si256(_mm256_cmpeq_epi8(starts, first), _mm256_cmpeq_epi8(ends, last)));
}

CP_AVX2 static size_t find_wide(const uint8_t *text, size_t length, const uint8_t *needle, size_t count) {
  const __m256i first = _mm256_set1_epi8((char)needle[0]);
  const __m256i last = _mm256_set1_epi8((char)needle[count - 1]);
  size_t at = 0;
  for (; at + count + 31 <= length; at += 32) {
    for (uint32_t both = fitting(text + at, count, first, last); both; both &= both - 1) {
      size_t place = at + (size_t)__builtin_ctz(both);
      if (count <= 2 || memcmp(text + place + 1, needle + 1, count - 2) == 0) return place;
    }
  }
  return at + find_plain(text + at, length - at, needle, count);
}
#endif

size_t cp_find(const uint8_t *text, size_t length, const uint8_t *needle, size_t count) {
#ifdef CP_AVX2
  if (__builtin_cpu_supports("avx2") && count <= length) return find_wide(text, length, needle, count);
#endif
  return find_plain(text, length, needle, count);
}

// MARK: Patterns

static int is_like(const uint8_t *text, size_t length, const uint8_t *pattern, size_t count, int folds,
                   int characters) {
  size_t at = 0, next = 0;
  // The places at which to go on if what follows the last star does not match.
  size_t star = SIZE_MAX, resume = 0;
  while (at < length) {
    if (next < count && pattern[next] == '*') {
      star = ++next, resume = at;
    } else if (next < count && pattern[next] == '?') {
      at++, next++;
      while (characters && at < length && (text[at] & 0xc0) == 0x80) at++;
    } else if (next < count && pattern[next] == fold_at(text, at, folds)) {
      at++, next++;
    } else if (star != SIZE_MAX) {
      next = star, at = ++resume;
    } else {
      return 0;
    }
  }
  while (next < count && pattern[next] == '*') next++;
  return next == count;
}

// MARK: Tests

// Folds and searches the text part by part. Parts overlap by one byte less than the needle has, so that no match is
// lost.
__attribute__((noinline)) static int contains_folded(const uint8_t *text, size_t length, const uint8_t *needle,
                                                     size_t count) {
  uint8_t part[4096];
  if (count > sizeof part / 4) {
    for (size_t at = 0; at + count <= length; at++)
      if (equals(text, at, needle, count, 1)) return 1;
    return 0;
  }
  for (size_t at = 0; at + count <= length; at += sizeof part - count + 1) {
    size_t some = length - at < sizeof part ? length - at : sizeof part;
    cp_fold(text + at, some, part);
    part[0] = fold_at(text, at, 1);
    if (cp_find(part, some, needle, count) < some) return 1;
  }
  return 0;
}

static int passes_bytes(const uint8_t *text, size_t length, const struct cp_text_test *test) {
  size_t count = test->length;
  switch (test->match) {
  case CP_TEXT_EQUAL:
    return length == count && equals(text, 0, test->needle, count, test->folds);
  case CP_TEXT_BEGINS:
    return count > 0 && length >= count && equals(text, 0, test->needle, count, test->folds);
  case CP_TEXT_ENDS:
    return count > 0 && length >= count && equals(text, length - count, test->needle, count, test->folds);
  case CP_TEXT_CONTAINS:
    if (count == 0 || count > length) return 0;
    if (!test->folds) return cp_find(text, length, test->needle, count) < length;
    return contains_folded(text, length, test->needle, count);
  case CP_TEXT_LIKE:
    return is_like(text, length, test->needle, count, test->folds, test->characters);
  }
  return 0;
}

// Returns the test for texts that are ASCII. For these, folding means to make letters small.
static inline struct cp_text_test of_ascii(const struct cp_text_test *test) {
  struct cp_text_test plain = *test;
  plain.folds = test->folds & (CP_FOLD_LATIN | CP_FOLD_CASE) ? CP_FOLD_LATIN : 0;
  return plain;
}

// Returns the test for texts that are folded already.
static inline struct cp_text_test of_folded(const struct cp_text_test *test) {
  struct cp_text_test plain = *test;
  plain.folds = 0;
  return plain;
}

__attribute__((noinline)) static int passes_folded(const uint8_t *text, size_t length,
                                                   const struct cp_text_test *test) {
  uint8_t folded[CP_FOLDED_ROOM(CP_LONGEST_FOLDED)];
  size_t size = cp_fold_scalars(text, length, test->folds, folded);
  struct cp_text_test plain = of_folded(test);
  return passes_bytes(folded, size, &plain);
}

int cp_text_passes(const uint8_t *text, size_t length, const struct cp_text_test *test) {
  if (!CP_FOLDS_SCALARS(test->folds)) return passes_bytes(text, length, test);
  if (!cp_is_ascii(text, length)) return passes_folded(text, length, test);
  struct cp_text_test plain = of_ascii(test);
  return passes_bytes(text, length, &plain);
}

// Searches the texts of all rows at once: the place of a match in the heap determines its row. The search starts at
// `at`, which is in `row` or in a later row.
static void mask_containing_plain(const uint8_t *ends, const uint8_t *heap, size_t rows, const uint8_t *needle,
                                  size_t count, size_t at, size_t row, uint64_t *mask) {
  size_t length = word_at(ends, rows - 1) & END_MASK;
  while (at < length) {
    size_t place = at + find_plain(heap + at, length - at, needle, count);
    if (place >= length) return;
    while ((size_t)(word_at(ends, row) & END_MASK) <= place) row++;
    uint16_t word = word_at(ends, row);
    if (place + count <= (size_t)(word & END_MASK)) {
      if (!(word & FLAG_MASK)) mask[row / 64] |= 1ull << (row % 64);
      at = word & END_MASK;
    } else {
      at = place + 1;
    }
  }
}

#ifdef CP_AVX2
// Returns the first row from `row` on whose end is behind a place. There must be such a row.
CP_AVX2 static inline size_t row_at(const uint8_t *ends, size_t rows, size_t row, size_t place) {
  const __m256i limit = _mm256_set1_epi16((short)place), bits = _mm256_set1_epi16(END_MASK);
  for (; row + 16 <= rows; row += 16) {
    __m256i some = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(ends + 2 * row)), bits);
    uint32_t behind = (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi16(some, limit));
    if (behind) return row + (size_t)__builtin_ctz(behind) / 2;
  }
  while ((size_t)(word_at(ends, row) & END_MASK) <= place) row++;
  return row;
}

CP_AVX2 static void mask_containing_wide(const uint8_t *ends, const uint8_t *heap, size_t rows,
                                         const uint8_t *needle, size_t count, uint64_t *mask) {
  const __m256i first = _mm256_set1_epi8((char)needle[0]);
  const __m256i last = _mm256_set1_epi8((char)needle[count - 1]);
  size_t length = word_at(ends, rows - 1) & END_MASK, at = 0, row = 0;
  // Matches before this place are in texts that are found already.
  size_t from = 0;
  for (; at + count + 31 <= length; at += 32) {
    for (uint32_t both = fitting(heap + at, count, first, last); both; both &= both - 1) {
      size_t place = at + (size_t)__builtin_ctz(both);
      if (place < from || (count > 2 && memcmp(heap + place + 1, needle + 1, count - 2) != 0)) continue;
      row = row_at(ends, rows, row, place);
      uint16_t word = word_at(ends, row);
      if (place + count > (size_t)(word & END_MASK)) continue;
      if (!(word & FLAG_MASK)) mask[row / 64] |= 1ull << (row % 64);
      from = word & END_MASK;
    }
  }
  mask_containing_plain(ends, heap, rows, needle, count, from > at ? from : at, row, mask);
}
#endif

static void mask_containing(const uint8_t *ends, const uint8_t *heap, size_t rows, const uint8_t *needle,
                            size_t count, uint64_t *mask) {
#ifdef CP_AVX2
  if (__builtin_cpu_supports("avx2")) return mask_containing_wide(ends, heap, rows, needle, count, mask);
#endif
  mask_containing_plain(ends, heap, rows, needle, count, 0, 0, mask);
}

// Compares the lengths of many texts at once. This comes first, because few texts have the length of the needle.
CP_CLONES static void flag_lengths(const uint8_t *ends, size_t rows, uint16_t length, uint8_t *flags) {
  flags[0] = word_at(ends, 0) == length;
  for (size_t row = 1; row < rows; row++) {
    uint16_t word = word_at(ends, row), start = word_at(ends, row - 1) & END_MASK;
    flags[row] = ((uint16_t)(word - start) == length) & (word < 0x4000);
  }
}

static void mask_equal(const uint8_t *ends, const uint8_t *heap, size_t rows, const struct cp_text_test *test,
                       uint64_t *mask) {
  uint8_t flags[512 + 8] = {0};
  if (test->length > END_MASK) return;
  for (size_t from = 0; from < rows; from += 512) {
    size_t some = rows - from < 512 ? rows - from : 512;
    size_t before = from == 0 ? 0 : word_at(ends, from - 1) & END_MASK;
    flag_lengths(ends + 2 * from, some, (uint16_t)test->length, flags);
    if (from > 0) {
      uint16_t word = word_at(ends, from);
      flags[0] = word - before == test->length && !(word & FLAG_MASK);
    }
    for (size_t part = 0; part < some; part += 8) {
      uint64_t eight;
      memcpy(&eight, flags + part, sizeof eight);
      if (part + 8 > some) eight &= (1ull << (8 * (some - part))) - 1;
      for (; eight; eight &= eight - 1) {
        size_t row = from + part + (size_t)__builtin_ctzll(eight) / 8;
        size_t start = row == 0 ? 0 : word_at(ends, row - 1) & END_MASK;
        if (equals(heap, start, test->needle, test->length, test->folds))
          mask[row / 64] |= 1ull << (row % 64);
      }
    }
  }
}

static void mask_bytes(const uint8_t *ends, const uint8_t *heap, size_t rows, const struct cp_text_test *test,
                       uint64_t *mask) {
  size_t length = word_at(ends, rows - 1) & END_MASK;
  if (test->match == CP_TEXT_CONTAINS && !test->folds)
    return mask_containing(ends, heap, rows, test->needle, test->length, mask);
  if (test->match == CP_TEXT_CONTAINS && test->characters) {
    // In UTF-8, no letter extends over two texts.
    uint8_t folded[MAXIMUM_HEAP];
    cp_fold(heap, length, folded);
    return mask_containing(ends, folded, rows, test->needle, test->length, mask);
  }
  if (test->match == CP_TEXT_EQUAL && !test->folds) return mask_equal(ends, heap, rows, test, mask);
  size_t start = 0, count = test->length;
  if ((test->match == CP_TEXT_BEGINS || test->match == CP_TEXT_ENDS) && !test->folds && count > 0) {
    // One byte is compared first, because most texts differ in it.
    int begins = test->match == CP_TEXT_BEGINS;
    size_t probe = begins ? 0 : count - 1;
    for (size_t row = 0; row < rows; row++) {
      uint16_t word = word_at(ends, row);
      size_t end = word & END_MASK;
      if (end - start >= count && !(word & FLAG_MASK)) {
        const uint8_t *at = heap + (begins ? start : end - count);
        if (at[probe] == test->needle[probe] && memcmp(at, test->needle, count) == 0)
          mask[row / 64] |= 1ull << (row % 64);
      }
      start = end;
    }
    return;
  }
  for (size_t row = 0; row < rows; row++) {
    uint16_t word = word_at(ends, row);
    size_t end = word & END_MASK;
    if (!(word & FLAG_MASK) && passes_bytes(heap + start, end - start, test))
      mask[row / 64] |= 1ull << (row % 64);
    start = end;
  }
}

// MARK: Texts that are folded by scalars

// Folded texts that wait to be searched together.
struct batch {
  size_t count, length;
  uint16_t rows[CP_MOST_ROWS];
  uint8_t ends[2 * CP_MOST_ROWS];
  uint8_t heap[CP_FOLDED_ROOM(MAXIMUM_HEAP)];
};

static void search_batch(struct batch *batch, const struct cp_text_test *test, uint64_t *mask) {
  uint64_t found[CP_MOST_ROWS / 64] = {0};
  if (batch->count == 0) return;
  mask_containing(batch->ends, batch->heap, batch->count, test->needle, test->length, found);
  for (size_t index = 0; index < batch->count; index++) {
    size_t row = batch->rows[index];
    if (found[index / 64] >> (index % 64) & 1) mask[row / 64] |= 1ull << (row % 64);
  }
  batch->count = batch->length = 0;
}

// Tests a text, or adds it to the batch. A folded text has at most three times the length.
static void test_folded(const uint8_t *text, size_t length, size_t row, const struct cp_text_test *test,
                        struct batch *batch, uint64_t *mask) {
  if (batch->count == CP_MOST_ROWS || batch->length + 3 * length > END_MASK) search_batch(batch, test, mask);
  size_t size = cp_fold_scalars(text, length, test->folds, batch->heap + batch->length);
  if (test->match == CP_TEXT_CONTAINS && batch->length + size <= END_MASK) {
    uint16_t end = (uint16_t)(batch->length += size);
    memcpy(batch->ends + 2 * batch->count, &end, sizeof end);
    batch->rows[batch->count++] = (uint16_t)row;
    return;
  }
  struct cp_text_test plain = of_folded(test);
  if (passes_bytes(batch->heap + batch->length, size, &plain)) mask[row / 64] |= 1ull << (row % 64);
}

// Returns the first row from `row` on whose end is behind a place. There must be such a row.
static inline size_t row_behind(const uint8_t *ends, size_t rows, size_t row, size_t place) {
#ifdef CP_AVX2
  if (__builtin_cpu_supports("avx2")) return row_at(ends, rows, row, place);
#endif
  (void)rows;
  while ((size_t)(word_at(ends, row) & END_MASK) <= place) row++;
  return row;
}

// Tests the texts that are not ASCII. The results replace those of the test of their bytes.
__attribute__((noinline)) static void mask_other_than_ascii(const uint8_t *ends, const uint8_t *heap, size_t rows,
                                                            const struct cp_text_test *test, uint64_t *mask) {
  struct batch batch;
  batch.count = batch.length = 0;
  size_t length = word_at(ends, rows - 1) & END_MASK, row = 0;
  for (size_t at = 0; (at += cp_find_not_ascii(heap + at, length - at)) < length;) {
    row = row_behind(ends, rows, row, at);
    uint16_t word = word_at(ends, row);
    size_t start = row == 0 ? 0 : word_at(ends, row - 1) & END_MASK;
    at = word & END_MASK;
    if (word & FLAG_MASK) continue;
    mask[row / 64] &= ~(1ull << (row % 64));
    test_folded(heap + start, at - start, row, test, &batch, mask);
  }
  search_batch(&batch, test, mask);
}

// Tests all texts as if they were ASCII, because most are. Returns whether they are.
__attribute__((noinline)) static int mask_ascii(const uint8_t *ends, const uint8_t *heap, size_t rows,
                                                const struct cp_text_test *test, uint64_t *mask) {
  size_t length = word_at(ends, rows - 1) & END_MASK;
  struct cp_text_test plain = of_ascii(test);
  if (test->match == CP_TEXT_CONTAINS && plain.folds) {
    uint8_t small[MAXIMUM_HEAP];
    int is_ascii = cp_lower_ascii(heap, length, small);
    mask_containing(ends, small, rows, test->needle, test->length, mask);
    return is_ascii;
  }
  mask_bytes(ends, heap, rows, &plain, mask);
  return cp_is_ascii(heap, length);
}

// Returns whether only ASCII letters are folded to letters of the needle. If only case is folded, no other scalars than
// the long s, U+017F, and the Kelvin sign, U+212A, are folded to ASCII letters, and no scalar is folded to more than
// one.
static int is_told_by_ascii(const struct cp_text_test *test) {
  if (test->folds & CP_FOLD_MARKS || !cp_is_ascii(test->needle, test->length)) return 0;
  for (size_t at = 0; at < test->length; at++)
    if (test->needle[at] == 's' || test->needle[at] == 'k') return 0;
  return 1;
}

void cp_mask_texts(const void *ends, const void *heap, size_t rows, const struct cp_text_test *test,
                   uint64_t *mask) {
  if (rows == 0) return;
  if (test->match == CP_TEXT_CONTAINS && test->length == 0) return;
  if (!CP_FOLDS_SCALARS(test->folds)) return mask_bytes(ends, heap, rows, test, mask);
  int is_ascii = mask_ascii(ends, heap, rows, test, mask);
  if (!is_ascii && !is_told_by_ascii(test)) mask_other_than_ascii(ends, heap, rows, test, mask);
}

CP_CLONES static uint16_t all_bits(const uint8_t *ends, size_t rows) {
  uint16_t bits = 0;
  for (size_t row = 0; row < rows; row++) bits |= word_at(ends, row);
  return bits;
}

void cp_mask_flagged(const void *ends_bytes, size_t rows, uint16_t flag, uint64_t *mask) {
  if (!(all_bits(ends_bytes, rows) & flag)) return;
  for (size_t row = 0; row < rows; row++)
    if (word_at(ends_bytes, row) & flag) mask[row / 64] |= 1ull << (row % 64);
}

// MARK: UTF-8

int cp_is_utf8(const uint8_t *text, size_t length) {
  for (size_t at = 0; at < length;) {
    uint64_t word;
    if (length - at >= 8 && (memcpy(&word, text + at, 8), !(word & 0x8080808080808080u))) {
      at += 8;
      continue;
    }
    uint8_t first = text[at++];
    if (first < 0x80) continue;
    size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4 || length - at < more) return 0;
    uint8_t second = text[at];
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
      return 0;
    for (; more > 0; more--)
      if ((text[at++] & 0xc0) != 0x80) return 0;
  }
  return 1;
}
