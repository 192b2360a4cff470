#include "Values.h"

namespace model {

SlotKind kindOfProperty(int key) {
  switch (key) {
    case property::list:
    case property::embeddedList:
    case property::linkList: return SlotKind::list;
    case property::set: return SlotKind::set;
    case property::dictionary:
    case property::embeddedDictionary: return SlotKind::dictionary;
    case property::embedded: return SlotKind::object;
    default: return SlotKind::reg;
  }
}

SlotKind elementKindOfProperty(int key) {
  const bool isEmbedded = key == property::embeddedList || key == property::embeddedDictionary;
  return isEmbedded ? SlotKind::object : SlotKind::reg;
}

Slot newProperty(int key) {
  Slot slot;
  slot.kind = kindOfProperty(key);
  slot.elementKind = elementKindOfProperty(key);
  return slot;
}

Slot newObject() {
  Slot slot;
  slot.kind = SlotKind::object;
  return slot;
}

Instruction instruction(int pk, Operation operation, std::vector<Step> path) {
  Instruction made;
  made.operation = operation;
  made.pk = pk;
  made.path = std::move(path);
  return made;
}

std::vector<int> keysOf(const Instruction& instruction) {
  std::vector<int> keys;
  for (const Step& step : instruction.path) keys.push_back(step.key);
  return keys;
}

bool creates(const std::vector<Instruction>& instructions, int pk) {
  for (const Instruction& in : instructions)
    if (in.operation == Operation::create && in.pk == pk) return true;
  return false;
}

bool isSame(const Effect& a, const Effect& b) {
  return a.kind == b.kind && a.path == b.path && a.value == b.value && a.delta == b.delta && a.id == b.id &&
         a.element == b.element && a.after == b.after && a.isEmbedded == b.isEmbedded && a.isLost == b.isLost &&
         a.record.isDefault == b.record.isDefault && a.dead == b.dead;
}

}  // namespace model
