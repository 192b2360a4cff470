import Synchronization

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
    /// One commit in so many moves nodes, so that the median commit does not; each while it is urgent.
    package var interval = 8
    /// Bytes of nodes one commit moves, those above them included.
    package var bytes = 128 << 10
    /// The same while it is urgent.
    package var urgentBytes = 256 << 10
    /// Pages of a hole that is worth moving something to.
    package var hole = 32
    /// Nodes with refs that one commit reads to find what to move.
    package var reads = 128

    package init() {}
  }

  /// How much larger the file is than what is held in it.
  package enum Pressure: UInt8, AtomicRepresentable, Sendable {
    /// It fits.
    case none
    /// Some commits move nodes.
    case loose
    /// Each commit does, before the file is half larger than what is held and four slacks more, which is what it may be.
    case urgent
  }

  private let options: Options
  /// Where the walk goes on: which child, from the root down.
  private var position: [Int] = []
  private var commits = 0
  /// Commits that moved since stretches were chosen.
  private var age = Int.max
  /// The commit that moves next, where it is not urgent.
  private var next = 0
  /// Before this commit nothing will be found to move.
  private var restsUntil = 0
  private var movedInRound = 0
  /// Rounds in a row in which nothing was moved.
  private var emptyRounds = 0
  private var pinned: UInt64 = 0
  /// Bytes moved since the file was last made longer for it, and after which commit that was.
  private var movedSinceGrowth = Int.max
  private var grownAfter = 0
  /// Nodes moved so far.
  package private(set) var movedNodes = 0
  package private(set) var movedBytes = 0

  /// Commits after which what failed is worth another try.
  private static let patience = 64

  package init(_ options: Options) { self.options = options }

  /// Counts a commit; answers whether `run` has anything to do for it.
  ///
  /// - Parameter pinned: nodes born then or before stay where they are: their space would not be free.
  package mutating func isDue(_ pressure: Pressure, pinned: UInt64) -> Bool {
    commits += 1
    if pinned != self.pinned { restsUntil = 0 }
    self.pinned = pinned
    return switch pressure {
    case .none: age != Int.max
    case .loose: commits >= next && commits >= restsUntil
    case .urgent: commits >= restsUntil
    }
  }

  /// Writes some nodes below `root`, the one that is about to be committed, again; answers the root to commit instead.
  ///
  /// Where a node can't be read, nothing is moved.
  ///
  /// - Parameter waiting: bytes of nodes that will be written before those of this commit.
  /// - Parameter grow: makes the file longer by so many pages, where no hole of it takes what should be moved.
  package mutating func run(
    _ root: Ref, editor: NodeEditor, map: inout PageMap, waiting: Int,
    grow: (inout PageMap, Int) -> Bool
  ) -> Ref {
    guard map.pressure != .none else {
      rest(map: &map)
      return root
    }
    let bytes = map.pressure == .urgent ? options.urgentBytes : options.bytes
    guard !root.isNull, editor.arena.liveBytes <= bytes * 2, choose(&map),
      let room = room(for: bytes, beside: editor.arena.liveBytes + waiting, in: &map, grow)
    else { return root }
    next = commits + options.interval
    var walk = MovingWalk(editor: editor, from: position, pinned: pinned, bytes: room, reads: options.reads)
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
    guard age != Int.max else { return }
    age = Int.max
    map.emptyNothing()
  }

  /// Chooses what to empty, now and then.
  private mutating func choose(_ map: inout PageMap) -> Bool {
    // The choice looks at each page, so it is made more seldom in a large file.
    if age < max(4, map.pageCount >> 11) {
      age += 1
      return true
    }
    age = 0
    if map.chooseEmptied(size: options.stretch, run: options.hole, pinned: pinned) { return true }
    restsUntil = commits + Self.patience
    age = Int.max
    return false
  }

  /// Bytes, `bytes` at most, that may be moved so that the commit still has holes for its nodes. So moving asks a commit
  /// for no more of the disk: where the file can't be made longer, nothing is moved.
  private mutating func room(
    for bytes: Int, beside own: Int, in map: inout PageMap, _ grow: (inout PageMap, Int) -> Bool
  ) -> Int? {
    let (ownPages, pages) = (own / FilePlace.page + 2, bytes / FilePlace.page)
    let least = max(2, pages / 8)
    var found = map.pagesInHoles(of: options.hole, atMost: ownPages + pages) - ownPages
    if found < least {
      // What was emptied meanwhile may do, next time.
      age = Int.max
      let mayGrow =
        movedSinceGrowth >= options.stretch * FilePlace.page / 2 || commits - grownAfter >= Self.patience
      guard mayGrow, grow(&map, options.stretch) else {
        restsUntil = commits + Self.patience / 8
        return nil
      }
      grownAfter = commits
      movedSinceGrowth = 0
      found = map.pagesInHoles(of: options.hole, atMost: ownPages + pages) - ownPages
    }
    return found < least ? nil : found * FilePlace.page
  }

  private mutating func note(_ walk: MovingWalk) {
    movedNodes += walk.moved
    movedBytes += walk.bytes
    movedInRound += walk.moved
    movedSinceGrowth += min(walk.bytes, Int.max - movedSinceGrowth)
    position = walk.position
    guard position.isEmpty else { return }
    // A whole round in vain: all that was chosen has been moved, or is held by pins, or lies elsewhere than it seems.
    if movedInRound > 0 {
      emptyRounds = 0
    } else {
      age = Int.max
      emptyRounds += 1
      if emptyRounds > 1 { restsUntil = commits + 4 * Self.patience }
    }
    movedInRound = 0
  }
}
