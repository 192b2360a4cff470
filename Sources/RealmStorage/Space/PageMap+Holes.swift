/// Where pages for a commit are found.
extension PageMap {
  /// How far a hole is looked for: where no block is known to have none, a word is read for each 64 of so many pages.
  private static let reach = (1 << 30) / FilePlace.page
  /// How far from each other the pages may lie that short-lived nodes take again and again.
  private static let nearness = (64 << 20) / FilePlace.page

  /// Where a commit may stand.
  ///
  /// One hole of its size; else the end of the file, unless the file `isSpacious`; else two holes, for nodes that stay and
  /// for those that do not; else a few pieces; else a hole in what is being emptied; else the end. The end is what follows
  /// the last page in use: who writes there makes the file longer by as much (`missingReserve`).
  ///
  /// - Parameter prefersParts: two holes come before one. So it is where nobody asks for a sync: then the short-lived nodes
  ///   of each commit take the same few pages, and the others leave holes of the size of those that come.
  package mutating func place(_ size: RunSize, prefersParts: Bool = false) -> RunPlace {
    var place = RunPlace(candidates: [])
    // Most often one hole, and the end.
    place.candidates.reserveCapacity(3)
    let prefersParts = prefersParts && size.isSmall && !isConfined
    if size.whole <= freeCount || prefersParts { addHoles(for: size, prefersParts: prefersParts, to: &place) }
    let end = place.candidates.reduce(usedEnd) { max($0, $1.upperBound) }
    if place.candidates.isEmpty { cursor = end + size.whole }
    place.candidates.append(end..<end + size.whole)
    return place
  }

  private mutating func addHoles(for size: RunSize, prefersParts: Bool, to place: inout RunPlace) {
    if prefersParts, addParts(of: size, to: &place) { return }
    if let hole = hole(of: size.whole) {
      cursor = hole.upperBound
      return place.candidates.append(hole)
    }
    // Where it can't grow, holes are taken by who fits best (`RunLayout`), so that long ones are left for long nodes.
    guard isSpacious, !(isConfined && size.isSmall) else { return }
    if size.isSmall, !prefersParts, addParts(of: size, to: &place) { return }
    place.candidates += pieces(size)
    // What does not fit the pieces stands in a hole that was to be left alone, before the file grows for it.
    if let hole = free.firstRun(of: size.whole, in: 2..<top, emptied: true) { place.candidates.append(hole) }
  }

  /// Two holes, for nodes that stay and for those that do not; false where there are none.
  private mutating func addParts(of size: RunSize, to place: inout RunPlace) -> Bool {
    var staying = 2..<2
    if size.staying > 0 {
      guard let hole = hole(of: size.staying) ?? (isSpacious ? nil : usedEnd..<usedEnd + size.staying) else {
        return false
      }
      staying = hole
    }
    if size.shortLived > 0 {
      guard let hole = holeNearHome(of: size.shortLived, beside: staying) else { return false }
      if !(home..<home + Self.nearness).contains(hole.lowerBound) { home = hole.lowerBound }
      place.candidates.append(hole)
    }
    if size.staying > 0 {
      place.candidates.insert(staying, at: 0)
      cursor = staying.upperBound
    }
    place.isApart = true
    return true
  }

  private mutating func holeNearHome(of count: Int, beside taken: Range<Int>) -> Range<Int>? {
    let near = min(top, home + Self.nearness)
    return run(of: count, in: min(home, near)..<near, beside: taken)
      ?? run(of: count, in: near..<min(top, near + Self.reach), beside: taken)
      ?? run(of: count, in: 2..<max(2, min(home, near, Self.reach)), beside: taken)
  }

  private mutating func run(of count: Int, in range: Range<Int>, beside taken: Range<Int>) -> Range<Int>? {
    let found = free.firstRun(of: count, in: range)
    guard let found, found.overlaps(taken) else { return found }
    let rest = max(range.lowerBound, taken.upperBound)
    return rest < range.upperBound ? free.firstRun(of: count, in: rest..<range.upperBound) : nil
  }

  /// The file is so much larger than what is held that its holes are used, in pieces too, before it grows: some less than
  /// what lets nodes be moved, so that a file whose nodes are replaced by others like them stays below that.
  package var isSpacious: Bool { pagesUntilSpacious < 0 }
  /// Pages that the file may grow by until then. What waits for a sync counts as free.
  var pagesUntilSpacious: Int { -excess(130, besides: waitingCount(heldBy: durable)) }

  /// Pages at the end of the file that are left free: on a full disk what frees space is written there.
  private var reserve: Int {
    keepsReserve ? max(pages.count / 256, min(Self.mostReserve, max(2, pages.count / 8))) : 0
  }
  /// Enough to take some rows out of full clusters, and out of their indexes, where the file is large enough for that.
  private static let mostReserve = (128 << 10) / FilePlace.page

  /// The page after the last one that is given out while the file can grow.
  private var top: Int { max(2, pages.count - reserve) }

  /// Pages that the file has at least, while it can grow.
  package var leastPageCount: Int { usedEnd + reserve }

  /// Pages that the file must be made longer by to have its reserve again.
  package var missingReserve: Int { max(0, leastPageCount - pages.count) }

  /// All free pages but those at the end, where a file that can't grow has plenty: small holes are worth little.
  package func spareHoles(for count: Int) -> [Range<Int>] {
    freeCount - count >= pages.count / 4 ? holes(below: top) : []
  }

  /// All free pages below `end`.
  package func holes(below end: Int) -> [Range<Int>] {
    var holes: [Range<Int>] = []
    free.forEachRun(of: 1, in: 2..<max(2, min(end, pages.count))) { holes.append($0) }
    return holes
  }

  /// One hole of that size, in no stretch that is being emptied: the next one behind the cursor.
  package mutating func hole(of count: Int) -> Range<Int>? {
    let ahead = min(top, cursor + Self.reach)
    if let found = free.firstRun(of: count, in: min(cursor, ahead)..<ahead) { return found }
    // At the end of the file the cursor starts over.
    guard ahead == top else { return nil }
    return free.firstRun(
      of: count, in: 2..<max(2, min(cursor + count, top, Self.reach - max(0, ahead - cursor))))
  }

  /// For a small commit at most three pieces, for a group of them one for each two pages: these are the holes that small
  /// commits leave. For a large one every hole that is worth a write of its own, which are more where the file is larger
  /// than it may be.
  private mutating func pieces(_ size: RunSize) -> [Range<Int>] {
    let (count, isSmall) = (size.whole, size.isSmall)
    let limit = isSmall ? max(3, count / 2) : Int.max
    let least = max(size.longest, isSmall ? min((count + 2) / 3, 3) : excess() > 0 ? 3 : 16)
    // At the end of a piece there may be no room for the next node: what is not needed is not taken.
    let wanted = count < 8 ? count : 2 * count
    var found: [Range<Int>] = []
    var (sum, page) = (0, 2)
    while sum < wanted, found.count < limit, let piece = free.firstRun(of: least, in: page..<top) {
      var end = piece.upperBound
      while end < top, end - piece.lowerBound < wanted - sum, isFree(end), !isEmptied(page: end) { end += 1 }
      found.append(piece.lowerBound..<end)
      sum += end - piece.lowerBound
      page = end
    }
    return sum < count && isSmall ? [] : found
  }

  /// Pages in holes of at least so many, in no stretch that is being emptied, as far as `limit`.
  mutating func pagesInHoles(of length: Int, atMost limit: Int) -> Int {
    var sum = 0
    var page = 2
    while sum < limit, let hole = free.firstRun(of: length, in: page..<top) {
      page = hole.upperBound
      while page < top, isFree(page), !isEmptied(page: page) { page += 1 }
      sum += page - hole.lowerBound
    }
    return min(sum, limit)
  }
}
