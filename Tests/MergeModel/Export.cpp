#include "Export.h"

#include <cstdio>

#include "Canonical.h"
#include "LogText.h"
#include "Transaction.h"

namespace model {

bool isExported(int wanted) {
  switch (wanted) {
    case action::setMixedList:
    case action::setMixedDictionary:
    case action::insertIntoMixed:
    case action::setMixedEntry:
    case action::clearMixed:
    case action::assignMixedList:
    case action::addToMixed:
    case action::setMixedElementToCollection:
    case action::writeIntoMixedElement:
    case action::eraseFromMixed:
    case action::setEntryToList:
    case action::insertIntoEntry:
    case action::addToEntry:
    case action::ingest: return false;
    default: return true;
  }
}

void exportWorld(std::uint64_t seed, const World& world, Exported& all) {
  const Node& node = world.nodes[0];
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  for (int version = 1; version <= world.head(); version++) {
    const LogEntry& entry = *world.log[std::size_t(version - 1)];
    std::printf("%s\n", textOf(entry, version).c_str());
    all.entries++;
    if (entry.kind != EntryKind::upload) continue;
    for (const Instruction& in : entry.instructions) std::printf("  %s\n", textOf(in).c_str());
    const HistoryEntry& result = node.history[std::size_t(version)];
    std::printf("%s\n", textOfResult(result, version).c_str());
    all.uploads++;
    all.refused += long(result.refused.size());
  }
  std::printf("state horizon=%d mark=%d\n", node.horizon, node.mark);
  for (const auto& [pk, object] : node.objects)
    if (object.isPresent) std::printf("object %d %s\n", pk, canonical(object).c_str());
  for (const auto& [pk, object] : node.objects)
    if (!object.isPresent && object.kill.exists) std::printf("kill %d\n", pk);
  for (const auto& [key, type] : node.schema) std::printf("property %d %d\n", key, type);
  std::printf("end\n");
  all.seeds++;
}

}  // namespace model
