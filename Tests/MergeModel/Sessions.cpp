// Sessions: what a node tests when a file connects, and the messages in both directions.
#include <algorithm>

#include "Rules.h"
#include "World.h"

namespace model {

// The file gets its number. Answers whether it learnt it; if not, it registers anew when it tries again.
bool World::registerFile(int i, int number) {
  Client& client = clients[std::size_t(i)];
  const int replica = registerReplica(client, 0);
  catchUp(number, head());
  counters.registrations++;
  if (isLossy && random.percent(15)) return false;
  if (!client.pending.empty()) counters.registrationsWithPending++;
  const int mark = nodes[std::size_t(number)].mark;
  client.becomeRegistered(replica, head(), log.back()->tag, mark);
  offerFirstNumber(client);
  client.clock = std::max(client.clock, mark);
  return true;
}

// Whether the server can have integrated nothing under this identity that the file does not know.
bool World::isSameFile(const Client& client, const Node& node) const {
  if (node.lastSequence(client.replica) > client.sequence || node.isRetired(client.replica)) return false;
  for (const Pending& changeset : client.pending) {
    const int uid = node.uidOf(client.replica, changeset.sequence);
    if (uid && uid != changeset.uid) return false;
  }
  return true;
}

// A file connects again. Answers whether its session goes on: it was not reset, and it got the answer.
bool World::resume(int i, int number) {
  Client& client = clients[std::size_t(i)];
  Session& session = sessions[std::size_t(i)];
  // A replica has one session; a new one ends the older.
  for (std::size_t j = 0; j < clients.size(); j++)
    if (int(j) != i && sessions[j].isOpen && clients[j].replica == client.replica)
      disconnect(int(j), random.percent(40));
  session.isOpen = true;
  session.node = number;
  if (keeps(Rule::sessionNotBehind)) catchUp(number, std::min(client.cursor, head()));
  const Node& node = nodes[std::size_t(number)];

  const bool isTagKnown = client.cursor < 1 || (client.cursor <= head() &&
                                                log[std::size_t(client.cursor - 1)]->tag == client.tag);
  SessionNumbers& numbers = sessionNumbers[client.replica];
  if (!isTagKnown && keeps(Rule::compareTags)) {
    counters.resetsByTag++;
    if (!wasRestored) fail("reset by tag though the server was never restored");
    reset(i, true);
    return false;
  }
  if (client.cursor > head()) {
    session = Session();
    return false;
  }
  if (keeps(Rule::checkIdentity)) {
    const bool isOffered = client.sessionNumber == numbers.offered;
    const bool isNumberGood =
        client.sessionNumber == numbers.confirmed || (isOffered && keeps(Rule::acceptOfferedNumber));
    if (!isNumberGood || !isSameFile(client, node)) {
      counters.resetsByNumber++;
      if (!client.wasCopied && !wasRestored) fail("reset of a file that was never copied");
      reset(i, true);
      return false;
    }
    if (isOffered) numbers.confirmed = numbers.offered;
    numbers.offered = ++lastSessionNumber;
  }
  if (isLossy && random.percent(15)) {
    counters.lostAnswers++;
    session = Session();
    return false;
  }
  // If the client loses power before the offered number is durable, it goes on naming the older one.
  if (isLossy && random.percent(10))
    counters.lostAnswers++;
  else
    client.sessionNumber = numbers.offered;
  return true;
}

void World::connect(int i, int number) {
  Client& client = clients[std::size_t(i)];
  Session& session = sessions[std::size_t(i)];
  session = Session();
  client.staged.clear();
  const bool isNew = !client.isRegistered();
  if (isNew ? !registerFile(i, number) : !resume(i, number)) return;
  session.isOpen = true;
  session.node = number;
  const Node& node = nodes[std::size_t(number)];
  if (client.cursor < node.horizon || (!client.pending.empty() && client.pending.front().base < node.horizon)) {
    if (isNew) fail("a new file is reset at its first connection");
    reset(i);
    return;
  }
  session.told = std::min(client.cursor, node.version);
  session.querySet = session.wantedSet = client.querySet;
  session.setNumber = session.wantedNumber = client.setInForce;
  session.read = client.read;
  session.sentSequence = client.pending.empty() ? client.sequence : client.pending.front().sequence - 1;
}

void World::disconnect(int i, bool leavesStragglers) {
  Session& session = sessions[std::size_t(i)];
  if (!session.isOpen) return;
  if (!session.up.empty() || !session.down.empty()) counters.lostMessages++;
  if (leavesStragglers) {
    for (const Upload& upload : session.up) {
      if (upload.isQuerySet)
        takeSet(i, upload);
      else if (upload.entry.base <= session.told)
        stragglers.push_back({session.node, upload});
    }
  }
  session = Session();
}

// The server keeps every set that an upload can name. One that is not valid counts as the last valid one.
void World::takeSet(int i, const Upload& upload) {
  const int replica = clients[std::size_t(i)].replica;
  NumberedSet& last = lastValidSet[replica];
  if (!upload.isInvalid) validMasks[replica].insert(upload.mask);
  int mask = upload.mask;
  if (upload.isInvalid && keeps(Rule::ignoreInvalidSets))
    mask = last.mask;
  else if (upload.setNumber >= last.number)
    last = {upload.setNumber, upload.mask};
  receivedSets[{replica, upload.setNumber}] = mask;
  if (upload.isInvalid && mask && !validMasks[replica].count(mask)) fail("an invalid set counts");
}

// Sends the next set or changeset. A set goes before the changesets that name it, later ones go after them.
bool World::clientSends(int i) {
  Client& client = clients[std::size_t(i)];
  Session& session = sessions[std::size_t(i)];
  if (!session.isOpen) return false;
  const Pending* next = nullptr;
  for (const Pending& changeset : client.pending)
    if (changeset.sequence == session.sentSequence + 1) {
      next = &changeset;
      break;
    }
  const int needed = next && keeps(Rule::sendSetsInOrder) ? next->setNumber : client.newestSet;
  if (session.sentSet < needed) {
    Upload upload;
    upload.isQuerySet = true;
    upload.setNumber = needed;
    upload.mask = client.sets[needed].mask;
    upload.isInvalid = client.sets[needed].isInvalid;
    session.sentSet = needed;
    session.up.push_back(upload);
    return true;
  }
  if (!next) return false;
  Upload upload;
  LogEntry& entry = upload.entry;
  entry.kind = EntryKind::upload;
  entry.replica = client.replica;
  entry.user = client.user;
  entry.sequence = next->sequence;
  entry.base = keeps(Rule::baseWhenWritten) ? next->base : client.cursor;
  entry.stamp = next->stamp;
  entry.instructions = next->instructions;
  for (Instruction& in : entry.instructions) translate(in, [&client](int index) { return client.numberOf(index); });
  entry.setNumber = next->setNumber;
  entry.setWhenWritten = next->setWhenWritten;
  entry.previous = next->previous;
  entry.uid = next->uid;
  entry.made = next->made;
  entry.isHonest = next->isHonest;
  if (next->sawEverything) entry.shown = next->shown;
  session.up.push_back(upload);
  session.sentSequence++;
  counters.uploads++;
  if (isBroken(Rule::keepUntilAcknowledged) && client.pending.size() > 1) client.pending.pop_front();
  return true;
}

// Tests an upload before it goes into the log. A straggler has no session any more.
void World::accept(int number, Upload upload, Session* session) {
  Node& node = nodes[std::size_t(number)];
  LogEntry& entry = upload.entry;
  // Nobody can have written upon more than it was told.
  if (session && entry.base > session->told && keeps(Rule::baseWasTold)) {
    counters.forged++;
    return;
  }
  if (!entry.isForged) {
    const auto named = receivedSets.find({entry.replica, entry.setNumber});
    if (named == receivedSets.end()) return fail("an upload names a set that the server does not have");
    const int inForce = session ? session->querySet : 0;
    if (inForce != named->second) counters.olderSets++;
    if (keeps(Rule::testNamedSet))
      entry.querySets = named->second | inForce;
    else
      entry.querySets = session ? session->wantedSet : named->second;
  }
  if (node.isRetired(entry.replica) || entry.base < node.horizon) {
    if (session) session->mustReset = true;
    return;
  }
  if (node.lastSequence(entry.replica) >= entry.sequence && keeps(Rule::testDuplicates)) {
    const int uid = node.uidOf(entry.replica, entry.sequence);
    if (session && uid && uid != entry.uid) session->mustReset = true;
    return;
  }
  append(entry);
}

bool World::serverReceives(int i) {
  Session& session = sessions[std::size_t(i)];
  if (!session.isOpen || session.up.empty()) return false;
  const Upload upload = session.up.front();
  session.up.pop_front();
  if (!upload.isQuerySet) {
    accept(session.node, upload, &session);
    return true;
  }
  takeSet(i, upload);
  const int mask = receivedSets[{clients[std::size_t(i)].replica, upload.setNumber}];
  if (upload.setNumber >= session.wantedNumber) {
    session.wantedSet = mask;
    session.wantedNumber = upload.setNumber;
  }
  if (upload.isInvalid) {
    counters.invalidSets++;
    Download answer;
    answer.invalidSet = upload.setNumber;
    answer.querySet = mask;
    session.down.push_back(answer);
  }
  return true;
}

// Sends a step if there is anything new: entries, another set, other rights.
bool World::serverSends(int i, bool inParts) {
  Session& session = sessions[std::size_t(i)];
  if (!session.isOpen) return false;
  const Client& client = clients[std::size_t(i)];
  const Node& node = nodes[std::size_t(session.node)];
  if (node.isRetired(client.replica)) {
    session.mustReset = true;
    return false;
  }
  const bool isSameFilter = session.querySet == session.wantedSet && session.setNumber == session.wantedNumber &&
                            session.read == node.rightsOf(client.user, client.replica).read;
  if (node.version < session.told || (node.version == session.told && isSameFilter)) return false;
  if (session.told < node.horizon) {
    session.mustReset = true;
    return false;
  }
  Download step = makeStep(node, client, session);
  session.told = step.to;
  session.setNumber = session.wantedNumber;
  session.querySet = step.querySet;
  session.read = step.read;
  if (inParts && step.items.size() > 1) {
    Download part = step;
    const auto middle = step.items.begin() + std::ptrdiff_t(step.items.size() / 2);
    part.items.assign(step.items.begin(), middle);
    part.isLast = false;
    step.items.erase(step.items.begin(), middle);
    session.down.push_back(part);
  }
  session.down.push_back(step);
  return true;
}

bool World::clientReceives(int i) {
  Session& session = sessions[std::size_t(i)];
  if (!session.isOpen || session.down.empty()) return false;
  const Download step = session.down.front();
  session.down.pop_front();
  Client& client = clients[std::size_t(i)];
  if (step.invalidSet >= 0) {
    client.sets[step.invalidSet] = {step.querySet, false};
    if (client.newestSet == step.invalidSet) client.wantedSet = step.querySet;
    return true;
  }
  if (keeps(Rule::checkIdentity)) {
    // A changeset of somebody else under our number: the file was copied.
    for (const OwnResult& own : step.own) {
      bool isOurs = client.cursor >= own.version;
      for (const Pending& changeset : client.pending)
        if (changeset.sequence == own.sequence && changeset.uid == own.uid) isOurs = true;
      if (isOurs) continue;
      session.mustReset = true;
      session.down.clear();
      return true;
    }
  }
  client.receive(step);
  return true;
}

// The client sends all it has, and the server receives it.
void World::drainUploads(int i) {
  while (clientSends(i)) {
  }
  while (serverReceives(i)) {
  }
}

void World::drainDownloads(int i) {
  while (clientReceives(i)) {
  }
}

}  // namespace model
