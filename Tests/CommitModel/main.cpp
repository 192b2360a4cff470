// A model of commits, recovery and the recycling of pages, searched through all its states within bounds; and a model
// of how readers register, searched through all interleavings.
//
//   commit-model                     the protocol as written must hold, and each rule left out must end in a violation
//   commit-model --slow              wider bounds
//   commit-model --without RULE      one rule left out, or "readers"; prints the shortest way to a violation
//   commit-model --profile NAME      one profile of the protocol as written
//   commit-model --list              the rules and the profiles
//
// The tree is a root with two leaves, and each node takes a page of its own. A commit writes one leaf and the root.
//
// Modelled: both meta pages; full and relaxed commits; a sync that fails, seen or unseen; kill -9 at each step and
// between the words that note an outcome; power loss, after which each page written since its last sync is as it was,
// as any of the writes left it, or garbage; pages that the cache drops after a failed sync; recovery, killed and begun
// again; versions kept by name, names moved on and dropped; large commits, whose nodes are synced first; threads whose versions are pending together; processes that share
// a control block, one killed while others read and take over; maps of pages kept up by deltas or rebuilt by a walk.
//
// Checked: what opens is one committed version, whole, and not older than what was acknowledged; what is published or
// pinned does not change, nor what either keeps by name; what opens has what it names, whole; a number means one content;
// no page that D, the published version, one that is pending or in flight, what one of these names, or a pin reaches may be
// taken, by either kind of map.
//
// Not modelled: several nodes in a page and runs of pages; a write torn by kill -9; growth, truncation and compaction;
// cancelled transactions; the limit of what is not synced; clean close; opening for reading only; copies of a file in
// use; encryption; damage that no crash explains; a reader in the middle of a read when its snapshot expires, or when
// the cache drops a page it has verified; a lock given up while versions are pending; the registration of processes;
// the loss of the control block in a boot. Checksums are perfect. Registration is modelled for one pin a reader, with
// loads in the order of the program.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "Registration.h"
#include "Search.h"

using namespace model;

namespace {

// What one search covers. Wide bounds for everything at once have too many states.
struct Profile {
  const char* name;
  const char* what;
  Bounds quick, slow;
};

Bounds bounds(int commits, int crashes, int pages, void (*choose)(Bounds&)) {
  Bounds b;
  b.commits = commits;
  b.crashes = crashes;
  b.pages = pages;
  choose(b);
  return b;
}

void bothPlaces(Bounds& b) {
  b.eviction = true;
}
void oneProcess(Bounds& b) {
  bothPlaces(b);
  b.bothPlaces = false;
}
void againWithPins(Bounds& b) {
  b.bothPlaces = false;
}
void again(Bounds& b) {
  againWithPins(b);
  b.pins = false;
}
void inTurns(Bounds& b) {
  again(b);
  b.bothLeaves = false;
  b.ends = true;
}
void threads(Bounds& b) {
  b.pending = 3;
}
void large(Bounds& b) {
  b.pending = 2;
  b.large = true;
  b.pins = b.bothPlaces = b.bothLeaves = false;
}
void rewriting(Bounds& b) {
  large(b);
  b.pins = b.eviction = true;
}
void processes(Bounds& b) {
  b.processes = 2;
  b.ring = 1;
  b.eviction = true;
  b.bothPlaces = b.bothLeaves = false;
}
void heirs(Bounds& b) {
  processes(b);
  b.eviction = false;
}
void ring(Bounds& b) {
  processes(b);
  b.bothLeaves = true;
  b.failures = 0;
}
void names(Bounds& b) {
  b.names = true;
  b.pending = 2;
  b.mapLosses = 1;
  b.pins = b.bothPlaces = b.bothLeaves = false;
}
void maps(Bounds& b) {
  heirs(b);
  b.pending = 2;
  b.slowWalk = true;
  b.mapLosses = 1;
}

const Profile profiles[] = {
    {"one", "one process, one thread", bounds(3, 2, 10, oneProcess), bounds(4, 2, 8, bothPlaces)},
    {"again", "three crashes", bounds(3, 3, 9, again), bounds(4, 3, 9, againWithPins)},
    {"in-turns", "processes that end and others that begin", bounds(3, 3, 8, inTurns), bounds(4, 3, 8, inTurns)},
    {"threads", "versions pending together", bounds(3, 1, 9, threads), bounds(4, 1, 10, threads)},
    {"large", "large commits", bounds(3, 2, 10, large), bounds(3, 3, 11, large)},
    {"rewriting", "syncs without outcome, large commits", bounds(2, 3, 12, rewriting), bounds(3, 3, 13, rewriting)},
    {"processes", "two processes, one crash", bounds(3, 1, 10, processes), bounds(4, 1, 9, processes)},
    {"heirs", "two processes, two crashes", bounds(3, 2, 9, heirs), bounds(3, 3, 9, heirs)},
    {"ring", "maps kept up by deltas", bounds(4, 0, 10, ring), bounds(5, 0, 9, ring)},
    {"maps", "maps rebuilt and kept up", bounds(3, 1, 9, maps), bounds(3, 2, 9, maps)},
    {"names", "versions kept by name", bounds(4, 1, 11, names), bounds(4, 2, 11, names)},
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double peakMebibytes() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return double(usage.ru_maxrss) / (1 << 20);
#else
  return double(usage.ru_maxrss) / (1 << 10);
#endif
}

void printTrace(const std::vector<std::string>& trace) {
  for (const std::string& line : trace) std::printf("    %s\n", line.c_str());
}

const Profile& profileNamed(const std::string& name) {
  for (const Profile& p : profiles)
    if (name == p.name) return p;
  std::fprintf(stderr, "no profile is named %s\n", name.c_str());
  std::exit(2);
}

// A search that gets so far proves nothing any more, and fails.
constexpr size_t mostStates = 60'000'000;

bool runProtocol(const Profile& profile, bool isSlow) {
  const Bounds& b = isSlow ? profile.slow : profile.quick;
  const double start = now();
  const Outcome outcome = search(b, Rule::none, mostStates);
  std::printf("%-10s %10zu states %6.1f s  commits %d, crashes %d, pages %d: %s\n", profile.name, outcome.states,
              now() - start, b.commits, b.crashes, b.pages - 2,
              outcome.isViolated ? outcome.violation.c_str()
              : outcome.isCut    ? "too many states"
                                 : "holds");
  printTrace(outcome.trace);
  std::fflush(stdout);
  return !outcome.isViolated && !outcome.isCut;
}

bool runMutant(const RuleText& text, bool isTold) {
  const Outcome outcome = search(profileNamed(text.profile).quick, text.rule, mostStates);
  std::printf("%-23s %-10s %8zu states: %s\n", text.name, text.profile, outcome.states,
              outcome.isViolated ? outcome.violation.c_str() : "NOT FOUND");
  if (isTold) printTrace(outcome.trace);
  std::fflush(stdout);
  return outcome.isViolated;
}

bool runRegistration(bool isTold) {
  struct {
    Registering how;
    const char* name;
  } const forms[] = {{Registering::asWritten, "as written"},
                     {Registering::noReaderFence, "reader-fence"},
                     {Registering::noWriterFence, "writer-fence"},
                     {Registering::noSecondLoad, "second-load"}};
  bool isGood = true;
  for (const auto& form : forms) {
    const Registration r = searchRegistration(form.how);
    const bool isMutant = form.how != Registering::asWritten;
    isGood &= isMutant != r.violation.empty();
    std::printf("%-23s %-10s %8zu states: %s\n", form.name, "readers", r.states,
                !r.violation.empty() ? r.violation.c_str()
                : isMutant           ? "NOT FOUND"
                                     : "holds");
    if (isTold || (!isMutant && !r.violation.empty())) printTrace(r.trace);
  }
  return isGood;
}

}  // namespace

int main(int argc, char** argv) {
  bool isSlow = false, isGood = true;
  std::string without, only;
  for (int i = 1; i < argc; i++) {
    const std::string argument = argv[i];
    if (argument == "--slow") {
      isSlow = true;
    } else if (argument == "--without" && i + 1 < argc) {
      without = argv[++i];
    } else if (argument == "--profile" && i + 1 < argc) {
      only = argv[++i];
    } else if (argument == "--list") {
      for (const Profile& p : profiles) std::printf("%-23s %s\n", p.name, p.what);
      for (const RuleText& r : ruleTexts) std::printf("%-23s left out: %s\n", r.name, r.without);
      return 0;
    } else {
      std::fprintf(stderr, "usage: commit-model [--slow] [--profile NAME] [--without RULE] [--list]\n");
      return 2;
    }
  }
  if (!without.empty()) {
    if (without == "readers") return runRegistration(true) ? 0 : 1;
    for (const RuleText& r : ruleTexts)
      if (without == r.name) return runMutant(r, true) ? 0 : 1;
    std::fprintf(stderr, "no rule is named %s\n", without.c_str());
    return 2;
  }
  if (!only.empty()) return runProtocol(profileNamed(only), isSlow) ? 0 : 1;

  const double start = now();
  std::printf("The protocol as written must hold.\n");
  for (const Profile& p : profiles) isGood &= runProtocol(p, isSlow);
  std::printf("\nEach rule left out must end in a violation.\n");
  for (const RuleText& r : ruleTexts) isGood &= runMutant(r, false);
  std::printf("\nHow readers register.\n");
  isGood &= runRegistration(false);
  std::printf("\n%s: %zu rules, %.0f s, %.0f MiB\n", isGood ? "good" : "FAILED", ruleTexts.size(), now() - start,
              peakMebibytes());
  return isGood ? 0 : 1;
}
