/// Parses JSON exactly by RFC 8259: a byte order mark, comments, a comma behind the last element and half a surrogate
/// pair are errors.
///
/// The parser is written by hand, because `JSONSerialization` makes the same number of 1 and 1.0, loses digits of great
/// numbers, and gives no places.
package struct JSONParser {
  private let bytes: [UInt8]
  private let mostLevels: Int
  private let allowsRepeatedNames: Bool
  private let mostValues: Int
  private var position = 0
  private var values = 0

  private init(
    _ bytes: [UInt8], mostLevels: Int, allowsRepeatedNames: Bool = false, mostValues: Int = 1 << 22
  ) {
    self.bytes = bytes
    self.mostLevels = mostLevels
    self.allowsRepeatedNames = allowsRepeatedNames
    self.mostValues = mostValues
  }

  /// Parses a text that is one value.
  ///
  /// - Parameters:
  ///   - mostLevels: the deepest allowed nesting of objects and arrays.
  ///   - allowsRepeatedNames: whether two members of an object may have the same name.
  ///   - mostValues: the most values that the text may have. Each takes about 100 bytes of memory.
  package static func value(
    of bytes: [UInt8], mostLevels: Int = 500, allowsRepeatedNames: Bool = false, mostValues: Int = 1 << 22
  ) throws(JSONSyntaxError) -> JSONNode {
    var parser = JSONParser(
      bytes, mostLevels: mostLevels, allowsRepeatedNames: allowsRepeatedNames, mostValues: mostValues)
    let value = try parser.value(level: 0)
    parser.skipSpace()
    guard parser.position == parser.bytes.count else { throw parser.missing("the end of the text") }
    return value
  }

  /// Parses the value at the start of a text. `length` is the number of its bytes, including the blanks before it.
  package static func prefix(
    of bytes: [UInt8], mostLevels: Int = 500
  ) throws(JSONSyntaxError) -> (value: JSONNode, length: Int) {
    var parser = JSONParser(bytes, mostLevels: mostLevels)
    let value = try parser.value(level: 0)
    return (value, parser.position)
  }

  /// Parses a value.
  ///
  /// - Parameter level: the number of objects and arrays around it.
  private mutating func value(level: Int) throws(JSONSyntaxError) -> JSONNode {
    skipSpace()
    guard let first = current else { throw missing("a value") }
    values += 1
    guard values <= mostValues else {
      throw JSONSyntaxError(
        missing: "a text of at most \(mostValues) values", offset: position, isRefused: true)
    }
    let offset = position
    let content: JSONNode.Content =
      switch first {
      case UInt8(ascii: "{"): .object(try object(level: level + 1))
      case UInt8(ascii: "["): .array(try array(level: level + 1))
      case UInt8(ascii: "\""): .string(try string())
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): .number(try number())
      default: try word()
      }
    return JSONNode(content: content, offset: offset)
  }

  private mutating func word() throws(JSONSyntaxError) -> JSONNode.Content {
    let words: [(String, JSONNode.Content)] = [
      ("null", .null), ("true", .bool(true)), ("false", .bool(false)),
    ]
    for (text, value) in words where bytes[position...].starts(with: text.utf8) {
      position += text.utf8.count
      return value
    }
    throw missing("a value")
  }

  // MARK: - Objects and arrays

  private mutating func enter(_ level: Int) throws(JSONSyntaxError) {
    guard level <= mostLevels else {
      throw JSONSyntaxError(
        missing: "a value of at most \(mostLevels) levels", offset: position, isRefused: true)
    }
    position += 1
  }

  private mutating func object(level: Int) throws(JSONSyntaxError) -> [JSONMember] {
    try enter(level)
    var members: [JSONMember] = []
    // The names of up to 16 members are compared one by one, because that costs less than a set of names.
    var names: Set<[UInt8]> = []
    if take("}") { return members }
    repeat {
      skipSpace()
      guard current == UInt8(ascii: "\"") else { throw missing("a name in quotation marks") }
      let start = position
      let name = try string()
      if !allowsRepeatedNames {
        if members.count == 16 { names = Set(members.map { Array($0.name.utf8) }) }
        let isNew =
          members.count < 16
          ? !members.contains { $0.name.utf8.elementsEqual(name.utf8) }
          : names.insert(Array(name.utf8)).inserted
        guard isNew else {
          throw JSONSyntaxError(missing: "a name that no member before has", offset: start, isRefused: true)
        }
      }
      guard take(":") else { throw missing("a colon behind the name") }
      members.append(JSONMember(name: name, value: try value(level: level)))
    } while take(",")
    guard take("}") else { throw missing("a comma or a closing brace") }
    return members
  }

  private mutating func array(level: Int) throws(JSONSyntaxError) -> [JSONNode] {
    try enter(level)
    var elements: [JSONNode] = []
    if take("]") { return elements }
    repeat {
      elements.append(try value(level: level))
    } while take(",")
    guard take("]") else { throw missing("a comma or a closing bracket") }
    return elements
  }

  // MARK: - Numbers

  private mutating func number() throws(JSONSyntaxError) -> String {
    let start = position
    if current == UInt8(ascii: "-") { position += 1 }
    // No digit can follow a zero at the start of a number.
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

  private mutating func digits() throws(JSONSyntaxError) {
    let start = position
    while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw missing("a digit") }
  }

  // MARK: - Texts

  private mutating func string() throws(JSONSyntaxError) -> String {
    let start = position
    position += 1
    var units: [UInt8] = []
    var run = position
    var isASCII = true
    while let byte = current, byte != UInt8(ascii: "\"") {
      switch byte {
      case 0x80...:
        isASCII = false
        position += 1
      case UInt8(ascii: "\\"):
        isASCII = false
        units.append(contentsOf: bytes[run..<position])
        let scalar = try escape()
        units.append(contentsOf: String(Character(scalar)).utf8)
        run = position
      case 0..<0x20: throw missing("an escape instead of a control character")
      default: position += 1
      }
    }
    guard current != nil else { throw missing("a quotation mark behind the text") }
    if isASCII {
      position += 1
      return String(decoding: bytes[run..<(position - 1)], as: UTF8.self)
    }
    units.append(contentsOf: bytes[run..<position])
    guard let text = String(validating: units, as: UTF8.self) else {
      throw JSONSyntaxError(missing: "a text in UTF-8", offset: start)
    }
    position += 1
    return text
  }

  private mutating func escape() throws(JSONSyntaxError) -> Unicode.Scalar {
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

  private mutating func escapedScalar() throws(JSONSyntaxError) -> Unicode.Scalar {
    let first = try codeUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    // The unit is half of a surrogate pair. Only a first half and a second half together are a character.
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

  private mutating func codeUnit() throws(JSONSyntaxError) -> UInt32 {
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

  private func missing(_ what: String) -> JSONSyntaxError {
    JSONSyntaxError(missing: what, offset: position)
  }
}
