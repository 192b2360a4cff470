import RealmStorage
import RealmTestSupport
import Testing

@Suite struct KernelTests {
  @Test func `three-byte numbers are read back as they were written, one by one and all at once`() {
    let values: [Int64] = [1 << 20, 1 << 20 + 1, 1 << 20 + 255, 1 << 20 + 65_536, 1 << 20 + (1 << 24) - 1]
    let packed = PackedIntegers.packThreeBytes(values, base: 1 << 20)
    let all = PackedIntegers.unpackThreeBytes(packed.span.bytes, count: values.count, base: 1 << 20)
    #expect(all == values.map { UInt64($0) })
    for (place, value) in values.enumerated() {
      #expect(PackedIntegers.loadThreeBytes(packed.span.bytes, place) + 1 << 20 == UInt64(value))
    }
  }

  @Test(arguments: [0, 1, 2, 4, 8, 16, 32, 64])
  func `masks and sums of packed integers agree with a look at each number`(width: Int) {
    var generator = SeededGenerator(seed: UInt64(width))
    let greatest = width == 64 ? UInt64.max : 1 << UInt64(width) - 1
    for _ in 0..<60 {
      let count = generator.below(513)
      let values = (0..<count).map { _ in UInt64.random(in: 0...greatest, using: &generator) }
      let packed = PackedIntegers.pack(values.map { Int64(bitPattern: $0) }, base: 0, width: width)
      let (left, right) = (generator.next() & greatest, generator.next() & greatest)
      for range in [min(left, right)...max(left, right), left...left, 0...greatest, left...UInt64.max] {
        let mask = PackedIntegers.mask(packed.span.bytes, count, width: width, in: range)
        for row in 0..<count { #expect(mask.contains(row) == range.contains(values[row])) }
        #expect(mask.count == values.count(where: range.contains))
      }
      let sum = values.reduce(UInt128(0)) { $0 + UInt128($1) }
      #expect(PackedIntegers.sum(packed.span.bytes, count, width: width) == sum)
    }
  }

  @Test func `masks, sums and extremes of doubles and floats agree with a look at each number`() {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<60 {
      let count = generator.below(513)
      let values = (0..<count).map { _ in
        generator.chance(10)
          ? [Float.nan, .infinity, -.infinity, -0.0][generator.below(4)]
          : Float(generator.below(2000)) / 8 - 100
      }
      let floats = values.flatMap { value in
        (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> ($0 * 8)) }
      }
      let doubles = values.flatMap { value in
        (0..<8).map { UInt8(truncatingIfNeeded: Double(value).bitPattern >> ($0 * 8)) }
      }
      let range = Float(generator.below(100)) - 100...Float(generator.below(100))
      let wide = Double(range.lowerBound)...Double(range.upperBound)
      let (left, right) = (
        PackedReals.mask(floats: floats.span.bytes, count, in: range),
        PackedReals.mask(doubles: doubles.span.bytes, count, in: wide)
      )
      for row in 0..<count {
        #expect(left.contains(row) == range.contains(values[row]))
        #expect(right.contains(row) == range.contains(values[row]))
      }
      let finite = values.filter { !$0.isNaN }
      for (bytes, isDouble) in [(floats, false), (doubles, true)] {
        let extremes = PackedReals.extremes(bytes.span.bytes, count, isDouble: isDouble)
        #expect(extremes == finite.min().map { Double($0)...Double(finite.max() ?? 0) })
        #expect(PackedReals.sum(bytes.span.bytes, count, isDouble: isDouble).count == finite.count)
      }
    }
  }

  @Test func `row masks are cut and shifted correctly bit by bit`() {
    var generator = SeededGenerator(seed: 4)
    for _ in 0..<300 {
      let rows = Set((0..<generator.below(80)).map { _ in generator.below(512) })
      var mask = RowMask.none
      for row in rows { mask.insert(row) }
      #expect(mask.count == rows.count && mask.isEmpty == rows.isEmpty)
      var found: [Int] = []
      mask.forEach { found.append($0) }
      #expect(found == rows.sorted())
      let first = generator.below(512)
      found = []
      mask.from(first).forEach { found.append($0) }
      #expect(found == rows.filter { $0 >= first }.map { $0 - first }.sorted())
      #expect(mask.from(first).moved(by: first) == mask.subtracting(RowMask(first: first)))
    }
    for count in 0...RowMask.maximumRows {
      var rows: [Int] = []
      RowMask(first: count).forEach { rows.append($0) }
      #expect(rows == Array(0..<count))
    }
  }

  @Test func `a test of all texts of a piece agrees with a test of each text`() {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<400 {
      let isText = generator.chance(50)
      let texts = (0..<1 + generator.below(200)).map { _ in text(&generator, isText) }
      var (ends, heap, flags): ([UInt8], [UInt8], [Bool]) = ([], [], [])
      for text in texts {
        heap += text
        let word = UInt16(heap.count) | (generator.chance(5) ? 0x8000 : 0)
        flags.append(word >= 0x8000)
        ends += [UInt8(truncatingIfNeeded: word), UInt8(word >> 8)]
      }
      let needle = generator.chance(30) ? texts[0] : text(&generator, isText)
      for match in [PackedTexts.Needle.Match.equal, .begins, .ends, .contains, .like] {
        for folding in Self.foldings(isText) {
          let test = PackedTexts.Needle(match, needle, folding: folding, isText: isText)
          let mask = PackedTexts.mask(ends: ends.span.bytes, heap: heap.span.bytes, rows: texts.count, test)
          for (row, text) in texts.enumerated() {
            #expect(
              mask.contains(row) == (!flags[row] && test.passes(text.span.bytes)),
              "\(match) \(folding) \(text) \(needle)")
          }
        }
      }
    }
  }

  @Test func `long texts and needles of every length are found, wherever blocks and rows end`() {
    var generator = SeededGenerator(seed: 51)
    for round in 0..<150 {
      // The texts have few letters, so that parts of a needle occur often. There are up to 512 rows and 16 KiB. In
      // every third round some texts are not ASCII.
      let rows = 1 + generator.below(RowMask.maximumRows)
      let longest = 1 + generator.below(round % 3 == 0 ? 3 : 16_000 / rows)
      let texts = (0..<rows).map { _ in
        let text = (0..<generator.below(longest)).map { _ in
          UInt8(0x61 + generator.below(round % 2 == 0 ? 1 : 2))
        }
        guard round % 3 == 1, text.count > 1, generator.chance(20) else { return text }
        // The length stays the same, so that all texts fit. The text ends with a mark or a capital letter.
        return text.dropLast(2) + (generator.chance(50) ? [0xcc, 0x81] : [0xc3, 0x81])
      }
      var (ends, heap): ([UInt8], [UInt8]) = ([], [])
      for text in texts {
        heap += text
        ends += [UInt8(truncatingIfNeeded: heap.count), UInt8(heap.count >> 8)]
      }
      for length in [1, 2, 3, 31, 32, 33, 64, 200] {
        let start = generator.below(max(1, heap.count - length))
        let needle = Array(heap[min(start, heap.count)...].prefix(length)) + (heap.isEmpty ? [0x61] : [])
        for folding in Self.foldings(true) {
          let test = PackedTexts.Needle(.contains, needle, folding: folding, isText: true)
          let mask = PackedTexts.mask(ends: ends.span.bytes, heap: heap.span.bytes, rows: rows, test)
          let expected = texts.enumerated().filter { test.passes($0.element.span.bytes) }.map(\.offset)
          var found: [Int] = []
          mask.forEach { found.append($0) }
          #expect(found == expected, "round \(round), needle of \(needle.count)")
        }
      }
    }
  }

  private static func foldings(_ isText: Bool) -> [PackedTexts.Folding] {
    isText
      ? [[], .latinCase, .unicodeCase, .marks, [.unicodeCase, .marks], [.latinCase, .marks]]
      : [[], .latinCase]
  }

  private func text(_ generator: inout SeededGenerator, _ isText: Bool) -> [UInt8] {
    if isText {
      let letters = QuerySample.letters + (generator.chance(30) ? QuerySample.otherLetters : [])
      return Array(
        (0..<generator.below(5)).map { _ in letters.randomElement(using: &generator)! }.joined().utf8)
    }
    return (0..<generator.below(5)).map { _ in [0x41, 0x61, 0xc3, 0x85, 0xa5, 0][generator.below(6)] }
  }

  @Test func `numbers are sorted, and equal numbers keep their order`() {
    var generator = SeededGenerator(seed: 7)
    for bits in [1, 8, 20, 64, 100, 128] {
      let mask = bits == 128 ? UInt128.max : 1 << UInt128(bits) - 1
      Self.expectSorted((0..<1 + generator.below(2000)).map { _ in Self.number(&generator) & mask })
    }
    // The numbers stand for texts that begin alike: few, many, or very many with the same beginning.
    for words in [300, 10, 2] as [UInt128] {
      Self.expectSorted(
        (0..<2000).map { _ in Self.number(&generator) % words << 90 | Self.number(&generator) % 500 << 30 })
    }
  }

  /// So many numbers, and the room to sort them in, have memory of their own.
  @Test func `many numbers are sorted in the same way as few numbers`() {
    var generator = SeededGenerator(seed: 5)
    Self.expectSorted((0..<200_000).map { _ in Self.number(&generator) % 90 << 100 })
    // More numbers than a cache holds have the same highest digit. The bits behind it tell them apart, or the low word
    // alone does, or nothing does.
    for (high, low) in [(1 << 40, 1 << 20), (3, 1 << 50), (1, 500), (1, 1)] as [(UInt128, UInt128)] {
      Self.expectSorted(
        (0..<70_000).map { _ in
          1 << 124 | Self.number(&generator) % high << 64 | Self.number(&generator) % low
        })
    }
  }

  private static func number(_ generator: inout SeededGenerator) -> UInt128 {
    UInt128(generator.next()) << 64 | UInt128(generator.next())
  }

  /// Expects that the sort orders all numbers but the first tenth.
  private static func expectSorted(_ numbers: [UInt128]) {
    var sort = NumberSort(count: numbers.count)
    for index in numbers.indices { sort.put(numbers[index], index, at: index) }
    let range = numbers.count / 10..<numbers.count
    sort.sort(range)
    let expected = Array(range).sorted { (numbers[$0], $0) < (numbers[$1], $1) }
    #expect(range.map { sort.place($0) } == expected)
  }
}
