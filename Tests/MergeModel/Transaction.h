#pragma once
#include <algorithm>
#include <set>
#include <vector>

#include "World.h"

namespace model {

// What an app can do in a transaction. The numbers are those of failure texts.
namespace action {
enum : int {
  create = 0,
  remove = 1,
  setFilter = 2,
  setCounter = 3,
  addToCounter = 4,
  setCounterNull = 5,
  setMixedNumber = 6,
  setMixedText = 7,
  setMixedList = 8,
  setMixedDictionary = 9,
  insertIntoMixed = 10,
  setMixedEntry = 11,
  clearMixed = 12,
  prepend = 13,
  append = 14,
  insertAnywhere = 15,
  erase = 16,
  setElement = 17,
  move = 18,
  clearList = 19,
  insertEmbedded = 20,
  setInElement = 21,
  addInElement = 22,
  eraseEmbedded = 23,
  insertMember = 24,
  eraseMember = 25,
  clearSet = 26,
  setEntry = 27,
  removeEntry = 28,
  clearDictionary = 29,
  newEmbeddedEntry = 30,
  removeEmbeddedEntry = 31,
  setInEntry = 32,
  newEmbedded = 33,
  setEmbeddedNull = 34,
  setInEmbedded = 35,
  changeSetOfEmbedded = 36,
  setLink = 37,
  insertLink = 38,
  addProperty = 39,
  setAddedProperty = 40,
  ingest = 41,
  insertIntoListOfEmbedded = 42,
  setEntryToList = 43,
  insertIntoEntry = 44,
  addToEntry = 45,
  assignMixedList = 46,
  assignList = 47,
  createAnew = 48,
  addToMixed = 49,
  replaceEmbedded = 50,
  appendRun = 51,
  prependRun = 52,
  setMixedElementToCollection = 53,
  writeIntoMixedElement = 54,
  eraseFromMixed = 55,
};
}  // namespace action

// A transaction of one client: instructions from what the client sees.
class Transaction {
 public:
  Transaction(World& world, int client);

  // One action on one object; answers whether it was possible. The choice tells which element, key or value; -1: any.
  bool perform(int wanted, int pk, int choice = -1);
  void end();

 private:
  World& world;
  Client& client;
  Random& random;
  int pk = 0, choice = -1;

  int pick(int count) { return choice >= 0 ? choice % std::max(count, 1) : random.below(count); }
  int pickKey() { return 1 + pick(2); }
  int pickElement(const Slot* list);
  Value newNumber();
  const Slot* propertyOf(int key) const;
  const Slot* mixedOf(ValueKind kind) const;

  void write(const Instruction& in);
  void write(Operation operation, std::vector<Step> path) { write(instruction(pk, operation, std::move(path))); }
  void set(std::vector<Step> path, Value value, bool isDefault = false);
  void add(std::vector<Step> path, int delta);
  void clear(int key, ValueKind kind = ValueKind::null);
  void erase(int key, int element, ValueKind kind = ValueKind::null, int ownKindWrite = 0);
  void changeMember(Operation operation, std::vector<Step> path, int value);
  enum Place { atHead, atEnd, anywhere };
  int insert(std::vector<Step> path, const Slot* list, int place, Value value, bool isEmbedded = false,
             ValueKind kind = ValueKind::null);
  int insertOrMove(Instruction in, const Slot* list, int place);

  void createObject();
  bool onMixed(int wanted);
  bool onList(int wanted);
  bool onEmbeddedList(int wanted);
  bool onDictionary(int wanted);
  bool onEmbeddedDictionary(int wanted);
  bool onEmbedded(int wanted);
  bool onSchema(int wanted);
  bool moveElement();
  bool insertRun(bool isForward);
  bool setMixedElement();
  bool writeIntoMixedElement();

  std::vector<int> cuts() const;
  void cut(std::size_t at, const std::set<int>& touched);
};

}  // namespace model
