/// What a writer keeps to make its file smaller: who moves nodes, and where the versions end.
struct Compaction {
  var mover: Mover
  /// Pages a file may have beyond its share of what is held.
  let slack: Int
  private(set) var truncations = 0
  /// Where versions end that may be held, in pages.
  private var ends: [UInt64: Int] = [:]
  private var crowd = 256
  /// The durable version, and the one before it: the other meta page names that one, or one that is held.
  private var durable: (last: UInt64, before: UInt64) = (0, 0)

  /// A pin so many versions old is likely to stay.
  static let longPin: UInt64 = 16

  init(_ options: Mover.Options) {
    mover = Mover(options)
    slack = options.slack
  }

  /// Called with each version that may be pinned, at the latest when the next one is published.
  mutating func note(_ version: Version, durable last: UInt64) {
    ends[version.number] = version.pageCount
    if durable.last != last { durable = (last, durable.last) }
  }

  /// The page below which all held versions lie, and what the other meta page names; nil where that is not known.
  mutating func highestEnd(_ holders: [UInt64]) -> Int? {
    forget(allBut: holders)
    let named = durable.before == 0 ? holders : holders + [durable.before]
    return named.allSatisfy { ends[$0] != nil } ? ends.values.max() : nil
  }

  /// So many ends are known that most are likely to be of versions that are gone.
  var isCrowded: Bool { ends.count >= crowd }

  mutating func forget(allBut holders: [UInt64]) {
    ends = ends.filter { holders.contains($0.key) || $0.key == durable.before }
    crowd = max(256, 2 * ends.count)
  }

  mutating func didTruncate() { truncations += 1 }
}

extension Writer {
  /// Before the nodes of a commit are written: some that did not change become part of it, to be written elsewhere.
  func moveNodes(below root: Ref) -> Ref {
    guard var space = map else { return root }
    map = nil
    defer { map = space }
    let state = held.current
    space.settle(holders: held.holders)
    let pinned = state.pins.keys.filter { $0 &+ Compaction.longPin < state.published.number }.max() ?? 0
    return compaction.mover.run(root, editor: editor, map: &space, pinned: pinned)
  }

  /// After a commit was published: gives the end of the file back where it is free and the file far larger than what is
  /// held in it. So what is given back is not written ahead again soon. What goes wrong here loses nothing.
  ///
  /// All held versions lie below the new end, so whichever of them is opened next finds its nodes: D and the published
  /// one after a crash, pins until they go. A version that vacated the end is durable by then: D is one, or older and ends
  /// higher.
  func makeSmaller() {
    if compaction.mover.needsRoom { growForMoves() }
    if compaction.isCrowded { compaction.forget(allBut: held.holders) }
    guard let space = map else { return }
    // Each change of the file's length makes the next sync dearer.
    let least = max(space.slack / 4, space.pageCount / 32)
    let excess = space.excess()
    guard excess >= least else { return }
    var end = max(space.usedEnd, space.pageCount - excess)
    guard space.pageCount - end >= least, let highest = compaction.highestEnd(held.holders) else { return }
    end = max(end, highest)
    guard space.pageCount - end >= least else { return }
    do throws(StorageError) {
      try store.storage.truncate(to: UInt64(end * FilePlace.page))
      map?.shrink(to: end)
      compaction.didTruncate()
    } catch {}
  }

  /// Writes zeros behind the end of the file, for commits to come: a sync of pages that the file has already costs half
  /// of one that has to make them part of it first.
  func growAhead() {
    guard store.storage.gainsFromGrowth, let pageCount = map?.pageCount else { return }
    let bytes = pageCount * FilePlace.page
    let step = bytes < 1 << 20 ? max(8 << 10, bytes / 4) : min(128 << 10, max(64 << 10, bytes / 16))
    grow(by: step / FilePlace.page)
  }

  /// Room for nodes to be moved to. Written here, so that moving asks a commit for no more of the disk.
  private func growForMoves() {
    compaction.mover.roomWasMade()
    grow(by: compaction.mover.stretch)
  }

  /// What goes wrong here loses nothing, and is met again by who needs it.
  private func grow(by pages: Int) {
    guard let pageCount = map?.pageCount else { return }
    do throws(StorageError) {
      try store.reserve(UInt64((pageCount + pages) * FilePlace.page))
      let zeros = [UInt8](repeating: 0, count: pages * FilePlace.page)
      try store.storage.write(zeros.span.bytes, at: UInt64(pageCount * FilePlace.page))
      map?.extend(by: pages)
    } catch {}
  }
}
