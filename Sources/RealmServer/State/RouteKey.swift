import RealmStorage

/// Where changes of objects stand in the index of the history: by a field that filters may use, and the value that an object had there before a change or has after it.
///
/// Values are told by bytes that have their order. Values that are different may share them: who looks for one finds too much, never too little.
struct RouteKey {
  /// Of all values of the field.
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

  /// Where the keys of a code begin, or of all that begin with one.
  func start(_ code: [UInt8]) -> [UInt8] { start + code }

  /// The code in a key and its version; nil of a key of another field.
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

  /// So many bytes of a text or of data are told.
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

  /// The code that those of all texts which begin with one begin with.
  static func code(prefix: String) -> [UInt8] { code(Kind.text, prefix.utf8, isWhole: false) }

  private static func code(_ number: Double) -> [UInt8] {
    var code = [Kind.number]
    let bits = (number == 0 ? 0 : number).bitPattern
    code.appendHighestFirst(bits >> 63 == 0 ? bits ^ 1 << 63 : ~bits)
    return code
  }

  /// Zeros are followed by another byte, so that the end, which is a zero and a one, has its place before all that is longer. Where bytes are left out, the end is a zero and a two.
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
