import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct FoldingTests {
  private static let allOptions: [(TextOptions, PackedTexts.Folding)] = [
    (.ignoringCase, .unicodeCase), (.ignoringDiacritics, .marks),
    ([.ignoringCase, .ignoringDiacritics], [.unicodeCase, .marks]),
    ([.latin1Case, .ignoringDiacritics], [.latinCase, .marks]),
  ]

  private static func folded(_ text: String, _ folding: PackedTexts.Folding) -> [UInt32] {
    let bytes = PackedTexts.folded(Array(text.utf8), folding)
    return String(decoding: bytes, as: UTF8.self).unicodeScalars.map(\.value)
  }

  private static func passes(_ test: PackedTexts.Needle, _ text: [UInt8]) -> Bool {
    test.passes(text.span.bytes)
  }

  /// Marks that were nonspacing in Unicode 14.0 and are spacing marks since.
  private static let spacingSince: Set<UInt32> = [0x1171e]

  @Test func `the folding tables agree with the standard library for each scalar that they know`() {
    var (compared, unassigned, skipped, wrong): (Int, Int, [UInt32], [String]) = (0, 0, [], [])
    for value in 0...UInt32(0x10ffff) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = String(Character(scalar))
      func expect(_ folding: PackedTexts.Folding, _ expected: [UInt32]) {
        let found = Self.folded(text, folding)
        if found != expected { wrong.append("\(String(value, radix: 16)): \(found) is \(expected)") }
      }
      guard PlainLetters.isAssigned(scalar), scalar.properties.generalCategory != .privateUse else {
        unassigned += 1
        // The engine's version of Unicode has no data for the scalar, so it stays as it is. Most planes consist of such
        // scalars.
        if value < 0x20000 || value % 199 == 0 { expect([.marks, .unicodeCase], [value]) }
        continue
      }
      if Self.spacingSince.contains(value) {
        skipped.append(value)
        continue
      }
      compared += 1
      let parts = PlainLetters.withoutMarks([scalar])
      expect(.unicodeCase, [PlainLetters.caseFolded(scalar).value])
      expect(.marks, parts.map(\.value))
      expect([.marks, .unicodeCase], parts.map { PlainLetters.caseFolded($0).value })
    }
    print(
      "folding: \(compared) scalars compared; skipped: \(unassigned) that are not assigned in Unicode 14.0 or private,",
      "\(skipped.count) whose category has changed since")
    #expect(compared > 140_000)
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(20))")
  }

  @Test func `folding a folded text changes nothing, and folding makes a text at most three times as long`() {
    var generator = SeededGenerator(seed: 71)
    for _ in 0..<1_500 {
      let text = Self.text(&generator)
      for (options, folding) in Self.allOptions {
        let once = PackedTexts.folded(Array(text.utf8), folding)
        #expect(PackedTexts.folded(once, folding) == once, "\(text.unicodeScalars.map(\.value))")
        #expect(once.count <= 3 * text.utf8.count)
        #expect(
          String(decoding: once, as: UTF8.self).unicodeScalars.map(\.value)
            == PlainLetters.folded(text, options), "\(text.unicodeScalars.map(\.value))")
      }
    }
  }

  @Test func `strings that are canonically equal are equal without marks`() {
    var generator = SeededGenerator(seed: 72)
    for _ in 0..<1_500 {
      let text = Self.text(&generator)
      for folding in [.marks, [.marks, .unicodeCase]] as [PackedTexts.Folding] {
        // A dropped scalar between two ordered marks keeps them apart only in the decomposition.
        let other = text.decomposedStringWithCanonicalMapping
        let isKeptApart = text.unicodeScalars.contains { $0 == "\u{34f}" }
        if !isKeptApart {
          #expect(Self.folded(text, folding) == Self.folded(other, folding))
        }
      }
    }
  }

  @Test func `bytes that are not UTF-8 stay as they are when they are folded`() {
    var generator = SeededGenerator(seed: 73)
    for bytes in [
      [0xff], [0xc3], [0xe1, 0x84], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80],
    ] as [[UInt8]] {
      for (_, folding) in Self.allOptions { #expect(PackedTexts.folded(bytes, folding) == bytes) }
    }
    for _ in 0..<2_000 {
      let bytes = (0..<generator.below(40)).map { _ in
        [0x41, 0xc3, 0x89, 0xe1, 0x84, 0x80, 0xf0, 0x9d, 0x85, 0xa5, 0xed, 0xff][generator.below(12)] as UInt8
      }
      for (_, folding) in Self.allOptions {
        let once = PackedTexts.folded(bytes, folding)
        #expect(once.count <= 3 * bytes.count)
        if String(validating: bytes, as: UTF8.self) == nil {
          #expect(String(validating: once, as: UTF8.self) == nil)
        }
      }
    }
  }

  @Test func `tests of folded texts agree with tests scalar by scalar`() {
    var generator = SeededGenerator(seed: 74)
    var found = 0
    for _ in 0..<1_000 {
      let text = Self.text(&generator)
      var sought = Array((generator.chance(70) ? text : Self.text(&generator)).unicodeScalars)
      sought.removeLast(generator.below(sought.count + 1))
      sought.removeFirst(generator.below(sought.count + 1))
      let needle = String(String.UnicodeScalarView(sought))
      for (match, kind) in [
        (TextMatch.equal, PackedTexts.Needle.Match.equal), (.begins, .begins), (.ends, .ends),
        (.contains, .contains), (.like, .like),
      ] {
        for (options, folding) in Self.allOptions + [([], []), (.latin1Case, .latinCase)] {
          let test = PackedTexts.Needle(kind, Array(needle.utf8), folding: folding, isText: true)
          let passes = Self.passes(test, Array(text.utf8))
          if passes { found += 1 }
          #expect(
            passes == PlainText.matches(.string(text), match, .string(needle), options),
            "\(match) \(options) \(text.unicodeScalars.map(\.value)) \(sought.map(\.value))")
        }
      }
    }
    #expect(found > 2_500)
  }

  @Test(arguments: [[], .unicodeCase, [.unicodeCase, .marks]] as [PackedTexts.Folding])
  func `matching a pattern of a thousand stars takes time proportional to the length of the text`(
    folding: PackedTexts.Folding
  ) {
    let stars = String(repeating: "*a", count: 1_000)
    let letters = [String(repeating: "a", count: 100_000), String(repeating: "aß", count: 33_000) + "a"]
    let duration = ContinuousClock().measure {
      for text in letters {
        for (end, passes) in [
          ("", true), ("*", true), ("*b", false), ("?b*", false), ("*?", true), ("*aa", text == letters[0]),
        ] {
          let test = PackedTexts.Needle(.like, Array((stars + end).utf8), folding: folding, isText: true)
          #expect(Self.passes(test, Array(text.utf8)) == passes, "\(end)")
        }
      }
    }
    // Each match takes less than a millisecond. Trying each star at each place would take hours.
    #expect(duration < .seconds(2), "\(duration)")
  }

  @Test func `long texts are folded and searched as short ones are`() {
    for (start, end) in [("", ""), ("É", "Σ"), ("e", "")] {
      let middle = String(repeating: "Lorem ÍPSUM dolor ", count: 1_000)
      let text = Array((start + middle + "Żółw" + middle + end).utf8)
      for (needle, folding, passes) in [
        ("zołw", [.unicodeCase, .marks], true), ("ŻÓŁW", .unicodeCase, true), ("zółw", .unicodeCase, false),
        ("Zołw", .marks, true), ("ipsum dolor zo", [.unicodeCase, .marks], true), ("żółw", .latinCase, false),
        ("íPSUM", .latinCase, true),
      ] as [(String, PackedTexts.Folding, Bool)] {
        let test = PackedTexts.Needle(.contains, Array(needle.utf8), folding: folding, isText: true)
        #expect(Self.passes(test, text) == passes, "\(needle) \(folding)")
        let like = PackedTexts.Needle(.like, Array("*\(needle)*".utf8), folding: folding, isText: true)
        #expect(Self.passes(like, text) == passes, "\(needle) \(folding)")
      }
      let bytes = Array(String(repeating: "x", count: 20_000).utf8) + Array("Needle".utf8)
      for count in [0, 4_090, 4_095, 4_096, 8_000] {
        let text = Array(bytes.dropFirst(count))
        let test = PackedTexts.Needle(.contains, Array("NEEDLE".utf8), folding: .unicodeCase, isText: true)
        #expect(Self.passes(test, text))
        #expect(!Self.passes(test, text.dropLast()))
      }
    }
  }

  @Test func `ordering many marks takes time in proportion to their number`() {
    var generator = SeededGenerator(seed: 75)
    let marks = ["\u{302e}", "\u{1d165}", "\u{1d16d}", "\u{16ff0}", "\u{1b44}", "\u{301}"]
    let text = "x" + (0..<200_000).map { _ in marks[generator.below(6)] }.joined()
    let duration = ContinuousClock().measure {
      let folded = Self.folded(text, .marks).dropFirst()
      let classes = folded.compactMap { Unicode.Scalar($0)?.properties.canonicalCombiningClass }
      #expect(zip(classes, classes.dropFirst()).allSatisfy { $0 <= $1 })
      #expect(folded.count == text.unicodeScalars.count { $0 != "x" && $0 != "\u{301}" })
    }
    #expect(duration < .seconds(2), "\(duration)")
  }

  /// A text with letters of many kinds, marks in any order, and ASCII between them.
  private static func text(_ generator: inout SeededGenerator) -> String {
    let pieces =
      QuerySample.letters + [
        "\u{212a}", "\u{17f}", "ẞ", "İ", "ı", "Σ", "ς", "Ǆ", "ǅ", "Ⴀ", "Ꭰ", "ꭰ", "한", "글", "가",
        "\u{1100}\u{1161}",
        "\u{301}", "\u{327}", "\u{345}", "\u{34f}", "\u{302e}", "\u{302f}", "\u{1d165}", "\u{1d16d}",
        "\u{1d15e}",
        "\u{1d160}", "\u{1b44}", "\u{16ff0}", "\u{2f81a}", "\u{f900}", "\u{e0101}", "ᾈ", "ﬁ", "ABCdefGHIjkl",
        "𐐀", "Ω",
      ]
    return (0..<generator.below(12)).map { _ in pieces[generator.below(pieces.count)] }.joined()
  }
}
