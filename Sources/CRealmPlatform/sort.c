// Sorts items by numbers of 128 bits: by their high words, then by their low words if the high ones are equal. Each
// word is sorted by digits of 11 bits, the lowest digit first. Bits that are equal in all items are skipped, so that
// numbers with few bits need few passes. Items that do not fit in a cache are first grouped by the highest 11 bits that
// differ.
#include "CRealmPlatform.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1 << DIGIT_BITS)
// Fewer items than this are inserted one by one, because counting digits would take longer.
#define SMALL 48
// With more items than this, each pass over all of them would go to memory.
#define LARGE (1 << 15)
// These digits have about twice as many bits as are needed to distinguish LARGE items.
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

/// Finds the place where the items of each digit begin.
static void count_digits(const struct cp_sort_item *items, size_t count, int word, int shift, uint32_t starts[DIGITS]) {
  uint32_t start = 0;
  memset(starts, 0, DIGITS * sizeof *starts);
  for (size_t index = 0; index < count; index++) starts[digit(&items[index], word, shift)]++;
  for (size_t value = 0; value < DIGITS; value++) {
    uint32_t here = starts[value];
    starts[value] = start, start += here;
  }
}

/// Copies the items in the order of one digit. Afterwards, `starts` has the place where the items of each digit end.
static void deal(
    const struct cp_sort_item *from, struct cp_sort_item *to, size_t count, int word, int shift,
    uint32_t starts[DIGITS]) {
  for (size_t index = 0; index < count; index++) to[starts[digit(&from[index], word, shift)]++] = from[index];
}

// The functions below sort items into `items`. The items are in `scratch` before if `is_apart`, otherwise in `items`.

/// Sorts by one word from the bit `lowest` on, digit by digit, the lowest digit first. Digits without a difference are
/// skipped.
// The function is not inlined, because its callers call themselves, and its table must not be on the stack of each
// call.
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
  // The first digits that differ separate most items. The few items that stay together are then sorted by the other
  // digits.
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
