// A node integrates the entries of the log. It reads its own state and the entry and nothing else, so that all nodes
// agree.
#include "Node.h"

#include <algorithm>

#include "Canonical.h"
#include "Rules.h"
#include "Run.h"

namespace model {

Rights Node::rightsAt(int user, int version) const {
  Rights found;
  const auto entries = rights.find(user);
  if (entries != rights.end())
    for (const auto& [from, granted] : entries->second)
      if (from <= version) found = granted;
  return found;
}

bool Node::didRightsMove(int user, int replica, int from, int to) const {
  const auto entries = rights.find(user);
  if (entries != rights.end())
    for (const auto& [since, granted] : entries->second)
      if (since > from && since <= to) return true;
  return scopeAt(replica, from) != scopeAt(replica, to);
}

int Node::scopeAt(int replica, int version) const {
  const auto found = replicas.find(replica);
  if (found == replicas.end()) return 0;
  const ReplicaState& state = found->second;
  return state.flexibleSince && state.flexibleSince <= version ? 0 : state.scope;
}

// The scope is part of both rights.
int Node::scopeMask(int replica, int version) const {
  const int scope = scopeAt(replica, version);
  return scope && keeps(Rule::scopeIsRight) ? 1 << (scope - 1) : everything;
}

Rights Node::rightsOf(int user, int replica) const {
  const Rights granted = rightsAt(user, version);
  const int mask = scopeMask(replica, version);
  return {granted.read & mask, granted.write & mask};
}

bool Node::isRetired(int replica) const {
  const auto found = replicas.find(replica);
  return found != replicas.end() && found->second.isRetired;
}

int Node::lastSequence(int replica) const {
  const auto found = replicas.find(replica);
  return found == replicas.end() ? 0 : found->second.lastSequence;
}

int Node::uidOf(int replica, int sequence) const {
  const auto found = replicas.find(replica);
  if (found == replicas.end()) return 0;
  const auto uid = found->second.uidOfSequence.find(sequence);
  return uid == found->second.uidOfSequence.end() ? 0 : uid->second;
}

bool Node::isPresent(int pk) const {
  const auto found = objects.find(pk);
  return found != objects.end() && found->second.isPresent;
}

void Node::apply(const LogEntry& entry) {
  version++;
  HistoryEntry result;
  result.kind = entry.kind;
  result.replica = entry.replica;
  result.sequence = entry.sequence;
  result.uid = entry.uid;
  result.time = entry.time;
  result.horizon = horizon;
  result.isForged = entry.isForged;
  switch (entry.kind) {
    case EntryKind::trim: trim(entry.horizon); break;
    case EntryKind::rights: rights[entry.user].push_back({version, {entry.read, entry.write}}); break;
    case EntryKind::registration: {
      ReplicaState& state = replicas[entry.replica];
      state.isRegistered = true;
      state.scope = entry.scope;
      if (entry.predecessor) {
        state.predecessors = replicas[entry.predecessor].predecessors;
        state.predecessors.insert(entry.predecessor);
      }
      break;
    }
    case EntryKind::flexible:  // the first such entry counts
      if (!replicas[entry.replica].flexibleSince) replicas[entry.replica].flexibleSince = version;
      break;
    case EntryKind::retire:
      if (keeps(Rule::fenceBeforeReset)) replicas[entry.replica].isRetired = true;
      break;
    case EntryKind::upload: integrate(entry, result); break;
  }
  for (const ObjectChange& change : result.changes) versionsOf[change.pk].push_back(version);
  markAt.push_back(mark);
  history.push_back(std::move(result));
}

void Node::trim(int wanted) {
  horizon = std::max(horizon, std::min(wanted, version - 1));
  const int cut = keeps(Rule::trimAtHorizon) ? horizon : horizon + 2;
  for (auto i = objects.begin(); i != objects.end();) {
    model::trim(i->second, cut);
    if (!i->second.isPresent && !i->second.kill.exists)
      i = objects.erase(i);
    else
      ++i;
  }
}

// Whether an upload counts. An upload that does not count has no effect, whatever stands in it.
bool Node::isWellFormed(const LogEntry& entry, const ReplicaState& writer) const {
  if (keeps(Rule::testDuplicates)) {
    // Two nodes can both append a changeset.
    if (entry.sequence <= writer.lastSequence) {
      counters.duplicates++;
      return false;
    }
    if (entry.sequence != writer.lastSequence + 1) {
      counters.gaps++;
      return false;
    }
  }
  if (entry.base < horizon) {
    counters.belowHorizon++;
    return false;
  }
  if ((entry.base >= version || entry.base < 0) && keeps(Rule::baseInLog)) {
    counters.forged++;
    return false;
  }
  // Each changeset names the one before it. Three of the broken rules leave gaps; they are found by other checks.
  const bool chains =
      keeps(Rule::testDuplicates) && keeps(Rule::recoverByContent) && keeps(Rule::keepUntilAcknowledged);
  if (entry.previous != writer.lastUid && chains) {
    counters.forged++;
    return false;
  }
  if (keeps(Rule::onlyOwnIds)) {
    for (const Instruction& in : entry.instructions) {
      if (!in.makesPosition()) continue;
      const int owner = in.id / idsOfReplica;
      if (owner == entry.replica || writer.predecessors.count(owner)) continue;
      counters.forged++;
      return false;
    }
  }
  return true;
}

// The stamp that counts. A stamp far ahead of the server's clock is replaced by the time of arrival, and each stamp is
// lifted above everything that its writer had seen.
Stamp Node::boundStamp(const LogEntry& entry, const ReplicaState& writer) const {
  const int seen = std::max(markAt[std::size_t(std::min(entry.base, version - 1))], writer.lastClock);
  Stamp stamp = entry.stamp;
  if (stamp.clock > (entry.time + clockLead) * ticks && keeps(Rule::boundClocks)) {
    stamp.clock = std::max(mark + 1, entry.time * ticks);
    counters.clampedStamps++;
  }
  if (stamp.clock <= seen && keeps(Rule::seenIsOlder)) stamp.clock = seen + 1;
  return stamp;
}

void Node::integrate(const LogEntry& entry, HistoryEntry& result) {
  const auto found = replicas.find(entry.replica);
  if (found == replicas.end() || !found->second.isRegistered || found->second.isRetired) return;
  ReplicaState& writer = found->second;
  if (!isWellFormed(entry, writer)) return;

  const Stamp stamp = boundStamp(entry, writer);
  mark = std::max(mark, stamp.clock);
  stamps[{entry.replica, entry.sequence}] = stamp;
  writer.lastClock = std::max(writer.lastClock, stamp.clock);
  writer.lastSequence = entry.sequence;
  writer.lastUid = entry.uid;
  writer.uidOfSequence[entry.sequence] = entry.uid;

  result.isAccepted = true;
  result.stamp = stamp;
  result.scope = scopeAt(entry.replica, entry.base);  // that of the time when it was written
  result.base = entry.base;
  result.instructions = entry.instructions;
  result.made = entry.made;
  result.isHonest = entry.isHonest;

  std::vector<int> pks;
  for (const Instruction& in : entry.instructions) {
    if (in.operation == Operation::addProperty) {
      addProperty(in, result);
    } else if (in.operation == Operation::ingest) {
      if (isBroken(Rule::ingestOnce))
        ingested[in.pk] += in.value.number;
      else
        ingested.emplace(in.pk, in.value.number);
    } else if (std::find(pks.begin(), pks.end(), in.pk) == pks.end()) {
      pks.push_back(in.pk);
    }
  }

  Integration integration{entry, result, writer, {}, rightsAt(entry.user, version)};
  const int mask = scopeMask(entry.replica, entry.base);
  integration.rights.read &= mask;
  integration.rights.write &= mask;
  const auto stampOf = [this, &entry](int sequence) {
    const auto known = stamps.find({entry.replica, sequence});
    return known == stamps.end() ? Stamp() : known->second;
  };
  integration.context = {entry.replica, entry.base, stamp, version, stampOf, result.scope};
  for (int pk : pks) integrateObject(pk, integration);
}

void Node::addProperty(const Instruction& in, HistoryEntry& result) {
  const auto known = schema.find(in.id);
  if (known == schema.end()) {
    schema[in.id] = in.delta;
  } else if (known->second != in.delta) {
    if (isBroken(Rule::firstDefinitionCounts)) known->second = in.delta;
    result.refused.push_back(-in.id);
  }
}

// The instructions on one object are judged together: if the object is refused, it stays as it was.
void Node::integrateObject(int pk, Integration& integration) {
  const LogEntry& entry = integration.entry;
  HistoryEntry& result = integration.result;
  const auto found = objects.find(pk);
  const Slot before = found == objects.end() ? newObject() : found->second;
  Slot after = before;
  std::vector<Effect> effects;
  bool hasOtherType = false;
  for (std::size_t i = 0; i < entry.instructions.size(); i++) {
    const Instruction& in = entry.instructions[i];
    if (!in.isOn(pk)) continue;
    if (in.type) {
      const auto definition = schema.find(in.path[0].key);
      if (definition == schema.end() || definition->second != in.type) {
        hasOtherType = keeps(Rule::refuseOtherTypes);
        continue;
      }
    }
    std::vector<Effect> own;
    decide(after, in, integration.context, own);
    if (in.operation == Operation::create && !own.empty()) result.effectiveCreations.insert(int(i));
    for (const Effect& effect : own) {
      model::apply(after, effect, true);
      effects.push_back(effect);
    }
  }
  const Refusal refusal = judge(pk, before, after, hasOtherType, !effects.empty(), integration);
  if (refusal.reason != Reason::none) {
    result.refused.push_back(pk);
    result.refusals[pk] = refusal;
    counters.refused++;
    if (isBroken(Rule::refusalLeavesObject)) objects[pk] = after;
    return;
  }
  if (effects.empty()) return;

  ObjectChange change;
  change.pk = pk;
  change.wasPresent = before.isPresent;
  change.filterBefore = filterOf(before);
  change.isPresent = after.isPresent;
  change.filterAfter = filterOf(after);
  const std::vector<Effect> written = effectsAsWritten(entry.instructions, pk, integration.context);
  change.isAsWritten = std::equal(written.begin(), written.end(), effects.begin(), effects.end(), isSame) ||
                       isBroken(Rule::asWrittenIsExact);
  change.effects = std::move(effects);
  objects[pk] = std::move(after);
  result.changes.push_back(std::move(change));
}

Refusal Node::judge(int pk, const Slot& before, const Slot& after, bool hasOtherType, bool hasEffects,
                    Integration& integration) {
  const LogEntry& entry = integration.entry;
  const Rights rights = integration.rights;
  std::map<int, int>& refusedKeys = integration.writer.refusedKeys;
  const int filter = filterOf(after);
  const bool isCreation = creates(entry.instructions, pk);
  Reason reason = Reason::none;

  const auto refusedAt = refusedKeys.find(pk);
  if (isCreation && before.isPresent && keeps(Rule::creationNeedsSight) && !didSee(entry, pk, before)) {
    // Nobody takes over the object of somebody else by creating it.
    reason = Reason::keyInUse;
    refusedKeys[pk] = version;
    counters.keysInUse++;
  } else if (!isCreation && refusedAt != refusedKeys.end() && entry.base < refusedAt->second &&
             keeps(Rule::refuseEditsOnTop)) {
    // It was written on top of a creation that was refused so.
    reason = Reason::keyInUse;
    counters.editsOnTop++;
  } else if (isCreation) {
    refusedKeys.erase(pk);
  }
  if (hasOtherType && reason == Reason::none) reason = Reason::otherType;
  if (!hasEffects && reason == Reason::none) return {};

  // Who may not read may not write.
  const bool mayChange = matches(rights.read & rights.write, filterOf(before));
  const bool isForbidden = (before.isPresent && !mayChange && keeps(Rule::oldStateWritable)) ||
                           (after.isPresent && !matches(rights.write, filter) && keeps(Rule::newStateWritable));
  if (isForbidden && reason == Reason::none) reason = Reason::noRight;
  if (keeps(Rule::creationInQuerySet) && isCreation && after.isPresent && reason == Reason::none &&
      !matches(entry.querySets & rights.read, filter))
    reason = matches(rights.read, filter) ? Reason::outsideSet : Reason::noRight;
  if (isBroken(Rule::refusalIsPure) && id == 1 && after.isPresent && filter == 3) reason = Reason::otherType;
  return {reason, filter};
}

// A creation of an object that is present: did its writer see the object at its base, by an own change since, or now?
bool Node::didSee(const LogEntry& entry, int pk, const Slot& now) const {
  const int mask = scopeMask(entry.replica, entry.base) & entry.querySets;
  const int readAtBase = rightsAt(entry.user, entry.base).read & mask;
  const int readNow = rightsAt(entry.user, version).read & mask;
  bool sees = now.isPresent && matches(readNow, filterOf(now));
  bool isFirst = true;
  const auto found = versionsOf.find(pk);
  if (found != versionsOf.end()) {
    for (int changedAt : found->second) {
      if (changedAt <= entry.base) continue;
      const HistoryEntry& other = history[std::size_t(changedAt)];
      for (const ObjectChange& change : other.changes) {
        if (change.pk != pk) continue;
        if (isFirst && change.wasPresent && matches(readAtBase, change.filterBefore)) sees = true;
        isFirst = false;
        const bool isOwn = other.replica == entry.replica;
        if (isOwn && change.isPresent && matches(readNow, change.filterAfter)) sees = true;
      }
    }
  }
  return sees || (isFirst && now.isPresent && matches(readAtBase, filterOf(now)));
}

std::string Node::describe() const {
  std::string all = text(version, "/", horizon, "/", mark);
  for (const auto& [pk, object] : objects) {
    all += text("#", pk);
    model::describe(object, all);
  }
  for (const auto& [key, type] : schema) all += text("S", key, "=", type);
  for (const auto& [key, value] : ingested) all += text("I", key, "=", value);
  for (const auto& [number, state] : replicas)
    all += text("c", number, ":", state.lastSequence, state.isRetired ? "R" : "", "s", state.scope, ".",
                state.flexibleSince, "u", state.lastUid, "k", state.refusedKeys.size());
  for (const HistoryEntry& entry : history)
    for (int pk : entry.refused) all += text("f", pk);
  return all;
}

}  // namespace model
