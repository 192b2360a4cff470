import RealmInterchange
import RealmTestSupport
import Testing

@Suite struct JSONParserTests {
  /// The error for bytes that are not JSON; nil if they are JSON.
  private func refusal(_ bytes: [UInt8]) -> JSONSyntaxError? {
    do throws(JSONSyntaxError) {
      _ = try JSONParser.value(of: bytes)
      return nil
    } catch {
      return error
    }
  }

  /// A value as complete JSON without blanks.
  private func written(_ node: JSONNode) -> String {
    switch node.content {
    case .null: "null"
    case .bool(let flag): JSON.bool(flag)
    case .number(let text): text
    case .string(let text): JSON.string(text)
    case .array(let elements): JSON.array(elements.map(written))
    case .object(let members): JSON.object(members.map { ($0.name, written($0.value)) })
    }
  }

  // MARK: - What is accepted

  @Test func `the JSON texts of RFC 8259 are read`() throws {
    let texts = [
      ("null", "null"), (" \t\r\n true \n", "true"), ("false", "false"), ("0", "0"), ("-0", "-0"),
      ("-0.0e+00", "-0.0e+00"), ("1E400", "1E400"), ("10.50", "10.50"), ("1e-05", "1e-05"),
      ("123456789012345678901234567890", "123456789012345678901234567890"), (#""""#, #""""#),
      (#""\u0041\u00e9\uD834\udd1e""#, "\"Aé\u{1d11e}\""), (#""\uDBFF\uDFFF""#, "\"\u{10ffff}\""),
      (#""\"\\\/\b\f\n\r\t""#, #""\"\\/\u0008\u000c\n\r\t""#), ("\"\u{7f}\u{2028}\"", #""\u007f\u2028""#),
      ("[]", "[]"), ("[ \n]", "[]"), ("{}", "{}"), ("{ }", "{}"), ("[[],[{}]]", "[[],[{}]]"),
      (#" { "a" : [ 1 , {"b":null} ] , "" : 2 } "#, #"{"a":[1,{"b":null}],"":2}"#),
      ("{\"é\":1,\"e\u{301}\":2}", "{\"é\":1,\"e\u{301}\":2}"),
    ]
    for (text, plain) in texts {
      let node = try JSONParser.value(of: Array(text.utf8))
      #expect(written(node).utf8.elementsEqual(plain.utf8), "\(text): \(written(node))")
    }
  }

  @Test func `each value has the number of bytes before it`() throws {
    let node = try JSONParser.value(of: Array(#" {"é": [ 1 , "x" ],"b":{"c":true}}"#.utf8))
    #expect(node.offset == 1)
    let list = try #require(node["é"])
    #expect(list.offset == 8)
    #expect(list.array?.map(\.offset) == [10, 14])
    #expect(node["b"]?.offset == 24)
    #expect(node["b"]?["c"]?.offset == 29)
  }

  @Test func `five hundred levels are read and one more is refused`() throws {
    for (opening, closing) in [("[", "]"), (#"{"a":"#, "}")] {
      let inner = opening == "[" ? "" : "1"
      func text(_ levels: Int) -> [UInt8] {
        Array(
          (String(repeating: opening, count: levels) + inner + String(repeating: closing, count: levels)).utf8
        )
      }
      #expect(refusal(text(500)) == nil)
      let error = try #require(refusal(text(501)))
      #expect(error.offset == 500 * opening.utf8.count)
      #expect(error.missing.contains("levels"))
    }
    #expect(refusal([UInt8](repeating: UInt8(ascii: "["), count: 1_000_000))?.offset == 500)
  }

  @Test func `the value at the beginning of a text is read with its length`() throws {
    for (text, plain, length) in [
      (" 1 rest", "1", 2), (#"{"a":1}{"b""#, #"{"a":1}"#, 7), ("12abc", "12", 2), ("[ ],", "[]", 3),
      ("null", "null", 4),
    ] {
      let (node, found) = try JSONParser.prefix(of: Array(text.utf8))
      #expect(written(node) == plain)
      #expect(found == length, "\(text)")
    }
    #expect(throws: JSONSyntaxError.self) { try JSONParser.prefix(of: Array(" ]".utf8)) }
  }

  // MARK: - What is refused

  @Test func `texts that are not JSON are refused at their first wrong byte`() {
    let texts: [(String, Int, String)] = [
      ("", 0, "a value"), ("   ", 3, "a value"), ("nul", 0, "a value"), ("nullx", 4, "the end"),
      ("True", 0, "a value"), ("01", 1, "the end"), ("-01", 2, "the end"), ("-", 1, "a digit"),
      ("-a", 1, "a digit"), ("+1", 0, "a value"), (".5", 0, "a value"), ("1.", 2, "a digit"),
      ("1.e5", 2, "a digit"), ("1e", 2, "a digit"), ("1e+", 3, "a digit"), ("0x10", 1, "the end"),
      ("1_000", 1, "the end"), ("NaN", 0, "a value"), ("Infinity", 0, "a value"), ("-Infinity", 1, "a digit"),
      ("1 2", 2, "the end"), ("{}{}", 2, "the end"), ("[1", 2, "closing bracket"), ("[1,]", 3, "a value"),
      ("[,1]", 1, "a value"), ("[1 2]", 3, "closing bracket"), ("[", 1, "a value"), ("]", 0, "a value"),
      ("{", 1, "a name"), ("{a:1}", 1, "a name"), ("{'a':1}", 1, "a name"), (#"{"a"}"#, 4, "a colon"),
      (#"{"a":}"#, 5, "a value"), (#"{"a":1,}"#, 7, "a name"), (#"{"a":1 "b":2}"#, 7, "closing brace"),
      (#"{"a":1,"b":2,"a":3}"#, 13, "no member before"), (#"{"a":1,"\u0061":2}"#, 7, "no member before"),
      ("//x", 0, "a value"), ("/**/1", 0, "a value"), ("\u{a0}1", 0, "a value"), ("\u{c}1", 0, "a value"),
      ("\u{feff}1", 0, "a value"),
    ]
    for (text, offset, missing) in texts {
      let error = refusal(Array(text.utf8))
      #expect(error?.offset == offset, "\(text)")
      #expect(error?.missing.contains(missing) ?? false, "\(text): \(error?.missing ?? "accepted")")
    }
  }

  @Test func `a duplicate name is found among many, and is allowed if that is asked for`() throws {
    for (count, twice) in [(15, 3), (16, 0), (17, 16), (40, 7), (40, 39)] {
      let names = (0..<count).map { "\"n\($0)\":0" } + ["\"n\(twice)\":1"]
      let text = "{" + names.joined(separator: ",") + "}"
      #expect(refusal(Array(text.utf8))?.offset == text.utf8.count - names[count].utf8.count - 1)
      let node = try JSONParser.value(of: Array(text.utf8), allowsRepeatedNames: true)
      #expect(node.members?.count == count + 1)
    }
  }

  @Test func `texts with wrong escapes, with control characters or without an end are refused`() {
    let texts: [(String, Int, String)] = [
      (#""abc"#, 4, "a quotation mark"), ("\"a\nb\"", 2, "control character"),
      ("\"\0\"", 1, "control character"),
      ("\"\u{1f}\"", 1, "control character"), (#""\x""#, 2, "a letter"), (#""\U0041""#, 2, "a letter"),
      (#""\"#, 2, "a letter"), (#""\u12""#, 5, "hexadecimal"), (#""\u12G4""#, 5, "hexadecimal"),
      (#""\u12"#, 5, "hexadecimal"), (#""\ud800""#, 7, "surrogate"), (#""\ud800\n""#, 7, "surrogate"),
      (#""\ud800x""#, 7, "surrogate"), (#""\ud800\u0041""#, 13, "surrogate"), (#""\udc00""#, 7, "surrogate"),
      (#""\ud800\ud800""#, 13, "surrogate"), (#""\udc00\ud800""#, 7, "surrogate"),
      (#""\ud83d\u""#, 9, "hexadecimal"),
    ]
    for (text, offset, missing) in texts {
      let error = refusal(Array(text.utf8))
      #expect(error?.offset == offset, "\(text)")
      #expect(error?.missing.contains(missing) ?? false, "\(text): \(error?.missing ?? "accepted")")
    }
  }

  @Test func `texts that are not UTF-8 are refused at their quotation mark`() {
    for wrong in [
      [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98], [0x80], [0xf4, 0x90, 0x80, 0x80],
    ] as [[UInt8]] {
      let error = refusal([0x5b, 0x22, 0x61] + wrong + [0x22, 0x5d])
      #expect(error?.offset == 1, "\(wrong)")
      #expect(error?.missing.contains("UTF-8") ?? false, "\(wrong)")
    }
  }

  // MARK: - Random texts

  /// A random value as two texts: one with blanks and escapes in random places, and one without needless blanks and
  /// escapes.
  private func random(_ levels: Int, _ generator: inout SeededGenerator) -> (text: String, plain: String) {
    func blank() -> String { ["", "", "", " ", "\n", "\t\r "][generator.below(6)] }
    let (text, plain): (String, String)
    switch generator.below(levels > 0 ? 8 : 5) {
    case 0: (text, plain) = ("null", "null")
    case 1:
      let flag = JSON.bool(generator.chance(50))
      (text, plain) = (flag, flag)
    case 2:
      let whole = ["0", "-0", "7", "-12", "9007199254740993"][generator.below(5)]
      let number =
        whole + ["", ".0", ".250"][generator.below(3)] + ["", "e5", "E-07", "e+0"][generator.below(4)]
      (text, plain) = (number, number)
    case 3, 4:
      let string = generator.text(8)
      (text, plain) = (escaped(string, &generator), JSON.string(string))
    case 5, 6:
      let elements = (0..<generator.below(4)).map { _ in random(levels - 1, &generator) }
      plain = JSON.array(elements.map(\.plain))
      text = "[" + elements.map(\.text).joined(separator: ",") + blank() + "]"
    default:
      let members = (0..<generator.below(4)).map { number in
        (generator.text(4) + "\(number)", random(levels - 1, &generator))
      }
      plain = JSON.object(members.map { ($0, $1.plain) })
      let texts = members.map { blank() + escaped($0, &generator) + blank() + ":" + $1.text }
      text = "{" + texts.joined(separator: ",") + blank() + "}"
    }
    return (blank() + text + blank(), plain)
  }

  /// A quoted text in which characters may be escaped that need no escape.
  private func escaped(_ string: String, _ generator: inout SeededGenerator) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      let needsEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
      guard needsEscape || generator.chance(20) else {
        text.unicodeScalars.append(scalar)
        continue
      }
      for unit in String(Character(scalar)).utf16 {
        let digits = String(unit, radix: 16, uppercase: generator.chance(50))
        text += #"\u"# + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return text + "\""
  }

  @Test(arguments: Slow.seeds(4, slow: 200))
  func `random values are read, whatever blanks and escapes they have`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for number in 0..<150 {
      let (text, plain) = random(5, &generator)
      let node = try JSONParser.value(of: Array(text.utf8))
      #expect(written(node).utf8.elementsEqual(plain.utf8), "seed \(seed), value \(number): \(text)")
    }
  }

  @Test(arguments: Slow.seeds(4, slow: 200))
  func `changed and random bytes are refused at one of their places, or are read as a value`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for number in 0..<1500 {
      var bytes = generator.chance(20) ? generator.bytes(generator.below(30)) : []
      if bytes.isEmpty {
        bytes = Array(random(3, &generator).text.utf8)
        generator.mutate(&bytes)
      }
      do throws(JSONSyntaxError) {
        let node = try JSONParser.value(of: bytes)
        let plain = written(node)
        let again = try JSONParser.value(of: Array(plain.utf8))
        #expect(written(again).utf8.elementsEqual(plain.utf8), "seed \(seed), text \(number)")
        let (_, length) = try JSONParser.prefix(of: bytes)
        #expect(bytes[length...].allSatisfy { [0x20, 0x09, 0x0a, 0x0d].contains($0) })
      } catch {
        #expect((0...bytes.count).contains(error.offset), "seed \(seed), text \(number): \(bytes)")
      }
    }
  }
}
