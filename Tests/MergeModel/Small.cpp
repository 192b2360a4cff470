// Small schedules, all of them or a sample.
#include <cstdio>
#include <cstdlib>

#include "Checks.h"
#include "LogText.h"
#include "Schedules.h"
#include "Transaction.h"

namespace model {

const std::vector<Pool>& pools() {
  using namespace action;
  static const std::vector<Pool> all = {
      {"counter",
       {{setCounter, 0}, {addToCounter, 0}, {setCounterNull, 0}, {remove, 0}, {createAnew, 0}, {create, 0}},
       {{setCounter, 0}}},
      {"mixed",
       {{setMixedNumber, 0},
        {setMixedList, 0},
        {setMixedDictionary, 0},
        {insertIntoMixed, 0},
        {setMixedEntry, 0},
        {clearMixed, 0},
        {assignMixedList, 0},
        {addToMixed, 0}},
       {}},
      {"mixed list",
       {{setMixedNumber, 0},
        {setMixedList, 0},
        {insertIntoMixed, 1},
        {clearMixed, 0},
        {assignMixedList, 0},
        {eraseFromMixed, 0},
        {setMixedElementToCollection, 0},
        {writeIntoMixedElement, 0}},
       {{setMixedList, 0}, {insertIntoMixed, 0}}},
      {"list",
       {{prepend, 0}, {append, 0}, {erase, 0}, {setElement, 0}, {move, 8}, {move, 9}, {clearList, 0}, {assignList, 0}},
       {{append, 0}, {append, 0}, {append, 0}}},
      {"runs",
       {{appendRun, 0}, {prependRun, 0}, {appendRun, 1}, {prependRun, 1}, {erase, 0}, {move, 8}, {prepend, 0}},
       {{append, 0}, {append, 0}}},
      {"embedded list",
       {{insertEmbedded, 0}, {setInElement, 0}, {addInElement, 0}, {eraseEmbedded, 0}, {remove, 0}},
       {{insertEmbedded, 1}, {insertEmbedded, 1}}},
      {"set",
       {{insertMember, 0}, {eraseMember, 0}, {insertMember, 1}, {eraseMember, 1}, {clearSet, 0}},
       {{insertMember, 0}}},
      {"dictionary",
       {{setEntry, 0},
        {removeEntry, 0},
        {clearDictionary, 0},
        {setEntryToList, 0},
        {insertIntoEntry, 0},
        {addToEntry, 0},
        {setEntry, 1}},
       {{setEntry, 0}}},
      {"embedded dictionary",
       {{newEmbeddedEntry, 0}, {removeEmbeddedEntry, 0}, {setInEntry, 0}, {remove, 0}},
       {{newEmbeddedEntry, 0}}},
      {"embedded",
       {{newEmbedded, 0},
        {setEmbeddedNull, 0},
        {setInEmbedded, 0},
        {changeSetOfEmbedded, 1},
        {insertIntoListOfEmbedded, 0},
        {replaceEmbedded, 0}},
       {{newEmbedded, 0}}},
      {"object",
       {{create, 0}, {remove, 0}, {createAnew, 0}, {setCounter, 0}, {addToCounter, 0}, {append, 0}, {insertMember, 0}},
       {}},
      {"schema", {{addProperty, 0}, {addProperty, 8}, {setAddedProperty, 0}, {setCounter, 0}, {ingest, 1}}, {}},
      {"links", {{setLink, 0}, {insertLink, 0}, {remove, 0}, {create, 0}}, {{insertLink, 0}}},
  };
  return all;
}

Pool takeoverPool() {
  using namespace action;
  return {"object",
          {{create, 0}, {remove, 0}, {createAnew, 0}, {setCounter, 0}, {addToCounter, 0}, {setFilter, 1}},
          {}};
}

namespace {

void sync(World& world, int i, bool receives) {
  if (!world.sessions[std::size_t(i)].isOpen) world.connect(i, 0);
  world.drainUploads(i);
  world.catchUp(0, world.head());
  if (!receives) return;
  world.serverSends(i, false);
  world.drainDownloads(i);
}

World firstWorld(const Pool& pool, const SmallOptions& options) {
  World world(2, 1);
  world.objects = 1;
  const Setting setting = options.setting;
  const bool beginsOffline =
      setting == Setting::secondBeginsOffline || setting == Setting::otherPartitionBeginsOffline;
  for (int i = 0; i < 2; i++) {
    Client& client = world.clients[std::size_t(i)];
    if (setting == Setting::partitions || setting == Setting::otherPartitionBeginsOffline) {
      client.scope = 1 + i;
      client.wantedSet = 1 << i;
    }
    if (setting == Setting::disjointSets) client.wantedSet = i ? 14 : 1;
    client.sets[0] = {client.wantedSet, false};
  }
  if (beginsOffline) world.late.insert(1);
  world.connect(0, 0);
  if (!beginsOffline) world.connect(1, 0);
  if (options.withObject) {
    Transaction transaction(world, 0);
    transaction.perform(action::create, 0, 0);
    for (const Choice& c : pool.setup) transaction.perform(c.action, 0, c.choice);
    transaction.end();
  }
  quiesce(world);
  if (beginsOffline && failure.empty()) {
    for (int k = 0; k < 2; k++) {
      world.appendTrim(world.head());
      world.catchUp(0, world.head());
      world.catchUp(1, world.head());
      sync(world, 0, true);
    }
    world.late.clear();
  }
  world.time += 1500;
  if (options.slowClock) world.clients[std::size_t(options.slowClock - 1)].skew = -1000;
  return world;
}

// One schedule: what each client does, and whose turn it is, bit by bit.
struct Schedule {
  std::vector<Choice> actions[2];
  const Plan* plans[2];
  int turns;
};

void runSchedule(World& world, const Schedule& schedule) {
  std::size_t step[2] = {0, 0}, next[2] = {0, 0};
  const int length = int(schedule.plans[0]->size() + schedule.plans[1]->size());
  for (int turn = 0; turn < length && failure.empty(); turn++) {
    const int i = schedule.turns >> turn & 1;
    const char what = (*schedule.plans[i])[step[i]++];
    world.time++;
    if (what != 'O') {
      sync(world, i, what == 'S');
      continue;
    }
    const Choice& c = schedule.actions[i][next[i]++];
    Transaction transaction(world, i);
    transaction.perform(c.action, 0, c.choice);
    transaction.end();
  }
  if (failure.empty()) quiesce(world);
  if (failure.empty()) check(world);
}

void printViolation(const Pool& pool, const SmallOptions& options, const Schedule& schedule) {
  std::printf("pool %s k %d skew %d plans %s %s mask %d ops", pool.name, options.actionsOfClient, options.slowClock,
              schedule.plans[0]->c_str(), schedule.plans[1]->c_str(), schedule.turns);
  for (const auto& actions : schedule.actions)
    for (const Choice& c : actions) std::printf(" %d/%d", c.action, c.choice);
  std::printf("\n  %s\n", failure.c_str());
}

int bitsOf(int mask) {
  int count = 0;
  for (; mask; mask &= mask - 1) count++;
  return count;
}

}  // namespace

long runSmall(const Pool& pool, const SmallOptions& options) {
  failure.clear();
  const World first = firstWorld(pool, options);
  if (!failure.empty()) {
    std::printf("pool %s: %s\n", pool.name, failure.c_str());
    return -1;
  }
  const int k = options.actionsOfClient;
  const long actionCount = long(pool.actions.size());
  long combinations = 1, runs = 0;
  for (int i = 0; i < 2 * k; i++) combinations *= actionCount;
  Schedule schedule;
  for (long c = 0; c < combinations; c++) {
    long rest = c;
    for (auto& actions : schedule.actions) {
      actions.clear();
      for (int i = 0; i < k; i++, rest /= actionCount)
        actions.push_back(pool.actions[std::size_t(rest % actionCount)]);
    }
    for (const Plan& a : options.plans)
      for (const Plan& b : options.plans) {
        schedule.plans[0] = &a;
        schedule.plans[1] = &b;
        for (int turns = 0; turns < 1 << (a.size() + b.size()); turns++) {
          if (bitsOf(turns) != int(b.size())) continue;
          const bool isLeftOut = options.limit && (runs * 2654435761l + c) % 97 >= options.limit;
          runs++;
          if (isLeftOut) continue;
          schedule.turns = turns;
          World world = first;
          runSchedule(world, schedule);
          counters.seeds++;
          if (failure.empty()) continue;
          printViolation(pool, options, schedule);
          if (std::getenv("TRACE")) printWorld(world);
          return -1;
        }
      }
  }
  return runs;
}

}  // namespace model
