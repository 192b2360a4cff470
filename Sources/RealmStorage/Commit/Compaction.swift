import Synchronization

/// The writer of pages keeps the file near the size of what is held in it. It cuts off the end while nothing is pending; transactions move nodes away from there
/// (`TransactionGate`).
extension PageWriter {
  /// Where the map has changed: tells who makes the next transaction.
  func notePressure() {
    // Moves of nodes gain nothing while no page becomes free.
    let found = space.isPartial ? nil : space.map?.pressure
    context.pressure.store(found ?? .none, ordering: .relaxed)
  }

  /// While nothing is pending: gives the end of the file back where it is free and the file far larger than what is
  /// held in it. So what is given back is not written ahead again soon. What goes wrong here loses nothing.
  ///
  /// All held versions lie below the new end, so whichever of them is opened next finds its nodes: D and the published
  /// one after a crash, pins until they go, named ones until no version that may open has the name. A version that vacated
  /// the end is durable by then: D is one, or older and ends higher.
  mutating func makeSmaller() {
    guard let map = space.map else { return }
    let least = map.worthCutting
    let excess = map.excess()
    guard excess >= least else { return }
    var end = max(map.leastPageCount, map.pageCount - excess)
    guard map.pageCount - end >= least, let highest = highestEnd() else { return }
    end = max(end, highest)
    guard map.pageCount - end >= least else { return }
    do throws(StorageError) {
      try context.storage.truncate(to: UInt64(end * FilePlace.page))
      space.map?.shrink(to: end)
      truncations += 1
    } catch {}
  }

  /// The page below which all held versions lie, and what the other meta page names, which opens where D's is damaged;
  /// nil where that can't be told, or somebody reads who is not listed.
  private func highestEnd() -> Int? {
    guard !context.storage.isHeldElsewhere(.unlistedReader) else { return nil }
    let named = context.held.named.withLock { $0 }
    guard named.isComplete else { return nil }
    let kept = named.all
    var highest = kept.reduce(2) { max($0, $1.pageCount) }
    for holder in context.held.holders where !context.held.block.isLost(holder) {
      if let version = context.held.versions.find(holder).flatMap(context.held.versions.version) {
        highest = max(highest, version.pageCount)
      } else if !kept.contains(where: { $0.number == holder }) {
        return nil
      }
    }
    let other = UInt64((1 - context.held.block.durable.page) * FilePlace.page)
    guard let page = try? context.storage.read(FilePlace.page, at: other) else { return nil }
    if case .sound(let meta) = MetaPage.read(page) { highest = max(highest, meta.version.pageCount) }
    return highest
  }

  /// Writes zeros behind the end of the file, for commits to come: a sync of pages that the file has already costs half
  /// of one that has to make them part of it first.
  mutating func growAhead() {
    hasGrown = false
    guard context.storage.gainsFromGrowth, var map = space.map else { return }
    space.map = nil
    defer { space.map = map }
    let bytes = map.pageCount * FilePlace.page
    var step = bytes < 1 << 20 ? max(8 << 10, bytes / 4) : min(Self.mostAhead, max(64 << 10, bytes / 16))
    // A file with space to spare grows for want of a hole only.
    step = min(step, max(Self.leastAhead, map.pagesUntilSpacious * FilePlace.page))
    let start = map.pageCount * FilePlace.page
    // What goes wrong here loses nothing, and is met again by who needs it.
    guard (try? context.write(zeros: step / FilePlace.page, to: &map)) != nil else { return }
    context.storage.startWriting(step, at: UInt64(start))
  }
  private static let mostAhead = 4 << 20
  private static let leastAhead = 128 << 10
}
