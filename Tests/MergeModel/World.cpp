#include "World.h"

namespace model {

World::World(int clientCount, std::uint64_t seed)
    : random(seed), nodes(2), clients(std::size_t(clientCount)), sessions(std::size_t(clientCount)) {
  nodes[1].id = 1;
  for (int i = 0; i < clientCount; i++) {
    clients[std::size_t(i)].user = i;
    clients[std::size_t(i)].sets[0] = {everything, false};
  }
}

void World::append(LogEntry entry) {
  entry.time = time;
  entry.tag = random.next();
  log.push_back(std::make_shared<const LogEntry>(std::move(entry)));
  counters.entries++;
}

void World::appendTrim(int horizon) {
  LogEntry entry;
  entry.kind = EntryKind::trim;
  entry.horizon = horizon;
  append(entry);
}

void World::applyNext(int number) {
  Node& node = nodes[std::size_t(number)];
  if (node.version >= head()) return;
  const LogEntry& entry = *log[std::size_t(node.version)];
  if (number == 0 && entry.kind == EntryKind::upload)
    applyChecked(node, entry);
  else
    node.apply(entry);
}

void World::catchUp(int node, int version) {
  while (nodes[std::size_t(node)].version < version) applyNext(node);
}

// A node that starts from nothing and replays the log.
Node World::replayed(int number, int version) const {
  Node node;
  node.id = number;
  for (int v = 0; v < version; v++) node.apply(*log[std::size_t(v)]);
  return node;
}

int World::registerReplica(const Client& client, int predecessor) {
  LogEntry entry;
  entry.kind = EntryKind::registration;
  entry.replica = nextReplica++;
  entry.user = client.user;
  entry.scope = client.scope;
  entry.predecessor = predecessor;
  const int number = entry.replica;
  append(entry);
  return number;
}

void World::offerFirstNumber(Client& client) {
  client.sessionNumber = ++lastSessionNumber;
  sessionNumbers[client.replica] = {client.sessionNumber, client.sessionNumber};
}

}  // namespace model
