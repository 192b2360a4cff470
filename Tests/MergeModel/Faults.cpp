// What goes wrong beside the connection: a server restored from an older copy, copied and replaced files, forgery.
#include "Rules.h"
#include "World.h"

namespace model {

// The server goes on from an older copy of its state.
void World::restore(int version) {
  for (std::size_t i = 0; i < clients.size(); i++) disconnect(int(i), false);
  stragglers.clear();
  for (int v = version; v < head(); v++) {
    const LogEntry& entry = *log[std::size_t(v)];
    if (entry.kind == EntryKind::upload) lost.insert(entry.uid);
    if (entry.kind == EntryKind::registration) sessionNumbers.erase(entry.replica);
  }
  // The session numbers can be older too.
  if (random.percent(50))
    for (auto& numbers : sessionNumbers)
      if (random.percent(50)) numbers.second = {-1, -1};
  log.resize(std::size_t(version));
  for (int n = 0; n < int(nodes.size()); n++) nodes[std::size_t(n)] = replayed(n, version);
  queuePredictions.clear();
  wasRestored = true;
  counters.restores++;
}

// A copy of one file takes the place of another.
void World::copyFile(int from, int to) {
  disconnect(to, false);
  Client& original = clients[std::size_t(from)];
  Client& copy = clients[std::size_t(to)];
  for (const Pending& changeset : copy.pending) discarded.insert(changeset.uid);
  original.wasCopied = true;
  const int skew = copy.skew;
  const std::set<int> told = copy.toldRefusals;
  copy = original;
  copy.skew = skew;
  copy.toldRefusals.insert(told.begin(), told.end());
  copy.staged.clear();
  for (const Pending& changeset : original.pending) copied.insert(changeset.uid);
  counters.copies++;
}

// A new file takes the place of one that is thrown away.
void World::replaceFile(int i, int scope) {
  disconnect(i, false);
  Client& old = clients[std::size_t(i)];
  for (const Pending& changeset : old.pending) discarded.insert(changeset.uid);
  Client fresh;
  fresh.user = old.user;
  fresh.toldRefusals = old.toldRefusals;
  fresh.skew = old.skew;
  fresh.scope = scope;
  fresh.wantedSet = scope ? 1 << (scope - 1) : everything;
  fresh.sets[0] = {fresh.wantedSet, false};
  old = fresh;
}

// A hostile client or a faulty node makes an upload that must not count.
void World::forge(int i) {
  Session& session = sessions[std::size_t(i)];
  const Client& client = clients[std::size_t(i)];
  if (!session.isOpen || !client.isRegistered()) return;
  const Node& node = nodes[std::size_t(session.node)];
  const auto state = node.replicas.find(client.replica);
  if (state == node.replicas.end()) return;

  Upload upload;
  LogEntry& entry = upload.entry;
  entry.kind = EntryKind::upload;
  entry.replica = client.replica;
  entry.user = client.user;
  entry.sequence = state->second.lastSequence + 1;
  entry.previous = state->second.lastUid;
  entry.base = session.told;
  entry.stamp = {client.clock + 1, client.replica};
  entry.uid = -1;
  entry.isForged = true;
  Instruction set = instruction(random.below(objects), Operation::set, {{property::counter}});
  set.value = {ValueKind::number, 99};
  Instruction insert = instruction(random.below(objects), Operation::insert, {{property::list}});
  insert.id = (client.replica + 1 + random.below(3)) * idsOfReplica;
  insert.id += 1 + random.below(5);
  entry.instructions.push_back(set);
  switch (random.below(4)) {
    case 0:  // a base above what it was ever told
      entry.base = session.told + 1 + random.below(2);
      accept(session.node, upload, &session);
      break;
    case 1:  // a base beyond the log
      entry.base = head() + 1 + random.below(4);
      append(entry);
      break;
    case 2:  // element ids of others
      entry.instructions.push_back(insert);
      accept(session.node, upload, &session);
      break;
    default:  // a replica that nobody is
      entry.replica = 77777;
      append(entry);
  }
}

}  // namespace model
