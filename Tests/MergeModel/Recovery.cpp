// A reset: the file gets a new identity and the server's state as it is now, and what it had pending is written again
// on top.
#include <algorithm>
#include <cstdlib>

#include "Canonical.h"
#include "Rules.h"
#include "World.h"

namespace model {

// `isDoubtful`: somebody else can have used this identity, as the file was copied or the server restored.
void World::reset(int i, bool isDoubtful) {
  Client& client = clients[std::size_t(i)];
  Session& session = sessions[std::size_t(i)];
  const Node& node = nodes[std::size_t(session.node)];
  counters.resets++;
  catchUp(session.node, head());
  if (node.isRetired(client.replica)) isDoubtful = true;  // it has a successor already
  // From here on no upload of the old identity is accepted, so that none of them counts twice.
  if (keeps(Rule::fenceBeforeReset)) {
    LogEntry entry;
    entry.kind = EntryKind::retire;
    entry.replica = client.replica;
    append(entry);
    catchUp(session.node, head());
  }
  const std::deque<Pending> changesets = notIntegrated(client, node);
  const std::map<int, Slot> oldBase = client.base;
  // The server tells the refusals of the old identity.
  for (const HistoryEntry& entry : node.history)
    if (entry.isAccepted && entry.replica == client.replica && !entry.refused.empty())
      client.toldRefusals.insert(entry.uid);

  client.replica = registerReplica(client, client.replica);
  catchUp(session.node, head());
  offerFirstNumber(client);
  client.numbers.push_back(client.replica);
  client.ownIndex = int(client.numbers.size()) - 1;
  client.wasCopied = false;
  client.lastUid = 0;
  client.tag = log.back()->tag;
  takeState(client, node);
  recover(i, changesets, oldBase, isDoubtful);

  const int number = session.node;
  session = Session();
  session.isOpen = true;
  session.node = number;
  session.told = client.cursor;
  session.querySet = client.querySet;
  session.read = client.read;
  session.wantedSet = client.wantedSet;
  session.wantedNumber = session.setNumber = session.sentSet = client.newestSet;
}

// The pending changesets that the server has not integrated, by content and not by number alone.
std::deque<Pending> World::notIntegrated(const Client& client, const Node& node) const {
  std::deque<Pending> kept;
  if (isBroken(Rule::recoverPending)) return kept;
  const int last = node.lastSequence(client.replica);
  for (const Pending& changeset : client.pending) {
    if (isBroken(Rule::recoverByContent)) {
      if (kept.empty() && changeset.sequence <= last) continue;
    } else if (keeps(Rule::recoverOnce) && node.uidOf(client.replica, changeset.sequence) == changeset.uid) {
      continue;
    }
    kept.push_back(changeset);
  }
  return kept;
}

// The base becomes the whole view at the server's version.
void World::takeState(Client& client, const Node& node) {
  if (client.sets[client.newestSet].isInvalid) client.wantedSet = client.querySet;
  const int mask = client.wantedSet;
  client.sets.clear();
  client.chooseSet(mask);
  client.setInForce = client.newestSet;
  receivedSets[{client.replica, client.newestSet}] = mask;
  lastValidSet[client.replica] = {client.newestSet, mask};
  validMasks[client.replica].insert(mask);

  client.ids = client.sequence = 0;
  client.uidOfSequence.clear();
  client.acknowledgedStamps.clear();
  client.pending.clear();
  client.base.clear();
  client.cursor = client.sawEverythingSince = node.version;
  client.querySet = client.wantedSet;
  client.read = node.rightsOf(client.user, client.replica).read;
  client.scope = node.scopeAt(client.replica, node.version);
  client.clock = std::max(client.clock, node.mark);
  client.schema = node.schema;
  const ReplicaMap toIndex = [&client](int number) { return client.indexOf(number); };
  for (const auto& [pk, object] : node.objects) {
    if (!object.isPresent || !matches(client.querySet & client.read, filterOf(object))) continue;
    client.base[pk] = translated(object, toIndex);
    trim(client.base[pk], pendingVersion);
  }
}

namespace {

const Slot* follow(const Slot* slot, const std::vector<Step>& path) {
  for (const Step& step : path) {
    if (!slot) return nullptr;
    const auto found = slot->children.find(step.key);
    slot = found == slot->children.end() ? nullptr : &found->second;
  }
  return slot;
}

// A left neighbour that is gone is replaced by the nearest one to its left in the old list that still exists; the
// right neighbour becomes the one that follows.
void chooseNeighbours(Instruction& in, const Slot* oldList, const Slot* list) {
  if (!list) return;
  if (in.left && livePosition(*list, in.left) < 0) {
    int nearest = 0;
    if (oldList) {
      for (int k = livePosition(*oldList, in.left); k >= 0; k--) {
        const Position& p = oldList->positions[std::size_t(k)];
        if (!p.isLive || livePosition(*list, p.element) < 0) continue;
        nearest = p.element;
        break;
      }
    }
    in.left = nearest;
  }
  if (in.left == in.element) in.left = 0;
  in.right = 0;
  const std::size_t from = in.left ? std::size_t(livePosition(*list, in.left) + 1) : 0;
  for (std::size_t k = from; k < list->positions.size(); k++) {
    const Position& p = list->positions[k];
    if (!p.isLive || p.element == in.element) continue;
    in.right = p.element;
    break;
  }
}

}  // namespace

// Writes changesets again: upon the server's version, with new stamps and sequences. Element ids are kept, but not if
// a copy of the file can have used them.
void World::recover(int i, const std::deque<Pending>& changesets, const std::map<int, Slot>& oldBase,
                    bool isDoubtful) {
  Client& client = clients[std::size_t(i)];
  std::map<int, int> newIds;
  if (isDoubtful && keeps(Rule::renewIdsOfCopies))
    for (const Pending& changeset : changesets)
      for (const Instruction& in : changeset.instructions)
        if (in.makesPosition()) newIds[in.id] = newElementId(client);
  const auto renew = [&](int& id) {
    const auto found = newIds.find(id);
    if (found != newIds.end()) id = found->second;
  };
  std::map<int, int> newSequences;
  const auto renumber = [&](int& sequence) {
    const auto found = newSequences.find(sequence);
    if (sequence) sequence = found == newSequences.end() ? 0 : found->second;
  };

  client.computeView();
  for (const Pending& old : changesets) {
    Pending changeset;
    changeset.sequence = ++client.sequence;
    newSequences[old.sequence] = changeset.sequence;
    changeset.base = client.cursor;
    changeset.stamp = newStamp(client);
    changeset.uid = old.uid;
    changeset.previous = client.lastUid;
    changeset.made = time;
    changeset.isHonest = std::abs(client.skew) <= clockLead;
    changeset.setNumber = client.newestSet;
    changeset.setWhenWritten = client.wantedSet;
    changeset.scope = client.scope;
    client.uidOfSequence[changeset.sequence] = changeset.uid;
    client.lastUid = changeset.uid;
    client.pending.push_back(changeset);
    Pending& written = client.pending.back();
    const Context context = client.contextOf(written);
    const auto write = [&](const Instruction& in) {
      written.instructions.push_back(in);
      client.perform(in, context);
    };

    const bool lostScope = old.scope && !client.scope;
    for (Instruction in : old.instructions) {
      if (in.isOnObject()) {
        for (Step& step : in.path) renew(step.key);
        for (int* id : {&in.id, &in.element, &in.left, &in.right}) renew(*id);
      }
      if (lostScope && in.setsFilter()) continue;
      for (Step& step : in.path) renumber(step.ownKindWrite);
      renumber(in.ownKindWrite);
      if (in.makesPosition()) {
        const auto object = oldBase.find(in.pk);
        const Slot* oldList = follow(object == oldBase.end() ? nullptr : &object->second, in.path);
        chooseNeighbours(in, oldList, follow(client.see(in.pk), in.path));
      }
      write(in);
      // The scope is gone, but what was created inside it stays inside.
      if (lostScope && in.operation == Operation::create) {
        Instruction set = instruction(in.pk, Operation::set, {{property::filter}});
        set.value = {ValueKind::number, old.scope - 1};
        write(set);
      }
    }
  }
}

}  // namespace model
