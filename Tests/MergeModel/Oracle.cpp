#include "Oracle.h"

#include <algorithm>

#include "Canonical.h"
#include "OracleOrder.h"
#include "Run.h"

namespace model {

Oracle::Oracle(const Node& node) : node(node) {
  for (std::size_t version = 1; version < node.history.size(); version++) {
    const HistoryEntry& entry = node.history[version];
    if (entry.kind == EntryKind::trim) wasTrimmed = true;
    if (entry.isAccepted) collect(entry, int(version));
  }
}

void Oracle::collect(const HistoryEntry& entry, int version) {
  stamps[{entry.replica, entry.sequence}] = entry.stamp;
  const auto note = [&](const Instruction& in) {
    all.push_back({int(all.size()), version, entry.replica, entry.base, entry.made, entry.time, entry.isHonest,
                   entry.stamp, &in});
  };
  for (std::size_t i = 0; i < entry.instructions.size(); i++) {
    const Instruction& in = entry.instructions[i];
    if (in.operation == Operation::addProperty) {
      schema.emplace(in.id, in.delta);
      continue;
    }
    if (in.operation == Operation::ingest) {
      ingested.emplace(in.pk, in.value.number);
      continue;
    }
    if (std::find(entry.refused.begin(), entry.refused.end(), in.pk) != entry.refused.end()) continue;
    if (in.type) {
      const auto definition = schema.find(in.path[0].key);
      if (definition == schema.end() || definition->second != in.type) {
        fail("an instruction of another type was accepted");
        continue;
      }
    }
    if (entry.scope && in.setsFilter()) continue;
    note(in);
    if (entry.scope && in.operation == Operation::create && entry.effectiveCreations.count(int(i))) {
      Instruction set = instruction(in.pk, Operation::set, {{property::filter}});
      set.value = {ValueKind::number, entry.scope - 1};
      made.push_back(set);
      note(made.back());
    }
  }
}

bool Oracle::sees(const Event* event, const Event* other) {
  return other->number < event->number && (other->version <= event->base || other->replica == event->replica);
}

// Equal stamps stand in one changeset; then the later instruction is the later one.
const Oracle::Event* Oracle::latest(const Events& events) {
  const Event* best = nullptr;
  for (const Event* event : events)
    if (!best || best->stamp < event->stamp || (best->stamp == event->stamp && best->number < event->number))
      best = event;
  return best;
}

namespace {

const Slot* childOf(const Slot* slot, int key) {
  if (!slot) return nullptr;
  const auto found = slot->children.find(key);
  return found == slot->children.end() ? nullptr : &found->second;
}

}  // namespace

// A delete counts if it met the object or another, concurrent delete; else its writer's own creation had been refused
// or was dead.
Oracle::Events Oracle::countedDeletes(const Events& deletes, const Events& creations) const {
  Events both = deletes, counted;
  both.insert(both.end(), creations.begin(), creations.end());
  std::sort(both.begin(), both.end(), [](const Event* a, const Event* b) { return a->number < b->number; });
  const Event* kill = nullptr;
  bool isPresent = false;
  for (const Event* event : both) {
    if (event->in->operation == Operation::create) {
      if (!kill || sees(event, kill)) isPresent = true;
      continue;
    }
    if (!isPresent && (!kill || sees(event, kill))) continue;
    counted.push_back(event);
    if (kill && event->stamp < kill->stamp) continue;
    kill = event;
    isPresent = false;
  }
  return counted;
}

// An object is there if a creation saw the latest kill; of the rest counts what saw it too.
std::string Oracle::object(const Events& events, std::size_t depth, const Event* creation, const Slot* actual) {
  Events kills, creations, rest;
  for (const Event* event : events) {
    const Operation operation = event->in->operation;
    const bool isHere = event->in->path.size() == depth;
    if (isHere && (operation == Operation::remove || operation == Operation::killEmbedded))
      kills.push_back(event);
    else if (isHere && (operation == Operation::create || operation == Operation::newEmbedded))
      creations.push_back(event);
    else
      rest.push_back(event);
  }
  if (creation) creations.push_back(creation);
  if (depth == 0) kills = countedDeletes(kills, creations);
  const Event* kill = latest(kills);
  const Event* first = nullptr;
  for (const Event* event : creations)
    if ((!kill || sees(event, kill)) && (!first || event->number < first->number)) first = event;
  if (!first) return "~";

  std::map<int, Events> byProperty;
  for (const Event* event : rest)
    if (event->in->path.size() > depth && (!kill || sees(event, kill)) && first->number < event->number)
      byProperty[event->in->path[depth].key].push_back(event);
  std::string result = "(";
  for (const auto& [key, own] : byProperty) {
    const std::string value = property(key, own, depth + 1, first, childOf(actual, key));
    if (!isBlank(value)) result += text(key, ":", value, ";");
  }
  return result + ")";
}

std::string Oracle::property(int key, const Events& events, std::size_t depth, const Event* creation,
                             const Slot* actual) {
  switch (kindOfProperty(key)) {
    case SlotKind::reg: return reg(events, depth, Value(), nullptr, creation, actual);
    case SlotKind::object: return object(events, depth, nullptr, actual);
    default: return collection(events, depth, kindOfProperty(key), elementKindOfProperty(key), actual);
  }
}

// One register: the events in the order of the log, and what they leave.
class RegisterOracle {
 public:
  using Event = Oracle::Event;
  using Events = Oracle::Events;

  // `born` is the insert that made the element, if the register is one.
  RegisterOracle(Value first, const Event* born, const Event* creation)
      : value(first), creation(creation), winner(born) {
    if (!born) return;
    hasWrite = true;
    stamp = born->stamp;
    if (isCollection(value.kind)) since = born->number;
  }

  Value value;

  void take(const Event* event, std::size_t depth) {
    otherKindAt[event] = {otherKind[0], otherKind[1]};
    if (event->in->path.size() != depth) return;
    switch (event->in->operation) {
      case Operation::set: return set(event);
      case Operation::add: adds.push_back(event); return;
      case Operation::clear: return clear(event);
      default: return;
    }
  }

  // A write that was made after a fast clock's write had arrived must not lose against it.
  void checkClocks() const {
    if (!winner || isDefault) return;
    for (const Event* event : candidates) {
      if (event == winner || event->in->isDefault || !event->isHonest || winner->isHonest) continue;
      if (event->made > winner->time + clockLead && event->stamp < winner->stamp)
        fail("a write made after the arrival of a fast clock's write lost");
    }
  }

  // The winning set, and all increments that are later.
  long long number() const {
    long long sum = value.number;
    for (const Event* add : adds) {
      const bool isLaterInChangeset = winner && stamp == add->stamp && winner->number < add->number;
      if (isDefault || !hasWrite || stamp < add->stamp || isLaterInChangeset) sum += add->in->delta;
    }
    return sum;
  }

  // What counts inside the collection that the register holds.
  Events contents(const Oracle& oracle, const Events& events, std::size_t depth) const {
    const Event* kill = Oracle::latest(clears);
    Events result;
    for (const Event* event : events) {
      const Instruction& in = *event->in;
      const bool isHere = in.path.size() == depth;
      const Operation o = in.operation;
      if (isHere && (o == Operation::set || o == Operation::add || o == Operation::clear)) continue;
      const ValueKind kind = isHere ? in.kind : in.path[depth].kind;
      if (kind != value.kind || event->number < since) continue;
      if (kill && !Oracle::sees(event, kill)) continue;
      const auto& others = otherKindAt.at(event);
      const Event* other = value.kind == ValueKind::list ? others.first : others.second;
      const int own = isHere ? in.ownKindWrite : in.path[depth].ownKindWrite;
      if (other && !Oracle::sees(event, other) && !oracle.isOwnKindWriteLater(event, own, other->stamp)) continue;
      result.push_back(event);
    }
    return result;
  }

 private:
  const Event* creation;  // of the object around the register
  const Event* winner;
  Stamp stamp;
  bool hasWrite = false, isDefault = false;
  int since = -1;  // the event that made the present contents
  const Event* otherKind[2] = {nullptr, nullptr};
  std::map<const Event*, std::pair<const Event*, const Event*>> otherKindAt;
  Events adds, candidates, clears;

  void win(const Event* event, Value won, bool asDefault) {
    value = won;
    stamp = event->stamp;
    hasWrite = true;
    isDefault = asDefault;
    winner = event;
    if (asDefault) return;
    if (won.kind != ValueKind::list) otherKind[0] = event;
    if (won.kind != ValueKind::dictionary) otherKind[1] = event;
  }
  void replaceContents(const Event* event) {
    clears.clear();
    since = event->number;
  }

  void set(const Event* event) {
    candidates.push_back(event);
    const auto isNew = [&](const Event* other) {
      return other && (other->version == event->version || !Oracle::sees(event, other));
    };
    const bool isEarlier = event->stamp < stamp;
    bool wins;
    if (!event->in->isDefault)
      wins = !hasWrite || isDefault || !isEarlier;
    else
      wins = hasWrite ? isDefault && !isEarlier && isNew(winner) : isNew(creation);
    if (!wins) return;
    const Value won = event->in->value;
    if (won.kind != value.kind || !isCollection(won.kind)) replaceContents(event);
    win(event, won, event->in->isDefault);
  }

  // A clear is first a write of its kind.
  void clear(const Event* event) {
    candidates.push_back(event);
    const Value won{event->in->kind, 0};
    const bool isEarlier = event->stamp < stamp;
    if (value.kind != won.kind) {
      if (hasWrite && !isDefault && isEarlier) return;
      replaceContents(event);
      win(event, won, false);
    } else {
      const Event* other = otherKind[kindIndex(won.kind)];
      if (other && !Oracle::sees(event, other) && event->stamp < other->stamp) return;
      for (const Event* earlier : clears)
        if (event->stamp < earlier->stamp) return;
      if (!isEarlier) win(event, {won.kind, value.number}, false);
    }
    clears.push_back(event);
  }
};

bool Oracle::isOwnKindWriteLater(const Event* event, int sequence, Stamp stamp) const {
  const auto own = stamps.find({event->replica, sequence});
  return sequence && own != stamps.end() && !(own->second < stamp);
}

std::string Oracle::reg(const Events& events, std::size_t depth, Value first, const Event* born,
                        const Event* creation, const Slot* actual) {
  RegisterOracle oracle(first, born, creation);
  for (const Event* event : events) oracle.take(event, depth);
  oracle.checkClocks();
  const std::string digits = std::to_string(oracle.value.number);
  switch (oracle.value.kind) {
    case ValueKind::null: return "n";
    case ValueKind::absent: return "-";
    case ValueKind::text: return '"' + digits + '"';
    case ValueKind::link: return '>' + digits;
    case ValueKind::number: return std::to_string(oracle.number());
    case ValueKind::list:
      return "L" + list(oracle.contents(*this, events, depth), depth, SlotKind::reg, actual);
    case ValueKind::dictionary:
      return "D" + dictionary(oracle.contents(*this, events, depth), depth, SlotKind::reg, actual);
  }
  return "";
}

// Of what stands in a collection counts what saw the latest clear.
std::string Oracle::collection(const Events& events, std::size_t depth, SlotKind kind, SlotKind elementKind,
                               const Slot* actual) {
  const auto isClear = [depth](const Event* event) {
    return event->in->path.size() == depth && event->in->operation == Operation::clear;
  };
  Events clears, contents;
  for (const Event* event : events)
    if (isClear(event)) clears.push_back(event);
  const Event* kill = latest(clears);
  for (const Event* event : events)
    if (!isClear(event) && (!kill || sees(event, kill))) contents.push_back(event);
  if (kind == SlotKind::list) return list(contents, depth, elementKind, actual);
  if (kind == SlotKind::dictionary) return dictionary(contents, depth, elementKind, actual);
  std::map<int, Events> byValue;
  for (const Event* event : contents) byValue[event->in->value.number].push_back(event);
  std::string result = "<";
  for (const auto& [value, own] : byValue)
    if (latest(own)->in->operation == Operation::setInsert) result += text(value, ",");
  return result + ">";
}

std::string Oracle::dictionary(const Events& events, std::size_t depth, SlotKind elementKind, const Slot* actual) {
  std::map<int, Events> byKey;
  for (const Event* event : events)
    if (event->in->path.size() > depth) byKey[event->in->path[depth].key].push_back(event);
  std::string result = "{";
  for (const auto& [key, own] : byKey) {
    const Slot* entry = childOf(actual, key);
    const std::string value = elementKind == SlotKind::object
                                  ? object(own, depth + 1, nullptr, entry)
                                  : reg(own, depth + 1, {ValueKind::absent, 0}, nullptr, nullptr, entry);
    if (value != "-" && value != "~") result += text(key, "=", value, ",");
  }
  return result + "}";
}

std::string Oracle::list(const Events& events, std::size_t depth, SlotKind elementKind, const Slot* actual) {
  ListEvents found;
  std::map<int, Events> inside;
  for (const Event* event : events) {
    const Instruction& in = *event->in;
    const bool isInside = in.path.size() > depth;
    const int element = isInside ? in.path[depth].key : in.operation == Operation::insert ? 0 : in.element;
    // The element can be unknown: it stood in a history that a restored server lost, even if it comes again later.
    if (element && !found.inserts.count(element)) continue;
    if (isInside)
      inside[element].push_back(event);
    else if (in.operation == Operation::insert)
      found.inserts[in.id] = event;
    else if (in.operation == Operation::erase)
      found.erased.insert(element);
    else if (in.operation == Operation::move)
      found.moves[element].push_back(event);
  }
  std::string result = "[";
  for (const auto& [id, insert] : found.inserts) {
    if (found.erased.count(id)) continue;
    found.alive.push_back(id);
    const Slot* element = childOf(actual, id);
    const std::string value = elementKind == SlotKind::object
                                  ? object(inside[id], depth + 1, insert, element)
                                  : reg(inside[id], depth + 1, insert->in->value, insert, nullptr, element);
    result += text(id, ":", value, ",");
  }
  if (actual) Order(found, *actual, wasTrimmed).check();
  return result + "]";
}

void Oracle::check() {
  std::map<int, Events> byObject;
  for (const Event& event : all) byObject[event.in->pk].push_back(&event);
  for (const auto& [pk, object] : node.objects)
    if (object.isPresent && !byObject.count(pk)) fail("an object that nobody made");
  for (const auto& [pk, events] : byObject) {
    const auto found = node.objects.find(pk);
    const Slot* actual = found == node.objects.end() ? nullptr : &found->second;
    const std::string expected = object(events, 0, nullptr, actual);
    const std::string given = actual ? canonical(*actual, true) : "~";
    if (expected != given) fail(text("pk ", pk, ": the rules say ", expected, ", the server has ", given));
  }
  if (schema != node.schema) fail("the schema is not that of the rules");
  if (ingested != node.ingested) fail("what was ingested is not what the rules say");
}

}  // namespace model
