import Foundation
import RealmStorage
import Testing

@testable import RealmSwift

/// A type of an app that conforms to `BSON`.
private struct Foreign: BSON {}

@Suite struct AnyBSONTests {
  private let id: ObjectId = ObjectId("0123456789abcdef01234567")
  private let uuid = UUID()

  @Test func `literals become the cases of their types`() {
    let value: AnyBSON = ["text": "a", "flag": true, "half": 0.5, "count": 3, "list": [1, nil, ["x": nil]]]
    #expect(
      value
        == .document([
          "text": .string("a"), "flag": .bool(true), "half": .double(0.5), "count": .int64(3),
          "list": .array([.int64(1), nil, .document(["x": AnyBSON?.none])]),
        ]))
    let document: Document = ["a": 1, "b": nil]
    #expect(document.count == 2 && document["b"] == .some(.none))
  }

  @Test func `of values with one key in a literal, the last one is kept`() {
    let value = AnyBSON(dictionaryLiteral: ("a", 1), ("a", 2))
    #expect(value == .document(["a": .int64(2)]))
  }

  @Test func `a value of each type becomes the case of that type`() throws {
    let (data, date) = (Data([1, 2]), Date(timeIntervalSince1970: 5))
    let expression = try NSRegularExpression(pattern: "a+")
    let document: Document = ["a": 1]
    let array: [AnyBSON?] = [1, nil]
    let (whole, flag, number, text) = (7, true, 1.5, "x")
    #expect(AnyBSON(whole) == .int64(7))
    #expect(AnyBSON(Int32(whole)) == .int32(7) && AnyBSON(Int64(whole)) == .int64(7))
    #expect(AnyBSON(flag) == .bool(true) && AnyBSON(number) == .double(1.5) && AnyBSON(text) == .string("x"))
    #expect(AnyBSON(data) == .binary(data) && AnyBSON(date) == .datetime(date))
    #expect(AnyBSON(Decimal128(5)) == .decimal128(5) && AnyBSON(id) == .objectId(id))
    #expect(AnyBSON(uuid) == .uuid(uuid) && AnyBSON(expression) == .regex(expression))
    #expect(AnyBSON(document) == .document(document) && AnyBSON(array) == .array(array))
    #expect(AnyBSON(MinKey()) == .minKey && AnyBSON(MaxKey()) == .maxKey && AnyBSON(NSNull()) == .null)
    let value = AnyBSON.timestamp(date)
    #expect(AnyBSON(value) == value)
    #expect(AnyBSON(Foreign()) == .null)
  }

  @Test func `an accessor returns the value of its case, and nil for any other case`() throws {
    let (data, date) = (Data([1]), Date(timeIntervalSince1970: 5))
    let expression = try NSRegularExpression(pattern: "a+")
    let values: [AnyBSON] = [
      .int32(1), .int64(2), .double(3), .decimal128(4), .bool(true), .string("s"), .binary(data),
      .datetime(date), .timestamp(date), .regex(expression), .objectId(id), .uuid(uuid), .document(["a": 1]),
      .array([nil]), .null, .minKey, .maxKey,
    ]
    let document: Document = ["a": 1]
    let array: [AnyBSON?] = [nil]
    func found(in value: AnyBSON) -> [Bool] {
      var found: [Bool] = []
      found.append(value.int32Value == 1)
      found.append(value.int64Value == 2)
      found.append(value.doubleValue == 3)
      found.append(value.decimal128Value == 4)
      found.append(value.boolValue == true)
      found.append(value.stringValue == "s")
      found.append(value.binaryValue == data)
      found.append(value.dateValue == date)
      found.append(value.timestampValue == date)
      found.append(value.regexValue == expression)
      found.append(value.objectIdValue == id)
      found.append(value.uuidValue == uuid)
      found.append(value.documentValue == document)
      found.append(value.arrayValue == array)
      found.append(value.isNull)
      return found
    }
    for (index, value) in values.enumerated() {
      #expect(found(in: value) == (0..<15).map { $0 == index }, "\(value)")
    }
  }

  @Test func `integers of all types are converted if they fit`() {
    #expect(AnyBSON.int32(-5).asInt() == -5 && AnyBSON.int32(-5).asInt64() == -5)
    #expect(AnyBSON.int64(5).asInt32() == 5 && AnyBSON.int64(1 << 31).asInt32() == nil)
    #expect(AnyBSON.int64(.max).asInt64() == .max && AnyBSON.int64(.min).asInt() == .min)
    #expect(AnyBSON.double(1e3).asInt() == 1000 && AnyBSON.double(-0.0).asInt64() == 0)
    let noWholes: [Double] = [0.5, .nan, .infinity, 0x1p63, -1e300]
    for number in noWholes { #expect(AnyBSON.double(number).asInt64() == nil) }
    let wholes: [(Decimal128, Int64?)] = [
      ("150.00", 150), ("1.5E2", 150), ("-0", 0), ("0E-6000", 0), ("0E6000", 0),
      ("9223372036854775807", .max), ("-9223372036854775808", .min), ("9223372036854775808", nil),
      ("1E18", 1_000_000_000_000_000_000), ("1E19", nil), ("1E6000", nil), ("1.5", nil), ("1E-1", nil),
      ("NaN", nil), ("Infinity", nil),
    ]
    for (number, whole) in wholes { #expect(AnyBSON.decimal128(number).asInt64() == whole, "\(number)") }
    for value in [.string("1"), .bool(true), .null, .datetime(Date())] as [AnyBSON] {
      #expect(value.asInt() == nil && value.asInt32() == nil && value.asInt64() == nil)
      #expect(value.asDouble() == nil && value.asDecimal128() == nil)
    }
  }

  @Test func `numbers become doubles and decimals if these have the same value`() {
    #expect(AnyBSON.int32(3).asDouble() == 3 && AnyBSON.double(0.1).asDouble() == 0.1)
    #expect(AnyBSON.int64(1 << 53).asDouble() == 0x1p53 && AnyBSON.int64(1 << 53 + 1).asDouble() == nil)
    #expect(AnyBSON.decimal128("0.1").asDouble() == 0.1 && AnyBSON.decimal128("1E-6000").asDouble() == nil)
    #expect(AnyBSON.decimal128("1E6000").asDouble() == nil)
    #expect(AnyBSON.decimal128("0.1000000000000000000001").asDouble() == nil)
    #expect(AnyBSON.decimal128("1152921504606846976").asDouble() == 0x1p60)
    #expect(AnyBSON.decimal128("NaN").asDouble()?.isNaN == true)
    #expect(AnyBSON.decimal128("-Infinity").asDouble() == -.infinity)
    #expect(AnyBSON.double(0.1).asDecimal128() == 0.1)
    #expect(AnyBSON.double(0x1p60).asDecimal128() == "1152921504606846976")
    #expect(AnyBSON.double(.nan).asDecimal128()?.isNaN == true)
    #expect(AnyBSON.int64(.min).asDecimal128() == "-9223372036854775808")
    #expect(AnyBSON.int32(7).asDecimal128() == 7 && AnyBSON.decimal128("1.50").asDecimal128() == 1.5)
  }

  @Test func `a value is returned as the requested type, and is not converted`() throws {
    let (data, date) = (Data([1]), Date(timeIntervalSince1970: 5))
    let expression = try NSRegularExpression(pattern: "a+")
    func given<T: BSON>(_ value: AnyBSON, _ type: T.Type) -> T? { value.value() }
    #expect(given(.int64(5), Int.self) == 5 && given(.int64(5), Int64.self) == 5)
    #expect(given(.int32(5), Int.self) == 5 && given(.int32(5), Int32.self) == 5)
    #expect(given(.int32(5), Int64.self) == nil && given(.int64(5), Int32.self) == nil)
    #expect(given(.int64(1), Bool.self) == nil && given(.bool(true), Int.self) == nil)
    #expect(given(.int64(1), Double.self) == nil && given(.double(1), Double.self) == 1)
    #expect(given(.string("a"), String.self) == "a" && given(.string("a"), NSRegularExpression.self) == nil)
    #expect(given(.binary(data), Data.self) == data && given(.bool(true), Bool.self) == true)
    #expect(given(.datetime(date), Date.self) == date && given(.timestamp(date), Date.self) == date)
    #expect(given(.objectId(id), ObjectId.self) == id && given(.uuid(uuid), UUID.self) == uuid)
    #expect(given(.decimal128(5), Decimal128.self) == 5)
    #expect(given(.regex(expression), NSRegularExpression.self) === expression)
    let (document, array): (Document, [AnyBSON?]) = (["a": 1], [nil])
    #expect(given(.document(document), Document.self) == document)
    #expect(given(.array(array), [AnyBSON?].self) == array)
    #expect(given(.minKey, MinKey.self) == MinKey() && given(.maxKey, MaxKey.self) == MaxKey())
    #expect(given(.null, NSNull.self) != nil && given(.null, String.self) == nil)
    #expect(given(.maxKey, AnyBSON.self) == .maxKey && given(.null, Foreign.self) == nil)
  }

  @Test func `equal values have one hash, and values of different cases differ`() throws {
    let one = try NSRegularExpression(pattern: "a+", options: .caseInsensitive)
    let same = try NSRegularExpression(pattern: "a+", options: .caseInsensitive)
    let other = try NSRegularExpression(pattern: "a+")
    #expect(AnyBSON.regex(one) == .regex(same) && AnyBSON.regex(one) != .regex(other))
    #expect(Set([AnyBSON.regex(one), .regex(same)]).count == 1)
    let date = Date()
    let values: Set<AnyBSON> = [
      .int32(1), .int64(1), .double(1), .decimal128(1), .datetime(date), .timestamp(date), .bool(true),
      .string("1"), .null, .minKey, .maxKey, .array([1]), .array([]), .document([:]), .document(["a": 1]),
      .binary(Data()), .regex(one), .objectId(id), .uuid(uuid),
    ]
    #expect(values.count == 19)
    var random = RandomBSON(seed: 1)
    for _ in 0..<500 {
      let value = random.value()
      #expect(value == value && Set([value, value]).count == 1)
    }
  }

  @Test func `values of the types of partitions are converted to values of the storage, and others are not`()
    throws
  {
    #expect(AnyBSON.string("abc").partitionValue() == .string("abc"))
    #expect(AnyBSON.int64(.min).partitionValue() == .int(.min))
    #expect(AnyBSON.int32(-3).partitionValue() == .int(-3))
    #expect(AnyBSON.objectId(id).partitionValue() == .objectID(id.bytes))
    #expect(AnyBSON.uuid(uuid).partitionValue() == .uuid(SixteenBytes(uuid.bytes)))
    #expect(AnyBSON.null.partitionValue() == .some(.null))
    let others: [AnyBSON] = [
      .double(1), .document([:]), .array([]), .binary(Data()), .bool(true), .datetime(Date()),
      .regex(try NSRegularExpression(pattern: "a")), .timestamp(Date()), .decimal128(1), .minKey, .maxKey,
    ]
    for value in others { #expect(value.partitionValue() == nil, "\(value)") }
  }

  @Test func `16 bytes and a UUID are converted into each other`() {
    #expect(UUID(bytes: uuid.bytes) == uuid)
    #expect(
      UUID(uuidString: "00010203-0405-0607-0809-0a0b0c0d0e0f").map { $0.bytes } == (0..<16).map { UInt8($0) })
    #expect(UUID(bytes: []) == nil && UUID(bytes: Array(repeating: 0, count: 17)) == nil)
  }
}
