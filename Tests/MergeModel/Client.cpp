#include "Client.h"

#include <algorithm>

#include "Canonical.h"
#include "Rules.h"
#include "Run.h"

namespace model {

const Slot* Client::see(int pk) const {
  const auto pendingObject = view.find(pk);
  if (pendingObject != view.end()) return pendingObject->second.isPresent ? &pendingObject->second : nullptr;
  const auto object = base.find(pk);
  return object != base.end() && object->second.isPresent ? &object->second : nullptr;
}

std::string Client::shows(int pk) const {
  const Slot* object = see(pk);
  return object ? canonical(*object) : "~";
}

int Client::indexOf(int number) {
  for (std::size_t i = 1; i < numbers.size(); i++)
    if (numbers[i] == number) return int(i);
  if (isBroken(Rule::translateIds)) return number;
  numbers.push_back(number);
  return int(numbers.size()) - 1;
}

int Client::numberOf(int index) const {
  const bool isKept = isBroken(Rule::translateIds) || index >= int(numbers.size());
  return isKept ? index : numbers[std::size_t(index)];
}

Slot Client::withNumbers(const Slot& slot) const {
  return translated(slot, [this](int index) { return numberOf(index); });
}

void Client::chooseSet(int mask, bool isInvalid) {
  wantedSet = mask;
  newestSet++;
  sets[newestSet] = {mask, isInvalid};
}

// The file was never connected. Its changesets count as written upon its registration, with stamps above the mark of
// that time, and it stands there with an empty filter.
void Client::becomeRegistered(int number, int version, std::uint64_t newTag, int mark) {
  replica = number;
  numbers[std::size_t(ownIndex)] = number;
  cursor = version;
  tag = newTag;
  querySet = 0;
  setInForce = -1;
  for (Pending& changeset : pending) {
    changeset.base = keeps(Rule::baseAtRegistration) ? version : 0;
    changeset.stamp.replica = number;
    if (isBroken(Rule::liftFirstStamps)) continue;
    changeset.stamp.clock = std::max(changeset.stamp.clock, mark + 1);
    mark = changeset.stamp.clock;
  }
  clock = std::max(clock, mark);
  computeView();
}

Context Client::contextOf(const Pending& changeset) const {
  const auto stampOf = [this](int sequence) {
    for (const Pending& other : pending)
      if (other.sequence == sequence) return other.stamp;
    const auto known = acknowledgedStamps.find(sequence);
    return known == acknowledgedStamps.end() ? Stamp() : known->second;
  };
  return {replica, changeset.base, changeset.stamp, pendingVersion + changeset.sequence, stampOf, changeset.scope};
}

namespace {

bool hasType(const std::map<int, int>& schema, const Instruction& in) {
  if (!in.type) return true;
  const auto definition = schema.find(in.path[0].key);
  return definition != schema.end() && definition->second == in.type;
}

// A collection in a mixed slot notes which own changeset made its kind, for what the writer does inside it later.
void noteKindWrite(Slot& object, const Instruction& in, int sequence) {
  const ValueKind kind = in.operation == Operation::set     ? in.value.kind
                         : in.operation == Operation::clear ? in.kind
                                                            : ValueKind::null;
  if (!isCollection(kind)) return;
  Slot* slot = &object;
  for (const Step& step : in.path) {
    const auto found = slot->children.find(step.key);
    if (found == slot->children.end()) return;
    slot = &found->second;
  }
  slot->ownKindWrite[kindIndex(kind)] = sequence;
}

}  // namespace

Slot& Client::viewOf(std::map<int, Slot>& rows, int pk) const {
  const auto found = rows.find(pk);
  if (found != rows.end()) return found->second;
  const auto object = base.find(pk);
  return rows.emplace(pk, object == base.end() ? newObject() : object->second).first->second;
}

// One instruction of a pending changeset changes the view.
void Client::perform(const Instruction& in, const Context& context) {
  if (in.operation == Operation::ingest) return;
  if (in.operation == Operation::addProperty) {
    viewSchema.emplace(in.id, in.delta);
    return;
  }
  if (!hasType(viewSchema, in)) return;
  Slot& object = viewOf(view, in.pk);
  std::vector<Effect> effects;
  decide(object, in, context, effects);
  for (const Effect& effect : effects) apply(object, effect, true);
  noteKindWrite(object, in, context.version - pendingVersion);
}

void Client::computeView() {
  view.clear();
  replay(nullptr);
}

// Only the objects in `dirty` are built anew; the others show already what they must.
void Client::computeView(const std::set<int>& dirty, const std::set<int>& touched) {
  for (auto i = view.begin(); i != view.end();)
    if (dirty.count(i->first) || !touched.count(i->first))
      i = view.erase(i);
    else
      ++i;
  replay(&dirty);
}

void Client::replay(const std::set<int>* only) {
  viewSchema = schema;
  for (const Pending& changeset : pending) {
    const Context context = contextOf(changeset);
    for (const Instruction& in : changeset.instructions) {
      if (only && in.operation != Operation::addProperty && !only->count(in.pk)) continue;
      counters.replayed++;
      perform(in, context);
    }
  }
}

std::set<int> Client::touchedObjects() const {
  std::set<int> pks;
  for (const Pending& changeset : pending)
    for (const Instruction& in : changeset.instructions)
      if (in.isOnObject()) pks.insert(in.pk);
  return pks;
}

void Client::applyItem(const Item& item, const Download& step) {
  switch (item.kind) {
    case ItemKind::effects: {
      const auto found = base.find(item.pk);
      if (found == base.end()) return fail("effects for an object that the client does not hold");
      Slot& object = found->second;
      for (const Item::Group& group : item.groups) {
        const bool isGood = applyGroup(object, item.pk, group, step);
        if (object.isPresent && !matches(step.querySet & step.read, filterOf(object)))
          fail("a client learns effects on an object outside its view");
        if (!isGood) return;
      }
      break;
    }
    case ItemKind::whole: base[item.pk] = item.slot; break;
    case ItemKind::leave: base.erase(item.pk); break;
    case ItemKind::remove: {
      Slot absent = newObject();
      absent.kill = item.kill;
      base[item.pk] = absent;
      break;
    }
  }
}

bool Client::applyGroup(Slot& object, int pk, const Item::Group& group, const Download& step) {
  if (!group.ownSequence) {
    for (const Effect& effect : group.effects) apply(object, effect, false);
    return true;
  }
  const Pending* changeset = nullptr;
  for (const Pending& p : pending)
    if (p.sequence == group.ownSequence) changeset = &p;
  const OwnResult* result = nullptr;
  for (const OwnResult& own : step.own)
    if (own.sequence == group.ownSequence) result = &own;
  if (!changeset || !result) {
    fail("reference to an unknown own changeset");
    return false;
  }
  const auto noStamp = [](int) { return Stamp(); };
  const Context context{replica, changeset->base, result->stamp, result->version, noStamp, changeset->scope};
  counters.asWritten++;
  for (Effect& effect : effectsAsWritten(changeset->instructions, pk, context)) {
    if (effect.kind == EffectKind::insert || effect.kind == EffectKind::move) {
      const Slot* list = navigate(object, effect.path);
      const Instruction* source = nullptr;
      for (const Instruction& in : changeset->instructions)
        if (in.makesPosition() && in.id == effect.id) source = &in;
      if (source) {
        Effect placed;
        place(*list, context, source->left, source->right, placed);
        effect.parent = placed.parent;
        effect.isLeftChild = placed.isLeftChild;
        effect.leftNeighbour = placed.leftNeighbour;
      }
    }
    apply(object, effect, false);
  }
  return true;
}

// Keeps a part of a step. Answers whether the step is complete.
bool Client::translateAndStage(const Download& received) {
  Download part = received;
  const ReplicaMap toIndex = [this](int number) { return indexOf(number); };
  for (Item& item : part.items) {
    for (Item::Group& group : item.groups)
      for (Effect& effect : group.effects) translate(effect, toIndex);
    if (item.kind == ItemKind::whole) item.slot = translated(item.slot, toIndex);
  }
  if (!staged.empty()) {
    const Download& first = staged.front();
    if (first.from != part.from || first.to != part.to || first.number != part.number) staged.clear();
  }
  const bool isBehind = isBroken(Rule::sessionNotBehind) && part.from < cursor;
  if (part.from != cursor && !isBehind) {
    staged.clear();
    return false;
  }
  if (isBroken(Rule::stageDownloads)) {
    for (const Item& item : part.items) applyItem(item, part);
    if (!part.isLast) return false;
  }
  staged.push_back(part);
  return part.isLast;
}

// A step: the base moves to the new version, acknowledged changesets go, and what the step touched is shown anew.
void Client::receive(const Download& received) {
  if (!translateAndStage(received)) return;
  std::vector<Download> parts;
  parts.swap(staged);
  const Download step = parts.back();
  std::set<int> all = touchedObjects();
  for (const Download& part : parts)
    for (const Item& item : part.items) {
      if (keeps(Rule::stageDownloads)) applyItem(item, step);
      all.insert(item.pk);
    }
  moveTo(step);
  noteResults(step);

  const std::set<int> dirty = objectsToShowAnew(parts);
  while (!pending.empty() && pending.front().sequence <= step.lastSequence) {
    if (isBroken(Rule::dropAcknowledged) && pending.size() > 1) break;
    pending.pop_front();
  }
  for (const OwnResult& own : step.own) acknowledgedStamps[own.sequence] = own.stamp;
  if (pending.empty()) acknowledgedStamps.clear();

  const std::set<int> touched = touchedObjects();
  for (int pk : all) {
    const auto object = base.find(pk);
    if (object == base.end()) continue;
    const bool keepsRecords = touched.count(pk) && keeps(Rule::keepRecordsWhilePending);
    trim(object->second, keepsRecords ? oldestBase() : pendingVersion);
    if (!object->second.isPresent && !object->second.kill.exists) base.erase(object);
  }
  computeView(dirty, touched);
  if (!pending.empty()) {
    checkView();
    checkUndo();
  }
}

void Client::moveTo(const Download& step) {
  const bool willSeeEverything = step.querySet == everything && step.read == everything;
  if (!seesEverything() && willSeeEverything) sawEverythingSince = step.to;
  if (!willSeeEverything) sawEverythingSince = pendingVersion;
  if (keeps(Rule::cursorWithData) || step.to % 7 != 3) cursor = step.to;
  tag = step.tag;
  scope = step.scope;
  setInForce = step.setNumber;
  querySet = step.querySet;
  read = step.read;
  schema = step.schema;
  if (keeps(Rule::seenIsOlder)) clock = std::max(clock, step.mark);
}

void Client::noteResults(const Download& step) {
  for (const OwnResult& own : step.own) {
    if (!own.isRefused) continue;
    toldRefusals.insert(uidOfSequence[own.sequence]);
    if (keeps(Rule::dropRefused)) continue;
    for (const Pending& changeset : pending) {
      if (changeset.sequence != own.sequence) continue;
      const auto noStamp = [](int) { return Stamp(); };
      const Context context{replica, changeset.base, own.stamp, own.version, noStamp, 0};
      for (auto& [pk, object] : base)
        for (const Instruction& in : changeset.instructions) {
          if (in.pk != pk) continue;
          std::vector<Effect> effects;
          decide(object, in, context, effects);
          for (const Effect& effect : effects) apply(object, effect, true);
        }
    }
  }
}

// Objects that others touched, or whose own changeset was refused, died or was decided otherwise.
std::set<int> Client::objectsToShowAnew(const std::vector<Download>& parts) const {
  std::set<int> dirty;
  std::set<std::pair<int, int>> toldAsWritten;
  for (const Download& part : parts)
    for (const Item& item : part.items) {
      if (item.kind != ItemKind::effects) dirty.insert(item.pk);
      for (const Item::Group& group : item.groups) {
        if (group.ownSequence)
          toldAsWritten.insert({group.ownSequence, item.pk});
        else
          dirty.insert(item.pk);
      }
    }
  const int lastSequence = parts.back().lastSequence;
  const bool didSchemaChange = schema != viewSchema;
  for (const Pending& changeset : pending)
    for (const Instruction& in : changeset.instructions) {
      if (didSchemaChange && in.type) dirty.insert(in.pk);
      if (changeset.sequence > lastSequence || !in.isOnObject()) continue;
      if (!toldAsWritten.count({changeset.sequence, in.pk}) && keeps(Rule::showLosersAnew)) dirty.insert(in.pk);
    }
  return dirty;
}

void Client::checkView() const {
  Client other = *this;
  other.computeView();
  for (const auto& [pk, object] : other.view) {
    const auto kept = view.find(pk);
    if (kept == view.end() || canonical(kept->second) != canonical(object))
      fail(text("the view that was kept is not the view computed anew: pk ", pk));
  }
}

// The view by doing, then undoing newest first, gives back exactly the base, records included. So a step by "undo,
// apply, do again" gives the view computed anew.
void Client::checkUndo() const {
  std::map<int, Slot> rows;
  std::map<int, std::vector<Undo>> logs;
  std::map<int, int> rowSchema = schema;
  for (const Pending& changeset : pending) {
    const Context context = contextOf(changeset);
    for (const Instruction& in : changeset.instructions) {
      if (in.operation == Operation::ingest) continue;
      if (in.operation == Operation::addProperty) {
        rowSchema.emplace(in.id, in.delta);
        continue;
      }
      if (!hasType(rowSchema, in)) continue;
      Slot& row = viewOf(rows, in.pk);
      std::vector<Effect> effects;
      decide(row, in, context, effects);
      for (const Effect& effect : effects) applyWithUndo(row, effect, logs[in.pk]);
    }
  }
  for (auto& [pk, row] : rows) {
    const auto shown = view.find(pk);
    if (shown != view.end() && canonical(shown->second) != canonical(row)) fail("undo: the row is not the view");
    std::vector<Undo>& log = logs[pk];
    for (; !log.empty(); log.pop_back()) undo(row, log.back());
    const auto object = base.find(pk);
    if (describe(row) != describe(object == base.end() ? newObject() : object->second))
      fail("undo: what it gives is not the base");
  }
}

}  // namespace model
