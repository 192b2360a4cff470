// Order in lists. Each insert or move makes a position, and its place is a function of the list and the instruction.
// Concurrent inserts at one place stand in the order of their stamps, earlier first, and what one writer wrote as a run
// stays together. Nothing here depends on records that the writer had acknowledged, as a client and a server can have
// trimmed them differently.
//
// The neighbours of an instruction are the positions that the writer saw, dead ones included. If the right neighbour is
// the writer's own, not acknowledged, and placed behind the same left neighbour, the writer goes backward: the new
// position goes directly before it, and before later unseen ones that hang on it. Else the place is directly behind the
// left neighbour, and behind those unseen positions whose outermost one was placed there earlier. The new position
// records its left neighbour. It hangs on the right neighbour if that was placed behind the same left neighbour, else
// on the left one.
#include <unordered_map>

#include "Merge.h"
#include "Rules.h"
#include "Run.h"

namespace model {

int findPosition(const Slot& list, int id) {
  for (std::size_t i = 0; i < list.positions.size(); i++)
    if (list.positions[i].id == id) return int(i);
  return -1;
}

int livePosition(const Slot& list, int element) {
  for (std::size_t i = 0; i < list.positions.size(); i++)
    if (list.positions[i].isLive && list.positions[i].element == element) return int(i);
  return -1;
}

// The position of an element as the writer saw it: its own latest one that it had not acknowledged, else the one that
// was in force at its base.
int positionSeen(const Slot& list, int element, const Context& context) {
  int own = -1, inForce = -1, other = -1;
  for (std::size_t i = 0; i < list.positions.size(); i++) {
    const Position& p = list.positions[i];
    if (p.element != element || !isSeen(p.record, context)) continue;
    if (p.record.exists && p.record.version > context.base) {
      if (own >= 0) {
        const Position& best = list.positions[std::size_t(own)];
        const bool isLater =
            best.record.stamp < p.record.stamp || (best.record.stamp == p.record.stamp && best.id < p.id);
        if (!isLater) continue;
      }
      own = int(i);
    } else if (p.isLive || p.diedAt > context.base) {
      inForce = int(i);
    } else {
      other = int(i);
    }
  }
  if (isBroken(Rule::ownPositionFirst)) return inForce >= 0 ? inForce : own >= 0 ? own : other;
  return own >= 0 ? own : inForce >= 0 ? inForce : other;
}

namespace {

class Placing {
 public:
  Placing(const Slot& list, const Context& context) : positions(list.positions), list(list), context(context) {}

  void run(int leftElement, int rightElement, Effect& effect) {
    findNeighbours(leftElement, rightElement);
    leftId = left < 0 ? 0 : at(left).id;
    effect.leftNeighbour = leftId;
    // The right neighbour was itself placed behind the left one: the writer goes backward.
    const bool isBackward = hasRight && at(right).record.exists && at(right).leftNeighbour == leftId;
    effect.parent = isBackward ? at(right).id : leftId;
    effect.isLeftChild = isBackward;
    // Only what the writer had not acknowledged decides.
    const bool isRecent =
        isBackward && (at(right).record.version > context.base || isBroken(Rule::orderIgnoresAcknowledged));
    effect.index = isRecent && keeps(Rule::anchorBackwardRuns) ? goLeft() : goRight();
  }

 private:
  const std::vector<Position>& positions;
  const Slot& list;
  const Context& context;
  int left = -1, right = 0;  // indices of the neighbours; -1: the head; the number of positions: the end
  int leftId = 0;
  bool hasRight = false;
  std::unordered_map<int, int> roots;

  const Position& at(int index) const { return positions[std::size_t(index)]; }
  bool isUnseen(const Position& p) const { return !isSeen(p.record, context); }

  void findNeighbours(int leftElement, int rightElement) {
    const int count = int(positions.size());
    right = count;
    bool knowsLeft = true, knowsRight = true;
    if (leftElement) {
      left = positionSeen(list, leftElement, context);
      knowsLeft = left >= 0;
    }
    if (rightElement) {
      right = positionSeen(list, rightElement, context);
      knowsRight = right >= 0;
      if (!knowsRight) right = count;
    }
    // An unknown left neighbour is one whose insert was refused. The place is then directly before the right one, or
    // at the end.
    if (!knowsLeft) left = knowsRight && rightElement ? right - 1 : count - 1;
    // If the neighbours stand in the reverse order by now, only the left one counts.
    if (right <= left) right = count;
    hasRight = rightElement && knowsRight && right < count;
  }

  // The outermost unseen position between the neighbours on which a position hangs.
  int root(int index) {
    std::vector<int> chain;
    int found = -1;
    for (;;) {
      counters.orderSteps++;
      const Position& p = at(index);
      const auto known = roots.find(p.id);
      if (known != roots.end()) {
        found = known->second;
        break;
      }
      chain.push_back(p.id);
      const int parent = p.parent && keeps(Rule::passWholeRuns) ? findPosition(list, p.parent) : -1;
      if (parent <= left || parent >= right || !isUnseen(at(parent)) || chain.size() > positions.size()) {
        found = index;
        break;
      }
      index = parent;
    }
    for (int id : chain) roots[id] = found;
    return found;
  }

  // Directly behind the left neighbour, and behind the earlier ones of what others placed there.
  int goRight() {
    // An engine asks an index by left neighbour here, so that it does not visit dead positions for nothing.
    bool anyHangsHere = false;
    for (const Position& p : positions)
      if (p.leftNeighbour == leftId && p.record.exists && isUnseen(p)) anyHangsHere = true;
    int best = left + 1;
    for (int i = left + 1; anyHangsHere && i < right; i++) {
      counters.orderSteps++;
      const Position& p = at(i);
      if (!isUnseen(p)) {
        if (p.isLive || isBroken(Rule::passDeadPositions)) break;
        continue;
      }
      const Position& outer = at(root(i));
      if (outer.leftNeighbour != leftId) {
        // It was placed behind something else: it is passed over if that lies dead between the neighbours.
        const int behind = outer.leftNeighbour ? findPosition(list, outer.leftNeighbour) : -1;
        if (behind > left || (outer.leftNeighbour && behind < 0)) continue;
        break;
      }
      const Stamp theirs = outer.record.stamp;
      if (keeps(Rule::earlierInsertFirst) ? context.stamp < theirs : theirs < context.stamp) break;
      best = i + 1;
    }
    return best;
  }

  // Directly before the right neighbour, and before the later ones of what others hung on its left side.
  int goLeft() {
    int best = right;
    for (int i = right; i > left + 1; i--) {
      const Position& p = at(i - 1);
      if (!isUnseen(p)) {
        if (p.isLive || isBroken(Rule::passDeadPositions)) break;
        continue;
      }
      const Position& outer = at(root(i - 1));
      if (outer.parent != at(right).id || !outer.isLeftChild || outer.record.stamp < context.stamp) break;
      best = i - 1;
    }
    return best;
  }
};

}  // namespace

// The visible left neighbour of a place, and the nearest dead position between the two.
void nameNeighbours(const Slot& list, Effect& effect, int leftOut) {
  effect.after = 0;
  effect.dead.clear();
  for (int k = effect.index - 1; k >= 0; k--) {
    const Position& p = list.positions[std::size_t(k)];
    if (p.isLive && p.element != leftOut) {
      effect.after = p.element;
      break;
    }
    if (effect.dead.size() < deadNamed) effect.dead.push_back(p.id);
  }
}

// Where a new position goes: its index, its visible neighbours, and what is recorded of it.
void place(const Slot& list, const Context& context, int left, int right, Effect& effect) {
  Placing(list, context).run(left, right, effect);
  nameNeighbours(list, effect, 0);
}

}  // namespace model
