// Effects change a state without any decision, and each of them can be undone. A trim forgets records that nobody can
// need any more.
#include "Merge.h"
#include "Rules.h"
#include "Run.h"

namespace model {

namespace {

void dropContents(Slot& slot) {
  slot.children.clear();
  slot.positions.clear();
  slot.members.clear();
}

// A write of another value takes the contents of a mixed collection with it; a write of the same kind leaves them.
bool replacesContents(const Slot& slot, Value value) {
  return slot.value.kind != value.kind || !isCollection(value.kind);
}

void insertPosition(Slot& list, const Effect& effect, bool isExact, bool isLive) {
  int index = effect.index;
  if (!isExact || index < 0) {
    // The place is directly behind the visible left neighbour; among the dead positions that stand there it is behind
    // the nearest one that the effect names.
    index = 0;
    if (effect.after) {
      const int neighbour = livePosition(list, effect.after);
      if (neighbour < 0) return fail("an effect names a left neighbour that is unknown");
      index = neighbour + 1;
    }
    int end = index;
    while (end < int(list.positions.size()) && !list.positions[std::size_t(end)].isLive) end++;
    if (keeps(Rule::nameDeadPositions)) {
      for (int id : effect.dead) {
        int found = -1;
        for (int i = index; i < end; i++)
          if (list.positions[std::size_t(i)].id == id) found = i;
        if (found < 0) continue;
        index = found + 1;
        break;
      }
    }
  }
  const int diedAt = isLive ? 0 : effect.record.version;
  const Position made{effect.id,     effect.element,     isLive,               effect.record,
                      effect.parent, effect.isLeftChild, effect.leftNeighbour, diedAt};
  list.positions.insert(list.positions.begin() + index, made);
}

bool killPosition(Slot& list, const Effect& effect) {
  const int found = livePosition(list, effect.element);
  if (found < 0) return false;
  Position& position = list.positions[std::size_t(found)];
  position.isLive = false;
  position.diedAt = effect.record.version;
  return true;
}

void setRegister(Slot& slot, const Effect& effect) {
  if (replacesContents(slot, effect.value)) {
    const bool isKept = isBroken(Rule::kindChangeTakesContents) && effect.value.kind != ValueKind::absent;
    if (!isKept) {
      dropContents(slot);
      slot.kill = Record();
    }
  }
  slot.value = effect.value;
  slot.write = effect.record;
  if (effect.record.isDefault) return;
  if (effect.value.kind != ValueKind::list) slot.otherKindWrite[0] = effect.record;
  if (effect.value.kind != ValueKind::dictionary) slot.otherKindWrite[1] = effect.record;
  std::vector<Add> later;
  for (const Add& add : slot.adds)
    if (effect.record.stamp < add.stamp) later.push_back(add);
  slot.adds.swap(later);
}

void insertElement(Slot& list, const Effect& effect, bool isExact) {
  insertPosition(list, effect, isExact, true);
  Slot element;
  element.kind = list.kind == SlotKind::reg ? SlotKind::reg : list.elementKind;
  if (element.kind == SlotKind::object) {
    element.isPresent = true;
    element.creation = effect.record;
  } else {
    element.value = effect.value;
    element.write = effect.record;
  }
  list.children[effect.element] = element;
}

// What the broken rule makes of a clear: it spares what has a later stamp.
void clearOnlyEarlier(Slot& slot, const Effect& effect) {
  const auto isLater = [&](const Record& record) { return record.exists && effect.record.stamp < record.stamp; };
  for (auto i = slot.members.begin(); i != slot.members.end();)
    if (isLater(i->second.record))
      ++i;
    else
      i = slot.members.erase(i);
  std::vector<Position> kept;
  for (const Position& p : slot.positions)
    if (p.isLive && isLater(p.record))
      kept.push_back(p);
    else
      slot.children.erase(p.element);
  slot.positions = kept;
}

}  // namespace

// The slot at the end of a path; what was never written is made on the way.
Slot* navigate(Slot& object, const std::vector<int>& path) {
  Slot* slot = &object;
  for (int key : path) {
    auto found = slot->children.find(key);
    if (found == slot->children.end()) {
      Slot made;
      if (slot->kind == SlotKind::object) {
        made = newProperty(key);
      } else {
        made.kind = slot->kind == SlotKind::reg ? SlotKind::reg : slot->elementKind;
        made.value.kind = ValueKind::absent;
      }
      found = slot->children.emplace(key, made).first;
    }
    slot = &found->second;
  }
  return slot;
}

void apply(Slot& object, const Effect& effect, bool isExact) {
  counters.effects++;
  Slot& slot = *navigate(object, effect.path);
  switch (effect.kind) {
    case EffectKind::create:
    case EffectKind::newEmbedded:
      slot.isPresent = true;
      slot.creation = effect.record;
      dropContents(slot);
      break;
    case EffectKind::remove:
    case EffectKind::killEmbedded:
      slot.isPresent = false;
      slot.creation = Record();
      slot.kill = effect.record;
      dropContents(slot);
      break;
    case EffectKind::set: setRegister(slot, effect); break;
    case EffectKind::add:
      // Kept though the value may be no number, as a set that arrives later can be an earlier one.
      slot.adds.push_back({effect.record.stamp, effect.delta, effect.record.version, effect.record.replica});
      if (slot.value.kind == ValueKind::number) slot.value.number += effect.delta;
      break;
    case EffectKind::insert: insertElement(slot, effect, isExact); break;
    case EffectKind::move:
      if (!effect.isLost && !killPosition(slot, effect)) return fail("an effect moves an unknown element");
      insertPosition(slot, effect, isExact, !effect.isLost);
      break;
    case EffectKind::erase:
      if (!killPosition(slot, effect)) return fail("an effect erases an unknown element");
      slot.children.erase(effect.element);
      break;
    case EffectKind::setInsert:
    case EffectKind::setErase:
      slot.members[effect.value.number] = {effect.kind == EffectKind::setInsert, effect.record};
      break;
    case EffectKind::clear:
      if (isBroken(Rule::clearTakesLaterElements))
        clearOnlyEarlier(slot, effect);
      else
        dropContents(slot);
      slot.kill = effect.record;
      break;
  }
}

namespace {

// A slot without its contents.
Slot withoutContents(const Slot& slot) {
  Slot head;
  head.kind = slot.kind;
  head.elementKind = slot.elementKind;
  head.value = slot.value;
  head.write = slot.write;
  head.adds = slot.adds;
  for (int i = 0; i < 2; i++) {
    head.otherKindWrite[i] = slot.otherKindWrite[i];
    head.ownKindWrite[i] = slot.ownKindWrite[i];
  }
  head.isPresent = slot.isPresent;
  head.kill = slot.kill;
  head.creation = slot.creation;
  return head;
}

void swapContents(Slot& a, Slot& b) {
  a.children.swap(b.children);
  a.positions.swap(b.positions);
  a.members.swap(b.members);
}

void noteBefore(Slot& slot, const Effect& effect, Undo& entry) {
  switch (effect.kind) {
    case EffectKind::add:
    case EffectKind::insert: break;
    case EffectKind::move:
    case EffectKind::erase: {
      const int found = effect.isLost ? -1 : livePosition(slot, effect.element);
      if (found < 0) break;
      entry.oldPosition = slot.positions[std::size_t(found)].id;
      if (effect.kind == EffectKind::erase) entry.slot = std::move(slot.children[effect.element]);
      break;
    }
    case EffectKind::setInsert:
    case EffectKind::setErase: {
      const auto found = slot.members.find(effect.value.number);
      entry.hadMember = found != slot.members.end();
      if (entry.hadMember) entry.member = found->second;
      entry.id = effect.value.number;
      break;
    }
    default:
      entry.slot = withoutContents(slot);
      entry.movedContents = effect.kind != EffectKind::set || replacesContents(slot, effect.value);
      if (entry.movedContents) swapContents(entry.slot, slot);
  }
}

void dropPosition(Slot& list, int id) {
  const int found = findPosition(list, id);
  if (found >= 0) list.positions.erase(list.positions.begin() + found);
}

void revivePosition(Slot& list, int id) {
  for (Position& p : list.positions)
    if (p.id == id) {
      p.isLive = true;
      p.diedAt = 0;
    }
}

}  // namespace

void applyWithUndo(Slot& object, const Effect& effect, std::vector<Undo>& log) {
  Undo entry;
  entry.kind = effect.kind;
  entry.path = effect.path;
  entry.id = effect.id;
  entry.element = effect.element;
  entry.delta = effect.delta;
  entry.isLost = effect.isLost;
  Slot* slot = &object;
  for (std::size_t i = 0; i < effect.path.size(); i++) {
    const auto found = slot->children.find(effect.path[i]);
    if (found == slot->children.end()) {
      entry.missingFrom = int(i);
      break;
    }
    slot = &found->second;
  }
  if (entry.missingFrom < 0) noteBefore(*slot, effect, entry);
  apply(object, effect, true);
  log.push_back(std::move(entry));
}

void undo(Slot& object, Undo& entry) {
  counters.undone++;
  Slot* place = &object;
  for (std::size_t i = 0; i < entry.path.size(); i++) {
    if (int(i) == entry.missingFrom) {
      place->children.erase(entry.path[i]);
      return;
    }
    const auto found = place->children.find(entry.path[i]);
    if (found == place->children.end()) return fail("undo: the place is gone");
    place = &found->second;
  }
  Slot& slot = *place;
  switch (entry.kind) {
    case EffectKind::add:
      if (!slot.adds.empty()) slot.adds.pop_back();
      if (slot.value.kind == ValueKind::number) slot.value.number -= entry.delta;
      break;
    case EffectKind::insert:
      dropPosition(slot, entry.id);
      slot.children.erase(entry.element);
      break;
    case EffectKind::move:
      dropPosition(slot, entry.id);
      if (!entry.isLost && keeps(Rule::undoRevivesMoved)) revivePosition(slot, entry.oldPosition);
      break;
    case EffectKind::erase:
      revivePosition(slot, entry.oldPosition);
      slot.children[entry.element] = std::move(entry.slot);
      break;
    case EffectKind::setInsert:
    case EffectKind::setErase:
      if (entry.hadMember)
        slot.members[entry.id] = entry.member;
      else
        slot.members.erase(entry.id);
      break;
    default:
      if (!entry.movedContents) {
        swapContents(entry.slot, slot);
      } else if (isBroken(Rule::undoRestoresContents)) {
        entry.slot.children.clear();
        entry.slot.positions.clear();
      }
      slot = std::move(entry.slot);
  }
}

namespace {

void trimRecord(Record& record, int horizon) {
  if (record.exists && record.version <= horizon) record = Record();
}

// An entry of a dictionary that is absent and keeps no record.
bool isForgotten(const Slot& entry) {
  if (entry.kind == SlotKind::object) return !entry.isPresent && !entry.kill.exists;
  const bool hasRecords = entry.write.exists || !entry.adds.empty() || entry.otherKindWrite[0].exists ||
                          entry.otherKindWrite[1].exists;
  return entry.kind == SlotKind::reg && entry.value.kind == ValueKind::absent && !hasRecords;
}

}  // namespace

void trim(Slot& slot, int horizon) {
  for (Record* record :
       {&slot.write, &slot.otherKindWrite[0], &slot.otherKindWrite[1], &slot.kill, &slot.creation})
    trimRecord(*record, horizon);
  slot.ownKindWrite[0] = slot.ownKindWrite[1] = 0;

  std::vector<Add> adds;
  for (const Add& add : slot.adds)
    if (add.version > horizon) adds.push_back(add);
  slot.adds.swap(adds);

  const bool canForget = slot.kind == SlotKind::dictionary || slot.kind == SlotKind::reg;
  for (auto i = slot.children.begin(); i != slot.children.end();) {
    trim(i->second, horizon);
    if (canForget && isForgotten(i->second))
      i = slot.children.erase(i);
    else
      ++i;
  }
  for (auto i = slot.members.begin(); i != slot.members.end();) {
    trimRecord(i->second.record, horizon);
    if (!i->second.isPresent && !i->second.record.exists)
      i = slot.members.erase(i);
    else
      ++i;
  }
  std::vector<Position> positions;
  for (Position& p : slot.positions) {
    if (!p.isLive && p.diedAt <= horizon) continue;
    trimRecord(p.record, horizon);
    positions.push_back(p);
  }
  slot.positions.swap(positions);
}

}  // namespace model
