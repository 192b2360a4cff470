// Folds texts in UTF-8 that differ in case or in marks, so that their bytes can be compared.
#include "CRealmPlatform.h"

#include "clones.h"
#include "letters.h"

#include <string.h>

#ifdef CP_HAS_CLONES
#include <immintrin.h>
#endif

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define HIGH_BITS 0x8080808080808080u
#define NO_SCALAR UINT32_MAX
#define ALL_CASE (CP_FOLD_LATIN | CP_FOLD_CASE)

// MARK: ASCII

CP_CLONES int cp_is_ascii(const uint8_t *text, size_t length) {
  uint8_t bits = 0;
  for (size_t at = 0; at < length; at++) bits |= text[at];
  return bits < 0x80;
}

CP_CLONES int cp_lower_ascii(const uint8_t *text, size_t length, uint8_t *out) {
  uint8_t bits = 0;
  for (size_t at = 0; at < length; at++) {
    uint8_t byte = text[at];
    bits |= byte;
    out[at] = (uint8_t)(byte + (((uint8_t)(byte - 'A') < 26) << 5));
  }
  return bits < 0x80;
}

#ifdef CP_HAS_CLONES
// Returns the place of the first byte that is not ASCII in whole blocks of 32 bytes. If they have none, returns the end
// of the last block.
__attribute__((target("avx2"))) static size_t find_in_blocks(const uint8_t *text, size_t length) {
  size_t at = 0;
  for (; at + 32 <= length; at += 32) {
    uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)(text + at)));
    if (high) return at + (size_t)__builtin_ctz(high);
  }
  return at;
}
#endif

size_t cp_find_not_ascii(const uint8_t *text, size_t length) {
  size_t at = 0;
#ifdef CP_HAS_CLONES
  if (__builtin_cpu_supports("avx2")) at = find_in_blocks(text, length);
#endif
  for (uint64_t word; at + 8 <= length; at += 8) {
    memcpy(&word, text + at, sizeof word);
    if (word & HIGH_BITS) break;
  }
  while (at < length && text[at] < 0x80) at++;
  return at;
}

// Lowers eight bytes at once. The additions set the highest bit of each ASCII byte from 'A' to 'Z'.
static inline uint64_t lower_word(uint64_t word) {
  uint64_t low = word & ~HIGH_BITS;
  uint64_t capitals = (low + 0x3f3f3f3f3f3f3f3fu) & ~(low + 0x2525252525252525u) & ~word & HIGH_BITS;
  return word + (capitals >> 2);
}

static inline uint32_t load_four(const uint8_t *text) {
  uint32_t word;
  memcpy(&word, text, sizeof word);
  return word;
}

// Loads up to seven bytes, with zeros behind them.
static inline uint64_t load_few(const uint8_t *text, size_t length) {
  if (length >= 4) return load_four(text) | (uint64_t)load_four(text + length - 4) << (8 * (length - 4));
  if (length == 0) return 0;
  return text[0] | (uint32_t)text[length / 2] << (8 * (length / 2)) | (uint32_t)text[length - 1] << (8 * (length - 1));
}

// Copies ASCII bytes up to the first other byte, and returns their number. If `lowers`, letters become small. Up to 8
// bytes behind the copies may be written.
static inline size_t put_ascii(const uint8_t *text, size_t length, int lowers, uint8_t *out) {
  for (size_t at = 0;; at += 8) {
    uint64_t word;
    size_t some = length - at;
    if (some >= 8)
      memcpy(&word, text + at, some = 8);
    else
      word = load_few(text + at, some);
    uint64_t high = word & HIGH_BITS;
    if (lowers) word = lower_word(word);
    memcpy(out + at, &word, sizeof word);
    if (high) return at + (size_t)__builtin_ctzll(high) / 8;
    if (some < 8) return length;
  }
}

// MARK: UTF-8

// Returns the scalar at a place, and its number of bytes. If the bytes are not UTF-8, returns NO_SCALAR and the size 1.
static inline uint32_t decode(const uint8_t *text, size_t length, size_t *size) {
  uint8_t first = text[0];
  *size = 1;
  if (first < 0x80) return first;
  if (first >= 0xc2 && first < 0xe0 && length >= 2 && (text[1] & 0xc0) == 0x80) {
    *size = 2;
    return (uint32_t)(first & 0x1f) << 6 | (text[1] & 0x3f);
  }
  size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || length < count) return NO_SCALAR;
  uint32_t scalar = first & (0x7fu >> count);
  for (size_t at = 1; at < count; at++) {
    if ((text[at] & 0xc0) != 0x80) return NO_SCALAR;
    scalar = scalar << 6 | (text[at] & 0x3f);
  }
  if (scalar < (count == 4 ? 0x10000u : count == 3 ? 0x800u : 0x80u) || scalar > 0x10ffff ||
      (scalar >= 0xd800 && scalar < 0xe000))
    return NO_SCALAR;
  *size = count;
  return scalar;
}

static inline size_t encode(uint32_t scalar, uint8_t *out) {
  if (scalar < 0x80) {
    out[0] = (uint8_t)scalar;
    return 1;
  }
  if (scalar < 0x800) {
    out[0] = (uint8_t)(0xc0 | scalar >> 6), out[1] = (uint8_t)(0x80 | (scalar & 0x3f));
    return 2;
  }
  size_t count = scalar < 0x10000 ? 3 : 4;
  for (size_t at = count - 1; at > 0; at--, scalar >>= 6) out[at] = (uint8_t)(0x80 | (scalar & 0x3f));
  out[0] = (uint8_t)(0xf00u >> count | scalar);
  return count;
}

// MARK: Scalars

// The scalars of the canonical decomposition of one scalar. There are at most three.
struct spelling {
  uint32_t scalars[3];
  unsigned count;
  // The index of the first scalar that is an ordered mark, after which all are such marks; the count if there is none.
  unsigned first_ordered;
};

static inline uint32_t fold_case(uint32_t scalar) {
  uint32_t block = scalar / CP_LETTERS_BLOCK;
  if (block >= COUNT(case_blocks)) return scalar;
  uint8_t place = case_places[case_blocks[block] * CP_LETTERS_BLOCK + scalar % CP_LETTERS_BLOCK];
  return scalar + (uint32_t)case_distances[place];
}

static inline uint32_t fold_latin(uint32_t scalar) {
  int is_capital = scalar - 'A' < 26 || (scalar - 0xc0 < 0x1f && scalar != 0xd7);
  return scalar + (is_capital ? 0x20 : 0);
}

static void add(struct spelling *spelling, uint32_t scalar) { spelling->scalars[spelling->count++] = scalar; }

// Decomposes a syllable into two or three letters, by the arithmetic of the standard.
static void spell_hangul(uint32_t syllable, struct spelling *spelling) {
  add(spelling, 0x1100 + syllable / (21 * 28));
  add(spelling, 0x1161 + syllable / 28 % 21);
  if (syllable % 28 > 0) add(spelling, 0x11a7 + syllable % 28);
}

// Returns the decomposition of a scalar from the table; NULL if it has none.
static inline const uint32_t *find_spelling(uint32_t scalar) {
  uint32_t block = scalar / CP_LETTERS_BLOCK;
  if (block >= COUNT(spelling_blocks)) return scalar - 0xe0100 < 0xf0 ? spellings : NULL;
  uint16_t place = spelling_places[spelling_blocks[block] * CP_LETTERS_BLOCK + scalar % CP_LETTERS_BLOCK];
  return place == 0 ? NULL : spellings + place - 1;
}

static void decompose(uint32_t scalar, struct spelling *spelling) {
  if (scalar - 0xac00 < 11172) return spell_hangul(scalar - 0xac00, spelling);
  const uint32_t *part = find_spelling(scalar);
  if (!part) return add(spelling, scalar);
  if (part == spellings) return;
  unsigned ordered = 0;
  do {
    ordered += (*part & 2) != 0;
    add(spelling, *part >> 2);
  } while (*part++ & 1);
  spelling->first_ordered = spelling->count - ordered;
}

static inline uint32_t fold_one(uint32_t scalar, int folds) {
  return folds & CP_FOLD_CASE ? fold_case(scalar) : folds & CP_FOLD_LATIN ? fold_latin(scalar) : scalar;
}

// Returns what a scalar is folded to if that is one scalar and not an ordered mark, as it is for most scalars;
// otherwise NO_SCALAR.
static inline uint32_t spell_one(uint32_t scalar, int folds) {
  if (folds & CP_FOLD_MARKS) {
    const uint32_t *part = find_spelling(scalar);
    if (part) {
      if (part == spellings || (*part & 3)) return NO_SCALAR;
      scalar = *part >> 2;
    } else if (scalar - 0xac00 < 11172) {
      return NO_SCALAR;
    }
  }
  return fold_one(scalar, folds);
}

static struct spelling spell(uint32_t scalar, int folds) {
  struct spelling spelling = {.first_ordered = UINT32_MAX};
  if (folds & CP_FOLD_MARKS)
    decompose(scalar, &spelling);
  else
    add(&spelling, scalar);
  if (spelling.first_ordered > spelling.count) spelling.first_ordered = spelling.count;
  for (unsigned index = 0; index < spelling.count; index++)
    spelling.scalars[index] = fold_one(spelling.scalars[index], folds);
  return spelling;
}

// MARK: Marks in their order

static unsigned class_of(uint32_t mark) {
  for (size_t index = 0; index < COUNT(ordered_marks); index++)
    if (ordered_marks[index] == mark) return ordered_classes[index];
  return 0;
}

// Writes the ordered marks that follow one another from `*at` on, sorted by their classes. Marks of one class keep
// their order. The first `before` scalars of the spelling at `*at` come before the marks, and are not written. `*at`
// becomes the place behind the marks.
//
// The function goes over the marks once for each class, so that it needs no memory. There are so few classes that no
// text takes more than five passes.
static size_t put_marks(const uint8_t *text, size_t length, size_t *at, unsigned before, int folds,
                        uint8_t *out) {
  size_t size = 0, place = *at;
  for (unsigned class = 0, next = 0; next < 256; class = next) {
    next = 256;
    unsigned index = before;
    for (place = *at; place < length; index = 0) {
      size_t bytes;
      uint32_t scalar = decode(text + place, length - place, &bytes);
      if (scalar == NO_SCALAR) break;
      struct spelling spelling = spell(scalar, folds);
      if (index < spelling.first_ordered) break;
      for (; index < spelling.count; index++) {
        unsigned found = class_of(spelling.scalars[index]);
        if (found == class) size += encode(spelling.scalars[index], out + size);
        if (found > class && found < next) next = found;
      }
      place += bytes;
    }
  }
  *at = place;
  return size;
}

size_t cp_fold_scalars(const uint8_t *text, size_t length, int folds, uint8_t *out) {
  size_t at = 0, size = 0;
  while (1) {
    size_t bytes = put_ascii(text + at, length - at, (folds & ALL_CASE) != 0, out + size);
    at += bytes, size += bytes;
    if (at == length) return size;
    uint32_t scalar = decode(text + at, length - at, &bytes);
    if (scalar == NO_SCALAR) {
      out[size++] = text[at++];
      continue;
    }
    uint32_t one = spell_one(scalar, folds);
    if (one != NO_SCALAR) {
      size += encode(one, out + size);
      at += bytes;
      continue;
    }
    struct spelling spelling = spell(scalar, folds);
    for (unsigned index = 0; index < spelling.first_ordered; index++)
      size += encode(spelling.scalars[index], out + size);
    if (spelling.first_ordered < spelling.count)
      size += put_marks(text, length, &at, spelling.first_ordered, folds, out + size);
    else
      at += bytes;
  }
}
