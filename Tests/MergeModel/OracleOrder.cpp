#include "OracleOrder.h"

#include <algorithm>

#include "Run.h"

namespace model {

Oracle::Order::Order(const ListEvents& events, const Slot& list, bool wasTrimmed)
    : events(events), list(list), wasTrimmed(wasTrimmed) {
  int count = 0;
  for (const Position& p : list.positions)
    if (p.isLive) indexOf[p.element] = count++;
}

void Oracle::Order::complain(const std::string& what) const {
  std::string all = "order: " + what + "\n  now:";
  for (const Position& p : list.positions) {
    all += text(" ", p.element);
    if (p.id != p.element) all += text("(", p.id, ")");
    if (!p.isLive) all += "x";
    if (p.record.exists)
      all += text("[", p.record.stamp.clock, ".", p.record.stamp.replica, "@", p.record.version,
                  p.isLeftChild ? " L" : " R", p.parent, " o", p.leftNeighbour, "]");
  }
  Events sorted;
  for (const auto& insert : events.inserts) sorted.push_back(insert.second);
  for (const auto& moves : events.moves) sorted.insert(sorted.end(), moves.second.begin(), moves.second.end());
  std::sort(sorted.begin(), sorted.end(), [](const Event* a, const Event* b) { return a->number < b->number; });
  for (const Event* e : sorted)
    all += text("\n  ", e->in->operation == Operation::insert ? "insert" : "move", " r", e->replica, " b", e->base,
                " v", e->version, " s", e->stamp.clock, " id", e->in->id, " elem", e->in->element, " L", e->in->left,
                " R", e->in->right);
  fail(all);
}

// Visible, and where its insert put it.
bool Oracle::Order::isSettled(int element) const {
  return isInserted(element) && !events.erased.count(element) && !wasMoved(element) && indexOf.count(element);
}

// False for an insert below a neighbour whose own insert was refused or dead.
bool Oracle::Order::isKnown(int element) {
  if (element == 0) return true;
  if (!isInserted(element)) return false;
  const auto found = knownIds.find(element);
  if (found != knownIds.end()) return found->second;
  knownIds[element] = true;
  return knownIds[element] = knowsNeighbours(*insertOf(element)->in);
}

int Oracle::Order::firstIndex(int element) const {
  int found = -1;
  for (std::size_t i = 0; i < list.positions.size(); i++) {
    const Position& p = list.positions[i];
    if (p.element == element && (p.isLive || found < 0)) found = int(i);
  }
  return found;
}

// Two neighbours can end up in the reverse of the order that the writer saw, if one of them was its own pending one
// and the other a concurrent one.
bool Oracle::Order::areInOrder(int left, int right) const {
  if (!left || !right) return true;
  const int a = firstIndex(left), b = firstIndex(right);
  return a >= 0 && b >= 0 && !wasMoved(left) && !wasMoved(right) && a < b;
}

void Oracle::Order::check() {
  for (int element : events.alive)
    if (isSettled(element))
      checkNeighbours(element, *insertOf(element)->in, "an element is not after its left neighbour",
                      "an element is not before its right neighbour");
  findDisturbance();
  for (int a : events.alive)
    for (int b : events.alive) {
      if (a == b || !isSettled(a) || !isSettled(b)) continue;
      if (!knowsNeighbours(*insertOf(a)->in) || !knowsNeighbours(*insertOf(b)->in)) continue;
      checkSiblings(a, b);
      checkRuns(a, b);
    }
  for (int element : events.alive) checkBesideMoved(element);
  for (const auto& [element, moves] : events.moves) checkMove(element, moves);
}

void Oracle::Order::checkNeighbours(int element, const Instruction& in, const char* left, const char* right) {
  if (!knowsNeighbours(in) || !areInOrder(in.left, in.right)) return;
  const int index = indexOf.at(element);
  if (in.left && isSettled(in.left) && indexOf[in.left] >= index) complain(text(left, " ", element));
  if (in.right && isSettled(in.right) && indexOf[in.right] <= index) complain(text(right, " ", element));
}

// Whether a settled element stands between two neighbours, which are settled too or are the head and the end.
bool Oracle::Order::isInside(int element, int left, int right) const {
  const int index = indexOf.at(element);
  return (!left || (isSettled(left) && index > indexOf.at(left))) &&
         (!right || (isSettled(right) && index < indexOf.at(right)));
}

// Where somebody wrote into a list of which it did not see all that it had written, as the object was outside its view,
// or where a neighbour had been refused, the order of what others placed there proves nothing.
void Oracle::Order::findDisturbance() {
  for (const auto& [id, insert] : events.inserts) {
    const int left = insert->in->left, right = insert->in->right;
    for (int x : events.alive)
      if (isSettled(x) && id != x && sees(insert, insertOf(x)) && x != left && x != right && isInside(x, left, right))
        isDisturbed = true;
    if (!isKnown(id)) isDisturbed = true;
  }
}

// Concurrent inserts at one place stand in the order of their stamps.
void Oracle::Order::checkSiblings(int a, int b) {
  const Event *x = insertOf(a), *y = insertOf(b);
  const int left = x->in->left, right = x->in->right;
  if (wasTrimmed || isDisturbed || !events.moves.empty()) return;
  if (left != y->in->left || right != y->in->right) return;
  if ((left && !isInserted(left)) || (right && !isInserted(right))) return;
  if (sees(x, y) || sees(y, x) || !(x->stamp < y->stamp) || indexOf[a] < indexOf[b]) return;
  if (hasOnlyPlainSiblings(a, b)) complain("concurrent inserts at one place are not in the order of their stamps");
}

// Where somebody wrote later in front of an acknowledged element, no order of stamps exists.
bool Oracle::Order::hasOnlyPlainSiblings(int a, int b) {
  const Event *x = insertOf(a), *y = insertOf(b);
  const int left = x->in->left, right = x->in->right;
  if (right && (!isInserted(right) || insertOf(right)->version > std::min(x->base, y->base))) return false;
  for (const auto& [id, z] : events.inserts)
    if (id != a && id != b && z->in->left == left && (z->in->right != right || sees(z, x) || sees(z, y))) return false;
  for (int z : events.alive) {
    if (z == a || z == b || z == left || z == right) continue;
    if (!sees(x, insertOf(z)) && !sees(y, insertOf(z))) continue;
    if ((!left || indexOf[z] > indexOf[left]) && (!right || indexOf[z] < indexOf[right])) return false;
  }
  return true;
}

// No concurrent insert stands inside a run that one writer continues forward or backward.
void Oracle::Order::checkRuns(int a, int b) {
  const Event *x = insertOf(a), *y = insertOf(b);
  if (isDisturbed || x->replica != y->replica || !sees(y, x)) return;
  const int left = x->in->left;
  const bool isForward = y->in->left == a;
  const bool isLeftKnown = !y->in->left || (isInserted(y->in->left) && !wasMoved(y->in->left));
  // After the beginning was acknowledged this holds only where nothing was erased or moved.
  const bool isBackward = y->in->right == a && y->in->left == left && isLeftKnown &&
                          (x->version > y->base || (events.erased.empty() && events.moves.empty()));
  if (!isForward && !isBackward) return;
  const int from = std::min(indexOf[a], indexOf[b]), to = std::max(indexOf[a], indexOf[b]);
  for (int element : events.alive) {
    if (element == a || element == b || !isSettled(element)) continue;
    if (indexOf[element] <= from || indexOf[element] >= to) continue;
    const Event* z = insertOf(element);
    const bool isConcurrent =
        z->replica != x->replica && !sees(z, x) && !sees(x, z) && !sees(y, z) && !sees(z, y);
    if (isConcurrent && knowsNeighbours(*z->in))
      complain(text("concurrent runs interleave: ", isForward ? "forward " : "backward ", a, " ", b, " by ", element));
  }
}

// An insert beside an element that its writer had moved stands where it was moved to.
void Oracle::Order::checkBesideMoved(int element) {
  if (!isSettled(element) || isDisturbed) return;
  const Event* insert = insertOf(element);
  const Instruction& in = *insert->in;
  if (!in.left || !wasMoved(in.left) || !knowsNeighbours(in)) return;
  Events seen;
  for (const Event* move : events.moves.at(in.left))
    if (sees(insert, move)) seen.push_back(move);
  const Event* move = latest(seen);
  if (!move || move->replica != insert->replica) return;
  const Instruction& moved = *move->in;
  if ((moved.left && !isSettled(moved.left)) || (moved.right && !isSettled(moved.right))) return;
  checkNeighbours(element, moved, "an insert beside a moved element is too far left",
                  "an insert beside a moved element is too far right");
}

void Oracle::Order::checkMove(int element, const Events& moves) {
  if (events.erased.count(element) || !isInserted(element) || !indexOf.count(element)) return;
  const Event* winner = latest(moves);
  if (winner->stamp < insertOf(element)->stamp) return;
  checkNeighbours(element, *winner->in, "the later move did not win (left)", "the later move did not win (right)");
}

}  // namespace model
