import Synchronization

/// What a writer keeps to make its file smaller.
struct Compaction {
  var mover: Mover
  /// Pages a file may have beyond its share of what is held.
  let slack: Int
  fileprivate(set) var truncations = 0

  /// A pin so many versions old is likely to stay.
  static let longPin: UInt64 = 16

  init(_ options: Mover.Options) {
    mover = Mover(options)
    slack = options.slack
  }
}

extension Writer {
  /// Pages this handle has written that had held something before.
  var recycledPages: Int { atDesk { space.recycledPages } }
  /// Nodes this handle has moved.
  var movedNodes: Int { atDesk { compaction.mover.movedNodes } }
  /// Times this handle has made the file shorter.
  var truncations: Int { atDesk { compaction.truncations } }

  private func atDesk<Result>(_ body: () -> Result) -> Result {
    desk.enter()
    defer { desk.leave() }
    return body()
  }

  /// Before the nodes of a commit are written: some that did not change become part of it, to be written elsewhere.
  /// Inside the gate. Answers the root to commit instead: the same one where it was made by this transaction, also when
  /// nodes were moved.
  func moveNodes(below root: Ref) -> (root: Ref, didMove: Bool) {
    guard compaction.mover.isDue(pressure.load(ordering: .relaxed), pinned: longestPin) else {
      return (root, false)
    }
    desk.enter()
    defer { desk.leave() }
    guard var map = space.map else { return (root, false) }
    space.map = nil
    defer {
      space.map = map
      notePressure()
    }
    let before = compaction.mover.movedNodes
    // What waits for its turn needs its own share of the holes.
    let moved = compaction.mover.run(root, editor: editor, map: &map, waiting: group.sealedBytes) {
      map, pages in
      (try? write(zeros: pages, to: &map)) != nil
    }
    counters.movedBytes.store(compaction.mover.movedBytes, ordering: .relaxed)
    return (moved, compaction.mover.movedNodes != before)
  }

  /// The newest of the versions that are likely to stay; 0 where there is none.
  private var longestPin: UInt64 {
    let published = held.block.current.number
    var pinned: UInt64 = 0
    func note(_ version: UInt64) {
      if version &+ Compaction.longPin < published { pinned = max(pinned, version) }
    }
    held.readers.forEachPin { note($0.version) }
    for version in held.named.withLock({ $0.newestNames?.versions ?? [] }) { note(version.number) }
    return pinned
  }

  /// At the desk, where the map has changed: tells who makes the next transaction.
  func notePressure() {
    // Moves of nodes gain nothing while no page becomes free.
    let found = space.isPartial ? nil : space.map?.pressure
    pressure.store(found ?? .none, ordering: .relaxed)
  }

  /// While nothing is pending: gives the end of the file back where it is free and the file far larger than what is
  /// held in it. So what is given back is not written ahead again soon. What goes wrong here loses nothing.
  ///
  /// All held versions lie below the new end, so whichever of them is opened next finds its nodes: D and the published
  /// one after a crash, pins until they go, named ones until no version that may open has the name. A version that vacated
  /// the end is durable by then: D is one, or older and ends higher.
  func makeSmaller() {
    guard let map = space.map else { return }
    let least = map.worthCutting
    let excess = map.excess()
    guard excess >= least else { return }
    var end = max(map.leastPageCount, map.pageCount - excess)
    guard map.pageCount - end >= least, let highest = highestEnd() else { return }
    end = max(end, highest)
    guard map.pageCount - end >= least else { return }
    do throws(StorageError) {
      try store.storage.truncate(to: UInt64(end * FilePlace.page))
      space.map?.shrink(to: end)
      compaction.truncations += 1
    } catch {}
  }

  /// The page below which all held versions lie, and what the other meta page names, which opens where D's is damaged;
  /// nil where that can't be told, or somebody reads who is not listed.
  private func highestEnd() -> Int? {
    guard !store.storage.isHeldElsewhere(.unlistedReader) else { return nil }
    let named = held.named.withLock { $0 }
    guard named.isComplete else { return nil }
    let kept = named.all
    var highest = kept.reduce(2) { max($0, $1.pageCount) }
    for holder in held.holders where !held.block.isLost(holder) {
      if let version = held.versions.find(holder).flatMap(held.versions.version) {
        highest = max(highest, version.pageCount)
      } else if !kept.contains(where: { $0.number == holder }) {
        return nil
      }
    }
    let other = UInt64((1 - held.block.durable.page) * FilePlace.page)
    guard let page = try? store.storage.read(FilePlace.page, at: other) else { return nil }
    if case .sound(let meta) = MetaPage.read(page) { highest = max(highest, meta.version.pageCount) }
    return highest
  }

  /// Writes zeros behind the end of the file, for commits to come: a sync of pages that the file has already costs half
  /// of one that has to make them part of it first.
  func growAhead() {
    hasGrown = false
    guard store.storage.gainsFromGrowth, var map = space.map else { return }
    space.map = nil
    defer { space.map = map }
    let bytes = map.pageCount * FilePlace.page
    var step = bytes < 1 << 20 ? max(8 << 10, bytes / 4) : min(Self.mostAhead, max(64 << 10, bytes / 16))
    // A file with space to spare grows for want of a hole only.
    step = min(step, max(Self.leastAhead, map.pagesUntilSpacious * FilePlace.page))
    let start = map.pageCount * FilePlace.page
    // What goes wrong here loses nothing, and is met again by who needs it.
    guard (try? write(zeros: step / FilePlace.page, to: &map)) != nil else { return }
    store.storage.startWriting(step, at: UInt64(start))
  }
  private static let mostAhead = 4 << 20
  private static let leastAhead = 128 << 10

  /// Makes the file longer.
  func write(zeros pages: Int, to map: inout PageMap) throws(StorageError) {
    try store.reserve(UInt64((map.pageCount + pages) * FilePlace.page))
    let zeros = [UInt8](repeating: 0, count: min(pages, Self.zeroPages) * FilePlace.page)
    var rest = pages
    while rest > 0 {
      let count = min(rest, Self.zeroPages)
      try store.storage.write(
        zeros.span.bytes.extracting(first: count * FilePlace.page),
        at: UInt64(map.pageCount * FilePlace.page))
      counters.growthBytes.wrappingAdd(count * FilePlace.page, ordering: .relaxed)
      map.extend(by: count)
      rest -= count
    }
  }
  private static let zeroPages = 64
}
