/// Which pages of the file are free, and where so many of them stand in a row.
///
/// A look for a run would pass over the whole file where there is none: so it is told of each block of pages how long a
/// run that touches it may be, and blocks of which that is known to be too short are passed over.
struct FreePages {
  /// A bit a page: may be given out.
  private var bits: [UInt64] = []
  /// A bit a page: its stretch is being emptied, so that what is free there is given out only where nothing else is.
  private var emptied: [UInt64] = []
  /// Of each block: no run that touches it, of pages that are all being emptied or all not, is longer, where it is less than a
  /// block. It may be too much after pages were taken, until a look for so many has found none.
  ///
  /// A page that becomes free joins runs. Of a run that goes on for more than a block from there the far blocks were told
  /// as much before.
  private(set) var longest: [UInt16] = []
  /// Pages that are told of.
  private(set) var count = 0
  /// Of them, those that are free.
  private(set) var freeCount = 0

  private static let blockWords = 8
  /// Any run may be there.
  private static let unknown = UInt16(blockWords * 64)

  func contains(_ page: Int) -> Bool { bits[page >> 6] & (1 << UInt64(page & 63)) != 0 }
  func isEmptied(_ page: Int) -> Bool { emptied[page >> 6] & (1 << UInt64(page & 63)) != 0 }

  /// The page after the last one that is not free; the first is never.
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

  /// Notes a page as free that was not.
  mutating func insert(_ page: Int) {
    bits[page >> 6] |= 1 << UInt64(page & 63)
    freeCount += 1
    noteRun(around: page)
  }

  /// Notes a page as taken that was free.
  mutating func remove(_ page: Int) {
    bits[page >> 6] &= ~(1 << UInt64(page & 63))
    freeCount -= 1
  }

  /// Adds free pages behind the last.
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
    // What was free before them goes on in them now.
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

  /// Forgets the free pages, which are taken from now on.
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

  /// Nothing is being emptied any more.
  mutating func emptyNothing() {
    guard emptied.contains(where: { $0 != 0 }) else { return }
    for index in emptied.indices { emptied[index] = 0 }
    // What was passed over is looked at again.
    for block in longest.indices { longest[block] = Self.unknown }
  }

  private mutating func noteRun(around page: Int) {
    let run = run(around: page)
    let length = UInt16(min(run.count, Int(Self.unknown)))
    for block in run.lowerBound >> 6 / Self.blockWords...(run.upperBound - 1) >> 6 / Self.blockWords {
      longest[block] = max(longest[block], length)
    }
  }

  /// The free pages around one, counted as far as a block's length to either side.
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

  /// The first `length` free pages in a row, in stretches that are not being emptied, or in those.
  ///
  /// - Complexity: a step for each block of the range, and for each 64 pages of those that may have such a run.
  mutating func firstRun(of length: Int, in range: Range<Int>, emptied isEmptied: Bool = false) -> Range<Int>?
  {
    guard range.count >= length, length > 0 else { return nil }
    let (first, end) = (range.lowerBound >> 6, (range.upperBound + 63) >> 6)
    // Of a run that begins before the range a part is seen.
    let isCut = range.lowerBound > 0 && contains(range.lowerBound - 1)
    let known = isCut ? run(around: range.lowerBound - 1).upperBound : range.lowerBound
    // Free pages right before the word.
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
        // Most words have none.
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

  /// Whether a look at a range sees all runs of a block from where they begin: of those that begin before `known` it does not.
  private func isWhole(_ block: Int, in range: Range<Int>, _ known: Int) -> Bool {
    // The meta pages are never free.
    let start = max(2, block * Self.blockWords * 64)
    let end = min(count, (block + 1) * Self.blockWords * 64)
    return range.lowerBound <= start && known <= start && range.upperBound >= end
  }

  /// Whether a run with so many free pages before a word is shorter than `length` with those from there on.
  private func endsShort(after word: Int, _ before: Int, of length: Int) -> Bool {
    guard before > 0, word < bits.count else { return true }
    let more = (~bits[word]).trailingZeroBitCount
    return more < 64 && before + more < length
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

  /// Calls `body` with the runs of at least so many pages.
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
