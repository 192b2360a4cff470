// Which effects an instruction has.
//
// A changeset has seen what stood in the log at its base, and what its own replica wrote before; all else before it in
// the log is unseen, that is concurrent. Each test asks either whether something was seen, or compares stamps with
// something unseen. So a client that holds the records since the base of its oldest pending changeset decides as the
// server does, and a place without a record is one whose last decision was seen.
//
//   the way to the place  An instruction is dead if an object, entry or element on its path is absent, if an object or
//                         collection there has an unseen kill, or if a mixed value there is of another kind.
//   object                A delete wins over concurrent creations and edits, whatever the clock. Creations of an
//                         object that is present merge field by field. Embedded objects do the same; null is their
//                         delete.
//   register              The later stamp wins. A default wins only where nothing that was seen is overwritten.
//   counter               Increments are added to the winning set if they are later than it.
//   list, set, dictionary A clear beats concurrent inserts and edits, whatever the clock. Members of sets and entries
//                         of dictionaries are registers. An erase of an element is for good. Of moves the later one
//                         wins.
//   mixed value           A write of another kind takes the contents with it. A write of the same kind leaves them.
//   partition field       A replica with a scope cannot set it; a creation by such a replica sets it to the scope.
#include <deque>

#include "Merge.h"
#include "Rules.h"
#include "Run.h"

namespace model {

bool isSeen(const Record& record, const Context& context) {
  if (!record.exists || record.version <= context.base) return true;
  return record.replica == context.replica && keeps(Rule::ownIsSeen);
}

Record recordOf(const Context& context, bool isDefault) {
  return {context.stamp, context.version, context.replica, true, isDefault};
}

namespace {

bool isLater(const Record& record, const Context& context) {
  return context.stamp < record.stamp;
}

// Whether what stands in a container can be reached: an object is present, a mixed slot holds the kind that the writer
// expects, and no unseen kill or change of kind has hit it.
bool isReachable(const Slot& slot, ValueKind kind, int ownKindWrite, const Context& context) {
  switch (slot.kind) {
    case SlotKind::object:
      return slot.isPresent && (isSeen(slot.kill, context) || isBroken(Rule::killHidesEdits));
    case SlotKind::reg: {
      if (slot.value.kind != kind || !isCollection(kind)) return false;
      // An unseen write of another kind hides the contents, unless the writer's own write of this kind is later.
      const Record& other = slot.otherKindWrite[kindIndex(kind)];
      if (other.exists && !isSeen(other, context)) {
        if (isBroken(Rule::ownKindWriteCounts)) return false;
        if (!ownKindWrite || context.stampOfSequence(ownKindWrite) < other.stamp) return false;
      }
      break;
    }
    default: break;
  }
  return isSeen(slot.kill, context) || isBroken(Rule::clearKillsArrivingInserts);
}

struct Target {
  const Slot* slot = nullptr;  // none: something on the way is gone
  bool isInNewObject = false;  // the creation of the object around it belongs to this changeset or is unseen
};

// Follows a path. Places that were never written are made in `made`.
Target resolve(const Slot& object, const Instruction& in, const Context& context, std::deque<Slot>& made) {
  const Slot* slot = &object;
  bool isInNewObject = false;
  for (std::size_t i = 0; i < in.path.size(); i++) {
    const Step& step = in.path[i];
    if (!isReachable(*slot, step.kind, step.ownKindWrite, context)) return {};
    if (slot->kind == SlotKind::object) {
      const Record& creation = slot->creation;
      isInNewObject = creation.exists && (creation.version == context.version || !isSeen(creation, context));
    }
    const auto found = slot->children.find(step.key);
    if (found != slot->children.end()) {
      slot = &found->second;
      continue;
    }
    if (slot->kind == SlotKind::object) {
      made.push_back(newProperty(step.key));
    } else if (slot->kind == SlotKind::dictionary ||
               (slot->kind == SlotKind::reg && step.kind == ValueKind::dictionary)) {
      if (i + 1 < in.path.size()) return {};
      Slot entry;
      entry.kind = slot->kind == SlotKind::dictionary ? slot->elementKind : SlotKind::reg;
      entry.value.kind = ValueKind::absent;
      made.push_back(entry);
    } else {
      return {};
    }
    slot = &made.back();
  }
  return {slot, isInNewObject};
}

// A set keeps the increments that are later than it. A default keeps all.
Value withAdds(Value value, const std::vector<Add>& adds, Stamp stamp, bool keepsAll) {
  if (value.kind == ValueKind::number)
    for (const Add& add : adds)
      if (keepsAll || stamp < add.stamp) value.number += add.delta;
  return value;
}

// A replica with a scope creates objects inside it only: the filter field follows from the scope.
Effect scopeEffect(const Context& context) {
  Effect effect;
  effect.kind = EffectKind::set;
  effect.path = {property::filter};
  effect.value = {ValueKind::number, context.scope - 1};
  effect.record = recordOf(context);
  return effect;
}

class Decision {
 public:
  Decision(const Instruction& in, const Context& context, std::vector<Effect>& effects)
      : in(in), context(context), effects(effects) {}

  // Delete wins over a concurrent creation, whatever the clock.
  void create(const Slot& object) {
    if (object.isPresent) return;
    if (!isSeen(object.kill, context) && keeps(Rule::deleteBeatsCreation)) return;
    effects.push_back(effect(EffectKind::create));
    const bool isLeftOut = isBroken(Rule::scopeWritesField) && !context.isOnClient();
    if (context.scope && !isLeftOut) effects.push_back(scopeEffect(context));
  }

  // Of several deletes the latest stays.
  void remove(const Slot& object) {
    if (!object.isPresent && isSeen(object.kill, context)) return;
    if (object.kill.exists && isLater(object.kill, context) && keeps(Rule::laterDeleteStays)) return;
    effects.push_back(effect(EffectKind::remove));
  }

  void inObject(const Slot& slot, bool isInNewObject) {
    switch (in.operation) {
      case Operation::set: return set(slot, isInNewObject);
      case Operation::add: return add(slot);
      case Operation::newEmbedded: return newEmbedded(slot);
      case Operation::killEmbedded: return killEmbedded(slot);
      case Operation::clear: return clear(slot);
      default: break;
    }
    if (!isReachable(slot, in.kind, in.ownKindWrite, context)) return;
    if (in.operation == Operation::setInsert || in.operation == Operation::setErase) return changeMember(slot);
    const bool isList =
        slot.kind == SlotKind::list || (slot.kind == SlotKind::reg && slot.value.kind == ValueKind::list);
    if (!isList) return;
    switch (in.operation) {
      case Operation::insert: return insert(slot);
      case Operation::erase: return erase(slot);
      case Operation::move: return move(slot);
      default: return;
    }
  }

 private:
  const Instruction& in;
  const Context& context;
  std::vector<Effect>& effects;

  Effect effect(EffectKind kind) const {
    Effect made;
    made.kind = kind;
    made.path = keysOf(in);
    made.record = recordOf(context, in.isDefault);
    return made;
  }
  // A write that is not a default and later than this one.
  bool losesTo(const Record& write) const { return write.exists && !write.isDefault && isLater(write, context); }

  void set(const Slot& slot, bool isInNewObject) {
    if (slot.kind != SlotKind::reg) return;
    const bool isGuarded = keeps(Rule::scopeGuardsField) || context.isOnClient();
    if (context.scope && in.setsFilter() && isGuarded) return;
    const Record& write = slot.write;
    bool wins;
    if (!in.isDefault) {
      wins = !losesTo(write) || isBroken(Rule::registersByStamp);
    } else if (write.exists) {
      // A default never overwrites what was seen, nor what is no default.
      const bool isNew = write.version == context.version || !isSeen(write, context);
      wins = (write.isDefault && !isLater(write, context) && isNew) || isBroken(Rule::defaultsYield);
    } else {
      wins = isInNewObject || isBroken(Rule::defaultsYield);
    }
    if (!wins) return;
    Effect made = effect(EffectKind::set);
    made.value = in.value;
    if (keeps(Rule::setKeepsLaterAdds)) made.value = withAdds(in.value, slot.adds, context.stamp, in.isDefault);
    effects.push_back(made);
  }

  void add(const Slot& slot) {
    if (slot.kind != SlotKind::reg) return;
    if (losesTo(slot.write) && keeps(Rule::laterSetBeatsAdd)) return;
    Effect made = effect(EffectKind::add);
    made.delta = in.delta;
    effects.push_back(made);
  }

  void newEmbedded(const Slot& slot) {
    if (slot.kind != SlotKind::object || slot.isPresent) return;
    if (!isSeen(slot.kill, context) && keeps(Rule::nilBeatsNewEmbedded)) return;
    effects.push_back(effect(EffectKind::newEmbedded));
  }

  void killEmbedded(const Slot& slot) {
    if (slot.kind != SlotKind::object) return;
    if (slot.kill.exists && isLater(slot.kill, context)) return;
    effects.push_back(effect(EffectKind::killEmbedded));
  }

  void clear(const Slot& slot) {
    if (slot.kind == SlotKind::object) return;
    if (slot.kind == SlotKind::reg) return clearMixed(slot);
    if (slot.kill.exists && isLater(slot.kill, context)) return;
    effects.push_back(effect(EffectKind::clear));
  }

  // A clear at a mixed slot is first a write of that kind.
  void clearMixed(const Slot& slot) {
    Effect made = effect(EffectKind::set);
    made.value.kind = in.kind;
    if (slot.value.kind != in.kind) {
      if (isBroken(Rule::clearWritesKind) || losesTo(slot.write)) return;
      effects.push_back(made);
    } else {
      const Record& other = slot.otherKindWrite[kindIndex(in.kind)];
      if (other.exists && !isSeen(other, context) && isLater(other, context)) return;
      if (slot.kill.exists && isLater(slot.kill, context)) return;
      if (!slot.write.exists || !isLater(slot.write, context)) effects.push_back(made);
    }
    effects.push_back(effect(EffectKind::clear));
  }

  void changeMember(const Slot& slot) {
    if (slot.kind != SlotKind::set) return;
    const auto found = slot.members.find(in.value.number);
    const bool isKnown = found != slot.members.end() && found->second.record.exists;
    if (isKnown && isLater(found->second.record, context) && keeps(Rule::membersByStamp)) return;
    Effect made = effect(in.operation == Operation::setInsert ? EffectKind::setInsert : EffectKind::setErase);
    made.value = in.value;
    effects.push_back(made);
  }

  void insert(const Slot& list) {
    if (findPosition(list, in.id) >= 0) return;
    Effect made = effect(EffectKind::insert);
    made.id = made.element = in.id;
    made.value = in.value;
    made.isEmbedded = in.isEmbedded;
    place(list, context, in.left, in.right, made);
    effects.push_back(made);
  }

  // An erase is for good.
  void erase(const Slot& list) {
    if (!list.children.count(in.element)) return;
    Effect made = effect(EffectKind::erase);
    made.element = in.element;
    effects.push_back(made);
  }

  // A move without effect leaves a dead position all the same, as later inserts of its writer may name it.
  void move(const Slot& list) {
    const bool isAlive = list.children.count(in.element) > 0;
    const bool leavesNothing = isBroken(Rule::lostMoveLeavesPosition);
    if (!isAlive && (leavesNothing || positionSeen(list, in.element, context) < 0)) return;
    if (findPosition(list, in.id) >= 0) return;
    Effect made = effect(EffectKind::move);
    made.id = in.id;
    made.element = in.element;
    made.isLost = !isAlive;
    if (isAlive) {
      const Record& record = list.positions[std::size_t(livePosition(list, in.element))].record;
      made.isLost = record.exists && isLater(record, context) && keeps(Rule::movesByStamp);
    }
    if (made.isLost && leavesNothing) return;
    place(list, context, in.left, in.right, made);
    if (made.after == in.element && !made.isLost) nameNeighbours(list, made, in.element);
    effects.push_back(made);
  }
};

}  // namespace

void decide(const Slot& object, const Instruction& in, const Context& context, std::vector<Effect>& effects) {
  counters.decisions++;
  Decision decision(in, context, effects);
  if (in.operation == Operation::create) return decision.create(object);
  if (in.operation == Operation::remove) return decision.remove(object);
  std::deque<Slot> made;
  const Target target = resolve(object, in, context, made);
  if (target.slot) decision.inObject(*target.slot, target.isInNewObject);
}

std::vector<Effect> effectsAsWritten(const std::vector<Instruction>& instructions, int pk, const Context& context) {
  std::vector<Effect> effects;
  for (const Instruction& in : instructions) {
    if (!in.isOn(pk) || (context.scope && in.setsFilter())) continue;
    Effect effect;
    effect.kind = EffectKind(in.operation);  // the two lists have the same order
    effect.path = keysOf(in);
    effect.record = recordOf(context, in.isDefault);
    switch (in.operation) {
      case Operation::set:
      case Operation::setInsert:
      case Operation::setErase: effect.value = in.value; break;
      case Operation::add: effect.delta = in.delta; break;
      case Operation::insert:
        effect.value = in.value;
        effect.id = effect.element = in.id;
        effect.isEmbedded = in.isEmbedded;
        effect.after = in.left;
        break;
      case Operation::move:
        effect.id = in.id;
        effect.element = in.element;
        effect.after = in.left;
        break;
      case Operation::erase: effect.element = in.element; break;
      default: break;
    }
    if (in.operation == Operation::clear && in.kind != ValueKind::null) {
      Effect kindWrite = effect;
      kindWrite.kind = EffectKind::set;
      kindWrite.value.kind = in.kind;
      effects.push_back(kindWrite);
    }
    effects.push_back(effect);
    if (context.scope && in.operation == Operation::create) effects.push_back(scopeEffect(context));
  }
  return effects;
}

}  // namespace model
