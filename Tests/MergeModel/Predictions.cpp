// What a client showed is compared with what its changeset did: always where nothing was concurrent, and where the
// client held all that the server held.
#include <algorithm>

#include "Canonical.h"
#include "World.h"

namespace model {

// Nothing is concurrent with the changeset, nor with what it was written upon.
bool World::wasNothingConcurrent(const Node& node, const LogEntry& entry) const {
  if (entry.shown.empty()) return false;
  int base = entry.base;
  for (int version = node.version; version > base; version--) {
    const HistoryEntry& other = node.history[std::size_t(version)];
    if (other.kind != EntryKind::upload) return false;
    if (!other.isAccepted) continue;
    if (other.replica != entry.replica || !other.refused.empty()) return false;
    base = std::min(base, other.base);
  }
  return true;
}

// The client that wrote the changeset, if it still waits for it and holds all that the server holds.
const Client* World::knowingWriter(const Node& node, const LogEntry& entry) const {
  const Client* writer = nullptr;
  for (const Client& client : clients) {
    if (client.replica != entry.replica) continue;
    const bool waits = !client.pending.empty() && client.pending.front().uid == entry.uid;
    if (!writer || waits) writer = &client;
  }
  if (!writer || !writer->seesEverything() || writer->sawEverythingSince > entry.base) return nullptr;
  if (writer->cursor != node.version || writer->pending.empty()) return nullptr;
  const Pending& first = writer->pending.front();
  const bool isNext = first.sequence == entry.sequence && first.uid == entry.uid &&
                      node.lastSequence(entry.replica) + 1 == entry.sequence;
  return isNext ? writer : nullptr;
}

// Notes what the client shows after each of its pending changesets.
void World::predictQueue(const Node& node, const Client& client) {
  Client other = client;
  other.pending.clear();
  for (const Pending& changeset : client.pending) {
    other.pending.push_back(changeset);
    other.computeView();
    std::map<int, std::string> shown;
    for (const Instruction& in : changeset.instructions) {
      if (!in.isOnObject()) continue;
      const auto object = other.view.find(in.pk);
      const auto before = other.base.find(in.pk);
      if (before != other.base.end() && before->second.isPresent && object != other.view.end())
        shown[in.pk] = canonical(other.withNumbers(object->second));
    }
    queuePredictions[changeset.uid] = {node.version, client.replica, shown};
  }
}

// The objects of the first pending changeset as the client shows them. A delete of what was never shown is not told.
std::map<int, Slot> World::predictFirst(const Node& node, const Client& client) const {
  Client other = client;
  other.pending.resize(1);
  other.computeView();
  std::map<int, Slot> predicted;
  for (const auto& [pk, object] : other.view) {
    const auto now = node.objects.find(pk);
    const auto held = client.base.find(pk);
    const bool isKilled = now != node.objects.end() && !now->second.isPresent && now->second.kill.exists;
    const bool isShown = held != client.base.end() && held->second.isPresent;
    if (!isKilled || isShown) predicted[pk] = other.withNumbers(object);
  }
  return predicted;
}

// Nothing stood between the prediction and the entry but what the client had predicted as well.
bool World::isQueueUndisturbed(const Node& node, const LogEntry& entry) const {
  const auto found = queuePredictions.find(entry.uid);
  if (found == queuePredictions.end() || found->second.replica != entry.replica) return false;
  for (int version = found->second.version + 1; version < node.version; version++) {
    const HistoryEntry& other = node.history[std::size_t(version)];
    if (other.kind == EntryKind::trim) continue;
    if (other.kind != EntryKind::upload) return false;
    if (other.isAccepted && (other.replica != entry.replica || !other.refused.empty())) return false;
  }
  return true;
}

void World::applyChecked(Node& node, const LogEntry& entry) {
  const bool isAlone = wasNothingConcurrent(node, entry);
  const Client* writer = knowingWriter(node, entry);
  std::map<int, Slot> predicted;
  if (writer) {
    predictQueue(node, *writer);
    predicted = predictFirst(node, *writer);
  }
  node.apply(entry);
  const HistoryEntry& result = node.history.back();
  if (!result.isAccepted || !result.refused.empty()) return;

  const auto now = [&](int pk, bool isSorted) {
    const auto object = node.objects.find(pk);
    return object == node.objects.end() ? std::string("~") : canonical(object->second, isSorted);
  };
  if (isAlone) {
    counters.comparedViews++;
    for (const auto& [pk, shown] : entry.shown)
      if (now(pk, false) != shown)
        fail(text("the view differs though nothing was concurrent: pk ", pk, " showed ", shown, " is ",
                  now(pk, false)));
  }
  if (isQueueUndisturbed(node, entry)) {
    for (const auto& [pk, shown] : queuePredictions[entry.uid].shown) {
      counters.queuePredictions++;
      if (now(pk, false) != shown)
        fail(text("the prediction of a queue differs: pk ", pk, " showed ", shown, " is ", now(pk, false)));
    }
  }
  for (const auto& [pk, object] : predicted) {
    counters.predictions++;
    for (bool isSorted : {true, false})
      if (now(pk, isSorted) != canonical(object, isSorted))
        fail(text(isSorted ? "the prediction differs: pk " : "the predicted order differs: pk ", pk, " showed ",
                  canonical(object, isSorted), " is ", now(pk, isSorted)));
  }
}

}  // namespace model
