import RealmStorage

/// The keys of the index of the history. A key has a field that filters may use, and a value that an object had there
/// before a change or has after it.
///
/// A value is represented by a code: bytes that have the order of the values. Different values may have the same code,
/// so a lookup may find too much, but never too little.
struct RouteKey {
  /// The bytes with which the keys of all values of the field begin.
  private let start: [UInt8]

  /// - Parameter table: the id of the table in the server's file.
  init(kind: UInt8, table: UInt32, field: String) {
    var start = [kind]
    start.appendHighestFirst(table)
    start.appendHighestFirst(UInt32(field.utf8.count))
    self.start = start + field.utf8
  }

  func key(_ code: [UInt8], _ version: UInt64) -> [UInt8] {
    var key = start + code
    key.appendHighestFirst(version)
    return key
  }

  /// The bytes with which the keys of a code begin, or those of all codes that begin with it.
  func start(_ code: [UInt8]) -> [UInt8] { start + code }

  /// The code and the version in a key; nil for a key of another field.
  func split(_ key: [UInt8]) -> (code: ArraySlice<UInt8>, version: UInt64)? {
    guard key.count >= start.count + 8, key.starts(with: start) else { return nil }
    return (key[start.count..<key.count - 8], key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  // MARK: - Codes of values

  private enum Kind {
    static let null: UInt8 = 0
    static let bool: UInt8 = 1
    static let number: UInt8 = 2
    static let date: UInt8 = 3
    static let text: UInt8 = 4
    static let data: UInt8 = 5
    static let objectID: UInt8 = 6
    static let uuid: UInt8 = 7
    static let other: UInt8 = 8
  }

  /// The greatest number of bytes of a text or of data that a code contains.
  private static let mostBytes = 32

  static func code(_ value: Value) -> [UInt8] {
    switch value {
    case .null: return [Kind.null]
    case .bool(let flag): return [Kind.bool, flag ? 1 : 0]
    case .int(let number): return code(Double(number))
    case .float(let number): return code(Double(number))
    case .double(let number): return code(number)
    case .decimal128(let number): return code(Double(DecimalNumber(number).text) ?? 0)
    case .date(let date):
      var code = [Kind.date]
      code.appendHighestFirst(UInt64(bitPattern: date.seconds) ^ 1 << 63)
      return code
    case .string(let text): return code(Kind.text, text.utf8, isWhole: true)
    case .data(let data): return code(Kind.data, data, isWhole: true)
    case .objectID(let id): return [Kind.objectID] + id.bytes
    case .uuid(let id): return [Kind.uuid] + id.bytes
    default: return [Kind.other]
    }
  }

  /// The bytes with which the codes of all texts begin that have a prefix.
  static func code(prefix: String) -> [UInt8] { code(Kind.text, prefix.utf8, isWhole: false) }

  private static func code(_ number: Double) -> [UInt8] {
    var code = [Kind.number]
    let bits = (number == 0 ? 0 : number).bitPattern
    code.appendHighestFirst(bits >> 63 == 0 ? bits ^ 1 << 63 : ~bits)
    return code
  }

  /// Each zero is followed by the byte 0xff, so that the end of the code, which is a zero and a one, comes before all
  /// codes of longer texts that begin with this one. If bytes were left out, the end is a zero and a two.
  private static func code(_ kind: UInt8, _ bytes: some Collection<UInt8>, isWhole: Bool) -> [UInt8] {
    var code = [kind]
    for byte in bytes.prefix(mostBytes) {
      code.append(byte)
      if byte == 0 { code.append(0xff) }
    }
    if isWhole { code += bytes.count <= mostBytes ? [0, 1] : [0, 2] }
    return code
  }
}
