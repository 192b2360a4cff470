import Foundation

/// Reads JSON exactly as RFC 8259 describes it: without a byte order mark, comments, a comma after the last element, or half of a
/// surrogate pair. If a key stands several times, its last value is kept.
///
/// `JSONSerialization` is not used, because it makes the same number of 1 and 1.0, and loses digits of large numbers.
struct JSONParser {
  private let bytes: [UInt8]
  private let mostLevels: Int
  private var position = 0

  private init(_ data: Data, mostLevels: Int) {
    bytes = Array(data)
    self.mostLevels = mostLevels
  }

  /// Parses a text.
  ///
  /// - Parameter mostLevels: the deepest nesting of objects and arrays.
  static func value(of data: Data, mostLevels: Int) throws(ExtendedJSONError) -> JSONValue {
    var parser = JSONParser(data, mostLevels: mostLevels)
    let value = try parser.value(level: 0)
    parser.skipSpace()
    guard parser.position == parser.bytes.count else { throw parser.missing("the end of the text") }
    return value
  }

  /// Parses a value.
  ///
  /// - Parameter level: the number of objects and arrays around the value.
  private mutating func value(level: Int) throws(ExtendedJSONError) -> JSONValue {
    skipSpace()
    guard let first = current else { throw missing("a value") }
    switch first {
    case UInt8(ascii: "{"): return try .object(object(level: level + 1))
    case UInt8(ascii: "["): return try .array(array(level: level + 1))
    case UInt8(ascii: "\""): return try .string(string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try .number(number())
    default: return try word()
    }
  }

  private mutating func word() throws(ExtendedJSONError) -> JSONValue {
    let words: [(String, JSONValue)] = [("null", .null), ("true", .bool(true)), ("false", .bool(false))]
    for (text, value) in words where bytes[position...].starts(with: text.utf8) {
      position += text.utf8.count
      return value
    }
    throw missing("a value")
  }

  // MARK: - Objects and arrays

  private mutating func enter(_ level: Int) throws(ExtendedJSONError) {
    guard level <= mostLevels else { throw ExtendedJSONError(.tooDeep) }
    position += 1
  }

  private mutating func object(level: Int) throws(ExtendedJSONError) -> [String: JSONValue] {
    try enter(level)
    var members: [String: JSONValue] = [:]
    if take("}") { return members }
    repeat {
      skipSpace()
      guard current == UInt8(ascii: "\"") else { throw missing("a key in quotation marks") }
      let key = try string()
      guard take(":") else { throw missing("a colon behind the key") }
      members[key] = try value(level: level)
    } while take(",")
    guard take("}") else { throw missing("a comma or a closing brace") }
    return members
  }

  private mutating func array(level: Int) throws(ExtendedJSONError) -> [JSONValue] {
    try enter(level)
    var elements: [JSONValue] = []
    if take("]") { return elements }
    repeat {
      elements.append(try value(level: level))
    } while take(",")
    guard take("]") else { throw missing("a comma or a closing bracket") }
    return elements
  }

  // MARK: - Numbers

  private mutating func number() throws(ExtendedJSONError) -> String {
    let start = position
    if current == UInt8(ascii: "-") { position += 1 }
    // No digit may follow a leading zero.
    if current == UInt8(ascii: "0") { position += 1 } else { try digits() }
    if current == UInt8(ascii: ".") {
      position += 1
      try digits()
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      position += 1
      if current == UInt8(ascii: "-") || current == UInt8(ascii: "+") { position += 1 }
      try digits()
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func digits() throws(ExtendedJSONError) {
    let start = position
    while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw missing("a digit") }
  }

  // MARK: - Texts

  private mutating func string() throws(ExtendedJSONError) -> String {
    let start = position
    position += 1
    var units: [UInt8] = []
    while let byte = current, byte != UInt8(ascii: "\"") {
      switch byte {
      case UInt8(ascii: "\\"):
        let scalar = try escape()
        units.append(contentsOf: String(Character(scalar)).utf8)
      case 0..<0x20: throw missing("an escape instead of a control character")
      default:
        units.append(byte)
        position += 1
      }
    }
    guard current != nil else { throw missing("a quotation mark behind the text") }
    guard let text = String(validating: units, as: UTF8.self) else {
      throw ExtendedJSONError(.noJSON(missing: "a text in UTF-8", offset: start))
    }
    position += 1
    return text
  }

  private mutating func escape() throws(ExtendedJSONError) -> Unicode.Scalar {
    position += 1
    guard let letter = current else { throw missing("a letter of an escape") }
    position += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try escapedScalar()
    default:
      position -= 1
      throw missing("a letter of an escape")
    }
  }

  private mutating func escapedScalar() throws(ExtendedJSONError) -> Unicode.Scalar {
    let first = try codeUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    // The first half of a surrogate pair is valid only together with the second half.
    guard first < 0xdc00, bytes[position...].starts(with: #"\u"#.utf8) else {
      throw missing("the other half of a surrogate pair")
    }
    position += 2
    let second = try codeUnit()
    guard (0xdc00...0xdfff).contains(second),
      let scalar = Unicode.Scalar(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
    else { throw missing("the other half of a surrogate pair") }
    return scalar
  }

  private mutating func codeUnit() throws(ExtendedJSONError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw missing("four hexadecimal digits")
      }
      unit = unit << 4 | UInt32(digit)
      position += 1
    }
    return unit
  }

  // MARK: - Bytes

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
  }

  private mutating func take(_ mark: Unicode.Scalar) -> Bool {
    skipSpace()
    guard current == UInt8(ascii: mark) else { return false }
    position += 1
    return true
  }

  private func missing(_ what: String) -> ExtendedJSONError {
    ExtendedJSONError(.noJSON(missing: what, offset: position))
  }
}
