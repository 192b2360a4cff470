// Sorts numbers of 128 bits and what belongs to them: by their high word, then by the low one where that is the same; each
// from its lowest 11 bits up. Bits that are the same in all are
// passed over, so that numbers of few bits take few passes.
#include "cplatform.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1 << DIGIT_BITS)
// Of fewer the digits take longer to count than the items to insert.
#define SMALL 48

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

/// Digit by digit, the lowest first, of one word; those without a difference are passed over.
static void sort_word(
    struct cp_sort_item *items, struct cp_sort_item *scratch, size_t count, int word, uint64_t differs) {
  struct cp_sort_item *from = items, *to = scratch;
  for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
    if (!(differs >> shift & (DIGITS - 1))) continue;
    size_t starts[DIGITS] = {0}, start = 0;
    for (size_t index = 0; index < count; index++) starts[digit(&from[index], word, shift)]++;
    for (size_t value = 0; value < DIGITS; value++) {
      size_t here = starts[value];
      starts[value] = start, start += here;
    }
    for (size_t index = 0; index < count; index++) to[starts[digit(&from[index], word, shift)]++] = from[index];
    struct cp_sort_item *sorted = to;
    to = from, from = sorted;
  }
  if (from != items) memcpy(items, from, count * sizeof *items);
}

static void sort_low(struct cp_sort_item *items, struct cp_sort_item *scratch, size_t count) {
  if (count < SMALL) return insert(items, count);
  uint64_t differs = 0;
  for (size_t index = 1; index < count; index++) differs |= items[index].low ^ items[0].low;
  sort_word(items, scratch, count, 0, differs);
}

void cp_sort(struct cp_sort_item *items, struct cp_sort_item *scratch, size_t count) {
  if (count < SMALL) return insert(items, count);
  uint64_t differs = 0;
  for (size_t index = 1; index < count; index++) differs |= items[index].high ^ items[0].high;
  if (!differs) return sort_low(items, scratch, count);
  // Most texts are parted by their first word: the second is sorted of those alone that are not.
  sort_word(items, scratch, count, 1, differs);
  for (size_t start = 0, end = 0; start < count; start = end) {
    while (end < count && items[end].high == items[start].high) end++;
    if (end - start > 1) sort_low(items + start, scratch, end - start);
  }
}
