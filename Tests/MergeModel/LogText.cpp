#include "LogText.h"

#include <cstdio>

#include "Canonical.h"
#include "Run.h"

namespace model {

namespace {

const char* nameOf(ValueKind kind) {
  return kind == ValueKind::list ? "list" : "dictionary";
}

std::string textOf(Value value) {
  switch (value.kind) {
    case ValueKind::null: return "null";
    case ValueKind::absent: return "absent";
    case ValueKind::number: return std::to_string(value.number);
    case ValueKind::text: return text("text:", value.number);
    case ValueKind::link: return text("link:", value.number);
    default: return nameOf(value.kind);
  }
}

std::string textOf(const std::vector<Step>& path) {
  std::string all;
  for (const Step& step : path) {
    if (!all.empty()) all += '/';
    all += std::to_string(step.key);
    if (step.kind != ValueKind::null) all += text(":", nameOf(step.kind));
    if (step.ownKindWrite) all += text(":", step.ownKindWrite);
  }
  return all;
}

std::string placeOf(const Instruction& in) {
  return text(" id=", in.id, " left=", in.left, " right=", in.right);
}

}  // namespace

std::string textOf(const Instruction& in) {
  std::string all;
  const std::string object = text(" object=", in.pk), place = text(object, " path=", textOf(in.path));
  switch (in.operation) {
    case Operation::create: return "create" + object;
    case Operation::remove: return "delete" + object;
    case Operation::addProperty: return text("addProperty property=", in.id, " type=", in.delta);
    case Operation::ingest: return text("ingest", object, " value=", textOf(in.value));
    case Operation::set:
      all = text("set", place, " value=", textOf(in.value));
      if (in.isDefault) all += " default";
      if (in.type) all += text(" type=", in.type);
      break;
    case Operation::add: all = text("add", place, " by=", in.delta); break;
    case Operation::newEmbedded: all = "newEmbedded" + place; break;
    case Operation::killEmbedded: all = "killEmbedded" + place; break;
    case Operation::insert:
      all = text("insert", place, placeOf(in), " value=", in.isEmbedded ? "embedded" : textOf(in.value));
      break;
    case Operation::move: all = text("move", place, " element=", in.element, placeOf(in)); break;
    case Operation::erase: all = text("erase", place, " element=", in.element); break;
    case Operation::setInsert: all = text("setInsert", place, " value=", textOf(in.value)); break;
    case Operation::setErase: all = text("setErase", place, " value=", textOf(in.value)); break;
    case Operation::clear: all = "clear" + place; break;
  }
  if (in.kind != ValueKind::null) all += text(" kind=", nameOf(in.kind));
  if (in.ownKindWrite) all += text(" madeBy=", in.ownKindWrite);
  return all;
}

std::string textOf(const LogEntry& e, int version) {
  const std::string head = text("entry ", version, " "), time = text(" time=", e.time);
  switch (e.kind) {
    case EntryKind::trim: return text(head, "trim horizon=", e.horizon, time);
    case EntryKind::rights:
      return text(head, "rights user=", e.user, " read=", e.read, " write=", e.write, time);
    case EntryKind::retire: return text(head, "retire replica=", e.replica, time);
    case EntryKind::flexible: return text(head, "flexible replica=", e.replica, time);
    case EntryKind::registration:
      return text(head, "register replica=", e.replica, " user=", e.user, " scope=", e.scope,
                  " predecessor=", e.predecessor, time);
    case EntryKind::upload: break;
  }
  return text(head, "upload replica=", e.replica, " user=", e.user, " sequence=", e.sequence, " previous=", e.previous,
              " content=", e.uid, " base=", e.base, " stamp=", e.stamp.clock, time, " sets=", e.querySets);
}

std::string textOfResult(const HistoryEntry& result, int version) {
  std::string objects, properties;
  for (int pk : result.refused) {
    if (pk < 0) {
      properties += text(properties.empty() ? "" : ",", -pk);
      continue;
    }
    static const char* const names[] = {"none", "key", "set", "right", "type"};
    const Reason reason = result.refusals.at(pk).reason;
    objects += text(objects.empty() ? "" : ",", pk, ":", names[int(reason)]);
  }
  std::string all = text("result ", version, result.isAccepted ? " accepted" : " ignored", " eff=", result.stamp.clock);
  if (!objects.empty()) all += " refused=" + objects;
  if (!properties.empty()) all += " refusedProperties=" + properties;
  return all;
}

void printWorld(const World& world) {
  const Node& node = world.nodes[0];
  for (int version = 1; version <= world.head(); version++) {
    const LogEntry& entry = *world.log[std::size_t(version - 1)];
    std::printf("%s%s\n", textOf(entry, version).c_str(), entry.isForged ? " forged" : "");
    for (const Instruction& in : entry.instructions) std::printf("  %s\n", textOf(in).c_str());
    if (version <= node.version && entry.kind == EntryKind::upload)
      std::printf("%s\n", textOfResult(node.history[std::size_t(version)], version).c_str());
  }
  for (const Client& client : world.clients) {
    std::printf("client replica=%d scope=%d cursor=%d set=%d read=%d wanted=%d%s base:", client.replica, client.scope,
                client.cursor, client.querySet, client.read, client.wantedSet, client.wasCopied ? " copied" : "");
    for (const auto& [pk, object] : client.base) std::printf(" %d:%s", pk, canonical(object).c_str());
    std::printf("\n");
    for (const Pending& changeset : client.pending) {
      std::printf("  pending sequence=%d base=%d stamp=%d\n", changeset.sequence, changeset.base,
                  changeset.stamp.clock);
      for (const Instruction& in : changeset.instructions) std::printf("    %s\n", textOf(in).c_str());
    }
  }
  std::printf("server version=%d:", node.version);
  for (const auto& [pk, object] : node.objects) std::printf(" %d:%s", pk, canonical(object).c_str());
  std::printf("\n");
}

}  // namespace model
