#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Rules.h"
#include "State.h"

namespace model {

// Takes the states that follow one another.
class Sink {
 public:
  bool isTelling = false;  // labels cost time, and only a trace needs them
  virtual void take(const State& state, const std::string& label, const std::string& violation) = 0;

 protected:
  ~Sink() = default;
};

// The protocol: which states can follow a state.
class Model {
 public:
  Model(const Bounds& bounds, Rule removed, Sink& sink) : bounds(bounds), removed(removed), sink(sink) {}

  State first() const;
  void expand(const State& s);

 private:
  const Bounds bounds;
  const Rule removed;
  Sink& sink;

  bool keeps(Rule rule) const { return rule != removed; }

  // Commit.cpp
  void commits(const State& s);
  void leader(const State& s);
  void largeCommit(const State& s);
  enum class Naming { none, keep, drop };
  bool commit(State& t, bool isFull, bool isLarge, int leaf, bool high, Naming naming);
  bool writeMeta(State& t, int page, int root, int durable);
  bool mustSync(const State& s) const;
  void publishCovered(State& t);
  void startSync(State& t);
  void endSync(State& t, bool isGood);
  void failSync(State& t, int process);
  void expire(State& t, int after, int process);

  // Recovery.cpp
  struct Found {
    int page;
    bool rejected;
  };
  void locks(const State& s);
  void recovery(const State& s);
  std::optional<Found> choose(const State& s) const;
  bool isWhole(const State& s, const Meta& meta) const;
  bool startRecovery(State& t, int process, bool asLarge);
  bool rewrite(State& t, int process, bool asLarge);
  bool rewriteInPlace(State& t, int page);
  void finishRecovery(State& t, int process, int words);
  void judgeOpened(const State& s, int root) const;

  // Space.cpp
  void maps(const State& s);
  std::vector<u8> holders(const State& s, int process) const;
  std::vector<u8> named(const State& s) const;
  std::vector<u8> freePages(const State& s, int process, const PageMap& map) const;
  void catchUp(State& t, int process);
  void rebuild(State& t, int process);
  void walkOlder(State& t, int process);
  void judgeFree(const State& t, const std::vector<u8>& free) const;
  bool writeNode(State& t, int id);
  int addNode(State& t, int birth, int page, int leaf0, int leaf1, int named = 0);

  // Faults.cpp
  void readers(const State& s);
  void crashes(const State& s);
  void disk(const State& s);
  void kill(const State& s, int process);
  void loseProcess(State& t, int process);
  void losePower(const State& s, int cell, State& t, const char* label);
  bool isPublishedSure(const State& s) const;
  void tidy(State& t) const;
  void judge(const State& s) const;

  // One step: `body` changes a copy of the state and answers whether the step is possible.
  template <class Label, class Body>
  void attempt(const State& s, Label label, Body body) {
    State t = s;
    std::string violation;
    try {
      if (!body(t)) return;
      judge(t);
    } catch (const Violation& found) {
      violation = found.text;
    }
    const std::string text = sink.isTelling ? label(t) : std::string();
    tidy(t);
    sink.take(t, text, violation);
  }
};

bool writePage(Cell& cell, int value);

template <class T>
std::string say(const T& value) {
  if constexpr (std::is_convertible_v<T, std::string>)
    return value;
  else
    return std::to_string(value);
}
template <class... Parts>
std::string text(const Parts&... parts) {
  std::string all;
  ((all += say(parts)), ...);
  return all;
}

}  // namespace model
