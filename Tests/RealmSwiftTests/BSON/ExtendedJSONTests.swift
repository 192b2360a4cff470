import Foundation
import Testing

@testable import RealmSwift

@Suite struct ExtendedJSONTests {
  @Test(arguments: 0..<RandomBSON.kinds)
  func `a value of every case is read as it was written`(kind: Int) throws {
    var random = RandomBSON(seed: UInt64(kind))
    for _ in 0..<300 {
      let value = random.value(of: kind)
      let data = ExtendedJSON.data(value)
      let again = try ExtendedJSON.read(data)
      #expect(again == value)
      #expect(ExtendedJSON.data(again) == data, "the text is the same too")
    }
  }

  @Test(arguments: [UInt64(1), .random(in: 0...(.max))])
  func `documents and arrays with values of all cases are read as they were written`(seed: UInt64) throws {
    var random = RandomBSON(seed: seed)
    for _ in 0..<500 {
      let value = AnyBSON.array((0..<5).map { _ in random.value() })
      let data = ExtendedJSON.data(value)
      let again = try ExtendedJSON.read(data)
      #expect(again == value && ExtendedJSON.data(again) == data, "seed \(seed)")
    }
  }

  @Test func `each case has the canonical text`() throws {
    let expression = try NSRegularExpression(
      pattern: #"a"\d"#, options: [.caseInsensitive, .anchorsMatchLines])
    let table: [(AnyBSON, String)] = [
      (.null, "null"), (.bool(true), "true"), (.bool(false), "false"),
      (.string("a\"\\\n\u{1}é"), #""a\"\\\n\u0001é""#),
      (.int32(-5), #"{"$numberInt":"-5"}"#), (.int64(.max), #"{"$numberLong":"9223372036854775807"}"#),
      (.double(1), #"{"$numberDouble":"1.0"}"#), (.double(-0.0), #"{"$numberDouble":"-0.0"}"#),
      (.double(.infinity), #"{"$numberDouble":"Infinity"}"#),
      (.double(-.infinity), #"{"$numberDouble":"-Infinity"}"#), (.double(.nan), #"{"$numberDouble":"NaN"}"#),
      (.double(-Double.nan), #"{"$numberDouble":"NaN"}"#),
      (.decimal128("1.50"), #"{"$numberDecimal":"1.50"}"#),
      (.decimal128("NaN"), #"{"$numberDecimal":"NaN"}"#),
      (.objectId(ObjectId("0123456789abcdef01234567")), #"{"$oid":"0123456789abcdef01234567"}"#),
      (.datetime(Date(timeIntervalSince1970: -1.5)), #"{"$date":{"$numberLong":"-1500"}}"#),
      (.timestamp(Date(timeIntervalSince1970: 7)), #"{"$timestamp":{"t":7,"i":0}}"#),
      (.binary(Data([0, 255])), #"{"$binary":{"base64":"AP8=","subType":"00"}}"#),
      (.regex(expression), #"{"$regularExpression":{"pattern":"a\"\\d","options":"im"}}"#),
      (.minKey, #"{"$minKey":1}"#), (.maxKey, #"{"$maxKey":1}"#),
    ]
    for (value, text) in table { #expect(ExtendedJSON.text(value) == text) }
  }

  @Test func `documents and arrays have texts without spaces, and keys are in the order of their bytes`() {
    let table: [(AnyBSON, String)] = [
      (.array([]), "[]"), (.document([:]), "{}"),
      (.array([true, nil, "x"]), #"[true,null,"x"]"#),
      (["b": true, "a": nil, "é": "", "Z": [:], "aa": []], #"{"Z":{},"a":null,"aa":[],"b":true,"é":""}"#),
    ]
    for (value, text) in table { #expect(ExtendedJSON.text(value) == text) }
  }

  @Test func `values of partitions have the texts that name their files`() throws {
    let uuid = try #require(UUID(uuidString: "00010203-0405-0607-0809-0a0b0c0d0e0f"))
    #expect(ExtendedJSON.text(AnyBSON(123)) == #"{"$numberLong":"123"}"#)
    #expect(ExtendedJSON.text(AnyBSON(Int32(123))) == #"{"$numberInt":"123"}"#)
    #expect(ExtendedJSON.text("abc") == #""abc""#)
    #expect(ExtendedJSON.text(.null) == "null")
    let id = ObjectId("0123456789ABCDEF01234567")
    #expect(ExtendedJSON.text(.objectId(id)) == #"{"$oid":"0123456789abcdef01234567"}"#)
    #expect(
      ExtendedJSON.text(.uuid(uuid)) == #"{"$binary":{"base64":"AAECAwQFBgcICQoLDA0ODw==","subType":"04"}}"#)
  }

  @Test func `a nil in a document or an array is read as null`() throws {
    let value = try ExtendedJSON.read(ExtendedJSON.data(["a": nil, "b": [nil]]))
    #expect(value == ["a": .null, "b": [.null]])
  }

  @Test func `a date is rounded to milliseconds, and a date beyond 64 bits becomes the last one possible`() {
    let table: [(TimeInterval, Int64)] = [
      (0, 0), (0.0004, 0), (0.0006, 1), (-0.001, -1), (-0.0006, -1), (1.001, 1001),
      (1_700_000_000.123, 1_700_000_000_123), (1e18, .max), (-1e18, .min), (.infinity, .max),
      (-.infinity, .min), (.nan, 0),
    ]
    for (interval, milliseconds) in table {
      #expect(Date(timeIntervalSince1970: interval).milliseconds == milliseconds, "\(interval)")
    }
    #expect(Date(milliseconds: .min).timeIntervalSince1970 < -9e15)
    #expect(Date(milliseconds: -1) == Date(timeIntervalSince1970: -0.001))
  }

  @Test func `a timestamp has whole seconds from 1970 to 2106`() {
    let table: [(TimeInterval, UInt32)] = [
      (5.9, 5), (-3, 0), (4_294_967_295, .max), (1e12, .max), (.nan, 0),
    ]
    for (interval, seconds) in table {
      #expect(Date(timeIntervalSince1970: interval).logSeconds == seconds, "\(interval)")
    }
  }

  @Test func `an expression whose options treat its pattern as plain text is written with escapes`() throws {
    let expression = try NSRegularExpression(pattern: "a.c", options: .ignoreMetacharacters)
    #expect(
      ExtendedJSON.text(.regex(expression)) == #"{"$regularExpression":{"pattern":"a\\.c","options":""}}"#)
  }
}
