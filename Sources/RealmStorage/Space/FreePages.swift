/// The free pages of the file, and the search for runs of free pages.
///
/// Without more, a search for a run that does not exist would look at the whole file. So `longest` holds an upper bound for
/// each block of pages, and a search skips the blocks in which the run can't be.
struct FreePages {
  /// One bit for each page: whether the page is free.
  private var bits: [UInt64] = []
  /// One bit for each page: whether the page lies in a part of the file that is being emptied. Free pages there are given out
  /// only if there are no others.
  private var emptied: [UInt64] = []
  /// An upper bound for each block of pages: the length of the longest run of free pages that touches the block. `unknown`, the
  /// length of a block, stands for every length from there on. In a run, either all pages are being emptied or none is.
  ///
  /// The bound is never too small. It may be too great after pages were taken, until a search for a run of that length has found
  /// none. A page that becomes free can join runs; then the bound is raised in all blocks that the joined run touches up to a
  /// block's length away. Blocks beyond that touched a run of at least a block's length before, so they have the bound already.
  private(set) var longest: [UInt16] = []
  /// The number of pages, free or not.
  private(set) var count = 0
  /// The number of free pages.
  private(set) var freeCount = 0

  private static let blockWords = 8
  /// The bound that excludes no run.
  private static let unknown = UInt16(blockWords * 64)

  func contains(_ page: Int) -> Bool { bits[page >> 6] & (1 << UInt64(page & 63)) != 0 }
  func isEmptied(_ page: Int) -> Bool { emptied[page >> 6] & (1 << UInt64(page & 63)) != 0 }

  /// The page after the last one that is not free. The first page is never free.
  var usedEnd: Int {
    var word = bits.count - 1
    var used = ~bits[word]
    if count & 63 != 0 { used &= 1 << UInt64(count & 63) - 1 }
    while used == 0 {
      word -= 1
      used = ~bits[word]
    }
    return word * 64 + 64 - used.leadingZeroBitCount
  }

  // MARK: - Changes

  /// Notes that a page that was taken is free now.
  mutating func insert(_ page: Int) {
    bits[page >> 6] |= 1 << UInt64(page & 63)
    freeCount += 1
    noteRun(around: page)
  }

  /// Notes that a page that was free is taken now.
  mutating func remove(_ page: Int) {
    bits[page >> 6] &= ~(1 << UInt64(page & 63))
    freeCount -= 1
  }

  /// Adds free pages behind the last page.
  mutating func grow(to newCount: Int) {
    guard newCount > count else { return }
    let words = (newCount + 63) / 64
    bits.append(contentsOf: repeatElement(0, count: words - bits.count))
    emptied.append(contentsOf: repeatElement(0, count: words - emptied.count))
    for word in count >> 6..<words {
      var added = ~UInt64(0)
      if word == count >> 6 { added &= ~0 << UInt64(count & 63) }
      if word == words - 1, newCount & 63 != 0 { added &= 1 << UInt64(newCount & 63) - 1 }
      bits[word] |= added
    }
    let blocks = (words + Self.blockWords - 1) / Self.blockWords
    longest.append(contentsOf: repeatElement(Self.unknown, count: blocks - longest.count))
    freeCount += newCount - count
    let first = max(0, count - 1)
    count = newCount
    // A run of free pages at the old end continues in the new pages.
    let before = contains(first) ? run(around: first).lowerBound : first
    for block in before >> 6 / Self.blockWords..<blocks { longest[block] = Self.unknown }
  }

  /// Forgets the pages from `newCount` on, which are all free.
  mutating func shrink(to newCount: Int) {
    freeCount -= count - newCount
    count = newCount
    let words = (newCount + 63) / 64
    bits.removeLast(bits.count - words)
    emptied.removeLast(emptied.count - words)
    longest.removeLast(longest.count - (words + Self.blockWords - 1) / Self.blockWords)
    // Beyond the last page no bit is set.
    if newCount & 63 != 0 {
      bits[words - 1] &= 1 << UInt64(newCount & 63) - 1
      emptied[words - 1] &= 1 << UInt64(newCount & 63) - 1
    }
  }

  /// Notes that all free pages are taken from now on.
  mutating func removeAll() {
    for index in bits.indices { bits[index] = 0 }
    freeCount = 0
  }

  mutating func setEmptied(_ page: Int, _ isEmptied: Bool) {
    if isEmptied {
      emptied[page >> 6] |= 1 << UInt64(page & 63)
    } else {
      emptied[page >> 6] &= ~(1 << UInt64(page & 63))
    }
    if contains(page) { noteRun(around: page) }
  }

  /// Notes that no part of the file is being emptied any more.
  mutating func emptyNothing() {
    guard emptied.contains(where: { $0 != 0 }) else { return }
    for index in emptied.indices { emptied[index] = 0 }
    // Blocks that were skipped must be looked at again.
    for block in longest.indices { longest[block] = Self.unknown }
  }

  private mutating func noteRun(around page: Int) {
    let run = run(around: page)
    let length = UInt16(min(run.count, Int(Self.unknown)))
    for block in run.lowerBound >> 6 / Self.blockWords...(run.upperBound - 1) >> 6 / Self.blockWords {
      longest[block] = max(longest[block], length)
    }
  }

  /// The run of free pages around a free page, counted as far as a block's length to either side.
  private func run(around page: Int) -> Range<Int> {
    let (word, bit) = (page >> 6, UInt64(page & 63))
    var (start, end) = (page, page + 1)
    let before = ~bits[word] & (1 << bit - 1)
    if before != 0 {
      start = word * 64 + 64 - before.leadingZeroBitCount
    } else {
      start = word * 64
      for other in stride(from: word - 1, through: max(0, word - Self.blockWords), by: -1) {
        let free = (~bits[other]).leadingZeroBitCount
        start -= free
        if free < 64 { break }
      }
    }
    let after = ~bits[word] & ~(1 << bit | (1 << bit - 1))
    if after != 0 {
      end = word * 64 + after.trailingZeroBitCount
    } else {
      end = (word + 1) * 64
      for other in word + 1..<max(word + 1, min(bits.count, word + 1 + Self.blockWords)) {
        let free = (~bits[other]).trailingZeroBitCount
        end += free
        if free < 64 { break }
      }
    }
    return start..<min(end, count)
  }

  // MARK: - Looking

  /// The first `length` free pages in a row. They lie in stretches that are being emptied if `isEmptied` is true, else
  /// in other stretches.
  ///
  /// - Complexity: one step for each block of the range, and one for each 64 pages of the blocks that may have such a
  ///   run.
  mutating func firstRun(of length: Int, in range: Range<Int>, emptied isEmptied: Bool = false) -> Range<Int>?
  {
    guard range.count >= length, length > 0 else { return nil }
    let (first, end) = (range.lowerBound >> 6, (range.upperBound + 63) >> 6)
    // The search sees only a part of a run that begins before the range.
    let isCut = range.lowerBound > 0 && contains(range.lowerBound - 1)
    let known = isCut ? run(around: range.lowerBound - 1).upperBound : range.lowerBound
    // The number of free pages directly before the word.
    var before = 0
    var word = first
    while word < end {
      let block = word / Self.blockWords
      let blockEnd = min(end, (block + 1) * Self.blockWords)
      guard Int(longest[block]) >= min(length, Int(Self.unknown)) else {
        (before, word) = (0, blockEnd)
        continue
      }
      var hasEmptied: UInt64 = 0
      while word < blockEnd {
        hasEmptied |= emptied[word]
        var free = bits[word] & (isEmptied ? emptied[word] : ~emptied[word])
        if word == first { free &= ~0 << UInt64(range.lowerBound & 63) }
        if word == end - 1 { free &= ~0 >> UInt64(end * 64 - range.upperBound) }
        defer { word += 1 }
        // Most words have no free page.
        if free == 0 {
          before = 0
          continue
        }
        if before + (~free).trailingZeroBitCount >= length {
          let start = word * 64 - before
          return start..<start + length
        }
        if let place = Self.place(of: length, in: free) {
          return word * 64 + place..<word * 64 + place + length
        }
        before = free == ~0 ? before + 64 : (~free).leadingZeroBitCount
      }
      if !isEmptied, hasEmptied == 0, isWhole(block, in: range, known),
        endsShort(after: word, before, of: length)
      {
        longest[block] = min(longest[block], UInt16(clamping: length - 1))
      }
    }
    return nil
  }

  /// Whether a search in a range sees every run of a block from its beginning. It does not see the beginning of runs that start
  /// before `known`.
  private func isWhole(_ block: Int, in range: Range<Int>, _ known: Int) -> Bool {
    // The meta pages are never free.
    let start = max(2, block * Self.blockWords * 64)
    let end = min(count, (block + 1) * Self.blockWords * 64)
    return range.lowerBound <= start && known <= start && range.upperBound >= end
  }

  /// Whether a run is shorter than `length`, if it has `before` free pages before a word and goes on in it.
  private func endsShort(after word: Int, _ before: Int, of length: Int) -> Bool {
    guard before > 0, word < bits.count else { return true }
    let more = (~bits[word]).trailingZeroBitCount
    return more < 64 && before + more < length
  }

  /// The lowest position at which `count` ones stand in a row; nil if there is none.
  @inline(__always)
  private static func place(of count: Int, in word: UInt64) -> Int? {
    guard count <= 64 else { return nil }
    // After each step, a bit is set where at least `length` ones begin.
    var (starts, length) = (word, 1)
    while length < count, starts != 0 {
      let more = min(length, count - length)
      starts &= starts >> UInt64(more)
      length += more
    }
    return starts == 0 ? nil : starts.trailingZeroBitCount
  }

  /// Calls `body` with each run of at least `length` pages.
  func forEachRun(of length: Int, in range: Range<Int>, _ body: (Range<Int>) -> Void) {
    var page = range.lowerBound
    while let start = next(free: true, from: page, below: range.upperBound) {
      page = next(free: false, from: start, below: range.upperBound) ?? range.upperBound
      if page - start >= length { body(start..<page) }
    }
  }

  private func next(free: Bool, from page: Int, below end: Int) -> Int? {
    guard page < end else { return nil }
    var word = page >> 6
    var bits = (free ? self.bits[word] : ~self.bits[word]) & ~0 << UInt64(page & 63)
    while bits == 0 {
      word += 1
      guard word * 64 < end else { return nil }
      bits = free ? self.bits[word] : ~self.bits[word]
    }
    let found = word * 64 + bits.trailingZeroBitCount
    return found < end ? found : nil
  }
}
