#include "Search.h"

#include <algorithm>
#include <deque>

namespace model {

namespace {

struct Key {
  std::uint64_t a, b;
};

// 128 bits of a state: two states with one key would hide one of them, with odds of about 1e-24 here.
Key keyOf(const State& s) {
  std::uint64_t a = 0x9e3779b97f4a7c15, b = 0xc2b2ae3d27d4eb4f;
  const u8* bytes = reinterpret_cast<const u8*>(&s);
  for (size_t i = 0; i < sizeof s; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, std::min<size_t>(8, sizeof s - i));
    a = (a ^ word) * 0xd6e8feb86659fd93;
    a ^= a >> 32;
    b = (b ^ word) * 0xff51afd7ed558ccd;
    b ^= b >> 32;
  }
  return {a | 1, b};  // a is never 0, which marks an empty place
}

class Seen {
 public:
  Seen() : places(1 << 16) {}
  bool insert(Key key) {
    if (count * 2 > places.size()) grow();
    if (!put(places, key)) return false;
    count++;
    return true;
  }

 private:
  std::vector<Key> places;
  size_t count = 0;
  static bool put(std::vector<Key>& in, Key key) {
    for (size_t i = key.b & (in.size() - 1);; i = (i + 1) & (in.size() - 1)) {
      if (!in[i].a) return in[i] = key, true;
      if (in[i].a == key.a && in[i].b == key.b) return false;
    }
  }
  void grow() {
    std::vector<Key> more(places.size() * 2);
    for (const Key& key : places)
      if (key.a) put(more, key);
    places.swap(more);
  }
};

class Search final : public Sink {
 public:
  // A state is kept until it is expanded; of each there stay its parent and which of the parent's steps led to it.
  struct From {
    std::uint32_t parent, step;
  };
  Seen seen;
  std::deque<State> waiting;
  std::vector<From> from;
  std::uint32_t parent = 0, step = 0;
  std::string violation;
  std::uint32_t violatedStep = 0;

  void take(const State& s, const std::string&, const std::string& found) override {
    const std::uint32_t me = step++;
    if (!violation.empty()) return;
    if (!found.empty()) {
      violation = found;
      violatedStep = me;
    } else if (seen.insert(keyOf(s))) {
      from.push_back({parent, me});
      waiting.push_back(s);
    }
  }
};

// Takes one step again, to tell what it was.
class Retelling final : public Sink {
 public:
  std::uint32_t wanted = 0, step = 0;
  State state;
  std::string label;
  Retelling() { isTelling = true; }
  void take(const State& s, const std::string& what, const std::string&) override {
    if (step++ != wanted) return;
    state = s;
    label = what;
  }
};

}  // namespace

Outcome search(const Bounds& bounds, Rule removed, size_t limit) {
  Search found;
  Model model(bounds, removed, found);
  found.take(model.first(), "", "");
  std::uint32_t at = 0;
  for (; !found.waiting.empty() && found.from.size() < limit && found.violation.empty(); at++) {
    const State s = found.waiting.front();
    found.waiting.pop_front();
    found.parent = at;
    found.step = 0;
    model.expand(s);
  }
  Outcome outcome;
  outcome.states = found.from.size();
  outcome.isCut = found.violation.empty() && !found.waiting.empty();
  if (found.violation.empty()) return outcome;
  outcome.isViolated = true;
  outcome.violation = found.violation;
  std::vector<std::uint32_t> steps{found.violatedStep};
  for (std::uint32_t i = at - 1; i != 0; i = found.from[i].parent) steps.push_back(found.from[i].step);
  std::reverse(steps.begin(), steps.end());
  Retelling retelling;
  Model again(bounds, removed, retelling);
  State s = again.first();
  for (std::uint32_t wanted : steps) {
    retelling.wanted = wanted;
    retelling.step = 0;
    again.expand(s);
    s = retelling.state;
    outcome.trace.push_back(retelling.label);
  }
  return outcome;
}

}  // namespace model
