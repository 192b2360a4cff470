#pragma once
#include <functional>
#include <vector>

#include "Values.h"

namespace model {

// Who decides: the changeset that an instruction belongs to. Server and client run the same rules; on a client the
// pending changesets stand above all versions of the log.
struct Context {
  int replica, base;  // the base is the version that the writer stood at
  Stamp stamp;
  int version;
  std::function<Stamp(int)> stampOfSequence;  // of another changeset of this replica
  int scope = 0;                              // 0: none; else the value of the filter field + 1

  bool isOnClient() const { return version >= pendingVersion; }
};

// A changeset has seen what stood in the log at its base, and what its own replica wrote before.
bool isSeen(const Record& record, const Context& context);
Record recordOf(const Context& context, bool isDefault = false);

// Decide.cpp: one instruction against the state of one object. Appends its effects, none if it is dead.
void decide(const Slot& object, const Instruction& in, const Context& context, std::vector<Effect>& effects);
// The effects of the instructions on one object if all of them took effect as they are written.
std::vector<Effect> effectsAsWritten(const std::vector<Instruction>& instructions, int pk, const Context& context);

// Order.cpp: positions in lists.
int findPosition(const Slot& list, int id);
int livePosition(const Slot& list, int element);
int positionSeen(const Slot& list, int element, const Context& context);
void place(const Slot& list, const Context& context, int left, int right, Effect& effect);
void nameNeighbours(const Slot& list, Effect& effect, int leftOut);

// Apply.cpp: effects are applied without any decision. Where `isExact`, the list is that which the effect was decided
// on, and the index holds; else the visible left neighbour tells the place.
void apply(Slot& object, const Effect& effect, bool isExact);
Slot* navigate(Slot& object, const std::vector<int>& path);

// What undoes one effect. It reads only what stood at the effect's own place; contents that go are moved into it.
struct Undo {
  EffectKind kind = EffectKind::set;
  std::vector<int> path;
  int missingFrom = -1;  // the first step of the path that did not exist
  int id = 0, element = 0, oldPosition = 0, delta = 0;
  bool hadMember = false;      // of a set: the value was known
  bool movedContents = false;  // the contents went with the effect
  bool isLost = false;
  Slot slot;
  Member member;
};
void applyWithUndo(Slot& object, const Effect& effect, std::vector<Undo>& log);
void undo(Slot& object, Undo& entry);

// Forgets every record with a version up to the horizon, and what only such records kept.
void trim(Slot& slot, int horizon);

}  // namespace model
