import RealmInterchange
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct JSONWriterTests {
  /// The form in which JSON has a text of one character.
  private func expected(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\"": return #""\"""#
    case "\\": return #""\\""#
    case "\n": return #""\n""#
    case "\r": return #""\r""#
    case "\t": return #""\t""#
    default:
      guard JSON.mayMislead(scalar) else { return "\"" + String(Character(scalar)) + "\"" }
      let digits = String(scalar.value, radix: 16)
      return #""\u"# + String(repeating: "0", count: 4 - digits.count) + digits + "\""
    }
  }

  @Test func `a character is escaped if it is unsafe, a quotation mark or a backslash, and otherwise not`() {
    let numbers = Array(UInt32(0)..<0x10000) + Array(stride(from: UInt32(0x10000), to: 0x110000, by: 97))
    var wrong: [UInt32] = []
    for scalar in (numbers + [0x10ffff]).compactMap({ Unicode.Scalar($0) }) {
      let written = JSON.string(String(Character(scalar)))
      if !written.utf8.elementsEqual(expected(scalar).utf8) { wrong.append(scalar.value) }
    }
    #expect(wrong == [])
  }

  @Test func `control characters, characters of direction, line ends and byte order marks are unsafe`() {
    let unsafe: [Unicode.Scalar] = [
      "\0", "\n", "\u{1f}", "\u{7f}", "\u{80}", "\u{9f}", "\u{2028}", "\u{2029}", "\u{202a}", "\u{202e}",
      "\u{2066}", "\u{2069}", "\u{feff}",
    ]
    let safe: [Unicode.Scalar] = [
      " ", "~", "\u{a0}", "\u{2027}", "\u{202f}", "\u{2065}", "\u{206a}", "\u{fefe}", "\u{ff00}",
      "\u{10ffff}",
    ]
    #expect(unsafe.filter { !JSON.mayMislead($0) } == [])
    #expect(safe.filter { JSON.mayMislead($0) } == [])
  }

  @Test(arguments: Slow.seeds(4, slow: 100))
  func `random texts are written without unsafe characters and read back with the same bytes`(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    for number in 0..<800 {
      let text = generator.text(generator.chance(5) ? 400 : 12)
      let written = JSON.string(text)
      let node = try JSONParser.value(of: Array(written.utf8))
      let found = try #require(node.string, "seed \(seed), text \(number)")
      #expect(found.utf8.elementsEqual(text.utf8), "seed \(seed), text \(number): \(written)")
      #expect(!written.unicodeScalars.contains(where: JSON.mayMislead), "seed \(seed): \(written)")
    }
  }

  @Test func `whole numbers below -2^53 or above 2^53 have a tag`() {
    let most = Int64(1) << 53
    let signed: [(Int64, String)] = [
      (0, "0"), (9, "9"), (10, "10"), (-1, "-1"), (most, "9007199254740992"), (-most, "-9007199254740992"),
      (most + 1, #"{"$int":"9007199254740993"}"#), (-most - 1, #"{"$int":"-9007199254740993"}"#),
      (.max, #"{"$int":"9223372036854775807"}"#), (.min, #"{"$int":"-9223372036854775808"}"#),
    ]
    for (number, text) in signed { #expect(JSON.integer(number) == text) }
    let unsigned: [(UInt64, String)] = [
      (0, "0"), (1 << 53, "9007199254740992"), (9_007_199_254_740_993, #"{"$int":"9007199254740993"}"#),
      (.max, #"{"$int":"18446744073709551615"}"#),
    ]
    for (number, text) in unsigned { #expect(JSON.integer(number) == text) }
  }

  @Test(arguments: Slow.seeds(2, slow: 40))
  func `random whole numbers are read back`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let number = Int64(truncatingIfNeeded: generator.next() >> UInt64(generator.below(64)))
      let signed = generator.chance(50) ? number : 0 &- number
      let node = try JSONParser.value(of: Array(JSON.integer(signed).utf8))
      let value = try ValueReader.plain(node, .int64)
      #expect(value == .int(signed), "seed \(seed)")
      let isTagged = node.tagged("$int") != nil
      #expect(isTagged == (signed.magnitude > JSON.exactInteger), "seed \(seed): \(signed)")
    }
  }

  @Test func `objects, arrays, flags and tagged texts have no blanks, and escape their names`() {
    #expect(JSON.object([]) == "{}")
    #expect(JSON.array([]) == "[]")
    #expect(
      JSON.object([("a\n", JSON.bool(true)), ("\"", JSON.array(["1", JSON.bool(false)]))])
        == #"{"a\n":true,"\"":[1,false]}"#)
    #expect(JSON.tagged("$data", "A\\") == #"{"$data":"A\\"}"#)
    #expect(JSON.lost == #"{"$lost":true}"#)
  }

  @Test(arguments: Slow.seeds(2, slow: 40))
  func `bytes are a text if they are UTF-8, and base64 if they are not`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let bytes = generator.chance(50) ? Array(generator.text(10).utf8) : generator.bytes(generator.below(12))
      let node = try JSONParser.value(of: Array(JSON.bytes(bytes).utf8))
      if String(validating: bytes, as: UTF8.self) == nil {
        #expect(node.tagged("$data")?.string.flatMap(Base64.bytes) == bytes, "seed \(seed): \(bytes)")
      } else {
        #expect(node.string.map { Array($0.utf8) } == bytes, "seed \(seed): \(bytes)")
      }
    }
  }

  @Test func `a cleared writer starts again`() {
    var writer = JSONWriter()
    writer.string("gone")
    writer.clear()
    #expect(writer.bytes == [])
    writer.null()
    writer.raw([0x2c])
    writer.plain(.min)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == "null,-9223372036854775808")
  }
}
