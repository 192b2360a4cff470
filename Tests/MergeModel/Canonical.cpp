#include "Canonical.h"

#include <algorithm>

#include "Run.h"

namespace model {

bool isBlank(const std::string& text) {
  return text == "n" || text == "[]" || text == "<>" || text == "{}" || text == "~" || text == "-";
}

namespace {

void write(const Slot& slot, std::string& all, bool isSorted);

void writeList(const Slot& list, std::string& all, bool isSorted) {
  std::vector<int> elements;
  for (const Position& p : list.positions)
    if (p.isLive) elements.push_back(p.element);
  if (isSorted) std::sort(elements.begin(), elements.end());
  all += '[';
  for (int element : elements) {
    all += std::to_string(element);
    all += ':';
    const auto found = list.children.find(element);
    if (found == list.children.end())
      fail("a live position has no element");
    else
      write(found->second, all, isSorted);
    all += ',';
  }
  if (elements.size() != list.children.size()) fail("an element has no live position");
  all += ']';
}

void writeDictionary(const Slot& dictionary, std::string& all, bool isSorted) {
  all += '{';
  for (const auto& [key, entry] : dictionary.children) {
    if (entry.kind == SlotKind::reg && entry.value.kind == ValueKind::absent) continue;
    if (entry.kind == SlotKind::object && !entry.isPresent) continue;
    all += std::to_string(key);
    all += '=';
    write(entry, all, isSorted);
    all += ',';
  }
  all += '}';
}

void writeRegister(const Slot& slot, std::string& all, bool isSorted) {
  switch (slot.value.kind) {
    case ValueKind::null: all += 'n'; break;
    case ValueKind::number: all += std::to_string(slot.value.number); break;
    case ValueKind::text: all += '"' + std::to_string(slot.value.number) + '"'; break;
    case ValueKind::link: all += '>' + std::to_string(slot.value.number); break;
    case ValueKind::absent: all += '-'; break;
    case ValueKind::list:
      all += 'L';
      writeList(slot, all, isSorted);
      break;
    case ValueKind::dictionary:
      all += 'D';
      writeDictionary(slot, all, isSorted);
      break;
  }
}

void writeObject(const Slot& object, std::string& all, bool isSorted) {
  if (!object.isPresent) {
    all += '~';
    return;
  }
  all += '(';
  for (const auto& [key, property] : object.children) {
    std::string value;
    write(property, value, isSorted);
    if (!isBlank(value)) all += std::to_string(key) + ':' + value + ';';
  }
  all += ')';
}

void write(const Slot& slot, std::string& all, bool isSorted) {
  switch (slot.kind) {
    case SlotKind::reg: return writeRegister(slot, all, isSorted);
    case SlotKind::list: return writeList(slot, all, isSorted);
    case SlotKind::dictionary: return writeDictionary(slot, all, isSorted);
    case SlotKind::object: return writeObject(slot, all, isSorted);
    case SlotKind::set:
      all += '<';
      for (const auto& [value, member] : slot.members)
        if (member.isPresent) all += std::to_string(value) + ',';
      all += '>';
  }
}

void describeRecord(const Record& r, std::string& all) {
  if (!r.exists) return;
  all += text("r", r.stamp.clock, ".", r.stamp.replica, "@", r.version, "/", r.replica, r.isDefault ? "d" : "");
}

}  // namespace

std::string canonical(const Slot& slot, bool isSorted) {
  std::string all;
  write(slot, all, isSorted);
  return all;
}

void describe(const Slot& slot, std::string& all) {
  all += std::to_string(int(slot.kind));
  all += canonical(slot);
  for (const Record* record :
       {&slot.write, &slot.kill, &slot.creation, &slot.otherKindWrite[0], &slot.otherKindWrite[1]})
    describeRecord(*record, all);
  for (const Add& add : slot.adds) all += text("+", add.delta, "@", add.version);
  for (const Position& p : slot.positions) {
    all += text("p", p.id, p.isLive ? "l" : "x");
    describeRecord(p.record, all);
  }
  for (const auto& [value, member] : slot.members) {
    all += text("s", value, member.isPresent ? "+" : "-");
    describeRecord(member.record, all);
  }
  for (const auto& [key, child] : slot.children) {
    all += text("k", key);
    describe(child, all);
  }
}

std::string describe(const Slot& slot) {
  std::string all;
  describe(slot, all);
  return all;
}

int filterOf(const Slot& object) {
  const auto found = object.children.find(property::filter);
  if (found == object.children.end() || found->second.value.kind != ValueKind::number) return 0;
  return ((found->second.value.number % 4) + 4) % 4;
}

}  // namespace model
