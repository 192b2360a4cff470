import Foundation
import RealmTestSupport
import Testing

@testable import RealmSwift

/// Texts that other programs send.
@Suite struct ExtendedJSONReadingTests {
  private func read(_ text: String) throws -> AnyBSON { try ExtendedJSON.read(Data(text.utf8)) }

  @Test func `plain numbers that have only digits are integers, and others are doubles`() throws {
    let table: [(String, AnyBSON)] = [
      ("0", .int64(0)), ("-0", .int64(0)), ("-12", .int64(-12)), ("9223372036854775807", .int64(.max)),
      ("-9223372036854775808", .int64(.min)), ("9223372036854775808", .double(0x1p63)), ("1.0", .double(1)),
      ("1e3", .double(1000)), ("1E-2", .double(0.01)), ("0.1", .double(0.1)), ("-2.5e+1", .double(-25)),
      ("1e-999", .double(0)),
    ]
    for (text, value) in table { #expect(try read(text) == value, "\(text)") }
    #expect(throws: ExtendedJSONError(.numberTooGreat, path: "a[1]")) { try read(#"{"a":[1,1e999]}"#) }
  }

  @Test func `a plain JSON text is read with spaces anywhere, and the last of equal keys is kept`() throws {
    let text = " {\"a\" :\t[ 1 , true,\r\n\"x\" ,null ] , \"b\":{ }, \"c\":[ ],\"a\":false} \n"
    let value = try read(text)
    #expect(value == ["a": false, "b": [:], "c": []])
    #expect(AnyBSON(relaxedJSON: Data(text.utf8)) == value)
    #expect(AnyBSON(relaxedJSON: Data("{".utf8)) == nil)
    let query = try read(#"{"age":{"$gt":5},"$and":[]}"#)
    #expect(query == ["age": ["$gt": 5], "$and": []], "keys of queries are plain keys")
  }

  @Test func `escapes become their characters`() throws {
    let text = #""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\udc15\u0000""#
    #expect(try read(text) == .string("\"\\/\u{8}\u{c}\n\r\tA\u{e9}\u{20ac}\u{1f415}\0"))
  }

  @Test func `dates are read from milliseconds and from texts of ISO 8601`() throws {
    let table: [(String, Int64)] = [
      ("1970-01-01T00:00:00Z", 0), ("2020-02-29T12:34:56.789Z", 1_582_979_696_789),
      ("2000-01-01T00:00:00.5+00:00", 946_684_800_500), ("1969-12-31T23:59:59.999Z", -1),
      ("2020-01-31T14:00:00+0200", 1_580_472_000_000), ("2020-01-31T05:30:00-06:30", 1_580_472_000_000),
      ("0000-01-01T00:00:00Z", -62_167_219_200_000), ("9999-12-31T23:59:59.9990000001Z", 253_402_300_799_999),
      ("1900-03-01T00:00:00Z", -2_203_891_200_000),
    ]
    for (text, milliseconds) in table {
      #expect(try read(#"{"$date":"\#(text)"}"#) == .datetime(Date(milliseconds: milliseconds)), "\(text)")
      #expect(
        try read(#"{"$date":{"$numberLong":"\#(milliseconds)"}}"#)
          == .datetime(Date(milliseconds: milliseconds)))
    }
  }

  @Test(arguments: [
    "", "2020", "2020-01-31", "2020-01-31T12:00Z", "2020-01-31T12:00:00", "2020-01-31T12:00:00.Z",
    "2020-02-30T12:00:00Z", "2021-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2020-13-01T00:00:00Z",
    "2020-00-01T00:00:00Z", "2020-01-00T00:00:00Z", "2020-01-31T24:00:00Z", "2020-01-31T12:60:00Z",
    "2020-01-31T12:00:60Z", "2020-01-31T12:00:00+1", "2020-01-31T12:00:00+24:00", "2020-01-31T12:00:00Zx",
    "20200-01-31T12:00:00Z", "-020-01-31T12:00:00Z", "٢٠٢٠-01-31T12:00:00Z", "2020-01-31t12:00:00z",
  ])
  func `a text that is not a date of ISO 8601 is refused`(text: String) throws {
    #expect(throws: ExtendedJSONError.self) { try read(#"{"$date":"\#(text)"}"#) }
  }

  @Test func `other forms of a value are read too`() throws {
    let uuid = try #require(UUID(uuidString: "00010203-0405-0607-0809-0a0b0c0d0e0f"))
    #expect(try read(#"{"$uuid":"00010203-0405-0607-0809-0A0B0C0D0E0F"}"#) == .uuid(uuid))
    let base64 = "AAECAwQFBgcICQoLDA0ODw=="
    #expect(try read(#"{"$binary":{"subType":"4","base64":"\#(base64)"}}"#) == .uuid(uuid))
    #expect(
      try read(#"{"$binary":{"base64":"\#(base64)","subType":"80"}}"#) == .binary(Data(uuid.bytes)),
      "the subtype is not kept")
    #expect(try read(#"{"$numberDouble":"1E+2"}"#) == .double(100))
    #expect(try read(#"{"$numberDouble":"NaN"}"#).doubleValue?.isNaN == true)
    #expect(try read(#"{"$numberDecimal":"1.5E+2"}"#) == .decimal128(150))
    #expect(
      try read(#"{"$timestamp":{"i":3,"t":7}}"#) == .timestamp(Date(timeIntervalSince1970: 7)),
      "the count is not kept")
    let expression = try NSRegularExpression(pattern: "a", options: [.allowCommentsAndWhitespace])
    #expect(
      try read(#"{"$regularExpression":{"pattern":"a","options":"ux"}}"#) == .regex(expression),
      "patterns match by Unicode anyway")
  }

  @Test(arguments: [
    #"{"$numberInt":5}"#, #"{"$numberInt":"2147483648"}"#, #"{"$numberInt":"1.0"}"#, #"{"$numberInt":""}"#,
    #"{"$numberLong":"9223372036854775808"}"#, #"{"$numberLong":" 1"}"#, #"{"$numberLong":null}"#,
    #"{"$numberDouble":"0x1p3"}"#, #"{"$numberDouble":"inf"}"#, #"{"$numberDouble":"1e999"}"#,
    #"{"$numberDouble":1.5}"#, #"{"$numberDecimal":"x"}"#, #"{"$numberDecimal":""}"#, #"{"$oid":"0123"}"#,
    #"{"$oid":{}}"#, #"{"$oid":"0123456789abcdef01234567","a":1}"#, #"{"$date":5}"#, #"{"$date":{}}"#,
    #"{"$date":{"$numberLong":5}}"#, #"{"$date":{"$numberLong":"5","a":1}}"#,
    #"{"$date":{"$numberInt":"5"}}"#, #"{"$binary":"AA=="}"#, #"{"$binary":{"base64":"AA=="}}"#,
    #"{"$binary":{"base64":"A","subType":"00"}}"#, #"{"$binary":{"base64":"AA==","subType":"x"}}"#,
    #"{"$binary":{"base64":"AA==","subType":""}}"#, #"{"$binary":{"base64":"AA==","subType":"000"}}"#,
    #"{"$binary":{"base64":"AA==","subType":"04"}}"#,
    #"{"$binary":{"base64":"AA==","subType":"00","a":1}}"#, #"{"$uuid":"x"}"#, #"{"$uuid":1}"#,
    #"{"$regularExpression":"a"}"#, #"{"$regularExpression":{"pattern":"a"}}"#,
    #"{"$regularExpression":{"pattern":"(","options":""}}"#,
    #"{"$regularExpression":{"pattern":"","options":""}}"#,
    #"{"$regularExpression":{"pattern":"a","options":"q"}}"#, #"{"$timestamp":{"t":1}}"#,
    #"{"$timestamp":{"t":-1,"i":0}}"#, #"{"$timestamp":{"t":4294967296,"i":0}}"#,
    #"{"$timestamp":{"t":1.0,"i":0}}"#, #"{"$timestamp":{"t":1,"i":"0"}}"#, #"{"$minKey":2}"#,
    #"{"$minKey":true}"#, #"{"$maxKey":{}}"#, #"{"$minKey":1,"$maxKey":1}"#,
  ])
  func `a form with the wrong content is an error that names the form and its place`(text: String) {
    let error = #expect(throws: ExtendedJSONError.self) { try read(#"{"a":{"b":[1,\#(text)]}}"#) }
    guard case .wrongForm(let form, _) = error?.reason else {
      Issue.record("\(String(describing: error)) is no wrong form")
      return
    }
    #expect(text.contains(form) && error?.path == "a.b[1]")
    #expect(error?.description.contains("\(form) at a.b[1]") == true)
  }

  @Test func `a path escapes line breaks in keys, and cuts long keys off`() {
    let long = String(repeating: "k", count: 1000)
    let error = #expect(throws: ExtendedJSONError.self) {
      try read(#"{"a b":{"\n":{"":{"\#(long)":{"$oid":"x"}}}}}"#)
    }
    #expect(error?.path == #""a b"."\n"."".\#(String(repeating: "k", count: 40))"#)
    let outer = #expect(throws: ExtendedJSONError.self) { try read(#"{"$oid":"x"}"#) }
    #expect(outer?.path == "" && outer?.description.contains("outermost") == true)
  }

  @Test(arguments: [
    "", " ", "nul", "nullx", "True", "NaN", "Infinity", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x10",
    "--1", "1 2", "{", "}", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", #"{"a"}"#, #"{"a":}"#,
    #"{"a":1,}"#, #"{a:1}"#, #"{'a':1}"#, #"{"a":1"b":2}"#, #"{"a":1]"#, #"{1:1}"#, "\"", #""a"#, #""\"#,
    #""\x""#, #""\u12""#, #""\u12g4""#, #""\ud83d""#, #""\ud83dx""#, #""\ud83d\n""#, #""\ud83d\u0041""#,
    #""\udc15""#, "\"\n\"", "\"\u{1f}\"", "\u{feff}1", "// a\n1", "[1]//", "\u{a0}1", "1\0",
  ])
  func `a text that is not JSON is an error that gives the byte`(text: String) {
    let error = #expect(throws: ExtendedJSONError.self) { try read(text) }
    guard case .noJSON(_, let offset) = error?.reason else {
      Issue.record("\(String(describing: error)) is no fault of JSON")
      return
    }
    #expect((0...text.utf8.count).contains(offset) && error?.description.contains("byte \(offset)") == true)
  }

  @Test(
    arguments: [
      [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80],
    ] as [[UInt8]])
  func `a text with bytes that are not UTF-8 is an error`(bytes: [UInt8]) {
    let quote = UInt8(ascii: "\"")
    #expect(throws: ExtendedJSONError.self) { try ExtendedJSON.read(Data([quote] + bytes + [quote])) }
    #expect(throws: ExtendedJSONError.self) { try ExtendedJSON.read(Data(bytes)) }
  }

  @Test func `documents and arrays may be nested 100 deep, and no deeper`() throws {
    func nested(_ levels: Int, _ inner: AnyBSON) -> AnyBSON {
      (0..<levels).reduce(inner) { value, level in
        level % 2 == 0 ? .array([value]) : .document(["a": value])
      }
    }
    let inner = AnyBSON.datetime(Date(milliseconds: 5))
    let deepest = nested(100, inner)
    #expect(try ExtendedJSON.read(ExtendedJSON.data(deepest)) == deepest)
    for levels in [101, 102, 103, 200] {
      let error = #expect(throws: ExtendedJSONError.self) {
        try ExtendedJSON.read(ExtendedJSON.data(nested(levels, inner)))
      }
      #expect(error?.reason == .tooDeep && error?.description.contains("100") == true, "\(levels)")
    }
    for opening in ["[", #"{"a":"#, #"{"$date":"#] {
      let error = #expect(throws: ExtendedJSONError.self) {
        try read(String(repeating: opening, count: 1_000_000))
      }
      #expect(error?.reason == .tooDeep)
    }
  }

  @Test func `a text that is cut off anywhere is an error`() {
    var random = RandomBSON(seed: 3)
    for _ in 0..<5 {
      let data = ExtendedJSON.data(.array((0..<5).map { _ in random.value() }))
      for count in 0..<data.count {
        #expect(throws: ExtendedJSONError.self) { try ExtendedJSON.read(data.prefix(count)) }
      }
    }
  }

  @Test(arguments: [UInt64(4), .random(in: 0...(.max))])
  func `a text with changed bytes is a value or an error`(seed: UInt64) {
    var random = RandomBSON(seed: seed)
    let marks = Array(#"{}[]",:\$0-eE.u"#.utf8)
    for _ in 0..<2000 {
      var bytes = Array(ExtendedJSON.data(.array([random.value(), random.value()])))
      for _ in 0...random.generator.below(3) {
        let place = random.generator.below(bytes.count)
        bytes[place] =
          random.generator.chance(70)
          ? marks[random.generator.below(marks.count)] : UInt8(truncatingIfNeeded: random.generator.next())
      }
      guard let value = try? ExtendedJSON.read(Data(bytes)) else { continue }
      let text = ExtendedJSON.data(value)
      #expect((try? ExtendedJSON.read(text)).map { ExtendedJSON.data($0) } == text, "seed \(seed)")
    }
  }

  @Test func `long numbers and long texts are read`() throws {
    let digits = String(repeating: "7", count: 1_000_000)
    #expect(throws: ExtendedJSONError(.numberTooGreat)) { try read(digits) }
    #expect(try read("0." + digits) == .double(7.0 / 9))
    #expect(throws: ExtendedJSONError.self) { try read(#"{"$numberLong":"\#(digits)"}"#) }
    #expect(try read(#"{"$numberDecimal":"0.\#(digits)"}"#).decimal128Value == Decimal128(7) / 9)
    #expect(try read("\"\(digits)\"") == .string(digits))
  }
}
