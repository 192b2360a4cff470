#include "Checks.h"

#include "Canonical.h"
#include "Oracle.h"
#include "Rules.h"
#include "Run.h"

namespace model {

namespace {

// Whether all clients have all. A client that hangs without any message on its way connects anew.
bool hasAll(World& world, bool isBusy) {
  bool isDone = !isBusy;
  for (std::size_t i = 0; i < world.clients.size(); i++) {
    const Client& client = world.clients[i];
    if (world.late.count(int(i))) continue;
    if (client.pending.empty() && client.cursor == world.head() && client.querySet == client.wantedSet) continue;
    isDone = false;
    if (!isBusy) world.disconnect(int(i), false);
  }
  return isDone;
}

bool exchangeMessages(World& world, int round) {
  bool isBusy = false;
  const int count = int(world.clients.size());
  for (int i = 0; i < count; i++) {
    if (world.late.count(i)) continue;
    const Session& session = world.sessions[std::size_t(i)];
    if (!session.isOpen || session.mustReset) {
      world.disconnect(i, false);
      world.connect(i, (round + i) % 2);
    }
    for (int k = 0; k < 200 && world.clientSends(i); k++) isBusy = true;
    for (int k = 0; k < 200 && world.serverReceives(i); k++) isBusy = true;
  }
  for (int n = 0; n < int(world.nodes.size()); n++)
    if (world.nodes[std::size_t(n)].version < world.head()) {
      isBusy = true;
      world.catchUp(n, world.head());
    }
  for (int i = 0; i < count; i++) {
    if (world.serverSends(i, world.random.percent(30))) isBusy = true;
    while (world.clientReceives(i)) isBusy = true;
  }
  return isBusy;
}

}  // namespace

void quiesce(World& world) {
  const bool wasLossy = world.isLossy;
  world.isLossy = false;
  for (const auto& [node, upload] : world.stragglers) world.accept(node, upload, nullptr);
  world.stragglers.clear();
  bool isDone = false;
  for (int round = 0; round < 40 && !isDone && failure.empty(); round++)
    isDone = hasAll(world, exchangeMessages(world, round));
  if (!isDone) fail("messages do not come to an end");
  world.isLossy = wasLossy;
}

namespace {

bool hasRecords(const Slot& slot) {
  return describe(slot).find('@') != std::string::npos;
}

// A client holds exactly its view, and nothing else.
void checkClient(const Client& client, const Node& node) {
  const int read = node.rightsOf(client.user, client.replica).read;
  if (client.read != read) fail("a client does not have its rights");
  if (!client.view.empty()) fail("a client keeps a view without pending changes");
  std::set<int> inView;
  for (const auto& [pk, object] : node.objects) {
    if (!object.isPresent || !matches(client.querySet & read, filterOf(object))) continue;
    inView.insert(pk);
    const Slot* held = client.see(pk);
    if (!held)
      fail(text("a client lacks an object of its view: pk ", pk));
    else if (canonical(client.withNumbers(*held)) != canonical(object))
      fail(text("a client differs: ", canonical(client.withNumbers(*held)), " server ", canonical(object)));
  }
  for (const auto& [pk, object] : client.base) {
    if (object.isPresent && !inView.count(pk)) fail(text("a client holds an object outside its view: pk ", pk));
    if (hasRecords(object)) fail("a client keeps records without pending changes");
    if (!object.isPresent) fail("a client keeps an absent object");
  }
  if (client.schema != node.schema) fail("a client has another schema");
}

// Each changeset is integrated exactly once; a copied file can bring what was pending in it up to three times.
void checkCounts(const World& world, const Node& node) {
  std::map<int, int> integrated;
  for (const HistoryEntry& entry : node.history)
    if (entry.isAccepted) integrated[entry.uid]++;
  for (const auto& writer : world.writerOf) {
    const int uid = writer.first;
    if (world.discarded.count(uid)) continue;
    const int times = integrated[uid];
    const int least = world.lost.count(uid) ? 0 : 1, most = world.copied.count(uid) ? 3 : 1;
    if (times < least || times > most) fail(text("a changeset was integrated ", times, " times"));
  }
  for (const HistoryEntry& entry : node.history) {
    if (!entry.isAccepted || entry.refused.empty()) continue;
    const auto writer = world.writerOf.find(entry.uid);
    const bool isExempt = writer == world.writerOf.end() || world.discarded.count(entry.uid) ||
                          world.copied.count(entry.uid) || world.lost.count(entry.uid);
    if (!isExempt && !world.clients[std::size_t(writer->second)].toldRefusals.count(entry.uid))
      fail("a refusal was not reported");
  }
}

// A trim to the end of the log leaves nothing but what is visible.
void checkFullTrim(const Node& node) {
  Node trimmed;
  trimmed.objects = node.objects;
  trimmed.version = node.version;
  trimmed.horizon = node.horizon;
  trimmed.history = node.history;
  trimmed.markAt = node.markAt;
  LogEntry entry;
  entry.kind = EntryKind::trim;
  entry.horizon = node.version;
  trimmed.apply(entry);
  for (const auto& [pk, object] : trimmed.objects) {
    if (hasRecords(object)) fail("a record outlives the horizon");
    for (const auto& child : object.children)
      for (const Position& p : child.second.positions)
        if (!p.isLive) fail("a dead position outlives the horizon");
    if (!object.isPresent) fail("a deleted object outlives the horizon");
    if (canonical(object) != canonical(node.objects.at(pk))) fail("trim changes what is visible");
  }
  for (const auto& [pk, object] : node.objects)
    if (object.isPresent && !trimmed.objects.count(pk)) fail("trim loses an object");
}

// What was seen has a smaller stamp, as the client wrote it and as the server bounded it.
void checkStamps(const World& world, const Node& node) {
  std::vector<int> marks(1, 0);
  std::map<int, int> lastOf;
  for (std::size_t version = 1; version < node.history.size(); version++) {
    const LogEntry& entry = *world.log[version - 1];
    const HistoryEntry& result = node.history[version];
    marks.push_back(marks.back());
    if (!result.isAccepted || result.isForged || entry.base >= int(version)) continue;
    const int seen = marks[std::size_t(entry.base)], clock = result.stamp.clock;
    const auto last = lastOf.find(entry.replica);
    if (entry.stamp.clock <= seen) fail("a client wrote with a stamp that is not above what it had seen");
    if (clock <= seen || (last != lastOf.end() && clock <= last->second)) fail("what was seen is not older");
    lastOf[entry.replica] = clock;
    marks.back() = std::max(marks.back(), clock);
  }
}

// What was accepted was permitted, and what was refused was forbidden. Rights, scopes and the filter fields of objects
// are followed from the log and the changes alone.
class Permissions {
 public:
  Permissions(const World& world, const Node& node) : world(world), node(node) {}

  void check() {
    for (version = 1; version < int(node.history.size()); version++) {
      entry = world.log[std::size_t(version - 1)].get();
      result = &node.history[std::size_t(version)];
      if (entry->kind == EntryKind::rights) rightsOf[entry->user].push_back({version, {entry->read, entry->write}});
      if (entry->kind == EntryKind::registration) scopeOf[entry->replica] = entry->scope;
      if (entry->kind == EntryKind::flexible) flexibleSince.emplace(entry->replica, version);
      if (result->isAccepted) checkEntry();
    }
  }

 private:
  struct Known {
    int version, filter;  // -1: absent
  };
  const World& world;
  const Node& node;
  int version = 0;
  const LogEntry* entry = nullptr;
  const HistoryEntry* result = nullptr;
  int scopeMask = everything;
  Rights rights;
  std::map<int, std::vector<std::pair<int, Rights>>> rightsOf;
  std::map<int, int> scopeOf, flexibleSince;
  std::map<int, std::vector<Known>> states;

  Rights rightsAt(int at) {
    Rights found;
    for (const auto& [since, granted] : rightsOf[entry->user])
      if (since <= at) found = granted;
    return found;
  }
  int filterAt(int pk, int at) {
    int found = -1;
    for (const Known& known : states[pk])
      if (known.version <= at) found = known.filter;
    return found;
  }

  bool didSee(int pk) {
    const int now = filterAt(pk, version - 1), atBase = filterAt(pk, entry->base);
    const int mask = entry->querySets & rights.read;
    if (now >= 0 && matches(mask, now)) return true;
    if (atBase >= 0 && matches(entry->querySets & scopeMask & rightsAt(entry->base).read, atBase)) return true;
    for (const Known& known : states[pk])
      if (known.version > entry->base && known.filter >= 0 && matches(mask, known.filter) &&
          world.log[std::size_t(known.version - 1)]->replica == entry->replica)
        return true;
    return false;
  }

  void checkEntry() {
    if (result->isForged) fail("a forged entry took effect");
    const int scope = scopeOf[entry->replica];
    const auto flexible = flexibleSince.find(entry->replica);
    const bool isFlexible = flexible != flexibleSince.end() && flexible->second <= entry->base;
    scopeMask = scope && !isFlexible ? 1 << (scope - 1) : everything;
    rights = rightsAt(version);
    rights.read &= scopeMask;
    rights.write &= scopeMask;
    for (const ObjectChange& change : result->changes) checkChange(change);
    for (const auto& [pk, refusal] : result->refusals) checkRefusal(pk, refusal);
    for (const ObjectChange& change : result->changes) checkNotOnTop(change.pk);
    for (const ObjectChange& change : result->changes)
      states[change.pk].push_back({version, change.isPresent ? change.filterAfter : -1});
  }

  void checkChange(const ObjectChange& change) {
    const bool isCreation = creates(entry->instructions, change.pk);
    const bool isForbidden =
        (change.wasPresent && !matches(rights.read & rights.write, change.filterBefore)) ||
        (change.isPresent && !matches(rights.write, change.filterAfter)) ||
        (isCreation && change.isPresent && !matches(entry->querySets & rights.read, change.filterAfter));
    if (isForbidden) fail("a forbidden change was accepted");
    if (change.isPresent && !matches(scopeMask, change.filterAfter))
      fail("a partition replica changed something outside its partition");
    if (isCreation && change.wasPresent && !didSee(change.pk))
      fail("a creation took over an object that its writer could not see");
  }

  void checkRefusal(int pk, const Refusal& refusal) {
    const bool isOfCreation = refusal.reason == Reason::keyInUse && creates(entry->instructions, pk);
    if (isOfCreation && (filterAt(pk, version - 1) < 0 || didSee(pk)))
      fail("a creation was refused though its writer saw the object");
    if (refusal.reason == Reason::outsideSet && matches(entry->setWhenWritten, refusal.filter))
      fail("a creation that was legal when written was refused");
  }

  // Who knew an object only by its own refused creation does not change it.
  void checkNotOnTop(int pk) {
    if (creates(entry->instructions, pk)) return;
    bool isOnTop = false;
    for (int other = entry->base + 1; other < version; other++) {
      const HistoryEntry& earlier = node.history[std::size_t(other)];
      if (!earlier.isAccepted || earlier.replica != entry->replica) continue;
      const auto refusal = earlier.refusals.find(pk);
      const bool isRefused = refusal != earlier.refusals.end() && refusal->second.reason == Reason::keyInUse;
      if (creates(earlier.instructions, pk)) isOnTop = isRefused;
    }
    if (isOnTop) fail("an edit on top of a refused creation reached another's object");
  }
};

}  // namespace

void check(World& world) {
  const Node& node = world.nodes[0];
  if (node.describe() != world.nodes[1].describe()) fail("two nodes differ");
  for (const Client& client : world.clients) checkClient(client, node);
  checkCounts(world, node);
  checkFullTrim(node);
  Oracle(node).check();
  checkStamps(world, node);
  Permissions(world, node).check();
}

}  // namespace model
