/// The choice of the stretches of the file that are worth emptying, and of the place where the file could end.
extension PageMap {
  /// The number of held pages: those that the units reached by the newest version fill, and those that wait for another
  /// version.
  package var heldPages: Int {
    (liveUnits + FilePlace.unitsPerPage - 1) / FilePlace.unitsPerPage + waitingCount
  }

  /// The number of pages that the file has beyond `percent` for each hundred held pages, and beyond `slacks` times its
  /// slack. `some` of the held pages are not counted.
  package func excess(_ percent: Int = 135, slacks: Int = 1, besides some: Int = 0) -> Int {
    pageCount - ((heldPages - some) * percent / 100 + slack * slacks)
  }

  /// The number of pages that are worth cutting off the file together, because each change of its length makes the next
  /// sync more expensive.
  var worthCutting: Int { max(slack / 4, pageCount / 32) }

  /// How urgent it is to move nodes. If the excess is too small to be cut off, nodes would be moved about without an
  /// end, so none are moved. But in a file that can't grow, moving makes long holes of short ones.
  package var pressure: Mover.Pressure {
    guard excess() > (isConfined ? 0 : worthCutting) else { return .none }
    return excess(145, slacks: 3) > 0 ? .urgent : .loose
  }

  /// The page after the last one that holds something.
  package var usedEnd: Int { free.usedEnd }

  /// Whether the first or the last page of a node lies in a stretch that is being emptied.
  package func isEmptied(unit: Int, units: Int) -> Bool {
    isEmptied(page: unit / FilePlace.unitsPerPage)
      || isEmptied(page: (unit + units - 1) / FilePlace.unitsPerPage)
  }

  func isEmptied(page: Int) -> Bool { free.isEmptied(page) }

  /// Notes that no stretch is being emptied any more.
  package mutating func emptyNothing() { free.emptyNothing() }

  private struct Stretch {
    var pages: Range<Int>
    var liveUnits = 0
    /// The number of pages that moving nodes would not free, because older versions need them.
    var stuck = 0
    /// The number of pages in long holes.
    var clean = 0

    var livePages: Int { (liveUnits + FilePlace.unitsPerPage - 1) / FilePlace.unitsPerPage }
    var isMovable: Bool { liveUnits > 0 && stuck * 8 <= pages.count }
  }

  /// Chooses the stretches to empty, of `size` pages each. Returns false if nothing is worth emptying.
  ///
  /// At the end of the file it chooses the stretches whose nodes find room in long holes elsewhere, down to the place
  /// where the file should end. While long holes are few, it also chooses thinly used stretches, because they become
  /// such holes when they are emptied.
  ///
  /// Nodes born in version `pinned` or before stay where they are, because a pin keeps their pages anyway. A hole is
  /// long if it has at least `run` pages.
  package mutating func chooseEmptied(size: Int, run: Int, pinned: UInt64) -> Bool {
    emptyNothing()
    let stretches = stretches(of: size, run: run, pinned: pinned)
    var clean = stretches.reduce(0) { $0 + $1.clean }
    var chosen: [Range<Int>] = []
    var moved = 0
    var rest = stretches[...]
    // Only a part is chosen at a time, because commits are not written to what is being emptied, and they need room.
    var over = min(excess(), max(size, pageCount / 8))
    while let last = rest.last, over > 0, last.stuck * 8 <= last.pages.count,
      moved + last.livePages + 2 * run <= (clean - last.clean) * 3 / 4
    {
      moved += last.livePages
      clean -= last.clean
      over -= last.pages.count
      chosen.append(last.pages)
      rest.removeLast()
    }
    let wanted = max(2 * size, pageCount / 16)
    var gained = clean - moved
    for stretch in rest.filter({ $0.isMovable && $0.livePages * 4 <= size * 3 })
      .sorted(by: { $0.liveUnits < $1.liveUnits })
    {
      guard gained < wanted else { break }
      chosen.append(stretch.pages)
      gained += stretch.pages.count - stretch.livePages - stretch.clean
    }
    for pages in chosen { for page in pages { free.setEmptied(page, true) } }
    // Holes that are already long can be used at once, except at the end of the file.
    var holes: [Range<Int>] = []
    free.forEachRun(of: run, in: 2..<(rest.last?.pages.upperBound ?? 2)) { holes.append($0) }
    for hole in holes { for page in hole { free.setEmptied(page, false) } }
    return !chosen.isEmpty
  }

  private func stretches(of size: Int, run: Int, pinned: UInt64) -> [Stretch] {
    var stretches: [Stretch] = []
    stretches.reserveCapacity(pageCount / size + 1)
    for start in stride(from: 0, to: pageCount, by: size) {
      var stretch = Stretch(pages: start..<min(start + size, pageCount))
      for page in max(start, 2)..<max(stretch.pages.upperBound, 2) {
        let live = liveUnits(ofPage: page)
        stretch.liveUnits += live
        let isStuck = live == 0 ? !isFree(page) : birth(ofPage: page) <= pinned
        if isStuck { stretch.stuck += 1 }
      }
      stretches.append(stretch)
    }
    free.forEachRun(of: run, in: 2..<pageCount) { hole in
      var page = hole.lowerBound
      while page < hole.upperBound {
        let stretch = page / size
        let end = min(hole.upperBound, (stretch + 1) * size)
        stretches[stretch].clean += end - page
        page = end
      }
    }
    return stretches
  }
}
