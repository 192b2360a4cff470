// Sorts numbers of 128 bits and what belongs to them, from the lowest 11 bits up. Bits that are the same in all are
// passed over, so that numbers of few bits take few passes.
#include "cplatform.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1 << DIGIT_BITS)

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

void cp_sort(struct cp_sort_item *items, struct cp_sort_item *scratch, size_t count) {
  if (count < 48) return insert(items, count);
  uint64_t differs[2] = {0, 0};
  for (size_t index = 1; index < count; index++) {
    differs[0] |= items[index].low ^ items[0].low;
    differs[1] |= items[index].high ^ items[0].high;
  }
  struct cp_sort_item *from = items, *to = scratch;
  for (int word = 0; word < 2; word++)
    for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
      if (!(differs[word] >> shift & (DIGITS - 1))) continue;
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
