// What happens to the protocol: readers, kill -9, power loss, pages dropped by the cache. And what must hold meanwhile.
#include <algorithm>

#include "Model.h"

namespace model {

State Model::first() const {
  State s;
  clear(s);
  for (int page = 2; page <= 3; page++) s.node[++s.nodes] = {1, u8(page), {0, 0}, 0};
  s.node[++s.nodes] = {1, 4, {1, 2}, 0};
  for (int id = 1; id <= 3; id++) s.cell[s.node[id].page].disk = u8(id);
  s.meta[++s.metas] = {3, 1, 1};
  s.cell[0].disk = s.cell[1].disk = 1;
  s.end = 5;
  s.control.built = 1;
  s.control.published = s.control.durable = 3;
  s.control.greatest = 1;
  for (int p = 0; p < bounds.processes; p++) s.process[p].alive = 1;
  s.fullFloor = s.anyFloor = 1;
  return s;
}

void Model::expand(const State& s) {
  commits(s);
  leader(s);
  largeCommit(s);
  recovery(s);
  locks(s);
  maps(s);
  readers(s);
  disk(s);
  crashes(s);
}

// After a failed sync readers don't come to a version newer than D.
bool Model::isPublishedSure(const State& s) const {
  return s.control.built &&
         (s.control.sync != syncFailed || s.version(s.control.published) <= s.version(s.control.durable));
}

void Model::readers(const State& s) {
  if (!bounds.pins) return;
  for (int p = 0; p < bounds.processes; p++) {
    const Process& process = s.process[p];
    if (!process.alive || process.poisoned) continue;
    if (!process.pin && isPublishedSure(s))
      attempt(
          s, [&](const State& t) { return text("process ", p, " pins ", int(t.version(t.control.published))); },
          [&](State& t) {
            t.process[p].pin = t.control.published;
            return true;
          });
    if (process.pin && bounds.processes > 1)
      attempt(
          s, [&](const State&) { return text("process ", p, " lets go of ", int(s.version(process.pin))); },
          [&](State& t) {
            t.process[p].pin = t.process[p].isExpired = 0;
            return true;
          });
  }
}

void Model::loseProcess(State& t, int process) {
  clear(t.process[process]);
  if (t.writer.holder == process + 1) {
    clear(t.writer);
    for (Cell& cell : t.cell) cell.inFlight = 0;
  }
  for (const Process& p : t.process)
    if (p.alive) return;
  // No participant is left: the control block is built anew, but for what recovery needs.
  Control& c = t.control;
  c.built = 0;
  c.ringCount = 0;
  clear(c.ring);
  c.epoch++;
  if (c.sync == syncInFlight && !keeps(Rule::keepSyncMark)) c.sync = syncNone;
  if (c.sync == syncFailed && !keeps(Rule::keepFailedMark)) c.sync = syncNone;
}

void Model::kill(const State& s, int p) {
  const Writer& w = s.writer;
  const auto die = [&](State& t) {
    t.crashes++;
    loseProcess(t, p);
    return true;
  };
  // A sync that had not ended, or had and was not noted at all: the pages are dirty, or could be.
  attempt(s, [&](const State&) { return text("kill -9 of process ", p); }, die);
  const bool isFlying = w.holder == p + 1 && (w.leading == flying || w.large == flying || w.recovering == flying);
  if (!isFlying) return;
  if (s.failures < bounds.failures)
    attempt(
        s, [&](const State&) { return text("kill -9 of process ", p, " in a sync that FAILS; nobody sees it"); },
        [&](State& t) {
          endSync(t, false);
          t.failures++;
          t.mayHaveLost = 1;
          return die(t);
        });
  // The sync ended well, and some words of its outcome are noted.
  if (w.recovering == flying && w.kind != recoverRewritingNodes)
    for (int words = keeps(Rule::marksGoLast) ? 1 : 0; words < 3; words++)
      attempt(
          s,
          [&](const State&) {
            return text("kill -9 of process ", p, " after ", words, " words of recovery's outcome");
          },
          [&](State& t) {
            endSync(t, true);
            finishRecovery(t, p, words);
            return die(t);
          });
  if (w.recovering == flying && w.kind == recoverRewritingNodes)
    attempt(
        s,
        [&](const State&) {
          return text("kill -9 of process ", p, " between recovery's sync of nodes and its meta page");
        },
        [&](State& t) {
          endSync(t, true);
          if (!keeps(Rule::markThroughRewriting)) t.control.sync = syncNone;
          return die(t);
        });
  if (w.leading == flying)
    for (int words = 1; words <= 3; words++)
      attempt(
          s,
          [&](const State&) {
            return text("kill -9 of process ", p, " after ", words, " words of its sync's outcome");
          },
          [&](State& t) {
            endSync(t, true);
            Control& c = t.control;
            c.durablePage = w.page;
            if (words > 1 || keeps(Rule::durableInOneWord)) c.durable = w.pending[w.covered - 1].root;
            if (words >= 2) c.sync = syncNone;
            if (words >= 3) {
              publishCovered(t);
            }
            return die(t);
          });
}

// Every page with a write since its last sync falls on its own: as it was, as any of the writes left it, or garbage.
void Model::losePower(const State& s, int page, State& t, const char* label) {
  while (page < bounds.pages && s.cell[page].count == 0) page++;
  if (page >= bounds.pages) {
    attempt(
        t,
        [&](const State& u) {
          std::string all = label;
          for (int i = 0; i < bounds.pages; i++) {
            if (s.cell[i].count == 0) continue;
            const int left = u.cell[i].disk;
            all += text("; page ", i,
                        left == 0                   ? " is garbage"
                        : left == s.cell[i].cache() ? " is new"
                        : left == s.cell[i].disk    ? " is old"
                                                    : " is in between");
          }
          return all;
        },
        [](State&) { return true; });
    return;
  }
  const Cell& cell = s.cell[page];
  u8 options[maxWrites + 2] = {0, cell.disk};
  int count = cell.disk ? 2 : 1;
  for (int i = 0; i < cell.count; i++)
    if (std::find(options, options + count, cell.written[i]) == options + count) options[count++] = cell.written[i];
  for (int i = 0; i < count; i++) {
    clear(t.cell[page]);
    t.cell[page].disk = options[i];
    losePower(s, page + 1, t, label);
  }
}

void Model::crashes(const State& s) {
  for (int p = 0; p < bounds.processes; p++)
    if (s.process[p].poisoned)
      attempt(
          s, [&](const State&) { return text("process ", p, " closes its poisoned handles"); },
          [&](State& t) {
            loseProcess(t, p);
            return true;
          });
  const Writer& w = s.writer;
  const bool isIdle = !w.count && !w.leading && !w.large && !w.recovering && !s.control.inWrite;
  for (int p = 0; bounds.ends && p < bounds.processes; p++)
    if (s.process[p].alive && !s.process[p].poisoned && isIdle)
      attempt(
          s, [&](const State&) { return text("process ", p, " ends"); },
          [&](State& t) {
            loseProcess(t, p);
            return true;
          });
  if (s.crashes >= bounds.crashes) return;
  for (int p = 0; p < bounds.processes; p++)
    if (s.process[p].alive && !s.process[p].poisoned) kill(s, p);
  State t = s;
  t.crashes++;
  t.mayHaveLost = 1;
  clear(t.control);
  clear(t.process);
  clear(t.writer);
  for (Cell& cell : t.cell) cell.inFlight = cell.lost = 0;
  losePower(s, 0, t, "power loss");
}

// The cache drops a page that a failed sync left clean; it is read back as the disk has it.
void Model::disk(const State& s) {
  if (!bounds.eviction) return;
  for (int page = 0; page < bounds.pages; page++) {
    const Cell& cell = s.cell[page];
    if (!cell.count || cell.attempted != cell.count) continue;
    for (int left : {int(cell.disk), 0})
      attempt(
          s,
          [&](const State&) {
            return text("the cache drops page ", page,
                        left ? "; the disk has what was there before" : "; the disk has garbage");
          },
          [&](State& t) {
            clear(t.cell[page]);
            t.cell[page].disk = u8(left);
            t.cell[page].lost = 1;
            return true;
          });
  }
}

// What readers see does not change. What the cache dropped is told by its checksum, and is nobody's overwriting.
void Model::judge(const State& s) const {
  const auto look = [&](int root, const char* what) {
    for (int id : {root, int(s.node[root].leaf[0]), int(s.node[root].leaf[1])})
      if (!s.holds(id) && !s.cell[s.node[id].page].lost)
        throw Violation{text(what, " ", int(s.version(root)), " changed in page ", int(s.node[id].page))};
  };
  bool isAlive = false;
  for (const Process& p : s.process) {
    isAlive |= p.alive;
    if (p.alive && !p.isExpired && p.pin) look(p.pin, "the pinned version");
  }
  if (isAlive && isPublishedSure(s) && s.control.published) {
    look(s.control.published, "the published version");
    if (s.node[s.control.published].named) look(s.node[s.control.published].named, "the named version");
  }
  // A number means one content, wherever its root may still be found.
  bool named[maxNodes] = {};
  for (int page : {0, 1}) {
    named[s.meta[s.cell[page].disk].root] = true;
    for (int i = 0; i < s.cell[page].count; i++) named[s.meta[s.cell[page].written[i]].root] = true;
  }
  named[s.control.published] = named[s.control.durable] = true;
  for (int i = 0; i < s.writer.count; i++) named[s.writer.pending[i].root] = true;
  for (int a = 1; a <= s.nodes; a++)
    for (int b = a + 1; b <= s.nodes; b++)
      if (named[a] && named[b] && s.node[a].birth == s.node[b].birth)
        throw Violation{text("version ", int(s.node[a].birth), " means two contents")};
}

// Brings states that can't be told apart by what may follow to one form: what no meta page and nobody names is gone,
// numbers of nodes and metas are given anew, maps nobody may use are empty.
void Model::tidy(State& t) const {
  u8 metaTo[maxMetas] = {}, nodeTo[maxNodes] = {};
  u8 metas = 0, nodes = 0;
  const auto seeMeta = [&](u8& id) {
    if (!id) return;
    if (!metaTo[id]) {
      for (int other = 1; other < id; other++)
        if (metaTo[other] && !std::memcmp(&t.meta[other], &t.meta[id], sizeof(Meta))) metaTo[id] = metaTo[other];
      if (!metaTo[id]) metaTo[id] = ++metas;
    }
  };
  for (int page : {0, 1}) {
    Cell& cell = t.cell[page];
    seeMeta(cell.disk);
    for (int i = 0; i < cell.count; i++) seeMeta(cell.written[i]);
  }
  bool isNamed[maxNodes] = {}, mayOpen[maxNodes] = {};
  const auto name = [&](int root) {
    if (!root) return;
    // What a named version names itself matters no more, unless that version may be opened too.
    for (int id : {root, int(t.node[root].named)})
      if (id) isNamed[id] = isNamed[t.node[id].leaf[0]] = isNamed[t.node[id].leaf[1]] = true;
    mayOpen[root] = true;
  };
  Writer& w = t.writer;
  for (int id = 1; id <= t.metas; id++)
    if (metaTo[id]) name(t.meta[id].root);
  name(t.control.published), name(t.control.durable), name(w.next.root), name(w.opened), name(w.root);
  for (int i = 0; i < w.count; i++) name(w.pending[i].root);
  for (Process& p : t.process) name(p.pin);
  Node node[maxNodes];
  clear(node);
  for (int id = 1; id <= t.nodes; id++)
    if (isNamed[id]) nodeTo[id] = ++nodes;
  for (int id = 1; id <= t.nodes; id++)
    if (isNamed[id]) {
      const Node& n = t.node[id];
      node[nodeTo[id]] = {n.birth, n.page, {nodeTo[n.leaf[0]], nodeTo[n.leaf[1]]}, mayOpen[id] ? nodeTo[n.named] : u8(0)};
    }
  std::memcpy(t.node, node, sizeof node);
  t.nodes = nodes;
  Meta meta[maxMetas];
  clear(meta);
  for (int id = 1; id <= t.metas; id++)
    if (metaTo[id]) meta[metaTo[id]] = {nodeTo[t.meta[id].root], t.meta[id].durable, t.meta[id].greatest};
  std::memcpy(t.meta, meta, sizeof meta);
  t.metas = metas;
  for (u8* root : {&t.control.published, &t.control.durable, &w.next.root, &w.opened, &w.root}) *root = nodeTo[*root];
  for (int i = 0; i < w.count; i++) w.pending[i].root = nodeTo[w.pending[i].root];
  for (Process& p : t.process) p.pin = nodeTo[p.pin];

  for (int page = 0; page < maxPages; page++) {
    Cell& cell = t.cell[page];
    const u8* to = page < 2 ? metaTo : nodeTo;
    bool isAny = false;
    cell.disk = to[cell.disk];
    isAny |= cell.disk;
    for (int i = 0; i < cell.count; i++) isAny |= (cell.written[i] = to[cell.written[i]]);
    if (!isAny) {
      const u8 lost = cell.lost;
      clear(cell);
      cell.lost = lost;
    }
    // Garbage between two writes adds nothing: it may always be what power loss leaves.
    for (int i = 0; i + 1 < cell.count; i++) {
      if (cell.written[i] || i + 1 == cell.inFlight || i + 1 == cell.attempted) continue;
      for (int k = i + 1; k < cell.count; k++) cell.written[k - 1] = cell.written[k];
      cell.written[--cell.count] = 0;
      if (cell.inFlight > i) cell.inFlight--;
      if (cell.attempted > i) cell.attempted--;
      i--;
    }
  }
  for (int i = 0; i < maxProcesses; i++) {
    Process& p = t.process[i];
    if (p.poisoned || (p.map.epoch != t.control.epoch && keeps(Rule::epochOfMap))) clear(p.map);
  }
}

}  // namespace model
