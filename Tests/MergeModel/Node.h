#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "Merge.h"
#include "Values.h"

namespace model {

enum class EntryKind { upload, trim, rights, retire, registration, flexible };

// An entry of the one log that orders everything. Its version is its place, from 1 on.
struct LogEntry {
  EntryKind kind = EntryKind::upload;
  int replica = 0, user = 0;
  int time = 0;           // of the server, when it appended the entry
  std::uint64_t tag = 0;  // random; (version, tag) names a state for good, which a version alone does not

  // An upload: one changeset.
  int sequence = 0, base = 0;
  Stamp stamp;
  std::vector<Instruction> instructions;
  int uid = 0, previous = 0;   // stand for the hashes of this changeset and of the one before
  int setNumber = 0;           // of the query set that the writer named
  int querySets = everything;  // mask of what matches that set or the one in force
  // What only the checks read.
  int made = 0;                      // the true time of writing
  bool isHonest = true;              // the writer's clock was right
  int setWhenWritten = 0;            // mask
  std::map<int, std::string> shown;  // by pk: what the writer saw then
  bool isForged = false;

  int horizon = 0;                            // of a trim
  int read = everything, write = everything;  // of rights
  int scope = 0, predecessor = 0;             // of a registration: scope 0 is none, else the value of the field + 1
};
using LogEntryRef = std::shared_ptr<const LogEntry>;

// Why an object of a changeset was refused.
enum class Reason {
  none,
  keyInUse,    // a creation met an object that its writer never saw
  outsideSet,  // a creation does not match the query sets
  noRight,
  otherType,  // the property has another type
};

struct Refusal {
  Reason reason = Reason::none;
  int filter = 0;
};

// What an entry did to an object.
struct ObjectChange {
  int pk;
  std::vector<Effect> effects;
  bool wasPresent = false, isPresent = false;
  int filterBefore = 0, filterAfter = 0;
  bool isAsWritten = false;  // the effects are those of the instructions: their writer needs no copy
};

// What a node keeps of an entry.
struct HistoryEntry {
  EntryKind kind = EntryKind::trim;
  int replica = 0, sequence = 0, uid = 0;
  bool isAccepted = false;
  Stamp stamp;  // as bounded by the server
  std::vector<ObjectChange> changes;
  std::vector<int> refused;  // keys of objects; a property is noted as -property
  std::map<int, Refusal> refusals;
  int base = 0, scope = 0;
  // What only the checks read.
  std::vector<Instruction> instructions;
  std::set<int> effectiveCreations;  // indices of instructions
  int made = 0, time = 0, horizon = 0;
  bool isHonest = true, isForged = false;
};

struct Rights {
  int read = everything, write = everything;
};

// What a node knows of a replica.
struct ReplicaState {
  bool isRegistered = false, isRetired = false;
  int scope = 0, flexibleSince = 0;
  int lastSequence = 0, lastUid = 0, lastClock = 0;
  std::set<int> predecessors;
  std::map<int, int> refusedKeys;  // key -> version at which a creation met the object of somebody else
  std::map<int, int> uidOfSequence;
};

// A node of the server. Its state is a function of the log alone.
class Node {
 public:
  int id = 0;
  int version = 0, horizon = 0;
  int mark = 0;                 // greatest clock of an accepted stamp
  std::vector<int> markAt{0};   // by version
  std::map<int, Slot> objects;  // absent ones too, while they have a kill record
  std::map<int, int> schema;    // property -> type
  std::map<int, int> ingested;  // kept once, never sent out
  std::map<int, ReplicaState> replicas;
  std::vector<HistoryEntry> history = std::vector<HistoryEntry>(1);  // by version; nothing stands at 0

  void apply(const LogEntry& entry);

  Rights rightsAt(int user, int version) const;
  Rights rightsOf(int user, int replica) const;  // now, the scope included
  bool didRightsMove(int user, int replica, int from, int to) const;
  int scopeAt(int replica, int version) const;
  int scopeMask(int replica, int version) const;
  bool isRetired(int replica) const;
  int lastSequence(int replica) const;
  // The uid of a changeset that was integrated under this replica and sequence; 0 if none was.
  int uidOf(int replica, int sequence) const;
  bool isPresent(int pk) const;

  std::string describe() const;

 private:
  // Where an upload stands while it is integrated.
  struct Integration {
    const LogEntry& entry;
    HistoryEntry& result;
    ReplicaState& writer;
    Context context;
    Rights rights;
  };

  std::map<int, std::vector<std::pair<int, Rights>>> rights;  // by user: from which version on
  std::map<int, std::vector<int>> versionsOf;                 // by object: the versions that changed it
  std::map<std::pair<int, int>, Stamp> stamps;                // by replica and sequence

  void trim(int wanted);
  void integrate(const LogEntry& entry, HistoryEntry& result);
  bool isWellFormed(const LogEntry& entry, const ReplicaState& writer) const;
  Stamp boundStamp(const LogEntry& entry, const ReplicaState& writer) const;
  void addProperty(const Instruction& in, HistoryEntry& result);
  void integrateObject(int pk, Integration& integration);
  Refusal judge(int pk, const Slot& before, const Slot& after, bool hasOtherType, bool hasEffects,
                Integration& integration);
  bool didSee(const LogEntry& entry, int pk, const Slot& now) const;
};

}  // namespace model
