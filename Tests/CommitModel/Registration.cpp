#include "Registration.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include "State.h"

namespace model {

namespace {

constexpr int readers = 2, versions = 3, threads = readers + 1, writerThread = readers, current = readers,
              words = readers + 1;
enum : u8 { loadCurrent, storePin, readerFence, loadAgain, reading, done };
enum : u8 { publish, loadOwn, writerFence, loadPin, overwrite, ended };

struct Shared {
  u8 memory[words];              // the readers' pins, then the current version
  u8 buffer[threads][words][2];  // stores that others don't see yet, oldest first
  u8 buffered[threads][words];
  u8 at[threads];
  u8 seen[readers];              // the version a reader means to read
  u8 own, pinOf, pins[readers];  // what the writer loaded
  u8 isOverwritten[versions + 1];
  bool operator<(const Shared& other) const { return std::memcmp(this, &other, sizeof *this) < 0; }

  u8 load(int thread, int word) const {
    const u8 n = buffered[thread][word];
    return n ? buffer[thread][word][n - 1] : memory[word];
  }
  bool store(int thread, int word, u8 value) {
    if (buffered[thread][word] == 2) return false;
    buffer[thread][word][buffered[thread][word]++] = value;
    return true;
  }
  bool isDrained(int thread) const {
    for (u8 n : buffered[thread])
      if (n) return false;
    return true;
  }
};

struct Step {
  Shared state;
  std::string label;
};

void stepReader(const Shared& s, int r, Registering how, std::vector<Step>& out) {
  Shared t = s;
  const std::string who = "reader " + std::to_string(r) + " ";
  switch (s.at[r]) {
    case loadCurrent:
      t.seen[r] = s.load(r, current);
      t.at[r] = storePin;
      out.push_back({t, who + "loads current: " + std::to_string(t.seen[r])});
      break;
    case storePin:
      if (!t.store(r, r, s.seen[r])) break;
      t.at[r] = readerFence;
      out.push_back({t, who + "stores its pin"});
      break;
    case readerFence:
      if (how != Registering::noReaderFence && !s.isDrained(r)) break;
      t.at[r] = how == Registering::noSecondLoad ? reading : loadAgain;
      out.push_back({t, who + "is past the fence"});
      break;
    case loadAgain:
      if (s.load(r, current) == s.seen[r]) {
        t.at[r] = reading;
        out.push_back({t, who + "finds current as it was, and reads"});
      } else if (t.store(r, r, 0)) {
        t.at[r] = loadCurrent;
        out.push_back({t, who + "finds that current moved, and clears its pin"});
      }
      break;
    case reading:
      if (!t.store(r, r, 0)) break;
      t.at[r] = done;
      out.push_back({t, who + "is done and clears its pin"});
      break;
  }
}

void stepWriter(const Shared& s, Registering how, std::vector<Step>& out) {
  Shared t = s;
  switch (s.at[writerThread]) {
    case publish: {
      const u8 next = s.load(writerThread, current) + 1;
      if (!t.store(writerThread, current, next)) break;
      t.at[writerThread] = loadOwn;
      out.push_back({t, "writer stores current: " + std::to_string(next)});
      break;
    }
    case loadOwn:
      t.own = s.load(writerThread, current);
      t.at[writerThread] = writerFence;
      out.push_back({t, "writer loads current"});
      break;
    case writerFence:
      if (how != Registering::noWriterFence && !s.isDrained(writerThread)) break;
      t.at[writerThread] = loadPin;
      t.pinOf = 0;
      out.push_back({t, "writer is past the fence"});
      break;
    case loadPin:
      t.pins[s.pinOf] = s.load(writerThread, s.pinOf);
      if (++t.pinOf == readers) t.at[writerThread] = overwrite;
      out.push_back({t, "writer loads pin " + std::to_string(s.pinOf) + ": " + std::to_string(t.pins[s.pinOf])});
      break;
    case overwrite:
      for (int v = 1; v < s.own; v++)
        if (std::find(s.pins, s.pins + readers, v) == s.pins + readers) t.isOverwritten[v] = 1;
      std::memset(t.pins, 0, sizeof t.pins);
      t.pinOf = t.own = 0;
      t.at[writerThread] = s.load(writerThread, current) < versions ? publish : ended;
      out.push_back({t, "writer overwrites what no pin names"});
      break;
  }
}

}  // namespace

Registration searchRegistration(Registering how) {
  Shared first;
  clear(first);
  first.memory[current] = 1;
  std::map<Shared, size_t> seen{{first, 0}};
  std::vector<std::pair<size_t, std::string>> from{{0, ""}};
  std::deque<Shared> waiting{first};
  Registration result;
  for (size_t at = 0; !waiting.empty(); at++) {
    const Shared s = waiting.front();
    waiting.pop_front();
    for (int r = 0; r < readers; r++)
      if (s.at[r] == reading && s.isOverwritten[s.seen[r]]) {
        result.violation =
            "reader " + std::to_string(r) + " reads version " + std::to_string(s.seen[r]) + ", which is overwritten";
        for (size_t i = at; i != 0; i = from[i].first) result.trace.insert(result.trace.begin(), from[i].second);
        result.states = seen.size();
        return result;
      }
    std::vector<Step> next;
    for (int r = 0; r < readers; r++) stepReader(s, r, how, next);
    stepWriter(s, how, next);
    for (int thread = 0; thread < threads; thread++)
      for (int word = 0; word < words; word++) {
        if (!s.buffered[thread][word]) continue;
        Shared t = s;
        t.memory[word] = s.buffer[thread][word][0];
        t.buffer[thread][word][0] = s.buffer[thread][word][1];
        t.buffer[thread][word][1] = 0;
        t.buffered[thread][word]--;
        next.push_back({t, std::string("a store of ") +
                               (thread == writerThread ? "the writer" : "reader " + std::to_string(thread)) +
                               " reaches memory"});
      }
    for (const Step& step : next)
      if (seen.emplace(step.state, from.size()).second) {
        from.push_back({at, step.label});
        waiting.push_back(step.state);
      }
  }
  result.states = seen.size();
  return result;
}

}  // namespace model
