/// Where pages for a commit are found.
extension PageMap {
  /// How far from the cursor a hole is worth going to.
  private static let reach = (64 << 20) / FilePlace.page

  /// Where `count` pages for one commit may stand, best first; the last range is open to the end of the file.
  ///
  /// One hole of that size within reach of the cursor; else the end of the file, while the file is not far larger than
  /// what is held in it; else a few pieces; else a hole in what is being emptied; else the end. The end is what follows
  /// the last page in use: who writes there makes the file longer by as much (`missingReserve`).
  package func candidates(_ count: Int) -> [Range<Int>] {
    var candidates: [Range<Int>] = []
    // Most often one hole, and the end.
    candidates.reserveCapacity(2)
    addClosedCandidates(count, to: &candidates)
    let end = candidates.reduce(usedEnd) { max($0, $1.upperBound) }
    candidates.append(end..<end + count)
    return candidates
  }

  private func addClosedCandidates(_ count: Int, to candidates: inout [Range<Int>]) {
    guard count <= freeCount else { return }
    if let hole = hole(of: count) { return candidates.append(hole) }
    guard excess() > 0 else { return }
    candidates += pieces(count)
    // What does not fit the pieces stands in a hole that was to be left alone, before the file grows for it.
    if let hole = run(of: count, in: 2..<top, emptied: true) { candidates.append(hole) }
  }

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
    forEachHole(of: 1, in: 2..<max(2, min(end, pages.count))) { holes.append($0) }
    return holes
  }

  /// One hole of that size, within reach of the cursor and in no stretch that is being emptied.
  package func hole(of count: Int) -> Range<Int>? {
    let ahead = min(top, cursor + Self.reach)
    if let found = run(of: count, in: min(cursor, ahead)..<ahead) { return found }
    // At the end of the file the cursor starts over.
    guard ahead == top else { return nil }
    return run(of: count, in: 2..<max(2, min(cursor + count, top, Self.reach - max(0, ahead - cursor))))
  }

  /// For a small commit at most three pieces, and one for each four pages of a group of them: these are the holes that
  /// small commits leave. For a large one every hole that is worth a write of its own.
  private func pieces(_ count: Int) -> [Range<Int>] {
    let (limit, least) = count <= 64 ? (max(3, count / 4), min(max(1, count / 4), 4)) : (Int.max, 16)
    var found: [Range<Int>] = []
    var rest = count
    var page = 2
    while rest > 0, found.count < limit, let piece = run(of: least, in: page..<top) {
      var end = piece.upperBound
      while end < top, end - piece.lowerBound < rest, isFree(end), !isEmptied(page: end) { end += 1 }
      found.append(piece.lowerBound..<end)
      rest -= end - piece.lowerBound
      page = end
    }
    return rest > 0 && count <= 64 ? [] : found
  }

  /// The first `count` free pages in a row, in stretches that are not being emptied, or in those.
  private func run(of count: Int, in range: Range<Int>, emptied: Bool = false) -> Range<Int>? {
    guard range.count >= count, count > 0 else { return nil }
    let (first, last) = (range.lowerBound >> 6, (range.upperBound - 1) >> 6)
    // Free pages right before the word.
    var length = 0
    for word in first...last {
      var free = freeBits[word] & (emptied ? emptiedBits[word] : ~emptiedBits[word])
      if word == first { free &= ~0 << UInt64(range.lowerBound & 63) }
      if word == last { free &= ~0 >> UInt64((last + 1) * 64 - range.upperBound) }
      if length + (~free).trailingZeroBitCount >= count {
        let start = word * 64 - length
        return start..<start + count
      }
      if let place = Self.place(of: count, in: free) { return word * 64 + place..<word * 64 + place + count }
      length = free == ~0 ? length + 64 : (~free).leadingZeroBitCount
    }
    return nil
  }

  /// Pages in holes of at least so many, in no stretch that is being emptied, as far as `limit`.
  func pagesInHoles(of length: Int, atMost limit: Int) -> Int {
    var sum = 0
    var page = 2
    while sum < limit, let hole = run(of: length, in: page..<top) {
      page = hole.upperBound
      while page < top, isFree(page), !isEmptied(page: page) { page += 1 }
      sum += page - hole.lowerBound
    }
    return min(sum, limit)
  }

  /// The lowest place of so many ones in a row.
  @inline(__always)
  private static func place(of count: Int, in word: UInt64) -> Int? {
    guard count <= 64 else { return nil }
    // A bit is left where as many ones begin as were asked for so far.
    var (starts, length) = (word, 1)
    while length < count, starts != 0 {
      let more = min(length, count - length)
      starts &= starts >> UInt64(more)
      length += more
    }
    return starts == 0 ? nil : starts.trailingZeroBitCount
  }

  /// Calls `body` with the holes of at least so many pages.
  func forEachHole(of length: Int, in range: Range<Int>, _ body: (Range<Int>) -> Void) {
    var page = range.lowerBound
    while let start = next(free: true, from: page, below: range.upperBound) {
      page = next(free: false, from: start, below: range.upperBound) ?? range.upperBound
      if page - start >= length { body(start..<page) }
    }
  }

  private func next(free: Bool, from page: Int, below end: Int) -> Int? {
    guard page < end else { return nil }
    var word = page >> 6
    var bits = (free ? freeBits[word] : ~freeBits[word]) & ~0 << UInt64(page & 63)
    while bits == 0 {
      word += 1
      guard word * 64 < end else { return nil }
      bits = free ? freeBits[word] : ~freeBits[word]
    }
    let found = word * 64 + bits.trailingZeroBitCount
    return found < end ? found : nil
  }
}
