import Synchronization

/// The part of the page writer that keeps the file near the size of what is held in it. It cuts off the end while
/// nothing is pending. Transactions move nodes away from there (`TransactionGate`).
extension PageWriter {
  /// Tells the next transaction how much too large the file is, after the map has changed.
  func notePressure() {
    // Moving nodes gains nothing while no page becomes free.
    let found = space.isPartial ? nil : space.map?.pressure
    context.pressure.store(found ?? .none, ordering: .relaxed)
  }

  /// Gives the end of the file back if it is free and the file is far larger than what is held in it. This is done only
  /// while nothing is pending. The file must be far larger so that the pages are not written ahead again soon. A
  /// failure here loses nothing.
  ///
  /// All held versions lie below the new end, so whichever of them is opened next finds its nodes: D and the published
  /// version after a crash, pinned versions until their pins go, named versions until no version that may be opened has
  /// the name. A version that vacated the end is durable by then: D is such a version, because an older D would end
  /// higher and prevent the cut.
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

  /// The page below which all held versions lie, and also the version that the other meta page names, which is opened
  /// if D's page is damaged. Nil if this can't be determined, or while a reader that is not listed reads the file.
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

  /// Writes zeros behind the end of the file, for commits to come. A sync of pages that the file already has costs half
  /// as much as a sync that must first make them part of the file.
  mutating func growAhead() {
    hasGrown = false
    guard context.storage.gainsFromGrowth, var map = space.map else { return }
    space.map = nil
    defer { space.map = map }
    let bytes = map.pageCount * FilePlace.page
    var step = bytes < 1 << 20 ? max(8 << 10, bytes / 4) : min(Self.mostAhead, max(64 << 10, bytes / 16))
    // A file with space to spare grows only if a commit finds no hole.
    step = min(step, max(Self.leastAhead, map.pagesUntilSpacious * FilePlace.page))
    let start = map.pageCount * FilePlace.page
    // A failure here loses nothing. A commit that needs the space meets it again.
    guard (try? context.write(zeros: step / FilePlace.page, to: &map)) != nil else { return }
    context.storage.startWriting(step, at: UInt64(start))
  }
  private static let mostAhead = 4 << 20
  private static let leastAhead = 128 << 10
}
