#include "Experiments.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "Canonical.h"
#include "Checks.h"
#include "LogText.h"
#include "Run.h"
#include "Schedules.h"
#include "Transaction.h"

namespace model {

namespace {

void writeOffline(World& world) {
  const auto& groups = actionGroups();
  Random& random = world.random;
  std::vector<int> actions;
  for (int k = 0; k < 2; k++)
    for (int drawn : groups[std::size_t(random.below(int(groups.size())))])
      if (drawn != action::ingest && drawn != action::addProperty) actions.push_back(drawn);
  actions.push_back(action::setCounter);
  if (random.percent(40)) actions.push_back(action::remove);
  if (random.percent(40)) actions.push_back(action::createAnew);
  const auto any = [&] { return actions[std::size_t(random.below(int(actions.size())))]; };

  Transaction first(world, 0);
  for (int pk = 0; pk < 2; pk++) {
    if (pk && random.percent(50)) continue;
    first.perform(action::create, pk, 0);
    for (int k = 0; k < 4; k++) first.perform(any(), pk);
  }
  first.end();
  quiesce(world);
  for (int k = 0; k < 6; k++) {
    world.time++;
    Transaction transaction(world, random.below(3));
    for (int left = 1 + random.below(2); left > 0; left--) {
      const int pk = random.below(2);
      transaction.perform(random.percent(15) ? int(action::create) : any(), pk);
    }
    transaction.end();
  }
  world.time += 10;
}

// The state after the changesets arrived in a random interleaving: as it is, and with lists in the order of ids.
struct Arrived {
  std::string exact, sorted;
};
Arrived arrive(World world, std::uint64_t seed) {
  world.random = Random(seed);
  for (int i = 0; i < 3; i++)
    while (world.clientSends(i)) {
    }
  for (;;) {
    std::vector<int> waiting;
    for (int i = 0; i < 3; i++)
      if (!world.sessions[std::size_t(i)].up.empty()) waiting.push_back(i);
    if (waiting.empty()) break;
    world.serverReceives(waiting[std::size_t(world.random.below(int(waiting.size())))]);
  }
  world.catchUp(1, world.head());
  Arrived result;
  for (const auto& [pk, object] : world.nodes[1].objects) {
    if (!object.isPresent) continue;
    result.exact += text(pk, canonical(object), " ");
    result.sorted += text(pk, canonical(object, true), " ");
  }
  return result;
}

}  // namespace

void compareArrivals(long firstSeed, long count) {
  long otherValues = 0, otherOrder = 0;
  for (long seed = firstSeed; seed < firstSeed + count; seed++) {
    failure.clear();
    World world(3, std::uint64_t(seed));
    world.objects = 2;
    for (int i = 0; i < 3; i++) world.connect(i, 0);
    writeOffline(world);
    const Arrived first = arrive(world, std::uint64_t(seed * 100));
    bool isOrderOther = false;
    std::string other;
    for (int variant = 1; variant < 6; variant++) {
      const Arrived next = arrive(world, std::uint64_t(seed * 100 + variant));
      if (next.exact != first.exact) isOrderOther = true;
      if (next.sorted != first.sorted) other = next.sorted;
    }
    if (other.empty()) {
      otherOrder += isOrderOther;
      continue;
    }
    if (++otherValues > 3) continue;
    std::printf("seed %ld: %s\n   vs %s\n", seed, first.sorted.c_str(), other.c_str());
    if (std::getenv("TRACE")) printWorld(world);
  }
  std::printf("arrival: %ld seeds, values differ %ld, only list order differs %ld\n", count, otherValues, otherOrder);
}

void measureCost() {
  struct Kind {
    const char* name;
    int action;
  };
  static const Kind kinds[] = {{"append", action::append}, {"prepend", action::prepend}, {"set", action::setCounter},
                               {"add", action::addToCounter}, {"dictionary", action::setEntry},
                               {"replace all", action::append}};
  for (const Kind& kind : kinds) {
    const bool replacesAll = &kind == &kinds[5];
    for (int n = 250; n <= 2000; n *= 2) {
      World world(2, 5);
      world.objects = 1;
      world.connect(0, 0);
      world.connect(1, 0);
      Transaction first(world, 0);
      first.perform(action::create, 0, 0);
      for (int k = 0; k < (replacesAll ? n : 3); k++) first.perform(action::append, 0, 0);
      first.end();
      quiesce(world);
      const auto write = [&](int i, int wanted, int choice) {
        world.time++;
        Transaction transaction(world, i);
        transaction.perform(wanted, 0, choice);
        transaction.end();
        world.clients[std::size_t(i)].pending.back().shown.clear();
      };
      if (replacesAll)
        for (int k = 0; k < n; k++) write(0, action::erase, 0);
      for (int i = 0; i < 2; i++)
        for (int k = 0; k < n; k++) write(i, kind.action, k);

      failure.clear();
      const Counters start = counters;
      for (int i = 0; i < 2; i++) world.drainUploads(i);
      world.catchUp(1, world.head());
      const Counters middle = counters;
      for (int i = 0; i < 2; i++) {
        world.sessions[std::size_t(i)].node = 1;
        world.serverSends(i, false);
        world.drainDownloads(i);
      }
      std::printf(
          "%-10s n %5d  server: integrations %ld effects %ld order steps %ld   clients: effects %ld replayed %ld "
          "order steps %ld\n",
          kind.name, n, middle.decisions - start.decisions, middle.effects - start.effects,
          middle.orderSteps - start.orderSteps, counters.effects - middle.effects,
          counters.replayed - middle.replayed, counters.orderSteps - middle.orderSteps);
    }
  }
}

}  // namespace model
