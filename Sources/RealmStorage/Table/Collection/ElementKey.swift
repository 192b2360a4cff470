/// The key of an entry in the tree of a set or map. The order of the bytes is the order of the elements of sets and of
/// the keys of maps (FORMAT.md, "Trees of sets and maps").
///
/// The key of a set's entry is one byte with the rank of the element's type in sorts, and the element. The key of a
/// map's entry is the UTF-8 of the map's key. If a string, data or map key has more than 1000 bytes, the key of the
/// entry is cut: it has the first 1000 bytes and then an ordinal in 4 bytes, the highest first. Ordinals number the
/// entries that have the same 1000 bytes, in the order of the remaining bytes. So the length of a key says whether it
/// is cut.
struct ElementKey {
  /// The greatest number of bytes of a string, data or map key that the key of an entry has.
  static let maximumContent = 1000
  static let ordinalLength = 4

  /// The key in the tree, without the ordinal if it is cut.
  private(set) var bytes: [UInt8] = []
  /// The bytes that the key has no room for; nil if it is complete.
  private(set) var rest: ArraySlice<UInt8>?

  /// The key of a map's entry.
  init(mapKey: String) {
    append(mapKey)
  }

  /// The key of a set's entry.
  ///
  /// - Precondition: a set of the column may hold the element.
  init(_ element: Value, of column: Column) {
    switch element {
    case .string(let text):
      bytes.reserveCapacity(1 + min(text.utf8.count, Self.maximumContent))
      bytes.append(ValueOrder.Rank.string)
      append(text)
    case .data(let data):
      bytes.append(ValueOrder.Rank.data)
      append(data[...])
    default:
      bytes.reserveCapacity(32)
      bytes.append(ValueOrder.rank(element))
      appendFixed(element, of: column)
    }
  }

  private mutating func append(_ text: String) {
    guard text.utf8.count > Self.maximumContent else { return bytes.append(utf8: text) }
    append(Array(text.utf8)[...])
  }

  private mutating func append(_ content: ArraySlice<UInt8>) {
    bytes += content.prefix(Self.maximumContent)
    if content.count > Self.maximumContent { rest = content.dropFirst(Self.maximumContent) }
  }

  private mutating func appendFixed(_ element: Value, of column: Column) {
    switch element {
    case .bool(let flag): bytes.append(flag ? 1 : 0)
    case .int(let number) where column.type == .int64: appendOrdered(number)
    case .int, .float, .double, .decimal128: appendNumber(element, of: column)
    case .date(let date):
      appendOrdered(date.seconds)
      bytes.appendHighestFirst(date.nanoseconds)
    case .objectID(let id):
      bytes.appendHighestFirst(id.high)
      bytes.appendHighestFirst(id.low)
    case .uuid(let id):
      bytes.appendHighestFirst(id.high)
      bytes.appendHighestFirst(id.low)
    case .link(let row): bytes.appendHighestFirst(row)
    case .typedLink(let table, let row):
      bytes.appendHighestFirst(table)
      bytes.appendHighestFirst(row)
    case .null, .string, .data, .list, .map: break
    }
  }

  private mutating func appendOrdered(_ number: Int64) { bytes.appendHighestFirst(number ^ Int64.min) }
}

// MARK: - Numbers

extension ElementKey {
  /// The byte that follows the nearest double of a number, in a column of mixed values or decimals. It says whether the
  /// number is less than, equal to or greater than the value of that double. If it is not equal, the digits of the
  /// number follow.
  private enum Side {
    static let less: UInt8 = 0
    static let equal: UInt8 = 1
    static let greater: UInt8 = 2
  }

  /// Whether the keys of numbers do not say which type and form the numbers have, so that the value of the entry has
  /// the element.
  static func mayBeUntold(_ column: Column) -> Bool { column.type == .mixed || column.type == .decimal128 }

  private mutating func appendNumber(_ element: Value, of column: Column) {
    let nearest: Double
    switch element {
    case .int(let number): nearest = Double(number)
    case .float(let number): nearest = Double(number)
    case .double(let number): nearest = number
    case .decimal128(let stored): nearest = Self.nearest(DecimalNumber(stored))
    default: return
    }
    guard !nearest.isNaN else { return }
    let bits = (nearest == 0 ? 0 : nearest).bitPattern
    bytes.appendHighestFirst(bits >> 63 == 0 ? bits | 1 << 63 : ~bits)
    guard Self.mayBeUntold(column) else { return }
    switch element {
    case .float, .double: bytes.append(Side.equal)
    default:
      let order = ValueOrder.compare(element, .double(nearest)) ?? 0
      guard order != 0, let number = DecimalNumber(element) else { return bytes.append(Side.equal) }
      bytes.append(order < 0 ? Side.less : Side.greater)
      appendDigits(number)
    }
  }

  /// The double that is nearest to a number. A text names exactly one number, and reading it rounds to the nearest
  /// double.
  private static func nearest(_ number: DecimalNumber) -> Double {
    if number.isNaN { return .nan }
    if let nearest = Double(number.text) { return nearest }
    // The number is beyond all doubles, or between zero and the least double.
    let magnitude = number.exponent > 0 ? Double.infinity : 0
    return number.isNegative ? -magnitude : magnitude
  }

  /// Appends 16 bytes, the highest first: the exponent and, in the last 113 bits, a coefficient of 34 digits. For a
  /// negative number all bits are inverted.
  ///
  /// - Precondition: the number is neither zero nor infinite.
  private mutating func appendDigits(_ number: DecimalNumber) {
    let missing = max(0, DecimalNumber.digits - WideNumber.digitCount(number.coefficient))
    let coefficient = number.coefficient * DecimalNumber.powers[missing]
    // The least exponent of a coefficient that has 34 digits counts as zero.
    let exponent = UInt64(clamping: number.exponent - missing + DecimalNumber.bias + DecimalNumber.digits - 1)
    let digits = UInt128(exponent) << 113 | coefficient
    let ordered = number.isNegative ? ~digits : digits
    bytes.appendHighestFirst(UInt64(truncatingIfNeeded: ordered >> 64))
    bytes.appendHighestFirst(UInt64(truncatingIfNeeded: ordered))
  }
}

// MARK: - Reading

extension ElementKey {
  /// Whether a key in a tree is cut; nil for a key that is too long for a complete one and does not have the length of
  /// a cut one.
  static func isCut(_ key: [UInt8], of column: Column) -> Bool? {
    let complete = maximumContent + (column.collection == .map ? 0 : 1)
    if key.count <= complete { return false }
    return key.count == complete + ordinalLength ? true : nil
  }

  /// The element of a set's entry without a value, which the key alone identifies; nil if the key identifies no
  /// element.
  ///
  /// If several numbers are equal, it is the positive zero or the plain NaN.
  static func element(_ key: [UInt8], of column: Column) -> Value? {
    guard let rank = key.first else { return nil }
    let content = key.span.bytes.extracting(droppingFirst: 1)
    return switch (rank, content.byteCount) {
    case (ValueOrder.Rank.null, 0): .null
    case (ValueOrder.Rank.bool, 1): key[1] <= 1 ? .bool(key[1] == 1) : nil
    case (ValueOrder.Rank.nan, 0): number(.nan, of: column)
    case (ValueOrder.Rank.number, 8):
      column.type == .int64
        ? .int(integer(content.number(at: 0, count: 8)))
        : double(content).flatMap { number($0, of: column) }
    case (ValueOrder.Rank.string, _): String(validating: key[1...], as: UTF8.self).map { .string($0) }
    case (ValueOrder.Rank.data, _): .data(Array(key[1...]))
    case (ValueOrder.Rank.date, 12): date(content)
    case (ValueOrder.Rank.objectID, 12): .objectID(ObjectIDBytes(Array(key[1...])))
    case (ValueOrder.Rank.uuid, 16): .uuid(SixteenBytes(Array(key[1...])))
    case (ValueOrder.Rank.link, 8): .link(content.number(at: 0, count: 8))
    case (ValueOrder.Rank.link, 12):
      .typedLink(
        table: UInt32(truncatingIfNeeded: content.number(at: 0, count: 4)),
        row: content.number(at: 4, count: 8))
    default: nil
    }
  }

  private static func integer(_ ordered: UInt64) -> Int64 { Int64(bitPattern: ordered) ^ Int64.min }

  private static func double(_ content: RawSpan) -> Double? {
    let ordered = content.number(at: 0, count: 8)
    let number = Double(bitPattern: ordered >> 63 == 1 ? ordered ^ 1 << 63 : ~ordered)
    // No key without a value stands for these numbers.
    return number.isNaN || (number == 0 && number.sign == .minus) ? nil : number
  }

  private static func number(_ number: Double, of column: Column) -> Value? {
    switch column.type {
    case .double: .double(number)
    case .float: number.isNaN ? .float(.nan) : Float(exactly: number).map { .float($0) }
    default: nil
    }
  }

  private static func date(_ content: RawSpan) -> Value? {
    let nanoseconds = content.number(at: 8, count: 4)
    guard nanoseconds < 1_000_000_000 else { return nil }
    return .date(
      Timestamp(seconds: integer(content.number(at: 0, count: 8)), nanoseconds: Int32(nanoseconds)))
  }
}
