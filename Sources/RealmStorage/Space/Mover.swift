/// Moves nodes, so that free space lies together and the end of the file can be given back.
///
/// Runs while the file is far larger than what is held in it. Some commits then write nodes again that did not change,
/// with all above them, out of stretches that are being emptied (`PageMap`). The nodes are found by a walk through the
/// newest version that goes on from commit to commit. It reads only nodes that hold refs, and knows no kinds.
package struct Mover {
  package struct Options: Sendable {
    /// Pages a file may have beyond 1.35 times what is held; 1.45 times and three of it make moving urgent.
    package var slack = (1 << 20) / FilePlace.page
    /// Pages that are emptied together.
    package var stretch = (1 << 20) / FilePlace.page
    /// One commit in so many moves nodes, so that the median commit does not.
    package var interval = 8
    /// Bytes of nodes one commit moves, those above them included.
    package var bytes = 128 << 10
    /// The same of each commit while it is urgent.
    package var urgentBytes = 256 << 10
    /// Nodes with refs that one commit reads to find what to move.
    package var reads = 64

    package init() {}
  }

  /// Pages that are emptied together.
  package var stretch: Int { options.stretch }
  private let options: Options
  /// Where the walk goes on: which child, from the root down.
  private var position: [Int] = []
  private var commits = 0
  /// Commits that moved since stretches were chosen.
  private var age = Int.max
  /// Before this commit nothing will be found to move.
  private var restsUntil = 0
  private var movedInRound = 0
  /// Commits to come that move, each of them.
  private var burst = 0
  private var pinned: UInt64 = 0
  /// Bytes moved since the file was last made longer for it, and after which commit that was.
  private var movedSinceGrowth = Int.max
  private var grownAfter = 0
  /// Nodes moved so far.
  package private(set) var movedNodes = 0
  package private(set) var movedBytes = 0
  /// No hole of the file takes what should be moved: it needs `stretch` pages more.
  package private(set) var needsRoom = false

  package init(_ options: Options) { self.options = options }

  /// Writes some nodes below `root`, the one that is about to be committed, again; answers the root to commit instead.
  ///
  /// Where a node can't be read, nothing is moved. Nodes born at `pinned` or before stay: their space would not be free.
  package mutating func run(
    _ root: Ref, editor: NodeEditor, map: inout PageMap, pinned: UInt64
  ) -> Ref {
    commits += 1
    guard map.excess() > 0 else {
      rest(map: &map)
      return root
    }
    // Before the file is half larger than what is held and four slacks more, which is what it may be.
    let isUrgent = map.excess(145, slacks: 3) > 0
    let budget = isUrgent ? options.urgentBytes : options.bytes
    if pinned != self.pinned { restsUntil = 0 }
    self.pinned = pinned
    guard isUrgent || burst > 0 || commits % options.interval == 0, commits >= restsUntil, !root.isNull,
      editor.arena.liveBytes <= budget * 2, choose(&map),
      let room = room(for: budget, beside: editor.arena.liveBytes, in: &map)
    else { return root }
    burst = max(0, burst - 1)
    var walk = MovingWalk(
      editor: editor, from: position, pinned: pinned, bytes: room, reads: options.reads)
    guard let moved = try? walk.run(root, map) else {
      position = []
      restsUntil = commits + 1024
      return root
    }
    note(walk)
    return moved
  }

  /// Nothing is to be moved.
  private mutating func rest(map: inout PageMap) {
    needsRoom = false
    guard age != Int.max else { return }
    age = Int.max
    map.emptyNothing()
  }

  /// Chooses what to empty, now and then.
  private mutating func choose(_ map: inout PageMap) -> Bool {
    // The choice looks at each page, so it is made more seldom in a large file.
    if age < max(4, map.pageCount >> 14) {
      age += 1
      return true
    }
    age = 0
    if map.chooseEmptied(size: options.stretch, run: options.bytes / FilePlace.page, pinned: pinned) {
      return true
    }
    restsUntil = commits + options.interval * 8
    age = Int.max
    return false
  }

  /// Bytes that may be moved so that the commit still has a hole for its run.
  private mutating func room(for budget: Int, beside own: Int, in map: inout PageMap) -> Int? {
    let ownPages = own / FilePlace.page + 2
    var pages = budget / FilePlace.page
    while pages >= max(2, budget / FilePlace.page / 8) {
      if map.hole(of: ownPages + pages) != nil {
        needsRoom = false
        return pages * FilePlace.page
      }
      pages /= 2
    }
    // What was emptied meanwhile may do.
    age = Int.max
    needsRoom =
      movedSinceGrowth >= options.stretch * FilePlace.page / 2 || commits - grownAfter >= options.interval * 8
    if !needsRoom { restsUntil = commits + options.interval }
    return nil
  }

  /// The file was made longer. It is used at once, before other commits take it.
  package mutating func roomWasMade() {
    burst = 2 * options.stretch * FilePlace.page / options.bytes
    grownAfter = commits
    restsUntil = 0
    needsRoom = false
    movedSinceGrowth = 0
  }

  private mutating func note(_ walk: MovingWalk) {
    movedNodes += walk.moved
    movedBytes += walk.bytes
    movedInRound += walk.moved
    movedSinceGrowth += min(walk.bytes, Int.max - movedSinceGrowth)
    position = walk.position
    guard position.isEmpty else { return }
    // A whole round in vain: what could be moved is held by pins, or lies elsewhere than it seems.
    if movedInRound == 0 { restsUntil = commits + options.interval * 32 }
    movedInRound = 0
  }
}
