// The writer lock, and what its taker does where a mark says that the last holder did not end well.
#include <algorithm>

#include "Model.h"

namespace model {

// Verifies what may be missing: the nodes born after the D that the meta page names.
bool Model::isWhole(const State& s, const Meta& meta) const {
  const Node& root = s.node[meta.root];
  for (int id : {int(meta.root), int(root.leaf[0]), int(root.leaf[1])}) {
    const bool verified = keeps(Rule::verifyAll) ? s.node[id].birth > meta.durable : s.node[id].birth == root.birth;
    if (verified && !s.holds(id)) return false;
  }
  return true;
}

// The newest meta page whose version is whole.
std::optional<Model::Found> Model::choose(const State& s) const {
  const Meta& a = s.meta[s.cell[0].cache()];
  const Meta& b = s.meta[s.cell[1].cache()];
  const int first = s.version(b.root) > s.version(a.root) ? 1 : 0;
  for (int page : {first, 1 - first}) {
    const int meta = s.cell[page].cache();
    if (meta && isWhole(s, s.meta[meta])) return Found{page, page != first || !s.cell[1 - page].cache()};
  }
  return std::nullopt;
}

// What opens is whole and holds all that was promised.
void Model::judgeOpened(const State& s, int root) const {
  const int version = s.version(root);
  for (int id : {root, int(s.node[root].leaf[0]), int(s.node[root].leaf[1])})
    if (!s.holds(id))
      throw Violation{text("version ", version, " opens without its node in page ", int(s.node[id].page))};
  if (const int named = s.node[root].named)
    for (int id : {named, int(s.node[named].leaf[0]), int(s.node[named].leaf[1])})
      if (!s.holds(id))
        throw Violation{text("version ", version, " opens, and version ", int(s.version(named)),
                             ", which it names, lacks its node in page ", int(s.node[id].page))};
  if (version < s.fullFloor)
    throw Violation{text("the acknowledged full commit ", int(s.fullFloor), " is lost; ", version, " opens")};
  if (!s.mayHaveLost && version < s.anyFloor)
    throw Violation{text("kill -9 lost the acknowledged commit ", int(s.anyFloor), "; ", version, " opens")};
}

bool Model::startRecovery(State& t, int process, bool asLarge) {
  Control& c = t.control;
  Writer& w = t.writer;
  int page = 0, root = 0;
  bool rejected = false;
  const bool isNewBoot = c.durable == 0;
  const bool isFailed = c.sync == syncFailed && keeps(Rule::distrustCache);

  if (isFailed) {
    // Cached pages prove nothing: D, from the page that the control block names.
    page = c.durablePage;
    root = t.meta[t.cell[page].cache()].root;
    if (!root || t.version(root) != t.version(c.durable))
      throw Violation{text("nothing opens: meta page ", page ? "B" : "A", " should name ", int(t.version(c.durable)))};
    rejected = true;
  } else {
    const auto found = choose(t);
    if (!found) throw Violation{"nothing opens: no meta page names a whole version"};
    page = found->page;
    root = t.meta[t.cell[page].cache()].root;
    rejected = found->rejected;
    if (isNewBoot) {
      // What a new boot reads is what the disk holds.
      c.durable = u8(root);
      c.durablePage = u8(page);
      c.inWrite = 1;
    }
  }
  // A sync of this boot has brought it to the disk, and nobody has begun to write since.
  const bool isUnmarked = !c.inWrite && c.sync == syncNone && !rejected;
  const bool isSynced = isUnmarked && ((root == c.durable && t.meta[t.cell[c.durablePage].cache()].root == root) ||
                                       !keeps(Rule::syncUnlessDurable));
  for (int i : {0, 1}) c.greatest = std::max(c.greatest, t.meta[t.cell[i].cache()].greatest);
  if (!keeps(Rule::newNumber)) c.greatest = t.version(root);
  w.holder = u8(process + 1);
  w.opened = u8(root);
  judgeOpened(t, root);
  if (t.version(root) < t.version(c.published) && keeps(Rule::expireBelowPublished)) {
    // Readers must not stay on what nobody holds any more, nor come to it.
    expire(t, t.version(root), process);
    c.published = u8(root);
    c.epoch++;
    c.ringCount = 0;
    clear(c.ring);
  }
  c.built = 1;

  if (!isNewBoot && t.meta[t.cell[c.durablePage].cache()].root == c.durable) {
    const bool isUnsure = c.sync == syncInFlight && keeps(Rule::rewriteUnsure);
    if (isUnsure && t.version(root) > t.version(c.durable)) return rewrite(t, process, asLarge);
    // The other page may name the same version and be in the cache only, where a failed sync left it, and no later one
    // writes it: so it is with every process to come.
    if (root == c.durable && (isUnsure || keeps(Rule::keepDurablePage))) page = c.durablePage;
  }
  if (asLarge) return false;
  if (!keeps(Rule::notInPlace) && !rewriteInPlace(t, page)) return false;
  if (rejected && keeps(Rule::overwriteRejected)) {
    // Or it would come back later, with other nodes at the places it names.
    const Meta copy = t.meta[t.cell[page].cache()];
    if (!writeMeta(t, 1 - page, copy.root, copy.durable)) return false;
  }
  if (c.sync != syncFailed && !isSynced) c.sync = syncInFlight;
  w.recovering = written;
  w.kind = recoverPlain;
  w.root = u8(root);
  w.recoveryPage = u8(page);
  if (isSynced || !keeps(Rule::recoverySync)) finishRecovery(t, process, 3);
  return true;
}

// A sync without outcome: an error may have been seen by nobody, and the cache may hold what the disk does not. What
// was born after D is written again, as a new version behind the end of the file. Free pages would not do: a flagged
// page that a killed writer left may reach the disk, or stay there, while a second rewriting takes the pages of what it
// vouches for, which nobody holds any more.
bool Model::rewrite(State& t, int process, bool asLarge) {
  Control& c = t.control;
  Writer& w = t.writer;
  w.recovering = written;
  std::vector<u8> free;
  if (keeps(Rule::appendRewritten)) {
    for (int page = t.end; page < bounds.pages; page++) free.push_back(u8(page));
  } else {
    rebuild(t, process);
    if (t.process[process].map.state == mapWalking) walkOlder(t, process);
    free = freePages(t, process, t.process[process].map);
  }
  judgeFree(t, free);
  const Node old = t.node[w.opened];
  const int after = t.version(c.durable);
  const int number = ++c.greatest;
  size_t used = 0;
  u8 leaves[2] = {old.leaf[0], old.leaf[1]};
  for (u8& leaf : leaves) {
    if (t.node[leaf].birth <= after) continue;
    if (used == free.size()) return false;
    const int copy = addNode(t, number, free[used++], 0, 0);
    if (!writeNode(t, copy)) return false;
    leaf = u8(copy);
  }
  if (used == free.size()) return false;
  const int root = addNode(t, number, free[used], leaves[0], leaves[1], old.named);
  if (!writeNode(t, root)) return false;
  c.inWrite = 1;
  w.root = u8(root);
  w.recoveryPage = u8(1 - c.durablePage);
  w.kind = asLarge ? recoverRewritingNodes : recoverByRewriting;
  return asLarge || writeMeta(t, w.recoveryPage, root, after);
}

// The rule left out: what was found goes over itself.
bool Model::rewriteInPlace(State& t, int page) {
  const Meta meta = t.meta[t.cell[page].cache()];
  if (!writePage(t.cell[page], t.cell[page].cache())) return false;
  for (int id : {int(meta.root), int(t.node[meta.root].leaf[0]), int(t.node[meta.root].leaf[1])})
    if (t.node[id].birth > meta.durable && !writePage(t.cell[t.node[id].page], id)) return false;
  return true;
}

// Notes the outcome word by word, the marks last: a process may die in between.
void Model::finishRecovery(State& t, int process, int words) {
  Control& c = t.control;
  const Writer w = t.writer;
  const auto noteMarks = [&] { c.sync = syncNone, c.inWrite = 0; };
  if (words == 3 || !keeps(Rule::marksGoLast)) noteMarks();
  if (words >= 1 && keeps(Rule::marksGoLast)) c.durable = w.root, c.durablePage = w.recoveryPage;
  if (words >= 2 && keeps(Rule::marksGoLast)) {
    // The deltas in the ring lead to another version than this one.
    if (c.published != w.root) c.epoch++, c.ringCount = 0, clear(c.ring);
    c.published = w.root;
  }
  if (words < 3) return;
  if (!keeps(Rule::marksGoLast))
    c.durable = c.published = w.root, c.durablePage = w.recoveryPage, c.epoch++, c.ringCount = 0;
  t.fullFloor = t.anyFloor = t.version(w.root);
  t.mayHaveLost = 0;
  clear(t.writer);
  t.writer.holder = u8(process + 1);
  catchUp(t, process);
}

void Model::recovery(const State& s) {
  const Writer& w = s.writer;
  if (!w.recovering) return;
  const int p = w.holder - 1;
  if (w.recovering == written)
    attempt(
        s, [&](const State&) { return text("recovery: sync starts"); },
        [&](State& t) {
          startSync(t);
          t.writer.recovering = flying;
          return true;
        });
  if (w.recovering != flying) return;
  attempt(
      s,
      [&](const State& t) {
        return t.writer.recovering ? text("recovery: the nodes are synced; meta page ", w.recoveryPage ? "B" : "A",
                                          " names ", int(s.version(w.root)))
                                   : text("recovery: sync ends, ", int(s.version(w.root)), " durable and published");
      },
      [&](State& t) {
        endSync(t, true);
        if (w.kind == recoverRewritingNodes) {
          // What the first sync proved is not yet named by a meta page: the mark stays until the second.
          if (!keeps(Rule::markThroughRewriting)) t.control.sync = syncNone;
          t.writer.recovering = written;
          t.writer.kind = recoverByRewriting;
          return writeMeta(t, w.recoveryPage, w.root, t.version(w.root));
        }
        finishRecovery(t, p, 3);
        return true;
      });
  if (s.failures < bounds.failures)
    attempt(
        s, [&](const State&) { return text("recovery: sync FAILS"); },
        [&](State& t) {
          failSync(t, p);
          return true;
        });
}

void Model::locks(const State& s) {
  const Writer& w = s.writer;
  const Control& c = s.control;
  const bool isUnmarked = c.built && (!c.inWrite || !keeps(Rule::inWriteMark)) && c.sync == syncNone;
  if (!w.holder) {
    for (int p = 0; p < bounds.processes; p++) {
      if (s.process[p].poisoned) continue;
      const char* what = s.process[p].alive ? "takes the lock" : "starts and takes the lock";
      if (isUnmarked) {
        if (s.commits < bounds.commits)
          attempt(
              s, [&](const State&) { return text("process ", p, " ", what); },
              [&](State& t) {
                t.process[p].alive = 1;
                t.writer.holder = u8(p + 1);
                if (!t.control.published) throw Violation{"nobody noted which version is published"};
                catchUp(t, p);
                return true;
              });
      } else {
        for (int asLarge = 0; asLarge <= bounds.large; asLarge++)
          attempt(
              s,
              [&](const State& t) {
                const Writer& tw = t.writer;
                return text("process ", p, " ", what, ": recovery opens ",
                            int(t.version(tw.opened ? tw.opened : t.control.published)),
                            tw.kind == recoverPlain ? "" : text(", written again as ", int(t.version(tw.root))),
                            tw.kind == recoverRewritingNodes ? ", large" : "");
              },
              [&](State& t) {
                t.process[p].alive = 1;
                return startRecovery(t, p, asLarge);
              });
      }
      // Processes that have not started are all alike.
      if (!s.process[p].alive) break;
    }
  } else if (bounds.processes > 1 && !w.count && !w.leading && !w.large && !w.recovering &&
             s.commits < bounds.commits) {
    attempt(
        s, [&](const State&) { return text("process ", w.holder - 1, " gives up the lock"); },
        [&](State& t) {
          clear(t.writer);
          return true;
        });
  }
}

}  // namespace model
