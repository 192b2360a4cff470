// Random runs.
#include <algorithm>
#include <cstdlib>

#include "Checks.h"
#include "LogText.h"
#include "Schedules.h"
#include "Transaction.h"

namespace model {

const std::vector<std::vector<int>>& actionGroups() {
  using namespace action;
  static const std::vector<std::vector<int>> groups = {
      {setCounter, addToCounter, addToCounter, setCounterNull},
      {setMixedNumber, setMixedText, setMixedList, setMixedDictionary, insertIntoMixed, insertIntoMixed, setMixedEntry,
       clearMixed, assignMixedList, addToMixed},
      {prepend, append, insertAnywhere, erase, setElement, move},
      {prepend, append, appendRun, prependRun, appendRun, prependRun, erase},
      {append, insertAnywhere, move, move, erase, assignList, clearList},
      {insertEmbedded, setInElement, addInElement, eraseEmbedded},
      {insertMember, eraseMember, clearSet, insertMember, eraseMember},
      {setEntry, removeEntry, clearDictionary, setEntry, setEntryToList, insertIntoEntry, insertIntoEntry, addToEntry},
      {newEmbeddedEntry, removeEmbeddedEntry, setInEntry},
      {newEmbedded, setEmbeddedNull, setInEmbedded, changeSetOfEmbedded, insertIntoListOfEmbedded, replaceEmbedded},
      {setLink, insertLink},
      {addProperty, setAddedProperty, setAddedProperty},
      {ingest},
      {assignMixedList, insertIntoMixed, setMixedElementToCollection, writeIntoMixedElement, writeIntoMixedElement,
       eraseFromMixed, setMixedList},
      {createAnew, create, remove, setCounter, addToCounter},
  };
  return groups;
}

namespace {

class SeedRun {
 public:
  SeedRun(std::uint64_t seed, const SeedOptions& options)
      : choices(seed * 7919 + 13), clientCount(2 + choices.below(3)), world(clientCount, seed), random(world.random) {
    drawActions(options);
    drawScenario(options.steps);
    drawClients();
  }

  void run() {
    if (choices.percent(75)) writeFirstObjects();
    for (int s = 0; s < steps && failure.empty(); s++) step();
    world.late.clear();
    if (failure.empty()) quiesce(world);
    if (failure.empty()) check(world);
  }

  const World& result() const { return world; }

 private:
  Random choices;
  const int clientCount;
  World world;
  Random& random;
  std::vector<int> actions;
  // What can happen in this run.
  bool setsChange = false, rightsChange = false, trims = false, trimsBelowClients = false, forcesResets = false;
  bool hasPartitions = false, restores = false, copies = false, forges = false, replacesFiles = false;
  bool hasInvalidSets = false;
  int steps = 0;

  int anyAction(Random& source) { return actions[std::size_t(source.below(int(actions.size())))]; }

  void drawActions(const SeedOptions& options) {
    const auto& groups = actionGroups();
    const int count = 1 + choices.below(3);
    for (int i = 0; i < count; i++)
      for (int drawn : groups[std::size_t(choices.below(int(groups.size())))])
        if (!options.mayUse || options.mayUse(drawn)) actions.push_back(drawn);
    actions.push_back(action::create);
    if (choices.percent(70)) actions.push_back(action::remove);
    if (choices.percent(60)) actions.push_back(action::setFilter);
    if (choices.percent(30)) actions.push_back(action::createAnew);
  }

  void drawScenario(int stepsAtMost) {
    world.objects = 1 + choices.below(4);
    setsChange = choices.percent(40);
    rightsChange = choices.percent(25);
    trims = choices.percent(50);
    trimsBelowClients = choices.percent(30);
    forcesResets = choices.percent(20);
    hasPartitions = choices.percent(30);
    restores = choices.percent(12);
    copies = choices.percent(12);
    forges = choices.percent(20);
    world.isLossy = choices.percent(40);
    replacesFiles = choices.percent(30);
    hasInvalidSets = choices.percent(30);
    if (choices.percent(50)) hasPartitions = restores = copies = forges = replacesFiles = false;
    steps = 20 + choices.below(stepsAtMost);
  }

  void drawClients() {
    for (Client& client : world.clients) {
      const int clock = choices.below(20);
      client.skew = clock == 0 ? 1000 : clock == 1 ? -1000 : choices.below(4) - 1;
      if (hasPartitions && choices.percent(60)) {
        client.scope = 1 + choices.below(2);
        client.wantedSet = 1 << (client.scope - 1);
      } else if (setsChange && choices.percent(50)) {
        client.wantedSet = 1 + choices.below(15);
      }
      client.sets[0] = {client.wantedSet, false};
    }
    world.cutsTransactions = choices.percent(25);
    if (replacesFiles || hasPartitions || choices.percent(20))
      for (int i = 1; i < clientCount; i++)
        if (choices.percent(35)) world.late.insert(i);
  }

  void writeFirstObjects() {
    world.connect(0, 0);
    for (int pk = 0; pk < world.objects; pk++) {
      Transaction transaction(world, 0);
      transaction.perform(action::create, pk, 0);
      for (int k = 0; k < 4; k++) transaction.perform(anyAction(choices), pk);
      transaction.end();
    }
    quiesce(world);
    for (int i = 0; i < clientCount; i++)
      if (choices.percent(50)) world.disconnect(i, false);
  }

  void step() {
    counters.steps++;
    if (random.percent(40)) world.time++;
    const int i = random.below(clientCount), drawn = random.below(1000);
    if (drawn < 260) return write(i);
    if (drawn < 420) return repeat(3, [&] { world.clientSends(i); });
    if (drawn < 560) return repeat(3, [&] { world.serverReceives(i); });
    if (drawn < 660) return repeat(4, [&] { world.applyNext(random.below(2)); });
    if (drawn < 760) return void(world.serverSends(i, random.percent(30)));
    if (drawn < 890) return void(world.clientReceives(i));
    if (drawn < 930) return connect(i);
    if (drawn < 955) return loseConnection(i);
    if (drawn < 965) return rareFault(i);
    if (drawn < 978) return trim();
    if (drawn < 984) return changeRights(i);
    if (drawn < 992) return changeFilter(i);
    if (drawn < 996) return restart();
  }

  template <class Body>
  void repeat(int most, Body body) {
    for (int k = 1 + random.below(most); k > 0; k--) body();
  }

  void write(int i) {
    Transaction transaction(world, i);
    const int count = 1 + random.below(3);
    for (int k = 0; k < count; k++) {
      const int pk = random.below(world.objects);
      transaction.perform(anyAction(random), pk);
    }
    transaction.end();
  }

  void connect(int i) {
    world.late.erase(i);
    const Session& session = world.sessions[std::size_t(i)];
    if (session.isOpen && !session.mustReset) return;
    world.disconnect(i, false);
    world.connect(i, random.below(2));
    if (forcesResets && session.isOpen && random.percent(15)) {
      counters.forcedResets++;
      world.reset(i);
    }
  }

  // The connection breaks, or the client's process ends; the model makes no difference.
  void loseConnection(int i) {
    if (random.percent(50)) counters.kills++;
    world.disconnect(i, random.percent(40));
  }

  void rareFault(int i) {
    if (!world.stragglers.empty()) {
      const int which = random.below(int(world.stragglers.size()));
      const auto straggler = world.stragglers[std::size_t(which)];
      world.stragglers.erase(world.stragglers.begin() + which);
      world.accept(straggler.first, straggler.second, nullptr);
    } else if (restores && world.head() > 3 && random.percent(30)) {
      world.restore(world.head() - 1 - random.below(std::min(world.head() - 1, 12)));
    } else if (copies && random.percent(50)) {
      const int to = random.below(clientCount);
      if (i != to) world.copyFile(i, to);
    } else if (replacesFiles && random.percent(60)) {
      const bool hasScope = hasPartitions && random.percent(50);
      world.replaceFile(i, hasScope ? 1 + random.below(2) : 0);
      world.late.insert(i);
    } else if (forges) {
      world.forge(i);
    }
  }

  // A trim above what a client still needs resets that client.
  void trim() {
    if (!trims) return;
    int most = world.head();
    if (!(trimsBelowClients && random.percent(40)))
      for (const Client& client : world.clients)
        if (client.isRegistered()) most = std::min({most, client.cursor, client.oldestBase()});
    world.appendTrim(random.percent(50) ? most : random.below(most + 1));
    counters.trims++;
  }

  void changeRights(int i) {
    if (!rightsChange) return;
    LogEntry entry;
    entry.kind = EntryKind::rights;
    entry.user = world.clients[std::size_t(i)].user;
    entry.read = 1 + random.below(15);
    entry.write = random.percent(50) ? everything : 1 + random.below(15);
    world.append(entry);
  }

  // A client with a scope becomes flexible; another one chooses a query set.
  void changeFilter(int i) {
    Client& client = world.clients[std::size_t(i)];
    if (client.scope) {
      if (client.isRegistered() && random.percent(40)) becomeFlexible(client.replica);
    } else if (setsChange) {
      const bool isInvalid = hasInvalidSets && random.percent(30);
      client.chooseSet(random.percent(30) ? everything : 1 + random.below(15), isInvalid);
    }
    if (forges) world.forge(i);
  }

  void becomeFlexible(int replica) {
    const auto& replicas = world.nodes[0].replicas;
    const auto state = replicas.find(replica);
    if (state != replicas.end() && state->second.flexibleSince) return;
    LogEntry entry;
    entry.kind = EntryKind::flexible;
    entry.replica = replica;
    world.append(entry);
    counters.toFlexible++;
  }

  // A node restarts by a replay of the log; it must be what it was.
  void restart() {
    const int n = random.below(2);
    Node& node = world.nodes[std::size_t(n)];
    Node fresh = world.replayed(n, node.version);
    if (fresh.describe() != node.describe()) fail("a restarted node differs");
    node = std::move(fresh);
    for (int k = 0; k < clientCount; k++) {
      const Session& session = world.sessions[std::size_t(k)];
      if (session.isOpen && session.node == n) world.disconnect(k, true);
    }
    counters.restarts++;
  }
};

}  // namespace

std::string runSeed(std::uint64_t seed, const SeedOptions& options) {
  failure.clear();
  SeedRun run(seed, options);
  run.run();
  counters.seeds++;
  if (failure.empty()) {
    if (options.whenClean) options.whenClean(run.result());
  } else if (std::getenv("TRACE")) {
    printWorld(run.result());
  }
  return failure;
}

}  // namespace model
