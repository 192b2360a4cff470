import Foundation
import RealmStorage

extension Value {
  /// The form that docs/dump-format.md describes of a value of a column, which keeps every bit.
  func json(of column: Column, _ names: TableNames) -> String {
    switch self {
    case .list(let elements, _) where column.isCollection:
      JSON.array(elements.map { $0.json(ofOne: column.type, names) })
    case .map(let map, _) where column.isCollection: map.json { $0.json(ofOne: column.type, names) }
    default: json(ofOne: column.type, names)
    }
  }

  /// The same of a value, or of an element of a collection, of a type.
  func json(ofOne type: ColumnType, _ names: TableNames) -> String {
    type == .mixed ? mixedJSON(names) : json
  }

  /// What does not tell its type by itself has a tag.
  private func mixedJSON(_ names: TableNames) -> String {
    switch self {
    case .int(let number): JSON.tagged("$int", "\(number)")
    case .float(let number): JSON.tagged("$float", number.special ?? "\(Double(number))")
    case .double(let number): JSON.tagged("$double", number.special ?? "\(number)")
    case .typedLink(let table, let key):
      JSON.object([
        ("$link", JSON.array([names[table].map(JSON.string) ?? "null", JSON.integer(key)]))
      ])
    case .list(let elements, _): JSON.array(elements.map { $0.mixedJSON(names) })
    case .map(let map, _): JSON.object([("$map", map.json { $0.mixedJSON(names) })])
    default: json
    }
  }

  /// Of a value that is neither nested nor a link that names its table.
  private var json: String {
    switch self {
    case .null: "null"
    case .bool(let flag): JSON.bool(flag)
    case .int(let number): JSON.integer(number)
    case .float(let number):
      // As the double equal to it: then readers that round to a double first get the same float.
      number.special.map { JSON.tagged("$float", $0) } ?? "\(Double(number))"
    case .double(let number): number.special.map { JSON.tagged("$double", $0) } ?? "\(number)"
    case .string(let text): JSON.string(text)
    case .data(let bytes): JSON.tagged("$data", Data(bytes).base64EncodedString())
    case .date(let date):
      JSON.object([("$date", JSON.array([JSON.integer(date.seconds), "\(date.nanoseconds)"]))])
    case .objectID(let id): JSON.tagged("$objectID", Wording.hex(id.bytes))
    case .uuid(let id): JSON.tagged("$uuid", Self.uuidText(id))
    case .decimal128(let id): JSON.tagged("$decimal128", Wording.hex(id.bytes))
    case .link(let key): JSON.object([("$link", JSON.integer(key))])
    case .typedLink, .list, .map: "null"
    }
  }

  /// For people: short, on one line, and not meant to be read back.
  var text: String {
    switch self {
    case .null: "null"
    case .bool(let flag): "\(flag)"
    case .int(let number): "\(number)"
    case .float(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): JSON.string(text)
    case .data(let bytes): Self.dataText(bytes)
    case .date(let date): Self.dateText(date)
    case .objectID(let id): Wording.hex(id.bytes)
    case .uuid(let id): Self.uuidText(id)
    case .decimal128(let id): DecimalNumber(id).text
    case .link(let key): "->\(key)"
    case .typedLink(let table, let key): "->\(table):\(key)"
    case .list(let elements, _): "[" + elements.map(\.text).joined(separator: ", ") + "]"
    case .map(let map, _):
      "{" + zip(map.keys, map.values).map { "\(JSON.string($0)): \($1.text)" }.joined(separator: ", ") + "}"
    }
  }

  private static func dataText(_ bytes: [UInt8]) -> String {
    let shown = 32
    let start = "data:" + Wording.hex(Array(bytes.prefix(shown)))
    return bytes.count <= shown ? start : "\(start)… (\(bytes.count) bytes)"
  }

  private static func uuidText(_ id: SixteenBytes) -> String {
    let bytes = id.bytes
    return [bytes[0..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10..<16]]
      .map { Wording.hex(Array($0)) }.joined(separator: "-")
  }

  private static func dateText(_ date: Timestamp) -> String {
    let digits = "\(date.nanoseconds)"
    let fraction =
      date.nanoseconds == 0 ? "" : "." + String(repeating: "0", count: max(0, 9 - digits.count)) + digits
    // Years 1 to 9999, which is what the calendar's form has room for.
    guard (-62_135_596_800...253_402_300_799).contains(date.seconds) else {
      return "\(date.seconds) seconds and \(date.nanoseconds) nanoseconds since 1970"
    }
    let whole = Date(timeIntervalSince1970: Double(date.seconds)).formatted(.iso8601)
    return whole.hasSuffix("Z") ? whole.dropLast() + fraction + "Z" : whole + fraction
  }
}

extension ValueMap {
  /// Pairs of keys and values.
  fileprivate func json(_ value: (Value) -> String) -> String {
    JSON.array(zip(keys, values).map { JSON.array([JSON.string($0), value($1)]) })
  }
}

extension Float {
  /// The form of a number that JSON can't hold, nil for others. There are many NaN: its bits tell which it is.
  fileprivate var special: String? {
    isNaN ? "NaN:" + JSON.hex(UInt64(bitPattern), digits: 8) : Double(self).special
  }
}

extension Double {
  fileprivate var special: String? {
    switch floatingPointClass {
    case .positiveInfinity: "Infinity"
    case .negativeInfinity: "-Infinity"
    case .negativeZero: "-0.0"
    case .quietNaN, .signalingNaN: "NaN:" + JSON.hex(bitPattern, digits: 16)
    default: nil
    }
  }
}
