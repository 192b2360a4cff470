#pragma once
#include <cstdint>
#include <string>
#include <type_traits>

namespace model {

template <class T>
std::string say(const T& value) {
  if constexpr (std::is_convertible_v<T, std::string>)
    return value;
  else
    return std::to_string(value);
}
// One string of all parts; numbers are written as digits.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::string all;
  ((all += say(parts)), ...);
  return all;
}

// The first violation of a run; empty while there is none.
extern std::string failure;
inline void fail(const std::string& what) {
  if (failure.empty()) failure = what;
}

// What a run has met. The counters tell whether a run reaches what it is meant to test, and whether two builds of the
// model do the same.
struct Counters {
  long seeds = 0, steps = 0, entries = 0, uploads = 0;
  long duplicates = 0, gaps = 0, belowHorizon = 0, forged = 0;
  long refused = 0, keysInUse = 0, editsOnTop = 0, clampedStamps = 0;
  long wholeObjects = 0, leaves = 0, deletes = 0, deletesNotTold = 0, asWritten = 0;
  long decisions = 0, effects = 0, orderSteps = 0, replayed = 0, undone = 0;
  long comparedViews = 0, predictions = 0, queuePredictions = 0;
  long trims = 0, restarts = 0, kills = 0, lostMessages = 0, lostAnswers = 0;
  long registrations = 0, registrationsWithPending = 0, toFlexible = 0, invalidSets = 0, olderSets = 0;
  long resets = 0, forcedResets = 0, restores = 0, resetsByTag = 0, copies = 0, resetsByNumber = 0;
  long cutTransactions = 0;
};
extern Counters counters;

void printCounters();

// A generator of random numbers that gives the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state(seed * 0x9E3779B97F4A7C15ull + 0x1234567) {
    next();
    next();
  }
  std::uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
  int below(int end) { return end <= 0 ? 0 : int((next() >> 11) % std::uint64_t(end)); }
  bool percent(int chance) { return below(100) < chance; }

 private:
  std::uint64_t state;
};

}  // namespace model
