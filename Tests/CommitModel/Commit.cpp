// Commits: nodes, then the meta page that does not name D, then one sync; large commits; group commit.
#include "Model.h"

namespace model {

bool writePage(Cell& cell, int value) {
  if (cell.count == maxWrites) return false;
  cell.written[cell.count++] = u8(value);
  cell.lost = 0;
  return true;
}

bool Model::writeMeta(State& t, int page, int root, int durable) {
  if (t.metas + 1 >= maxMetas) throw Violation{"the model has too few metas"};
  t.meta[++t.metas] = {u8(root), u8(durable), t.control.greatest};
  return writePage(t.cell[page], t.metas);
}

// A thread's commit up to the moment its version is pending; a large one up to its sync.
bool Model::commit(State& t, bool isFull, bool isLarge, int leaf, bool high, Naming naming) {
  Writer& w = t.writer;
  const int p = w.holder - 1;
  PageMap& map = t.process[p].map;
  const int base = w.count ? w.pending[w.count - 1].root : t.control.published;
  const int number = keeps(Rule::newNumber) ? t.control.greatest + 1 : t.version(base) + 1;
  const std::vector<u8> free = freePages(t, p, map);
  judgeFree(t, free);
  if (free.size() < 2) return false;
  const u8 took[2] = {high ? free[free.size() - 1] : free[0], high ? free[free.size() - 2] : free[1]};

  t.control.greatest = std::max<u8>(t.control.greatest, u8(number));
  t.control.inWrite = 1;
  t.commits++;
  const Node old = t.node[base];
  const int newLeaf = addNode(t, number, took[0], 0, 0);
  u8 leaves[2] = {old.leaf[0], old.leaf[1]};
  leaves[leaf] = u8(newLeaf);
  const int named = naming == Naming::none ? old.named : naming == Naming::keep ? base : 0;
  const int root = addNode(t, number, took[1], leaves[0], leaves[1], named);
  if (!writeNode(t, newLeaf) || !writeNode(t, root)) return false;

  Pending pending;
  clear(pending);
  pending.root = u8(root);
  pending.isFull = isFull;
  pending.isLarge = isLarge;
  pending.delta = {u8(number), t.version(base), {took[0], took[1]}, {t.node[old.leaf[leaf]].page, old.page}};
  for (u8 page : pending.delta.took) map.birth[page] = u8(number), map.freed[page] = 0;
  for (u8 page : pending.delta.freed) map.freed[page] = u8(number);
  map.version = u8(number);

  if (isLarge && keeps(Rule::syncLargeNodes)) {
    w.large = written;
    w.next = pending;
  } else {
    w.pending[w.count++] = pending;
  }
  return true;
}

void Model::commits(const State& s) {
  const Writer& w = s.writer;
  if (!w.holder || w.recovering || w.large || w.count >= bounds.pending || s.commits >= bounds.commits) return;
  if (s.process[w.holder - 1].map.state == mapNone) return;
  for (int isLarge = 0; isLarge <= bounds.large; isLarge++)
    for (int isFull = bounds.relaxed ? 0 : 1; isFull <= 1; isFull++)
      for (int leaf = 0; leaf <= bounds.bothLeaves; leaf++)
        for (int high = 0; high <= bounds.bothPlaces; high++)
          for (Naming naming : {Naming::none, Naming::keep, Naming::drop}) {
            if (naming != Naming::none && !bounds.names) continue;
            // Only what is durable is named, by a commit that is.
            const bool isDurable = s.control.published == s.control.durable || !keeps(Rule::nameDurable);
            if (naming == Naming::keep && (!isFull || w.count || !isDurable)) continue;
            const int base = w.count ? w.pending[w.count - 1].root : s.control.published;
            if (naming == Naming::drop && !s.node[base].named) continue;
            const int version = s.control.greatest + 1;
            attempt(
                s,
                [&](const State& t) {
                  const Pending& last = t.writer.large ? t.writer.next : t.writer.pending[t.writer.count - 1];
                  return text("process ", t.writer.holder - 1, ": ", isLarge ? "large " : "",
                              isFull ? "full" : "relaxed", " commit ", version, " on ", int(last.delta.base),
                              naming == Naming::keep   ? ", which it names"
                              : naming == Naming::drop ? ", dropping the name"
                                                       : "",
                              ": leaf ", leaf, " to page ", int(last.delta.took[0]), ", root to page ",
                              int(last.delta.took[1]), t.writer.large ? "; its nodes wait for their sync" : "; pending");
                },
                [&](State& t) { return commit(t, isFull, isLarge, leaf, high, naming); });
          }
}

// Whether the leader syncs the page it wrote.
bool Model::mustSync(const State& s) const {
  const Writer& w = s.writer;
  for (int i = 0; i < w.covered; i++)
    if (w.pending[i].isFull) return true;
  // Recovery believes what a flagged page names. Were that overwritten before the disk has a newer page, power loss
  // would bring back a page that vouches for nodes that are gone.
  return w.pending[w.covered - 1].isLarge && keeps(Rule::syncFlaggedPage);
}

void Model::publishCovered(State& t) {
  Writer& w = t.writer;
  Control& c = t.control;
  for (int i = 0; i < w.covered; i++) {
    if (bounds.ring == 0) continue;
    if (c.ringCount == bounds.ring) {
      for (int k = 1; k < c.ringCount; k++) c.ring[k - 1] = c.ring[k];
      c.ringCount--;
    }
    c.ring[c.ringCount++] = w.pending[i].delta;
  }
  c.published = w.pending[w.covered - 1].root;
  t.anyFloor = t.version(c.published);
  for (int i = w.covered; i < w.count; i++) w.pending[i - w.covered] = w.pending[i];
  for (int i = w.count - w.covered; i < w.count; i++) clear(w.pending[i]);
  w.count -= w.covered;
  w.covered = w.leading = w.page = 0;
}

void Model::leader(const State& s) {
  const Writer& w = s.writer;
  if (!w.holder || w.recovering) return;
  const auto newest = [](const State& t) { return int(t.version(t.writer.pending[t.writer.covered - 1].root)); };
  const bool beside = !keeps(Rule::oneSyncAtATime);

  if (w.leading == idle && w.count)
    attempt(
        s,
        [&](const State& t) {
          return text("leader: meta page ", t.writer.page ? "B" : "A", " names ", newest(t),
                      t.meta[t.cell[t.writer.page].cache()].durable == newest(t) ? ", flagged" : "");
        },
        [&](State& t) {
          Writer& tw = t.writer;
          const int page = keeps(Rule::otherMetaPage) ? 1 - t.control.durablePage : t.control.durablePage;
          const Pending& last = tw.pending[tw.count - 1];
          bool isFlagged = last.isLarge;
          if (!keeps(Rule::flagOnlyItself))
            for (int i = 0; i < tw.count; i++) isFlagged |= tw.pending[i].isLarge;
          tw.leading = written;
          tw.covered = tw.count;
          tw.page = u8(page);
          return writeMeta(t, page, last.root, isFlagged ? t.version(last.root) : t.version(t.control.durable));
        });

  if (w.leading == written && !mustSync(s))
    attempt(
        s,
        [&](const State& t) {
          return text("leader: ", int(t.version(t.control.published)), " published and acknowledged");
        },
        [&](State& t) {
          publishCovered(t);
          if (!t.writer.count && !t.writer.large) t.control.inWrite = 0;
          return true;
        });

  if (w.leading == written && mustSync(s) && (w.large != flying || beside))
    attempt(
        s, [&](const State&) { return text("leader: sync starts"); },
        [&](State& t) {
          startSync(t);
          t.writer.leading = flying;
          return true;
        });

  // The rule left out: a commit that comes meanwhile takes the page whose sync is on its way.
  if (w.leading == flying && w.count > w.covered && !keeps(Rule::notInFlight))
    attempt(
        s, [&](const State&) { return text("meta page written while its sync is on its way"); },
        [&](State& t) {
          return writeMeta(t, t.writer.page, t.writer.pending[t.writer.count - 1].root, t.version(t.control.durable));
        });

  if (w.leading == flying) {
    attempt(
        s,
        [&](const State& t) {
          return text("leader: sync ends, ", int(t.version(t.control.durable)), " durable and acknowledged");
        },
        [&](State& t) {
          endSync(t, true);
          t.control.durable = t.writer.pending[t.writer.covered - 1].root;
          t.control.durablePage = t.writer.page;
          t.control.sync = syncNone;
          publishCovered(t);
          t.fullFloor = t.anyFloor;
          if (!t.writer.count && !t.writer.large) t.control.inWrite = 0;
          return true;
        });
    if (s.failures < bounds.failures)
      attempt(
          s, [&](const State&) { return text("leader: sync FAILS"); },
          [&](State& t) {
            if (keeps(Rule::failAllPending)) {
              failSync(t, t.writer.holder - 1);
              return true;
            }
            // The rule left out: who waits for the next page goes on.
            endSync(t, false);
            t.failures++;
            t.mayHaveLost = 1;
            Writer& tw = t.writer;
            for (int i = tw.covered; i < tw.count; i++) tw.pending[i - tw.covered] = tw.pending[i];
            for (int i = tw.count - tw.covered; i < tw.count; i++) clear(tw.pending[i]);
            tw.count -= tw.covered;
            tw.covered = tw.leading = tw.page = 0;
            t.control.sync = syncNone;
            return true;
          });
  }
}

void Model::largeCommit(const State& s) {
  const Writer& w = s.writer;
  const bool beside = !keeps(Rule::oneSyncAtATime);
  if (w.large == written && (w.leading != flying || beside))
    attempt(
        s, [&](const State&) { return text("large commit: sync of its nodes starts"); },
        [&](State& t) {
          startSync(t);
          t.writer.large = flying;
          return true;
        });
  if (w.large == flying) {
    attempt(
        s,
        [&](const State& t) {
          return text("large commit: sync of its nodes ends, ", int(t.version(w.next.root)), " pending");
        },
        [&](State& t) {
          endSync(t, true);
          t.control.sync = syncNone;
          Writer& tw = t.writer;
          tw.pending[tw.count++] = tw.next;
          tw.large = idle;
          clear(tw.next);
          return true;
        });
    if (s.failures < bounds.failures)
      attempt(
          s, [&](const State&) { return text("large commit: sync of its nodes FAILS"); },
          [&](State& t) {
            if (t.writer.leading == flying) {
              // The rule left out. An error is told once, to one of two callers; the other goes on to acknowledge.
              endSync(t, false);
              t.failures++;
              t.mayHaveLost = 1;
              t.control.sync = syncFailed;
              t.writer.large = idle;
              clear(t.writer.next);
              return true;
            }
            failSync(t, t.writer.holder - 1);
            return true;
          });
  }
}

// The mark is set before the sync starts. The mark of a failed one stays until a recovery is done.
void Model::startSync(State& t) {
  if (t.control.sync != syncFailed) t.control.sync = syncInFlight;
  for (Cell& cell : t.cell) cell.inFlight = cell.count;
}

// A sync that fails leaves its pages clean in the cache; what the disk has of them is open. A later one does not carry
// them any more.
void Model::endSync(State& t, bool isGood) {
  for (Cell& cell : t.cell) {
    if (cell.inFlight > cell.attempted) {
      if (isGood) {
        cell.disk = cell.written[cell.inFlight - 1];
        for (int i = cell.inFlight; i < cell.count; i++) cell.written[i - cell.inFlight] = cell.written[i];
        for (int i = cell.count - cell.inFlight; i < cell.count; i++) cell.written[i] = 0;
        cell.count -= cell.inFlight;
        cell.attempted = 0;
      } else {
        cell.attempted = cell.inFlight;
      }
    }
    cell.inFlight = 0;
  }
}

// All pending versions fail, the process's handles are poisoned, and versions after D can't be believed any more.
void Model::failSync(State& t, int process) {
  endSync(t, false);
  t.failures++;
  t.mayHaveLost = 1;
  t.control.sync = syncFailed;
  t.process[process].poisoned = 1;
  clear(t.writer);
  expire(t, t.version(t.control.durable), process);
}

void Model::expire(State& t, int after, int process) {
  for (int i = 0; i < bounds.processes; i++) {
    Process& p = t.process[i];
    if (!keeps(Rule::expireEverywhere) && i != process) continue;
    if (p.pin && t.version(p.pin) > after) p.isExpired = 1;
  }
}

}  // namespace model
