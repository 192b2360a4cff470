import Synchronization

/// Moves nodes, so that free space lies together and the end of the file can be given back.
///
/// The mover runs while the file is far larger than what is held in it. Some commits then write unchanged nodes again,
/// with all nodes above them, out of stretches that are being emptied (`PageMap`). The nodes are found by a walk
/// through the newest version that goes on from commit to commit. The walk reads only nodes that hold refs, and does
/// not depend on their kinds.
package struct Mover {
  package struct Options: Sendable {
    /// The number of pages that a file may have beyond 1.35 times what is held. Moving is urgent beyond 1.45 times what
    /// is held and three times this number.
    package var slack = (1 << 20) / FilePlace.page
    /// The number of pages that are emptied together.
    package var stretch = (1 << 20) / FilePlace.page
    /// The number of commits of which one moves nodes, so that the median commit does not. While moving is urgent, each
    /// commit moves nodes.
    package var interval = 8
    /// The bytes of nodes that one commit moves, including the nodes above them.
    package var bytes = 128 << 10
    /// The bytes of nodes that one commit moves while moving is urgent.
    package var urgentBytes = 256 << 10
    /// The least number of pages of a hole that is worth moving nodes to.
    package var hole = 32
    /// The number of nodes with refs that one commit reads to find nodes to move.
    package var reads = 128

    package init() {}
  }

  /// How much larger the file is than what is held in it.
  package enum Pressure: UInt8, AtomicRepresentable, Sendable {
    /// The size of the file is right, so no node is moved.
    case none
    /// Some commits move nodes.
    case loose
    /// Each commit moves nodes. This begins before the file reaches its limit, which is one and a half times what is
    /// held and four times the slack.
    case urgent
  }

  private let options: Options
  /// The place where the walk goes on, as the index of a child in each node from the root down.
  private var position: [Int] = []
  private var commits = 0
  /// The number of commits that moved nodes since stretches were chosen; `Int.max` if stretches must be chosen before
  /// nodes are moved.
  private var age = Int.max
  /// The number of the commit that moves nodes next, while moving is not urgent.
  private var next = 0
  /// The number of the commit before which no nodes to move will be found.
  private var restsUntil = 0
  private var movedInRound = 0
  /// The number of rounds in a row in which no node was moved.
  private var emptyRounds = 0
  private var pinned: UInt64 = 0
  /// The bytes moved since the file was last made longer for moving. `grownAfter` is the number of the commit after
  /// which that was.
  private var movedSinceGrowth = Int.max
  private var grownAfter = 0
  /// The number of nodes moved so far.
  package private(set) var movedNodes = 0
  package private(set) var movedBytes = 0

  /// The number of commits after which a failed attempt is worth another try.
  private static let patience = 64

  package init(_ options: Options) { self.options = options }

  /// Counts a commit. Returns whether `run` has anything to do for it.
  ///
  /// - Parameter pinned: nodes born in this version or before stay where they are, because their space would not become
  ///   free.
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

  /// Writes again some nodes below `root`, the root that is about to be committed. Returns the root to commit instead.
  ///
  /// A node that can't be read stays where it is. If a node above moved ones can't be copied, nothing is moved.
  ///
  /// - Parameter waiting: the bytes of nodes that will be written before those of this commit.
  /// - Parameter grow: makes the file longer by a number of pages, if it has no hole for the nodes that should be
  ///   moved.
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

  /// Ends the emptying of stretches, because nothing should be moved.
  private mutating func rest(map: inout PageMap) {
    guard age != Int.max else { return }
    age = Int.max
    map.emptyNothing()
  }

  /// Chooses the stretches to empty, if enough commits have moved nodes since the last choice. Returns false if there
  /// are none.
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

  /// The number of bytes, at most `bytes`, that may be moved so that the commit still has holes for its nodes; nil if
  /// there are too few. So a commit needs no more of the disk because of moving: if the file can't be made longer,
  /// nothing is moved.
  private mutating func room(
    for bytes: Int, beside own: Int, in map: inout PageMap, _ grow: (inout PageMap, Int) -> Bool
  ) -> Int? {
    let (ownPages, pages) = (own / FilePlace.page + 2, bytes / FilePlace.page)
    let least = max(2, pages / 8)
    var found = map.pagesInHoles(of: options.hole, atMost: ownPages + pages) - ownPages
    if found < least {
      // The stretches that were emptied meanwhile may be enough the next time.
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
    // If a whole round moved nothing, all nodes in the chosen stretches have been moved, are held by pins, or lie
    // elsewhere than it seems.
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
