// Sorts numbers of 128 bits and what belongs to them: by their high word, then by the low one where that is the same; each
// from its lowest 11 bits up. Bits that are the same in all are passed over, so that numbers of few bits take few passes. Of
// more than a cache holds, those with the same highest 11 bits are put together first.
#include "CRealmPlatform.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1 << DIGIT_BITS)
// Of fewer the digits take longer to count than the items to insert.
#define SMALL 48
// Of more the passes over all would go to memory each time.
#define LARGE (1 << 15)
// Twice as many bits as tell that many items apart.
#define ENOUGH_DIGITS 3

static inline int is_greater(const struct cp_sort_item *left, const struct cp_sort_item *right) {
  return left->high != right->high ? left->high > right->high : left->low > right->low;
}

static void insert(struct cp_sort_item *items, size_t count) {
  for (size_t index = 1; index < count; index++) {
    struct cp_sort_item item = items[index];
    size_t at = index;
    for (; at > 0 && is_greater(&items[at - 1], &item); at--) items[at] = items[at - 1];
    items[at] = item;
  }
}

static inline size_t digit(const struct cp_sort_item *item, int word, int shift) {
  return (word == 0 ? item->low : item->high) >> shift & (DIGITS - 1);
}

/// Where the items of each digit begin, of `count` items.
static void count_digits(const struct cp_sort_item *items, size_t count, int word, int shift, uint32_t starts[DIGITS]) {
  uint32_t start = 0;
  memset(starts, 0, DIGITS * sizeof *starts);
  for (size_t index = 0; index < count; index++) starts[digit(&items[index], word, shift)]++;
  for (size_t value = 0; value < DIGITS; value++) {
    uint32_t here = starts[value];
    starts[value] = start, start += here;
  }
}

/// In the order of one digit; `starts` tells then where the items of each end.
static void deal(
    const struct cp_sort_item *from, struct cp_sort_item *to, size_t count, int word, int shift,
    uint32_t starts[DIGITS]) {
  for (size_t index = 0; index < count; index++) to[starts[digit(&from[index], word, shift)]++] = from[index];
}

// What follows sorts what stands in `items`, or in `scratch` where `is_apart`, into `items`.

/// Digit by digit, the lowest first, of one word from a bit on; those without a difference are passed over.
// Not part of its callers, which call themselves: its table is not to stand on the stack of each.
__attribute__((noinline)) static void sort_word(
    struct cp_sort_item *items, struct cp_sort_item *scratch, int is_apart, size_t count, int word,
    uint64_t differs, int lowest) {
  struct cp_sort_item *from = is_apart ? scratch : items, *to = is_apart ? items : scratch;
  for (int shift = lowest; shift < 64; shift += DIGIT_BITS) {
    if (!(differs >> shift & (DIGITS - 1))) continue;
    uint32_t starts[DIGITS];
    count_digits(from, count, word, shift, starts);
    deal(from, to, count, word, shift, starts);
    struct cp_sort_item *sorted = to;
    to = from, from = sorted;
  }
  if (from != items) memcpy(items, from, count * sizeof *items);
}

static void sort_few(struct cp_sort_item *items, struct cp_sort_item *scratch, int is_apart, size_t count) {
  if (is_apart) memcpy(items, scratch, count * sizeof *items);
  insert(items, count);
}

static void sort_low(struct cp_sort_item *items, struct cp_sort_item *scratch, int is_apart, size_t count) {
  if (count < SMALL) return sort_few(items, scratch, is_apart, count);
  const struct cp_sort_item *from = is_apart ? scratch : items;
  uint64_t differs = 0;
  for (size_t index = 1; index < count; index++) differs |= from[index].low ^ from[0].low;
  sort_word(items, scratch, is_apart, count, 0, differs, 0);
}

static void sort_both(struct cp_sort_item *items, struct cp_sort_item *scratch, int is_apart, size_t count) {
  if (count < SMALL) return sort_few(items, scratch, is_apart, count);
  const struct cp_sort_item *from = is_apart ? scratch : items;
  uint64_t differs = 0;
  for (size_t index = 1; index < count; index++) differs |= from[index].high ^ from[0].high;
  if (!differs) return sort_low(items, scratch, is_apart, count);
  int bits = 64 - __builtin_clzll(differs);
  if (count > LARGE) {
    int shift = bits > DIGIT_BITS ? bits - DIGIT_BITS : 0;
    uint32_t ends[DIGITS];
    count_digits(from, count, 1, shift, ends);
    deal(from, is_apart ? items : scratch, count, 1, shift, ends);
    for (size_t value = 0, start = 0; value < DIGITS; start = ends[value++])
      if (ends[value] > start) sort_both(items + start, scratch + start, !is_apart, ends[value] - start);
    return;
  }
  // Most are parted by the first digits that differ; what these leave together is little, and sorted by the rest.
  int lowest = bits > ENOUGH_DIGITS * DIGIT_BITS ? bits - ENOUGH_DIGITS * DIGIT_BITS : 0;
  sort_word(items, scratch, is_apart, count, 1, differs, lowest);
  for (size_t start = 0, end = 0; start < count; start = end) {
    while (end < count && items[end].high >> lowest == items[start].high >> lowest) end++;
    if (end - start > 1) sort_both(items + start, scratch + start, 0, end - start);
  }
}

void cp_sort(struct cp_sort_item *items, struct cp_sort_item *scratch, size_t count) {
  sort_both(items, scratch, 0, count);
}
