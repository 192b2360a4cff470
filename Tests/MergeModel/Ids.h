#pragma once
#include <functional>

#include "Values.h"

namespace model {

// An element id holds its replica. A file numbers replicas in its own way, so that nothing is rewritten when the file
// gets its number; what travels holds numbers. A translation goes from index to number or back.
using ReplicaMap = std::function<int(int)>;

int translated(int id, const ReplicaMap& map);
Slot translated(const Slot& slot, const ReplicaMap& map);
void translate(Effect& effect, const ReplicaMap& map);
void translate(Instruction& in, const ReplicaMap& map);

}  // namespace model
