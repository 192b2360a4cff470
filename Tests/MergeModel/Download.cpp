// A step: what brings a client from one version and filter to another. No view is stored: the fields before the first
// entry after the client's version tell whether an object was in its view.
#include "Canonical.h"
#include "Rules.h"
#include "World.h"

namespace model {

Download World::makeStep(const Node& node, const Client& client, const Session& session) {
  const int from = session.told;
  Download step;
  step.from = from;
  step.to = node.version;
  step.querySet = session.wantedSet;
  step.setNumber = session.wantedNumber;
  step.read = node.rightsOf(client.user, client.replica).read;
  step.scope = node.scopeAt(client.replica, node.version);
  step.tag = node.version ? log[std::size_t(node.version - 1)]->tag : 0;
  step.mark = node.mark;
  step.lastSequence = node.lastSequence(client.replica);
  step.schema = node.schema;
  step.number = ++nextStep;
  if (from < node.horizon) fail("a step from below the horizon");

  std::map<int, std::vector<Change>> changes;
  for (int version = from + 1; version <= node.version; version++) {
    const HistoryEntry& entry = node.history[std::size_t(version)];
    if (entry.isAccepted && entry.replica == client.replica)
      step.own.push_back({entry.sequence, version, entry.stamp, !entry.refused.empty(), entry.uid});
    for (const ObjectChange& change : entry.changes) changes[change.pk].push_back({version, &change});
  }
  const Filters filters{session.querySet, session.read, step.querySet, step.read};
  if (filters.differ())
    for (const auto& object : node.objects) changes[object.first];
  for (const auto& [pk, changesOfObject] : changes) {
    Item item;
    item.pk = pk;
    if (makeItem(node, client, filters, from, changesOfObject, item)) step.items.push_back(std::move(item));
  }
  return step;
}

// What the step says about one object. Answers whether it says anything.
bool World::makeItem(const Node& node, const Client& client, const Filters& filters, int from,
                     const std::vector<Change>& changes, Item& item) {
  const auto found = node.objects.find(item.pk);
  const bool isPresent = node.isPresent(item.pk);
  const bool isInView = isPresent && filters.matchesNow(filterOf(found->second));

  // Whether it was in the view before, whether it matched after every entry, and whether it matched after any.
  bool wasInView, matchedAlways = true, matchedEver = false;
  if (changes.empty() || isBroken(Rule::membershipFromHistory)) {
    wasInView = isPresent && filters.matchedBefore(filterOf(found->second));
  } else {
    const ObjectChange& first = *(keeps(Rule::beforeFirstEntry) ? changes.front() : changes.back()).change;
    wasInView = first.wasPresent && filters.matchedBefore(first.filterBefore);
  }
  for (const Change& c : changes) {
    const bool matched = c.change->isPresent && filters.matchesNow(c.change->filterAfter);
    matchedEver |= matched;
    matchedAlways &= matched;
  }
  if (isBroken(Rule::matchInBetween)) matchedAlways = true;

  if (isInView && wasInView && matchedAlways) {
    for (const Change& c : changes) {
      const HistoryEntry& entry = node.history[std::size_t(c.version)];
      if (entry.replica == client.replica && c.change->isAsWritten)
        item.groups.push_back({entry.sequence, {}});
      else
        item.groups.push_back({0, c.change->effects});
    }
    return !changes.empty();
  }
  if (isInView) {
    item.kind = ItemKind::whole;
    item.slot = found->second;
    counters.wholeObjects++;
    return true;
  }
  if (!wasInView && (!matchedEver || isPresent)) return false;
  if (isBroken(Rule::sendLeave)) return false;

  const bool isDeleted = !isPresent && found != node.objects.end();
  const bool isTold = isDeleted && isDeleteTold(node, client, filters, from, wasInView, changes);
  if (isDeleted && !isTold) counters.deletesNotTold++;
  if (isTold) {
    item.kind = ItemKind::remove;
    item.kill = found->second.kill;
    counters.deletes++;
    checkDelete(node, client, filters, from, item);
    return true;
  }
  if (!wasInView) {
    if (!isDeleted) counters.deletesNotTold++;
    return false;
  }
  item.kind = ItemKind::leave;
  counters.leaves++;
  return true;
}

// A delete is told only to who saw the object until then.
bool World::isDeleteTold(const Node& node, const Client& client, const Filters& filters, int from, bool wasInView,
                         const std::vector<Change>& changes) {
  if (wasInView && keeps(Rule::hideDeletesOutsideView)) {
    const auto couldRead = [&](int version, int filter) {
      return filters.matchesNow(filter) && matches(node.rightsAt(client.user, version).read, filter);
    };
    const Change& first = changes.front();
    if (!first.change->wasPresent || !couldRead(first.version - 1, first.change->filterBefore)) return false;
    for (std::size_t i = 0; i < changes.size(); i++) {
      const Change& c = changes[i];
      const int until = i + 1 < changes.size() ? changes[i + 1].version - 1 : c.version;
      if (c.change->isPresent && !couldRead(until, c.change->filterAfter)) return false;
    }
  }
  if (!wasInView && keeps(Rule::hideDeletesAcrossFilters)) {
    if (filters.differ() || node.didRightsMove(client.user, client.replica, from, node.version)) return false;
    for (const Change& c : changes)
      if (c.change->isPresent && !filters.matchesNow(c.change->filterAfter)) return false;
  }
  return true;
}

void World::checkDelete(const Node& node, const Client& client, const Filters& filters, int from, const Item& item) {
  const int version = item.kill.version;
  if (!item.kill.exists || version <= from || version > node.version) return;
  const int mask = node.rightsAt(client.user, version - 1).read & filters.newSet &
                   node.scopeMask(client.replica, version - 1);
  for (const ObjectChange& change : node.history[std::size_t(version)].changes)
    if (change.pk == item.pk && change.wasPresent && !matches(mask, change.filterBefore))
      fail("a delete outside the view is told");
}

}  // namespace model
