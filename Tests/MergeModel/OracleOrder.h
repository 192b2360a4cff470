#pragma once
#include <map>
#include <string>

#include "Oracle.h"

namespace model {

// Properties of the order of a list. Elements that were moved or erased since are left out where they would prove
// nothing.
class Oracle::Order {
 public:
  Order(const ListEvents& events, const Slot& list, bool wasTrimmed);
  void check();

 private:
  const ListEvents& events;
  const Slot& list;
  const bool wasTrimmed;
  std::map<int, int> indexOf;  // by element: its place among the visible ones
  std::map<int, bool> knownIds;
  bool isDisturbed = false;

  const Event* insertOf(int element) const { return events.inserts.at(element); }
  bool isInserted(int element) const { return events.inserts.count(element); }
  bool wasMoved(int element) const { return events.moves.count(element); }
  bool isSettled(int element) const;
  bool isKnown(int element);
  bool knowsNeighbours(const Instruction& in) { return isKnown(in.left) && isKnown(in.right); }
  int firstIndex(int element) const;
  bool areInOrder(int left, int right) const;
  bool isInside(int element, int left, int right) const;
  void complain(const std::string& what) const;

  void findDisturbance();
  void checkNeighbours(int element, const Instruction& in, const char* left, const char* right);
  void checkSiblings(int a, int b);
  bool hasOnlyPlainSiblings(int a, int b);
  void checkRuns(int a, int b);
  void checkBesideMoved(int element);
  void checkMove(int element, const Events& moves);
};

}  // namespace model
