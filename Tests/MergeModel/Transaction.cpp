#include "Transaction.h"

#include <algorithm>
#include <cstdlib>

#include "Canonical.h"
#include "Rules.h"

namespace model {

int World::newUid(int client) {
  const int uid = nextUid++;
  writerOf[uid] = client;
  return uid;
}

Stamp World::newStamp(Client& client) {
  client.clock = std::max(client.clock + 1, (time + client.skew) * ticks);
  return {client.clock, client.replica};
}

Transaction::Transaction(World& world, int number)
    : world(world), client(world.clients[std::size_t(number)]), random(world.random) {
  Pending changeset;
  changeset.sequence = ++client.sequence;
  changeset.base = client.cursor;
  changeset.scope = client.scope;
  changeset.setNumber = client.newestSet;
  const QuerySet newest = client.sets[client.newestSet];
  changeset.setWhenWritten = newest.isInvalid ? 0 : newest.mask;
  changeset.previous = client.lastUid;
  changeset.stamp = world.newStamp(client);
  changeset.uid = world.newUid(number);
  changeset.made = world.time;
  changeset.isHonest = std::abs(client.skew) <= clockLead;
  client.uidOfSequence[changeset.sequence] = changeset.uid;
  client.lastUid = changeset.uid;
  client.pending.push_back(changeset);
}

void Transaction::end() {
  Pending& changeset = client.pending.back();
  if (changeset.instructions.empty()) {
    world.writerOf.erase(changeset.uid);
    client.lastUid = changeset.previous;
    client.uidOfSequence.erase(changeset.sequence);
    client.pending.pop_back();
    client.sequence--;
    return;
  }
  std::set<int> touched;
  for (const Instruction& in : changeset.instructions)
    if (in.isOnObject()) touched.insert(in.pk);
  if (world.cutsTransactions && changeset.instructions.size() > 1 && random.percent(30)) {
    const std::vector<int> places = cuts();
    if (!places.empty()) return cut(std::size_t(places[std::size_t(random.below(int(places.size())))]), touched);
  }
  changeset.sawEverything = client.seesEverything();
  for (int touchedPk : touched) {
    const Slot* object = client.see(touchedPk);
    changeset.shown[touchedPk] = object ? canonical(client.withNumbers(*object)) : "~";
  }
}

// Where a large transaction can become two changesets: at the border of two instructions, never inside a creation.
std::vector<int> Transaction::cuts() const {
  const std::vector<Instruction>& all = client.pending.back().instructions;
  for (const Instruction& in : all) {
    if (in.ownKindWrite) return {};
    for (const Step& step : in.path)
      if (step.ownKindWrite) return {};
  }
  std::vector<int> places;
  for (int k = 1; k < int(all.size()); k++) {
    bool isInside = false;
    for (int j = 0; j < k; j++) {
      const Instruction& creation = all[std::size_t(j)];
      if (creation.operation != Operation::create) continue;
      if (j >= k - 3) isInside = true;
      for (int x = k; x < int(all.size()); x++)
        if (all[std::size_t(x)].pk == creation.pk && all[std::size_t(x)].isDefault) isInside = true;
    }
    if (!isInside || isBroken(Rule::keepCreationsWhole)) places.push_back(k);
  }
  return places;
}

void Transaction::cut(std::size_t at, const std::set<int>& touched) {
  std::map<int, std::string> before;
  for (int touchedPk : touched) before[touchedPk] = client.shows(touchedPk);
  Pending& first = client.pending.back();
  Pending second = first;
  second.instructions.assign(first.instructions.begin() + std::ptrdiff_t(at), first.instructions.end());
  first.instructions.resize(at);
  first.sawEverything = second.sawEverything = false;
  second.sequence = ++client.sequence;
  second.previous = first.uid;
  second.uid = world.newUid(int(&client - world.clients.data()));
  second.stamp = {++client.clock, client.replica};
  client.lastUid = second.uid;
  client.uidOfSequence[second.sequence] = second.uid;
  client.pending.push_back(second);
  counters.cutTransactions++;
  client.computeView();
  for (int touchedPk : touched)
    if (client.shows(touchedPk) != before[touchedPk])
      fail(text("cutting a transaction changes what its writer sees: pk ", touchedPk, " ", before[touchedPk], " now ",
                client.shows(touchedPk)));
}

// ---- instructions

namespace {

std::vector<int> elementsOf(const Slot* list) {
  std::vector<int> elements;
  if (list)
    for (const Position& p : list->positions)
      if (p.isLive) elements.push_back(p.element);
  return elements;
}

const Slot* childOf(const Slot* slot, int key) {
  if (!slot) return nullptr;
  const auto found = slot->children.find(key);
  return found == slot->children.end() ? nullptr : &found->second;
}

int ownKindWriteOf(const Slot* slot, ValueKind kind) {
  return slot && kind != ValueKind::null ? slot->ownKindWrite[kindIndex(kind)] : 0;
}

constexpr Value nothing{ValueKind::null, 0};

}  // namespace

const Slot* Transaction::propertyOf(int key) const {
  return childOf(client.see(pk), key);
}

// The mixed property if it holds this kind of collection.
const Slot* Transaction::mixedOf(ValueKind kind) const {
  const Slot* mixed = propertyOf(property::mixed);
  return mixed && mixed->value.kind == kind ? mixed : nullptr;
}

int Transaction::pickElement(const Slot* list) {
  const std::vector<int> elements = elementsOf(list);
  return elements.empty() ? 0 : elements[std::size_t(pick(int(elements.size())))];
}

Value Transaction::newNumber() {
  return {ValueKind::number, 1000 + world.newValue()};
}

void Transaction::write(const Instruction& in) {
  Pending& changeset = client.pending.back();
  changeset.instructions.push_back(in);
  client.perform(in, client.contextOf(changeset));
}

void Transaction::set(std::vector<Step> path, Value value, bool isDefault) {
  Instruction in = instruction(pk, Operation::set, std::move(path));
  in.value = value;
  in.isDefault = isDefault;
  write(in);
}

void Transaction::add(std::vector<Step> path, int delta) {
  Instruction in = instruction(pk, Operation::add, std::move(path));
  in.delta = delta;
  write(in);
}

void Transaction::clear(int key, ValueKind kind) {
  Instruction in = instruction(pk, Operation::clear, {{key}});
  in.kind = kind;
  write(in);
}

void Transaction::erase(int key, int element, ValueKind kind, int ownKindWrite) {
  Instruction in = instruction(pk, Operation::erase, {{key}});
  in.element = element;
  in.kind = kind;
  in.ownKindWrite = ownKindWrite;
  write(in);
}

void Transaction::changeMember(Operation operation, std::vector<Step> path, int value) {
  Instruction in = instruction(pk, operation, std::move(path));
  in.value = {ValueKind::number, value};
  write(in);
}

// Gives the id of the new element.
int Transaction::insert(std::vector<Step> path, const Slot* list, int place, Value value, bool isEmbedded,
                        ValueKind kind) {
  Instruction in = instruction(pk, Operation::insert, std::move(path));
  in.value = value;
  in.isEmbedded = isEmbedded;
  in.kind = kind;
  in.ownKindWrite = ownKindWriteOf(list, kind);
  return insertOrMove(in, list, place);
}

int Transaction::insertOrMove(Instruction in, const Slot* list, int place) {
  std::vector<int> elements = elementsOf(list);
  if (in.element) elements.erase(std::remove(elements.begin(), elements.end(), in.element), elements.end());
  const int count = int(elements.size());
  const int index = place == atHead ? 0 : place == atEnd ? count : random.below(count + 1);
  in.id = world.newElementId(client);
  in.left = index ? elements[std::size_t(index - 1)] : 0;
  in.right = index < count ? elements[std::size_t(index)] : 0;
  write(in);
  return in.id;
}

// ---- actions

bool Transaction::perform(int wanted, int object, int which) {
  pk = object;
  choice = which;
  const bool needsObject = wanted != action::create && wanted != action::createAnew &&
                           wanted != action::addProperty && wanted != action::ingest;
  const bool isThere = client.see(pk);
  if (needsObject && !isThere) return false;
  switch (wanted) {
    case action::create:
      // Now and then over an object that is there.
      if (isThere && !(choice < 0 && random.percent(20))) return false;
      createObject();
      return true;
    case action::createAnew:
      if (isThere) write(Operation::remove, {});
      createObject();
      set({{property::counter}}, newNumber());
      return true;
    case action::remove: write(Operation::remove, {}); return true;
    case action::setFilter: set({{property::filter}}, {ValueKind::number, pick(4)}); return true;
    case action::setCounter: set({{property::counter}}, newNumber()); return true;
    case action::addToCounter: add({{property::counter}}, choice >= 0 ? 100 : 1 + random.below(9)); return true;
    case action::setCounterNull: set({{property::counter}}, nothing); return true;
    case action::setLink: set({{property::link}}, {ValueKind::link, pick(world.objects)}); return true;
    case action::insertMember: changeMember(Operation::setInsert, {{property::set}}, pick(3)); return true;
    case action::eraseMember: changeMember(Operation::setErase, {{property::set}}, pick(3)); return true;
    case action::clearSet: clear(property::set); return true;
    case action::setMixedNumber:
    case action::setMixedText:
    case action::setMixedList:
    case action::setMixedDictionary:
    case action::insertIntoMixed:
    case action::setMixedEntry:
    case action::clearMixed:
    case action::assignMixedList:
    case action::addToMixed:
    case action::setMixedElementToCollection:
    case action::writeIntoMixedElement:
    case action::eraseFromMixed: return onMixed(wanted);
    case action::prepend:
    case action::append:
    case action::insertAnywhere:
    case action::erase:
    case action::setElement:
    case action::move:
    case action::clearList:
    case action::assignList:
    case action::appendRun:
    case action::prependRun:
    case action::insertLink: return onList(wanted);
    case action::insertEmbedded:
    case action::setInElement:
    case action::addInElement:
    case action::eraseEmbedded: return onEmbeddedList(wanted);
    case action::setEntry:
    case action::removeEntry:
    case action::clearDictionary:
    case action::setEntryToList:
    case action::insertIntoEntry:
    case action::addToEntry: return onDictionary(wanted);
    case action::newEmbeddedEntry:
    case action::removeEmbeddedEntry:
    case action::setInEntry: return onEmbeddedDictionary(wanted);
    case action::newEmbedded:
    case action::setEmbeddedNull:
    case action::setInEmbedded:
    case action::changeSetOfEmbedded:
    case action::insertIntoListOfEmbedded:
    case action::replaceEmbedded: return onEmbedded(wanted);
    case action::addProperty:
    case action::setAddedProperty:
    case action::ingest: return onSchema(wanted);
    default: return false;
  }
}

void Transaction::createObject() {
  write(Operation::create, {});
  const bool isDefault = choice < 0 && random.percent(30);
  const int filter = choice >= 0 ? 0 : random.below(4);
  set({{property::filter}}, {ValueKind::number, filter}, isDefault);
  set({{property::counter}}, {ValueKind::number, 7}, true);
  set({{property::link}}, nothing, true);
}

bool Transaction::onMixed(int wanted) {
  const std::vector<Step> path{{property::mixed}};
  const Slot* mixed = propertyOf(property::mixed);
  const Slot* list = mixedOf(ValueKind::list);
  const Slot* dictionary = mixedOf(ValueKind::dictionary);
  switch (wanted) {
    case action::setMixedNumber: set(path, newNumber()); return true;
    case action::setMixedText: set(path, {ValueKind::text, world.newValue()}); return true;
    case action::setMixedList:
      if (list) return false;
      set(path, {ValueKind::list, 0});
      return true;
    case action::setMixedDictionary:
      if (dictionary) return false;
      set(path, {ValueKind::dictionary, 0});
      return true;
    case action::insertIntoMixed:
      if (!list) return false;
      insert(path, list, pick(3), newNumber(), false, ValueKind::list);
      return true;
    case action::setMixedEntry:
      if (!dictionary) return false;
      set({{property::mixed},
           {pickKey(), ValueKind::dictionary, ownKindWriteOf(dictionary, ValueKind::dictionary)}},
          newNumber());
      return true;
    case action::clearMixed:
      if (!list && !dictionary) return false;
      clear(property::mixed, mixed->value.kind);
      return true;
    case action::assignMixedList:
      if (!list) set(path, {ValueKind::list, 0});
      clear(property::mixed, ValueKind::list);
      for (int k = 0; k < 2; k++)
        insert(path, propertyOf(property::mixed), atEnd, newNumber(), false, ValueKind::list);
      return true;
    case action::addToMixed:
      if (!mixed) return false;
      add(path, 11);
      return true;
    case action::setMixedElementToCollection: return setMixedElement();
    case action::writeIntoMixedElement: return writeIntoMixedElement();
    default: {  // eraseFromMixed
      const int element = pickElement(list);
      if (!element) return false;
      erase(property::mixed, element, ValueKind::list, ownKindWriteOf(list, ValueKind::list));
      return true;
    }
  }
}

bool Transaction::setMixedElement() {
  const Slot* list = mixedOf(ValueKind::list);
  const int element = pickElement(list);
  if (!element) return false;
  const bool isDictionary = choice >= 0 ? choice / 8 % 2 == 0 : random.percent(50);
  set({{property::mixed}, {element, ValueKind::list, ownKindWriteOf(list, ValueKind::list)}},
      {isDictionary ? ValueKind::dictionary : ValueKind::list, 0});
  return true;
}

// Writes into the first element that is itself a collection.
bool Transaction::writeIntoMixedElement() {
  const Slot* list = mixedOf(ValueKind::list);
  if (!list) return false;
  const int ownListWrite = ownKindWriteOf(list, ValueKind::list);
  for (const auto& [element, slot] : list->children) {
    const Step toElement{element, ValueKind::list, ownListWrite};
    if (slot.value.kind == ValueKind::dictionary) {
      const Step toEntry{1, ValueKind::dictionary, ownKindWriteOf(&slot, ValueKind::dictionary)};
      set({{property::mixed}, toElement, toEntry}, newNumber());
      return true;
    }
    if (slot.value.kind == ValueKind::list) {
      insert({{property::mixed}, toElement}, &slot, atEnd, newNumber(), false, ValueKind::list);
      return true;
    }
  }
  return false;
}

bool Transaction::onList(int wanted) {
  const std::vector<Step> path{{property::list}};
  const Slot* list = propertyOf(property::list);
  switch (wanted) {
    case action::prepend: insert(path, list, atHead, newNumber()); return true;
    case action::append: insert(path, list, atEnd, newNumber()); return true;
    case action::insertAnywhere: insert(path, list, anywhere, newNumber()); return true;
    case action::clearList: clear(property::list); return true;
    case action::assignList:
      clear(property::list);
      for (int k = 0; k < 2; k++) insert(path, propertyOf(property::list), atEnd, newNumber());
      return true;
    case action::appendRun: return insertRun(true);
    case action::prependRun: return insertRun(false);
    case action::move: return moveElement();
    case action::insertLink: {
      const Value link{ValueKind::link, random.below(world.objects)};
      insert({{property::linkList}}, propertyOf(property::linkList), pick(3), link);
      return true;
    }
    default: {
      const int element = pickElement(list);
      if (!element) return false;
      if (wanted == action::erase)
        erase(property::list, element);
      else  // setElement
        set({{property::list}, {element}}, newNumber());
      return true;
    }
  }
}

bool Transaction::moveElement() {
  const Slot* list = propertyOf(property::list);
  Instruction in = instruction(pk, Operation::move, {{property::list}});
  in.element = pickElement(list);
  if (!in.element) return false;
  insertOrMove(in, list, choice >= 0 ? choice / 8 % 3 : random.below(3));
  return true;
}

// Three elements from one place on, each behind the one before, or each before it.
bool Transaction::insertRun(bool isForward) {
  const std::vector<int> elements = elementsOf(propertyOf(property::list));
  const int index = pick(int(elements.size()) + 1);
  int left = index ? elements[std::size_t(index - 1)] : 0;
  int right = index < int(elements.size()) ? elements[std::size_t(index)] : 0;
  for (int n = 0; n < 3; n++) {
    Instruction in = instruction(pk, Operation::insert, {{property::list}});
    in.id = world.newElementId(client);
    in.left = left;
    in.right = right;
    in.value = newNumber();
    write(in);
    (isForward ? left : right) = in.id;
  }
  return true;
}

bool Transaction::onEmbeddedList(int wanted) {
  const Slot* list = propertyOf(property::embeddedList);
  if (wanted == action::insertEmbedded) {
    const int id = insert({{property::embeddedList}}, list, pick(3), Value(), true);
    set({{property::embeddedList}, {id}, {property::inner}}, newNumber());
    return true;
  }
  const int element = pickElement(list);
  if (!element) return false;
  const std::vector<Step> inner{{property::embeddedList}, {element}, {property::inner}};
  switch (wanted) {
    case action::setInElement: set(inner, newNumber()); break;
    case action::addInElement: add(inner, 3); break;
    default: erase(property::embeddedList, element);  // eraseEmbedded
  }
  return true;
}

bool Transaction::onDictionary(int wanted) {
  if (wanted == action::clearDictionary) {
    clear(property::dictionary);
    return true;
  }
  const int key = pickKey();
  const std::vector<Step> path{{property::dictionary}, {key}};
  const Slot* entry = childOf(propertyOf(property::dictionary), key);
  const bool isList = entry && entry->value.kind == ValueKind::list;
  switch (wanted) {
    case action::setEntry: set(path, newNumber()); return true;
    case action::removeEntry: set(path, {ValueKind::absent, 0}); return true;
    case action::setEntryToList:
      if (isList) return false;
      set(path, {ValueKind::list, 0});
      return true;
    case action::insertIntoEntry:
      if (!isList) return false;
      insert(path, entry, choice >= 0 ? 0 : random.below(3), newNumber(), false, ValueKind::list);
      return true;
    default:  // addToEntry
      if (!entry) return false;
      add(path, 5);
      return true;
  }
}

bool Transaction::onEmbeddedDictionary(int wanted) {
  const int key = pickKey();
  const std::vector<Step> path{{property::embeddedDictionary}, {key}};
  const std::vector<Step> inner{{property::embeddedDictionary}, {key}, {property::inner}};
  switch (wanted) {
    case action::newEmbeddedEntry:
      write(Operation::newEmbedded, path);
      set(inner, newNumber());
      return true;
    case action::removeEmbeddedEntry: write(Operation::killEmbedded, path); return true;
    default: {  // setInEntry
      const Slot* entry = childOf(propertyOf(property::embeddedDictionary), key);
      if (!entry || !entry->isPresent) return false;
      set(inner, newNumber());
      return true;
    }
  }
}

bool Transaction::onEmbedded(int wanted) {
  const std::vector<Step> path{{property::embedded}};
  const std::vector<Step> inner{{property::embedded}, {property::inner}};
  const Slot* embedded = propertyOf(property::embedded);
  const bool isPresent = embedded && embedded->isPresent;
  switch (wanted) {
    case action::newEmbedded:
      if (isPresent) return false;
      write(Operation::newEmbedded, path);
      set(inner, newNumber());
      return true;
    case action::replaceEmbedded:
      write(Operation::killEmbedded, path);
      write(Operation::newEmbedded, path);
      set(inner, newNumber());
      return true;
    case action::setEmbeddedNull: write(Operation::killEmbedded, path); return true;
    default: break;
  }
  if (!isPresent) return false;
  switch (wanted) {
    case action::setInEmbedded: set(inner, newNumber()); break;
    case action::changeSetOfEmbedded: {
      const Operation operation = pick(3) ? Operation::setInsert : Operation::setErase;
      changeMember(operation, {{property::embedded}, {property::set}}, choice >= 0 ? 0 : random.below(2));
      break;
    }
    default:  // insertIntoListOfEmbedded
      insert({{property::embedded}, {property::list}}, childOf(embedded, property::list), pick(3), newNumber());
  }
  return true;
}

bool Transaction::onSchema(int wanted) {
  if (wanted == action::ingest) {
    Instruction in = instruction(1000 + (choice >= 0 ? choice : random.below(20)), Operation::ingest, {});
    in.value = {ValueKind::number, world.newValue()};
    write(in);
    return true;
  }
  const int key = property::firstAdded + pick(2);
  const auto definition = client.viewSchema.find(key);
  const bool isDefined = definition != client.viewSchema.end();
  if (wanted == action::addProperty) {
    if (isDefined) return false;
    Instruction in = instruction(0, Operation::addProperty, {});
    in.id = key;
    in.delta = choice >= 0 ? 1 + choice / 8 % 2 : 1 + random.below(2);
    write(in);
    return true;
  }
  if (!isDefined) return false;
  Instruction in = instruction(pk, Operation::set, {{key}});
  in.type = definition->second;
  in.value = in.type == 1 ? newNumber() : Value{ValueKind::text, world.newValue()};
  write(in);
  return true;
}

}  // namespace model
