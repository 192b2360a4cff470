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
  /// Before the nodes of a commit are written: some that did not change become part of it, to be written elsewhere.
  func moveNodes(below root: Ref) -> Ref {
    settle()
    guard var map = space.map else { return root }
    space.map = nil
    defer { space.map = map }
    let published = held.block.current.number
    let pinned = held.readers.pins.map(\.version).filter { $0 &+ Compaction.longPin < published }.max() ?? 0
    let moved = compaction.mover.run(root, editor: editor, map: &map, pinned: pinned)
    counters.movedBytes.store(compaction.mover.movedBytes, ordering: .relaxed)
    return moved
  }

  /// While nothing is pending: gives the end of the file back where it is free and the file far larger than what is
  /// held in it. So what is given back is not written ahead again soon. What goes wrong here loses nothing.
  ///
  /// All held versions lie below the new end, so whichever of them is opened next finds its nodes: D and the published
  /// one after a crash, pins until they go. A version that vacated the end is durable by then: D is one, or older and ends
  /// higher.
  func makeSmaller() {
    if compaction.mover.needsRoom { growForMoves() }
    guard let map = space.map else { return }
    // Each change of the file's length makes the next sync dearer.
    let least = max(map.slack / 4, map.pageCount / 32)
    let excess = map.excess()
    guard excess >= least else { return }
    var end = max(map.usedEnd, map.pageCount - excess)
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
    var highest = 2
    for holder in held.holders where !held.block.isLost(holder) {
      guard let version = held.versions.find(holder).flatMap(held.versions.version) else { return nil }
      highest = max(highest, version.pageCount)
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
    guard store.storage.gainsFromGrowth, let pageCount = space.map?.pageCount else { return }
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
    guard let pageCount = space.map?.pageCount else { return }
    do throws(StorageError) {
      try store.reserve(UInt64((pageCount + pages) * FilePlace.page))
      let zeros = [UInt8](repeating: 0, count: pages * FilePlace.page)
      try store.storage.write(zeros.span.bytes, at: UInt64(pageCount * FilePlace.page))
      counters.growthBytes.wrappingAdd(zeros.count, ordering: .relaxed)
      space.extend(by: pages)
    } catch {}
  }
}
