#pragma once
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "Node.h"

namespace model {

// The rules once more, in another form: the state of each object from the set of all accepted instructions. The oracle
// knows no records and no horizon, so trims must change nothing. List order is checked by properties, as there is no
// second algorithm for it.
class Oracle {
 public:
  explicit Oracle(const Node& node);
  void check();

 private:
  // An accepted instruction.
  struct Event {
    int number;  // in the order of the log
    int version, replica, base;
    int made, time;
    bool isHonest;
    Stamp stamp;
    const Instruction* in;
  };
  using Events = std::vector<const Event*>;
  using Elements = std::map<int, const Event*>;

  const Node& node;
  std::deque<Event> all;
  std::deque<Instruction> made;  // sets of the filter field that follow from a scope
  std::map<std::pair<int, int>, Stamp> stamps;
  std::map<int, int> schema, ingested;
  bool wasTrimmed = false;

  static bool sees(const Event* event, const Event* other);
  static const Event* latest(const Events& events);
  bool isOwnKindWriteLater(const Event* event, int sequence, Stamp stamp) const;
  void collect(const HistoryEntry& entry, int version);

  // Each gives the canonical text, with lists in the order of ids. `depth` is the number of steps to the place;
  // `actual` is the server's slot, for the order of lists.
  std::string object(const Events& events, std::size_t depth, const Event* creation, const Slot* actual);
  std::string property(int key, const Events& events, std::size_t depth, const Event* creation, const Slot* actual);
  std::string reg(const Events& events, std::size_t depth, Value first, const Event* born, const Event* creation,
                  const Slot* actual);
  std::string collection(const Events& events, std::size_t depth, SlotKind kind, SlotKind elementKind,
                         const Slot* actual);
  std::string dictionary(const Events& events, std::size_t depth, SlotKind elementKind, const Slot* actual);
  std::string list(const Events& events, std::size_t depth, SlotKind elementKind, const Slot* actual);
  Events countedDeletes(const Events& deletes, const Events& creations) const;

  struct ListEvents {
    Elements inserts;
    std::map<int, Events> moves;
    std::set<int> erased;
    std::vector<int> alive;
  };
  class Order;
  friend class RegisterOracle;
};

}  // namespace model
