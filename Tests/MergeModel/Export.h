#pragma once
#include "World.h"

namespace model {

// Whether the engine that is compared with the model has an action: it has no collections in mixed values, no
// asymmetric objects, and no increments but of numbers.
bool isExported(int action);

// What was exported, for the summary.
struct Exported {
  long seeds = 0, entries = 0, uploads = 0, refused = 0;
};

// Prints the whole log of a clean run and the state that node 0 has at its end.
void exportWorld(std::uint64_t seed, const World& world, Exported& all);

}  // namespace model
