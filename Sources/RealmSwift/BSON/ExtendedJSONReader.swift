import Foundation
import RealmInterchange
import RealmStorage

/// Makes BSON values of a parsed text of Extended JSON.
struct ExtendedJSONReader {
  /// The keys that give a document a special meaning. A document whose keys begin with `$` in another way is a plain document,
  /// such as a query.
  enum Form: String, CaseIterable {
    case numberInt = "$numberInt"
    case numberLong = "$numberLong"
    case numberDouble = "$numberDouble"
    case numberDecimal = "$numberDecimal"
    case oid = "$oid"
    case date = "$date"
    case binary = "$binary"
    case uuid = "$uuid"
    case regularExpression = "$regularExpression"
    case timestamp = "$timestamp"
    case minKey = "$minKey"
    case maxKey = "$maxKey"

    /// The expected content, for messages.
    fileprivate var content: String {
      switch self {
      case .numberInt: "a whole number of 32 bits in quotation marks"
      case .numberLong: "a whole number of 64 bits in quotation marks"
      case .numberDouble: "a number in quotation marks, NaN, Infinity or -Infinity"
      case .numberDecimal: "a decimal number in quotation marks"
      case .oid: "24 hexadecimal digits in quotation marks"
      case .date: "$numberLong with milliseconds since 1970, or a text such as 2020-01-31T12:00:00.250Z"
      case .binary: "base64 and a subType of two hexadecimal digits, and 16 bytes for the subType 04"
      case .uuid: "a UUID in quotation marks"
      case .regularExpression: "a pattern, which is not empty, and options, of the letters dimsuwx"
      case .timestamp: "t with seconds since 1970 and i with a count, both of 32 bits and without a sign"
      case .minKey, .maxKey: "the number 1"
      }
    }
  }

  private enum Step {
    case key(String)
    case index(Int)
  }

  /// The path to the value that is being read: one step for each document and array around it.
  private var steps: [Step] = []

  mutating func value(_ json: JSONValue) throws(ExtendedJSONError) -> AnyBSON {
    switch json {
    case .null: return .null
    case .bool(let flag): return .bool(flag)
    case .string(let text): return .string(text)
    case .number(let text): return try number(text)
    case .array(let elements): return try .array(array(elements))
    case .object(let members):
      guard let form = Form.allCases.first(where: { members[$0.rawValue] != nil }) else {
        return try .document(document(members))
      }
      guard members.count == 1, let content = members[form.rawValue],
        let value = Self.value(form, content)
      else { throw fault(.wrongForm(form.rawValue, expected: form.content)) }
      return value
    }
  }

  private func number(_ text: String) throws(ExtendedJSONError) -> AnyBSON {
    if text.utf8.allSatisfy({ !".eE".utf8.contains($0) }), let whole = Int64(text) { return .int64(whole) }
    guard let number = Double(text), number.isFinite else { throw fault(.numberTooGreat) }
    return .double(number)
  }

  private mutating func array(_ elements: [JSONValue]) throws(ExtendedJSONError) -> [AnyBSON?] {
    try checkLevel()
    var values: [AnyBSON?] = []
    values.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      steps.append(.index(index))
      values.append(try value(element))
      steps.removeLast()
    }
    return values
  }

  private mutating func document(_ members: [String: JSONValue]) throws(ExtendedJSONError) -> Document {
    try checkLevel()
    var values: Document = [:]
    values.reserveCapacity(members.count)
    for (key, member) in members {
      steps.append(.key(key))
      values.updateValue(try value(member), forKey: key)
      steps.removeLast()
    }
    return values
  }

  private func checkLevel() throws(ExtendedJSONError) {
    guard steps.count < ExtendedJSON.mostLevels else { throw fault(.tooDeep) }
  }

  // MARK: - Where a fault is

  /// The longest part of a key in a message, in Unicode scalars.
  private static let mostOfKey = 40

  private func fault(_ reason: ExtendedJSONError.Reason) -> ExtendedJSONError {
    ExtendedJSONError(reason, path: path)
  }

  private var path: String {
    steps.reduce(into: "") { path, step in
      switch step {
      case .index(let index): path += "[\(index)]"
      case .key(let key): path += (path.isEmpty ? "" : ".") + Self.shown(key)
      }
    }
  }

  /// The key as it stands in a message. A key with other characters than those of names is quoted, so that a key can't forge a
  /// line of a log.
  private static func shown(_ key: String) -> String {
    let start = String(String.UnicodeScalarView(key.unicodeScalars.prefix(mostOfKey)))
    let isName = start.utf8.allSatisfy {
      $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "$")
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
    }
    return isName && !start.isEmpty ? start : ExtendedJSON.quoted(start)
  }

  // MARK: - Forms

  /// The value of a form; nil if the content is not what the form takes.
  private static func value(_ form: Form, _ content: JSONValue) -> AnyBSON? {
    switch (form, content) {
    case (.numberInt, .string(let text)): Int32(text).map { .int32($0) }
    case (.numberLong, .string(let text)): Int64(text).map { .int64($0) }
    case (.numberDouble, .string(let text)): double(text).map { .double($0) }
    case (.numberDecimal, .string(let text)):
      DecimalNumber(parsing: text).map { .decimal128(Decimal128($0)) }
    case (.oid, .string(let text)): (try? ObjectId(string: text)).map { .objectId($0) }
    case (.uuid, .string(let text)): UUID(uuidString: text).map { .uuid($0) }
    case (.date, .string(let text)): DateText.moment(text).map { .datetime(Date($0)) }
    case (.date, .object(let members)): milliseconds(members).map { .datetime(Date(milliseconds: $0)) }
    case (.binary, .object(let members)): binary(members)
    case (.regularExpression, .object(let members)):
      regularExpression(members).map { .regex($0) }
    case (.timestamp, .object(let members)): seconds(members).map { .timestamp(Date(logSeconds: $0)) }
    case (.minKey, .number("1")): .minKey
    case (.maxKey, .number("1")): .maxKey
    default: nil
    }
  }

  /// Reads a decimal floating-point number. Swift's initializer alone would accept hexadecimal numbers too.
  private static func double(_ text: String) -> Double? {
    switch text {
    case "NaN": return .nan
    case "Infinity": return .infinity
    case "-Infinity": return -.infinity
    default:
      guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let number = Double(text),
        number.isFinite
      else { return nil }
      return number
    }
  }

  private static func milliseconds(_ members: [String: JSONValue]) -> Int64? {
    guard members.count == 1, case .string(let text)? = members[Form.numberLong.rawValue] else { return nil }
    return Int64(text)
  }

  private static func binary(_ members: [String: JSONValue]) -> AnyBSON? {
    guard members.count == 2, case .string(let base64)? = members["base64"],
      case .string(let subType)? = members["subType"], (1...2).contains(subType.utf8.count),
      let number = UInt8(subType, radix: 16), let data = Data(base64Encoded: base64)
    else { return nil }
    guard number == 4 else { return .binary(data) }
    return UUID(bytes: Array(data)).map { .uuid($0) }
  }

  private static func regularExpression(_ members: [String: JSONValue]) -> NSRegularExpression? {
    guard members.count == 2, case .string(let pattern)? = members["pattern"],
      case .string(let options)? = members["options"]
    else { return nil }
    return NSRegularExpression.fromBSON(pattern: pattern, options: options)
  }

  private static func seconds(_ members: [String: JSONValue]) -> UInt32? {
    guard members.count == 2, case .number(let seconds)? = members["t"],
      case .number(let count)? = members["i"], UInt32(count) != nil
    else { return nil }
    return UInt32(seconds)
  }
}
