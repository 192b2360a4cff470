#pragma once
#include <functional>
#include <string>
#include <vector>

#include "World.h"

namespace model {

// Groups of actions that belong to one kind of data. A seed draws some of the groups.
const std::vector<std::vector<int>>& actionGroups();

// A random run: 2 to 4 clients that write, send and receive, while connections break, nodes restart, the server trims
// or goes on from an older copy, files are copied and thrown away, and rights and query sets change.
struct SeedOptions {
  int steps = 120;  // at most, on top of 20
  std::function<bool(int)> mayUse;  // an action; empty: all
  std::function<void(const World&)> whenClean;
};
// Gives the first violation; empty if there is none.
std::string runSeed(std::uint64_t seed, const SeedOptions& options);

// All small schedules: two clients with a few actions each, in every interleaving with uploads and syncs.
struct Choice {
  int action, choice;
};
struct Pool {
  const char* name;
  std::vector<Choice> actions, setup;
};
const std::vector<Pool>& pools();
// The pool of whole objects, for files that begin offline, partitions and disjoint query sets.
Pool takeoverPool();

enum class Setting {
  plain,
  secondBeginsOffline,          // the second file begins offline, after trims
  partitions,                   // each client has a scope of its own
  disjointSets,                 // each client has a query set of its own
  otherPartitionBeginsOffline,  // the second file has another scope and begins offline
};
// What a client does, in order: 'O' the next action, 'U' sends all, 'S' sends and receives all.
using Plan = std::string;

struct SmallOptions {
  int actionsOfClient = 2;
  bool withObject = true;  // an object stands before the schedule begins
  int slowClock = 0;       // the client whose clock is far behind: 1, 2, or 0 for none
  std::vector<Plan> plans;
  long limit = 0;          // of 97 schedules run only so many; 0: all
  Setting setting = Setting::plain;
};
// Gives the number of schedules, -1 after a violation, which it prints.
long runSmall(const Pool& pool, const SmallOptions& options);

}  // namespace model
