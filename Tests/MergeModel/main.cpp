// A model of the merge rules of device sync: two nodes of the server that replay one log, some clients, and sessions
// that lose messages. It shows that the rules hold together, and its `export` is what the engine is compared with.
//
//   merge-model seeds FIRST COUNT [RULE [STEPS]]       random runs
//   merge-model small ACTIONS [POOL [LIMIT [RULE]]]    all schedules of two clients with a few actions each
//   merge-model takeover [LIMIT [RULE]]                the same for files that begin offline, partitions, disjoint sets
//   merge-model mutants COUNT [STEPS [SKIP]]           each rule broken in turn: how many seeds find it
//   merge-model arrival FIRST COUNT [RULE]             whether the order of arrival matters
//   merge-model cost                                   how costs grow with the number of changesets
//   merge-model export FIRST COUNT [STEPS]             the logs and end states of random runs, as text
//
// RULE is the number of a rule to break; 0 breaks none. LIMIT runs so many of 97 schedules; 0 runs all. A violation is
// printed, with the log if TRACE is set.
//
// One log orders everything. The server decides each changeset once, when it enters the log, and keeps the effects;
// clients apply effects without deciding anything. What an app sees is the server's state at the client's cursor, and
// on top of it the pending changesets, decided by the same function. What is concurrent is told by versions of the log
// and not by clocks; clocks decide only between concurrent writes of one place.
//
// Modelled: uploads with losses, duplicates, and uploads that arrive after their connection broke; nodes that lag and
// restart by replay; trims, also above what clients still need; resets with recovery of what is pending; rights and
// numbered query sets that change, invalid ones too; refusals; fast and slow clocks; steps in parts; replicas with a
// scope, and their switch to flexible; files that begin with pending changesets; lost answers; copied files; a server
// that goes on from an older copy; forged uploads and entries; transactions cut in two.
//
// Checked: nodes agree. A client holds exactly the server's state cut to its view, and no records without pending
// changes. What it showed for pending changesets comes true if it held all that the server held. Undoing the pending
// changesets gives the base. The merged state is that of an oracle which evaluates the rules from the set of all
// accepted instructions. Each changeset counts exactly once. What was seen has a smaller stamp. What was accepted was
// permitted, what was refused was forbidden, and refusals are reported. Nothing from outside a view is told. A trim
// changes nothing that is visible. Nothing forged takes effect.
//
// Not modelled: the file format and transactions of the engine; messages as bytes; several classes; query sets as real
// queries; links as more than values; sizes; changesets that are refused as a whole; lists of more than some dozens of
// elements; real time. List order is checked by properties and predictions, as there is no second algorithm for it.
//
// `export` runs seeds as `seeds` does, but only with actions that the engine has: no collections in mixed values, no
// increments of mixed values and entries, no asymmetric objects. For each seed it prints the whole log, and the state
// of node 0 at its end; words are separated by one space:
//
//   seed <n>
//   entry <version> register replica=<n> user=<n> scope=<0 or value + 1> predecessor=<0 or n> time=<T>
//   entry <version> upload replica=<n> user=<n> sequence=<n> previous=<0 or uid> content=<uid> base=<version>
//       stamp=<clock> time=<T> sets=<mask>          (one line)
//     create object=<pk>
//     delete object=<pk>
//     set object=<pk> path=<path> value=<value> [default] [type=<type>]
//     add object=<pk> path=<path> by=<delta>
//     newEmbedded object=<pk> path=<path>
//     killEmbedded object=<pk> path=<path>
//     insert object=<pk> path=<path> id=<id> left=<element> right=<element> value=<value or embedded>
//     move object=<pk> path=<path> element=<element> id=<id> left=<element> right=<element>
//     erase object=<pk> path=<path> element=<element>
//     setInsert object=<pk> path=<path> value=<value>
//     setErase object=<pk> path=<path> value=<value>
//     clear object=<pk> path=<path>
//     addProperty property=<key> type=<1 or 2>
//   result <version> accepted|ignored eff=<clock> [refused=<pk>:<why>,...] [refusedProperties=<key>,...]
//   entry <version> trim horizon=<version> time=<T>
//   entry <version> rights user=<n> read=<mask> write=<mask> time=<T>
//   entry <version> retire replica=<n> time=<T>
//   entry <version> flexible replica=<n> time=<T>
//   state horizon=<version> mark=<clock>
//   object <pk> <canonical text>          each present object
//   kill <pk>                             each absent object that still has a kill record
//   property <key> <type>
//   end
//
// Instructions are indented by two spaces, and the result follows them. `eff` is the stamp as the server bounded it; it
// is 0 if the upload was ignored. A mask has a bit for each value of the filter field modulo 4; `sets` has the bits of
// the query set that the upload names and of the one in force. A path is keys joined by "/": properties, entries,
// element ids. A value is null, a number, text:<n>, link:<pk> or absent. The reason of a refusal is key (a creation met
// an object that its writer never saw, or an edit stands on such a creation), set (a creation is outside the query
// sets), right, or type (the property has another type). Canonical.h describes the canonical text, Values.h the
// properties and the element ids. The uid of a forged upload is -1.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "Experiments.h"
#include "Export.h"
#include "Rules.h"
#include "Schedules.h"

using namespace model;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Arguments {
 public:
  Arguments(int count, char** values) : count(count), values(values) {}
  std::string command() const { return count > 1 ? values[1] : ""; }
  // A number behind the command, from 0 on.
  long number(int index, long otherwise) const {
    return count > index + 2 ? std::atol(values[index + 2]) : otherwise;
  }

 private:
  int count;
  char** values;
};

int runSeeds(const Arguments& arguments) {
  const long first = arguments.number(0, 1), count = arguments.number(1, 1000);
  brokenRule = Rule(arguments.number(2, 0));
  SeedOptions options;
  options.steps = int(arguments.number(3, 120));
  const double start = now();
  for (long seed = first; seed < first + count; seed++) {
    const std::string found = runSeed(std::uint64_t(seed), options);
    if (!found.empty()) {
      std::printf("seed %ld: %s\n", seed, found.c_str());
      printCounters();
      return 1;
    }
    const long done = seed - first + 1;
    if (done % 100000 != 0) continue;
    std::printf("%ld seeds clean, %.0f s\n", done, now() - start);
    std::fflush(stdout);
  }
  printCounters();
  std::printf("%.1f s\n", now() - start);
  return 0;
}

// All three clocks, with and without an object that stands before. Gives the number of schedules, -1 after a violation.
long runVariants(const Pool& pool, SmallOptions options, bool withoutObject) {
  long schedules = 0;
  for (int without = 0; without <= int(withoutObject); without++)
    for (int slowClock = 0; slowClock < 3; slowClock++) {
      options.withObject = !without;
      options.slowClock = slowClock;
      const long runs = runSmall(pool, options);
      if (runs < 0) return -1;
      schedules += runs;
    }
  return schedules;
}

void printTotal(long total, double start) {
  std::printf("total %ld (checked %ld) %.1f s\n", total, counters.seeds, now() - start);
  printCounters();
}

const std::vector<Plan> plansOfTwo = {"OOS", "OSOS", "OUOS"};
const std::vector<Plan> plansOfThree = {"OOOS", "OOSOS"};

int runPools(const Arguments& arguments) {
  SmallOptions options;
  options.actionsOfClient = int(arguments.number(0, 2));
  options.plans = options.actionsOfClient == 2 ? plansOfTwo : plansOfThree;
  const long only = arguments.number(1, -1);
  options.limit = arguments.number(2, 0);
  brokenRule = Rule(arguments.number(3, 0));
  const double start = now();
  long total = 0;
  for (std::size_t i = 0; i < pools().size(); i++) {
    if (only >= 0 && long(i) != only) continue;
    Pool pool = pools()[i];
    if (options.actionsOfClient == 3 && pool.actions.size() > 4) pool.actions.resize(4);
    const long schedules = runVariants(pool, options, pool.setup.empty());
    if (schedules < 0) return 1;
    total += schedules;
    std::printf("pool %-20s k=%d schedules %ld  %.1f s\n", pool.name, options.actionsOfClient, schedules,
                now() - start);
    std::fflush(stdout);
  }
  printTotal(total, start);
  return 0;
}

int runTakeover(const Arguments& arguments) {
  SmallOptions options;
  options.limit = arguments.number(0, 0);
  options.plans = plansOfTwo;
  brokenRule = Rule(arguments.number(1, 0));
  const Pool pool = takeoverPool();
  const double start = now();
  long total = 0;
  const Setting settings[] = {Setting::secondBeginsOffline, Setting::partitions, Setting::disjointSets,
                              Setting::otherPartitionBeginsOffline};
  for (Setting setting : settings) {
    options.setting = setting;
    const long schedules = runVariants(pool, options, true);
    if (schedules < 0) return 1;
    total += schedules;
    std::printf("mode %d schedules %ld  %.1f s\n", int(setting), schedules, now() - start);
    std::fflush(stdout);
  }
  printTotal(total, start);
  return 0;
}

int runMutants(const Arguments& arguments) {
  const long count = arguments.number(0, 20000);
  SeedOptions options;
  options.steps = int(arguments.number(1, 120));
  const long skipped = arguments.number(2, 0);
  int found = 0;
  for (std::size_t i = std::size_t(skipped); i < ruleTexts.size(); i++) {
    const RuleText& rule = ruleTexts[i];
    brokenRule = rule.rule;
    const double start = now();
    std::string violation;
    long seed = 1;
    for (; seed <= count; seed++) {
      violation = runSeed(std::uint64_t(seed), options);
      if (!violation.empty()) break;
    }
    if (!violation.empty()) found++;
    std::printf("%2d %-66s %s seeds %ld  %.1f s  %s\n", int(rule.rule), rule.broken,
                violation.empty() ? "NOT FOUND" : "found", seed, now() - start, violation.substr(0, 70).c_str());
    std::fflush(stdout);
  }
  std::printf("found %d of %zu\n", found, ruleTexts.size());
  return 0;
}

int runExport(const Arguments& arguments) {
  const long first = arguments.number(0, 1), count = arguments.number(1, 100);
  Exported all;
  SeedOptions options;
  options.steps = int(arguments.number(2, 120));
  options.mayUse = isExported;
  for (long seed = first; seed < first + count; seed++) {
    options.whenClean = [&](const World& world) { exportWorld(std::uint64_t(seed), world, all); };
    const std::string found = runSeed(std::uint64_t(seed), options);
    if (found.empty()) continue;
    std::fprintf(stderr, "seed %ld: %s\n", seed, found.c_str());
    return 1;
  }
  std::fprintf(stderr, "seeds %ld entries %ld uploads %ld refused %ld\n", all.seeds, all.entries, all.uploads,
               all.refused);
  return 0;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(count, values);
  const std::string command = arguments.command();
  if (command == "seeds") return runSeeds(arguments);
  if (command == "small") return runPools(arguments);
  if (command == "takeover") return runTakeover(arguments);
  if (command == "mutants") return runMutants(arguments);
  if (command == "export") return runExport(arguments);
  if (command == "arrival") {
    brokenRule = Rule(arguments.number(2, 0));
    compareArrivals(arguments.number(0, 1), arguments.number(1, 10000));
    return 0;
  }
  if (command == "cost") {
    measureCost();
    return 0;
  }
  std::printf(
      "merge-model seeds FIRST COUNT [RULE [STEPS]] | small ACTIONS [POOL [LIMIT [RULE]]] | takeover [LIMIT [RULE]] | "
      "mutants COUNT [STEPS [SKIP]] | arrival FIRST COUNT [RULE] | cost | export FIRST COUNT [STEPS]\n");
  return command.empty() || command == "help" ? 0 : 1;
}
