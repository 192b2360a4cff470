// Loops over packed columns, written so that the compiler makes vector code of them. If the system can choose at run
// time, they are compiled for several instruction sets.
#include "CRealmPlatform.h"

#include "clones.h"

// Each lane counts in the type of the values, so that a step of the loop is one comparison and one subtraction. The
// lanes are summed every 255 steps, before a lane of 8 bits could overflow.
#define CP_LANES 64
#define CP_COUNT_IN_RANGE(bits)                                                                    \
  typedef uint##bits##_t unaligned_##bits __attribute__((aligned(1)));                             \
  CP_CLONES size_t cp_count_in_range_##bits(const void *values, size_t count, uint##bits##_t low,  \
                                            uint##bits##_t span) {                                 \
    const unaligned_##bits *next = values;                                                         \
    size_t total = 0;                                                                              \
    while (count >= CP_LANES) {                                                                    \
      uint##bits##_t lanes[CP_LANES] = {0};                                                        \
      size_t steps = count / CP_LANES;                                                             \
      if (steps > 255) steps = 255;                                                                \
      for (size_t step = 0; step < steps; step++, next += CP_LANES)                                \
        for (size_t lane = 0; lane < CP_LANES; lane++)                                             \
          lanes[lane] += (uint##bits##_t)(next[lane] - low) <= span;                               \
      for (size_t lane = 0; lane < CP_LANES; lane++) total += lanes[lane];                         \
      count -= steps * CP_LANES;                                                                   \
    }                                                                                              \
    for (size_t index = 0; index < count; index++)                                                 \
      total += (uint##bits##_t)(next[index] - low) <= span;                                        \
    return total;                                                                                  \
  }

CP_COUNT_IN_RANGE(8)
CP_COUNT_IN_RANGE(16)
CP_COUNT_IN_RANGE(32)
CP_COUNT_IN_RANGE(64)
