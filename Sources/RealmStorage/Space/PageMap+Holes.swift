/// The search for the pages of a commit.
extension PageMap {
  /// The number of pages in which a hole is looked for. If no block is known to have none, the search reads one word
  /// for each 64 of these pages.
  private static let reach = (1 << 30) / FilePlace.page
  /// The greatest distance between the pages that short-lived nodes take again and again, in pages.
  private static let nearness = (64 << 20) / FilePlace.page

  /// Finds the places where the nodes of a commit may stand.
  ///
  /// The first choice is one hole of the commit's size. The next ones are, in this order: the end of the file, unless
  /// the file `isSpacious`; two holes, one for nodes that stay and one for short-lived nodes; a few pieces; a hole in
  /// what is being emptied; the end of the file. The end is what follows the last page in use. A commit that writes
  /// there makes the file longer by as much (`missingReserve`).
  ///
  /// - Parameter prefersParts: whether two holes are tried before one. This is so if no transaction asks for a sync:
  ///   the short-lived nodes of each commit then take the same few pages, and the other nodes leave holes of the size
  ///   that later commits need.
  package mutating func place(_ size: RunSize, prefersParts: Bool = false) -> RunPlace {
    var place = RunPlace(candidates: [])
    // Most often there are one hole and the end.
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
    // If the file can't grow, each node takes the hole that fits it best (`RunLayout`), so that long holes are left for
    // long nodes.
    guard isSpacious, !(isConfined && size.isSmall) else { return }
    if size.isSmall, !prefersParts, addParts(of: size, to: &place) { return }
    place.candidates += pieces(size)
    // Nodes that do not fit into the pieces go to a hole that is being emptied, before the file grows for them.
    if let hole = free.firstRun(of: size.whole, in: 2..<top, emptied: true) { place.candidates.append(hole) }
  }

  /// Adds two holes, one for nodes that stay and one for short-lived nodes. Returns false if there are none.
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

  /// Whether the file is so much larger than what is held that its holes are used, in pieces too, before it grows. The
  /// limit is somewhat less than the limit above which nodes are moved, so that a file whose nodes are replaced by
  /// similar ones stays below that.
  package var isSpacious: Bool { pagesUntilSpacious < 0 }
  /// The number of pages that the file may grow by until it is spacious. Pages that wait for a sync count as free.
  var pagesUntilSpacious: Int { -excess(130, besides: waitingCount(heldBy: durable)) }

  /// The number of pages at the end of the file that are left free. On a full disk, commits that free space are written
  /// there.
  private var reserve: Int {
    keepsReserve ? max(pages.count / 256, min(Self.mostReserve, max(2, pages.count / 8))) : 0
  }
  /// Enough pages to take some rows out of full clusters, and out of their indexes, if the file is large enough for
  /// that.
  private static let mostReserve = (128 << 10) / FilePlace.page

  /// The page after the last one that is given out while the file can grow.
  private var top: Int { max(2, pages.count - reserve) }

  /// The least number of pages that the file has while it can grow.
  package var leastPageCount: Int { usedEnd + reserve }

  /// The number of pages that the file must be made longer by to have its reserve again.
  package var missingReserve: Int { max(0, leastPageCount - pages.count) }

  /// All holes except the reserve at the end, if at least a quarter of the file is free besides `count` pages; else
  /// none. This is for a file that can't grow, in which small holes are worth little.
  package func spareHoles(for count: Int) -> [Range<Int>] {
    freeCount - count >= pages.count / 4 ? holes(below: top) : []
  }

  /// All holes below `end`, of any size.
  package func holes(below end: Int) -> [Range<Int>] {
    var holes: [Range<Int>] = []
    free.forEachRun(of: 1, in: 2..<max(2, min(end, pages.count))) { holes.append($0) }
    return holes
  }

  /// The next hole of `count` pages behind the cursor, in no stretch that is being emptied.
  package mutating func hole(of count: Int) -> Range<Int>? {
    let ahead = min(top, cursor + Self.reach)
    if let found = free.firstRun(of: count, in: min(cursor, ahead)..<ahead) { return found }
    // At the end of the file the search starts over.
    guard ahead == top else { return nil }
    return free.firstRun(
      of: count, in: 2..<max(2, min(cursor + count, top, Self.reach - max(0, ahead - cursor))))
  }

  /// The pieces for a commit. A small commit gets at most three pieces, a group of commits one for each two pages:
  /// these are the holes that small commits leave. A large commit gets every hole that is worth a write of its own.
  /// More holes are worth it if the file is larger than it may be.
  private mutating func pieces(_ size: RunSize) -> [Range<Int>] {
    let (count, isSmall) = (size.whole, size.isSmall)
    let limit = isSmall ? max(3, count / 2) : Int.max
    let least = max(size.longest, isSmall ? min((count + 2) / 3, 3) : excess() > 0 ? 3 : 16)
    // At the end of a piece there may be no room for the next node, so more pages than needed are looked for. Pages
    // that are not needed are not taken.
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

  /// The number of pages in holes of at least `length` pages, in no stretch that is being emptied; at most `limit`.
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
