#pragma once
#include <cstdint>
#include <cstring>
#include <string>

namespace model {

using u8 = std::uint8_t;

// A state is plain bytes without padding, so that it can be hashed and compared as bytes.

constexpr int maxPages = 13;  // the two meta pages included
constexpr int maxWrites = 4;  // of one page between two syncs
constexpr int maxNodes = 64;
constexpr int maxMetas = 16;
constexpr int maxProcesses = 2;
constexpr int maxPending = 3;
constexpr int ringSize = 2;

// What a page holds is the number of a node, or in a meta page the number of a meta. 0 is garbage, which no checksum
// lets pass. A number stands for content and checksum at once: a ref is sound when the page holds that very number.
struct Node {
  u8 birth, page;
  u8 leaf[2];  // of a root; 0 in a leaf
  u8 named;    // of a root: that of the version which this one keeps by name
};

struct Meta {
  u8 root, durable, greatest;
};

// One page: the disk, and what was written since.
struct Cell {
  u8 disk;
  u8 count;      // values in `written`, oldest first; the last one is what the cache shows
  u8 attempted;  // of these: a sync failed on them, so that the cache takes them for clean
  u8 inFlight;   // of these: a sync that has begun covers them
  u8 lost;       // the cache dropped what a failed sync left; nobody wrote here since
  u8 written[maxWrites];
  u8 cache() const { return count ? written[count - 1] : disk; }
};

// Who owns which page, as one process knows it. birth 0: free, or not known yet; freed 0: live.
enum : u8 { mapNone, mapWalking, mapWhole };
struct PageMap {
  u8 state, version, epoch;
  u8 birth[maxPages], freed[maxPages];
};

struct Process {
  u8 alive, poisoned;
  u8 pin, isExpired;  // root of the pinned version
  PageMap map;
};

// The pages that a version took and gave up, on top of its base.
struct Delta {
  u8 version, base;
  u8 took[2], freed[2];
};

enum : u8 { syncNone, syncInFlight, syncFailed };

// Shared by the processes of one boot; outlives kill -9, not power loss.
struct Control {
  u8 built;
  u8 published, durable;  // roots
  u8 durablePage;
  u8 greatest;
  u8 inWrite, sync;
  u8 epoch;
  u8 ringCount;
  Delta ring[ringSize];
};

struct Pending {
  u8 root, isFull, isLarge;
  Delta delta;
};

enum : u8 { idle, written, flying };
enum : u8 { recoverPlain, recoverByRewriting, recoverRewritingNodes };

// What the process that holds the writer lock has in its own memory.
struct Writer {
  u8 holder;  // 1 + process; 0: nobody
  u8 count;
  Pending pending[maxPending];  // oldest first
  // The leader: `covered` pending versions are named by the meta page it wrote.
  u8 leading, covered, page;
  // A large commit whose nodes are synced before it becomes pending.
  u8 large;
  Pending next;
  // Recovery.
  u8 recovering, kind, opened, root, recoveryPage;
};

struct State {
  Cell cell[maxPages];
  Node node[maxNodes];
  Meta meta[maxMetas];
  u8 nodes, metas;
  u8 end;  // pages from here on were never written
  Control control;
  Process process[maxProcesses];
  Writer writer;
  u8 commits, crashes, failures, mapLosses;  // how much of the bounds is used
  // What the oracle knows: the last acknowledged full commit, the last of any kind, and whether what was not synced
  // may be gone.
  u8 fullFloor, anyFloor, mayHaveLost;

  u8 version(int root) const { return root ? node[root].birth : 0; }
  bool holds(int id) const { return cell[node[id].page].cache() == id; }
};

template <class T>
void clear(T& value) {
  std::memset(static_cast<void*>(&value), 0, sizeof value);
}

// How far a run goes. A step for which there is no page or no room for one more write is left out.
struct Bounds {
  int commits = 3, crashes = 2, failures = 1;
  int processes = 1, pending = 1, pages = 9;
  bool relaxed = true, large = false, pins = true;
  bool eviction = false;   // the cache drops pages that a failed sync left
  bool slowWalk = false;   // a map is rebuilt in two steps, with commits in between
  int mapLosses = 0;       // times a writer loses track in the middle of its work
  int ring = 0;            // deltas that the control block keeps
  bool bothPlaces = true;  // commits take the first free pages or the last, else the first only
  bool bothLeaves = true;
  bool ends = false;  // processes end in peace, which is no crash
  bool names = false;  // commits keep the published version by name, move the name on, and drop it
};

struct Violation {
  std::string text;
};

}  // namespace model
