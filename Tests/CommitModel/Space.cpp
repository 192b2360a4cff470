// Which pages may be written: maps of pages, kept up by deltas or rebuilt by walking the roots of the held versions.
#include <algorithm>

#include "Model.h"

namespace model {

int Model::addNode(State& t, int birth, int page, int leaf0, int leaf1, int named) {
  if (t.nodes + 1 >= maxNodes) throw Violation{"the model has too few nodes"};
  t.node[++t.nodes] = {u8(birth), u8(page), {u8(leaf0), u8(leaf1)}, u8(named)};
  return t.nodes;
}

bool Model::writeNode(State& t, int id) {
  t.end = std::max<u8>(t.end, u8(t.node[id].page + 1));
  return writePage(t.cell[t.node[id].page], id);
}

// Of all pages that a writer may take, not only of those it takes: nothing that is held may stand there. Judged for the
// protocol as written only, since a mutant must go on to a loss.
void Model::judgeFree(const State& t, const std::vector<u8>& free) const {
  if (removed != Rule::none) return;
  const auto guard = [&](int root, const char* what) {
    if (!root) return;
    for (int id : {root, int(t.node[root].leaf[0]), int(t.node[root].leaf[1])})
      if (std::find(free.begin(), free.end(), t.node[id].page) != free.end())
        throw Violation{text("page ", int(t.node[id].page), " may be overwritten, which ", what, " ",
                             int(t.version(root)), " reaches")};
  };
  guard(t.control.durable, "the durable version");
  if (isPublishedSure(t)) guard(t.control.published, "the published version");
  for (int i = 0; i < t.writer.count; i++)
    guard(t.writer.pending[i].root, i < t.writer.covered ? "the version in flight" : "the pending version");
  guard(t.writer.opened, "the opened version");
  for (const Process& p : t.process)
    if (p.alive && !p.isExpired) guard(p.pin, "the pinned version");
  for (u8 root : named(t)) guard(root, "the named version");
}

// What the versions that may be opened after a crash keep by name.
std::vector<u8> Model::named(const State& s) const {
  std::vector<u8> all;
  const auto add = [&](int root) {
    if (root && s.node[root].named) all.push_back(s.node[root].named);
  };
  const Writer& w = s.writer;
  const int newest = w.next.root ? w.next.root : w.count ? w.pending[w.count - 1].root : int(s.control.published);
  if (!keeps(Rule::holdDropped)) {
    add(newest);
    return all;
  }
  add(s.control.durable);
  add(s.control.published);
  for (int i = 0; i < w.count; i++) add(w.pending[i].root);
  for (int root : {int(w.next.root), int(w.opened), int(w.root)}) add(root);
  return all;
}

// Versions that hold pages, as the writer in `process` sees them.
std::vector<u8> Model::holders(const State& s, int process) const {
  std::vector<u8> all;
  const auto add = [&](int root) {
    if (root) all.push_back(s.version(root));
  };
  add(s.control.published);
  if (keeps(Rule::holdDurable)) add(s.control.durable);
  if (keeps(Rule::holdPending))
    for (int i = 0; i < s.writer.count; i++) add(s.writer.pending[i].root);
  else if (s.writer.count)
    add(s.writer.pending[s.writer.count - 1].root);
  add(s.writer.next.root);
  add(s.writer.opened);
  add(s.writer.root);
  if (keeps(Rule::holdPinned))
    for (int i = 0; i < bounds.processes; i++)
      if (s.process[i].alive && (i == process || keeps(Rule::everyonesPins))) add(s.process[i].pin);
  if (keeps(Rule::holdNamed))
    for (u8 root : named(s)) add(root);
  return all;
}

// A page born at b and freed at f is held by the versions in [b, f) only.
std::vector<u8> Model::freePages(const State& s, int process, const PageMap& map) const {
  const std::vector<u8> held = holders(s, process);
  std::vector<u8> free;
  for (int page = 2; page < bounds.pages; page++) {
    // While the map is incomplete the writer only appends.
    if (map.state == mapWalking && page < s.end && keeps(Rule::appendWhileWalking)) continue;
    const u8 birth = map.birth[page], freed = map.freed[page];
    bool isFree = birth == 0;
    if (freed) {
      isFree = true;
      for (u8 holder : held) {
        const bool fromBirth = keeps(Rule::freeFromBirth) ? holder >= birth : holder > birth;
        if (fromBirth && holder < freed) isFree = false;
      }
    }
    if (isFree) free.push_back(u8(page));
  }
  return free;
}

// Brings the map of who took the lock to the published version: through the ring where that reaches back far enough.
void Model::catchUp(State& t, int process) {
  PageMap& map = t.process[process].map;
  const u8 published = t.version(t.control.published);
  if (map.state != mapNone && !keeps(Rule::catchUp)) {
    map.version = published;
    return;
  }
  const bool isOfEpoch = map.epoch == t.control.epoch || !keeps(Rule::epochOfMap);
  if (map.state == mapWhole && isOfEpoch) {
    const PageMap before = map;
    for (int i = 0; i < t.control.ringCount && map.version != published; i++) {
      const Delta& d = t.control.ring[i];
      const bool follows = keeps(Rule::ringIsWhole) ? d.base == map.version : d.version > map.version;
      if (!follows) continue;
      for (u8 page : d.took) map.birth[page] = d.version, map.freed[page] = 0;
      for (u8 page : d.freed) map.freed[page] = d.version;
      map.version = d.version;
    }
    if (map.version == published || !keeps(Rule::epochOfMap)) {
      map.version = published;
      map.epoch = t.control.epoch;
      return;
    }
    map = before;
  }
  rebuild(t, process);
}

// The first step of a walk: the newest version, whose pages are live.
void Model::rebuild(State& t, int process) {
  PageMap& map = t.process[process].map;
  clear(map);
  map.epoch = t.control.epoch;
  map.state = mapWalking;
  const Writer& w = t.writer;
  const int newest = w.opened ? w.opened : w.count ? w.pending[w.count - 1].root : t.control.published;
  map.version = t.version(newest);
  for (int id : {newest, int(t.node[newest].leaf[0]), int(t.node[newest].leaf[1])})
    map.birth[t.node[id].page] = t.node[id].birth;
  if (!bounds.slowWalk) walkOlder(t, process);
}

// The second step: what only older versions reach waits for them, freed at the latest by the version walked before.
// Versions committed since the first step are in the map already; expired pins read no more, and may be unreadable.
void Model::walkOlder(State& t, int process) {
  PageMap& map = t.process[process].map;
  const Writer& w = t.writer;
  std::vector<int> roots;
  const auto add = [&](int root) {
    if (root && t.version(root) < map.version) roots.push_back(root);
  };
  if (isPublishedSure(t)) add(t.control.published);
  if (keeps(Rule::walkPending))
    for (int i = 0; i < w.count; i++) add(w.pending[i].root);
  if (keeps(Rule::walkDurable)) add(t.control.durable);
  for (int i = 0; i < bounds.processes; i++) {
    const Process& p = t.process[i];
    if (p.alive && !p.isExpired && keeps(Rule::walkPins)) add(p.pin);
  }
  if (keeps(Rule::walkNamed))
    for (u8 root : named(t)) add(root);
  std::sort(roots.begin(), roots.end(), [&](int a, int b) { return t.version(a) > t.version(b); });
  u8 next = map.version;
  for (int root : roots) {
    for (int id : {root, int(t.node[root].leaf[0]), int(t.node[root].leaf[1])}) {
      const u8 page = t.node[id].page;
      if (!map.birth[page])
        map.birth[page] = t.node[id].birth, map.freed[page] = keeps(Rule::holdUntilFreed) ? next : t.version(root);
    }
    next = t.version(root);
  }
  map.state = mapWhole;
}

void Model::maps(const State& s) {
  const Writer& w = s.writer;
  if (!w.holder || w.recovering) return;
  const int p = w.holder - 1;
  if (s.process[p].map.state == mapWalking)
    attempt(
        s, [&](const State&) { return text("process ", p, ": the walk over older versions is done"); },
        [&](State& t) {
          walkOlder(t, p);
          return true;
        });
  if (s.process[p].map.state == mapWhole && !w.large && s.mapLosses < bounds.mapLosses)
    attempt(
        s, [&](const State&) { return text("process ", p, ": the map is lost; a walk starts"); },
        [&](State& t) {
          t.mapLosses++;
          rebuild(t, p);
          return true;
        });
}

}  // namespace model
