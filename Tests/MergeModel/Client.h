#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "Ids.h"
#include "Merge.h"
#include "Node.h"

namespace model {

// A changeset that no step has acknowledged yet.
struct Pending {
  int sequence = 0, base = 0, scope = 0;
  Stamp stamp;
  std::vector<Instruction> instructions;
  int uid = 0, previous = 0;
  int setNumber = 0;
  // What only the checks read; as in LogEntry.
  int setWhenWritten = 0, made = 0;
  bool isHonest = true;
  bool sawEverything = true;
  std::map<int, std::string> shown;
};

// A query set: a mask of values of the filter field. The server can find a set invalid.
struct QuerySet {
  int mask = 0;
  bool isInvalid = false;
};

enum class ItemKind {
  effects,  // what changed
  whole,    // the object as it stands; the records are those that the server has
  leave,    // it left the view
  remove,   // it was deleted
};

// What a step says about one object.
struct Item {
  int pk = 0;
  ItemKind kind = ItemKind::effects;
  // Per changeset; a sequence instead of effects means: your own changeset took effect as you wrote it.
  struct Group {
    int ownSequence = 0;
    std::vector<Effect> effects;
  };
  std::vector<Group> groups;
  Slot slot;
  Record kill;
};

// What became of a changeset of the receiver.
struct OwnResult {
  int sequence, version;
  Stamp stamp;
  bool isRefused;  // as a whole or in part
  int uid;
};

// A step brings a client from one version and filter to another; or it is a part of such a step.
struct Download {
  int from = 0, to = 0;
  std::uint64_t tag = 0;
  int querySet = everything, read = everything, scope = 0, setNumber = 0;
  int mark = 0, lastSequence = 0;
  std::vector<OwnResult> own;
  std::vector<Item> items;
  std::map<int, int> schema;
  bool isLast = true;
  int number = 0;  // tells steps apart
  // If it is not -1, this is no step but an answer: the set of this number is invalid, and `querySet` counts instead.
  int invalidSet = -1;
};

struct Upload {
  bool isQuerySet = false;
  int mask = everything, setNumber = 0;  // of a query set
  bool isInvalid = false;
  LogEntry entry;  // of a changeset
};

// A file on a device. Its base is the server's state at its cursor, cut to the objects of its view. What the app sees
// is the base and the pending changesets on top of it, by the same rules that the server runs.
class Client {
 public:
  int user = 0;
  int skew = 0;  // how far its clock is wrong, in units of time

  // Its identity.
  int replica = noReplica;
  int ownIndex = 1;
  std::vector<int> numbers{0, noReplica};  // of replicas, by the index that this file uses
  int sessionNumber = 0;
  int scope = 0;
  bool wasCopied = false;  // what only the checks read

  // The state of the server that it stands at.
  int cursor = 0;
  std::uint64_t tag = 0;
  std::map<int, Slot> base;
  std::map<int, int> schema;
  int querySet = 0, read = everything, setInForce = -1;
  std::vector<Download> staged;  // parts of a step that is not complete
  int sawEverythingSince = pendingVersion;

  // What it wrote.
  std::deque<Pending> pending;
  int sequence = 0, ids = 0, lastUid = 0;
  int clock = 0;
  std::map<int, Stamp> acknowledgedStamps;  // kept while anything is pending
  std::map<int, int> uidOfSequence;
  int wantedSet = everything, newestSet = 0;
  std::map<int, QuerySet> sets;
  std::set<int> toldRefusals;

  // What the app sees of objects with pending changes.
  std::map<int, Slot> view;
  std::map<int, int> viewSchema;

  bool isRegistered() const { return replica != noReplica; }
  const Slot* see(int pk) const;
  std::string shows(int pk) const;
  int oldestBase() const { return pending.empty() ? pendingVersion : pending.front().base; }
  bool seesEverything() const { return querySet == everything && read == everything; }

  int indexOf(int number);
  int numberOf(int index) const;
  Slot withNumbers(const Slot& slot) const;

  void chooseSet(int mask, bool isInvalid = false);
  void becomeRegistered(int number, int version, std::uint64_t newTag, int mark);
  Context contextOf(const Pending& changeset) const;
  void perform(const Instruction& in, const Context& context);
  void computeView();
  void receive(const Download& received);

 private:
  void computeView(const std::set<int>& dirty, const std::set<int>& touched);
  void replay(const std::set<int>* only);
  Slot& viewOf(std::map<int, Slot>& rows, int pk) const;
  std::set<int> touchedObjects() const;
  bool translateAndStage(const Download& received);
  void applyItem(const Item& item, const Download& step);
  bool applyGroup(Slot& object, int pk, const Item::Group& group, const Download& step);
  void moveTo(const Download& step);
  void noteResults(const Download& step);
  std::set<int> objectsToShowAnew(const std::vector<Download>& parts) const;
  void checkView() const;
  void checkUndo() const;
};

}  // namespace model
