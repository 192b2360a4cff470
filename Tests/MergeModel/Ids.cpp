#include "Ids.h"

namespace model {

int translated(int id, const ReplicaMap& map) {
  return id >= idsOfReplica ? map(id / idsOfReplica) * idsOfReplica + id % idsOfReplica : id;
}

Slot translated(const Slot& slot, const ReplicaMap& map) {
  Slot result = slot;
  result.children.clear();
  for (const auto& [key, child] : slot.children) result.children.emplace(translated(key, map), translated(child, map));
  for (Position& p : result.positions)
    for (int* id : {&p.id, &p.element, &p.parent, &p.leftNeighbour}) *id = translated(*id, map);
  return result;
}

void translate(Effect& effect, const ReplicaMap& map) {
  for (int& key : effect.path) key = translated(key, map);
  for (int* id : {&effect.id, &effect.element, &effect.after, &effect.parent, &effect.leftNeighbour})
    *id = translated(*id, map);
  for (int& id : effect.dead) id = translated(id, map);
}

void translate(Instruction& in, const ReplicaMap& map) {
  if (!in.isOnObject()) return;
  for (Step& step : in.path) step.key = translated(step.key, map);
  for (int* id : {&in.id, &in.element, &in.left, &in.right}) *id = translated(*id, map);
}

}  // namespace model
