#pragma once
#include <map>
#include <utility>
#include <vector>

namespace model {

constexpr int pendingVersion = 1 << 28;  // a pending changeset counts as this version + its sequence
constexpr int clockLead = 2;             // how far a clock may run ahead, in units of time
constexpr int ticks = 500;               // stamps in a unit of time: the counter of the hybrid clock
constexpr int idsOfReplica = 1 << 14;    // element id = index or number of the replica * this + counter
constexpr int noReplica = 100000;        // stands for the number of a file that was never registered
constexpr int everything = 15;           // a mask of all four values of the field that filters read

// When a changeset was written: a hybrid clock, and the number of its writer, which decides between equal ones.
struct Stamp {
  int clock = 0, replica = 0;
};
inline bool operator<(Stamp a, Stamp b) {
  return a.clock != b.clock ? a.clock < b.clock : a.replica < b.replica;
}
inline bool operator==(Stamp a, Stamp b) {
  return a.clock == b.clock && a.replica == b.replica;
}

// What last decided a place. The version is that of the log entry.
struct Record {
  Stamp stamp;
  int version = 0, replica = 0;
  bool exists = false, isDefault = false;
};

// A mixed value can be a list or a dictionary. `absent` is what a removed entry of a dictionary holds.
enum class ValueKind { null, number, text, link, list, dictionary, absent };

struct Value {
  ValueKind kind = ValueKind::null;
  int number = 0;  // a number, or what tells texts and links apart
};
inline bool operator==(Value a, Value b) {
  return a.kind == b.kind && a.number == b.number;
}
inline bool isCollection(ValueKind kind) {
  return kind == ValueKind::list || kind == ValueKind::dictionary;
}
inline int kindIndex(ValueKind kind) {
  return kind == ValueKind::list ? 0 : 1;
}

// An increment that is kept until it is known that no set before it can arrive.
struct Add {
  Stamp stamp;
  int delta, version, replica;
};

// A place in a list. An element has one live position; a move leaves the old one dead. An insert makes an element
// whose id is that of its first position.
struct Position {
  int id, element;
  bool isLive;
  Record record;
  int parent;         // the position that this one hangs on; 0: the head of the list
  bool isLeftChild;   // it hangs on the left side of its parent
  int leftNeighbour;  // the position that it was placed behind; 0: the head
  int diedAt;         // the version at which it died
};

struct Member {
  bool isPresent = false;
  Record record;
};

// Whatever can hold something: an object, a property, an entry of a dictionary, an element of a list.
enum class SlotKind { reg, list, set, dictionary, object };

struct Slot {
  SlotKind kind = SlotKind::reg;
  SlotKind elementKind = SlotKind::reg;  // of a list or dictionary
  // A register: its value, the last write, and increments. Per kind of collection it knows the last write of another
  // kind, and on a client the sequence of the own pending changeset that made that kind.
  Value value;
  Record write;
  std::vector<Add> adds;
  Record otherKindWrite[2];
  int ownKindWrite[2] = {0, 0};
  // An object, embedded or not.
  bool isPresent = false;
  Record kill, creation;  // the kill is also that of a collection
  // What it contains: properties, entries or elements by number; the positions of a list; the members of a set.
  std::map<int, Slot> children;
  std::vector<Position> positions;
  std::map<int, Member> members;
};

// The properties of the one class that the model has. Keys of objects stand for classes too.
namespace property {
enum : int {
  filter = 1,  // the field that query sets, rights and scopes read: its value modulo 4
  mixed = 2,
  counter = 3,
  list = 4,
  embeddedList = 5,
  set = 6,
  dictionary = 7,
  embeddedDictionary = 8,
  embedded = 9,
  link = 10,
  linkList = 11,
  inner = 12,       // of embedded objects
  firstAdded = 20,  // from here on properties that clients add
};
}  // namespace property

SlotKind kindOfProperty(int key);
SlotKind elementKindOfProperty(int key);
Slot newProperty(int key);
Slot newObject();

// One step of a path. A step through a mixed slot says which kind it expects there, and the sequence of the changeset
// in which the writer itself made that kind, if it was not acknowledged.
struct Step {
  int key;
  ValueKind kind = ValueKind::null;
  int ownKindWrite = 0;
};

enum class Operation {
  create,
  remove,
  set,
  add,
  newEmbedded,
  killEmbedded,
  insert,
  move,
  erase,
  setInsert,
  setErase,
  clear,
  addProperty,
  ingest,
};

struct Instruction {
  Operation operation = Operation::create;
  int pk = 0;
  std::vector<Step> path;
  Value value;
  int delta = 0;  // of an add; of addProperty: the type
  bool isDefault = false;
  int id = 0;                        // of an insert or move: the position it makes; of addProperty: the property
  int element = 0;                   // of a move or erase
  int left = 0, right = 0;           // the neighbours that the writer saw; 0: the head or the end
  ValueKind kind = ValueKind::null;  // at a mixed slot: the collection that the writer saw or made there
  int ownKindWrite = 0;              // as in a step
  bool isEmbedded = false;
  int type = 0;  // of a set of an added property: the type that the writer knows

  // Schema instructions and ingests name no object of the state.
  bool isOnObject() const { return operation != Operation::addProperty && operation != Operation::ingest; }
  bool isOn(int wanted) const { return pk == wanted && isOnObject(); }
  bool makesPosition() const { return operation == Operation::insert || operation == Operation::move; }
  bool setsFilter() const {
    return operation == Operation::set && path.size() == 1 && path[0].key == property::filter;
  }
};

Instruction instruction(int pk, Operation operation, std::vector<Step> path);
std::vector<int> keysOf(const Instruction& instruction);
bool creates(const std::vector<Instruction>& instructions, int pk);

enum class EffectKind {
  create,
  remove,
  set,
  add,
  newEmbedded,
  killEmbedded,
  insert,
  move,
  erase,
  setInsert,
  setErase,
  clear,
};

// What an instruction did when it was integrated; clients apply effects without deciding anything.
struct Effect {
  EffectKind kind = EffectKind::create;
  std::vector<int> path;
  Value value;
  int delta = 0;
  Record record;
  int id = 0, element = 0;
  // Where a position goes: its index in the server's list, and the visible left neighbour, which is exact in every
  // list that holds the same visible elements.
  int index = -1, after = 0;
  std::vector<int> dead;  // the nearest dead position between the visible left neighbour and the new one
  int parent = 0;
  bool isLeftChild = false;
  int leftNeighbour = 0;
  bool isEmbedded = false;
  bool isLost = false;  // a move without effect: it only leaves a dead position
};
constexpr std::size_t deadNamed = 1;  // how many dead positions an effect names

// Whether two effects do the same, whoever caused them.
bool isSame(const Effect& a, const Effect& b);

}  // namespace model
