/// An entry of the tree of a set or map.
struct SortedEntry: Equatable {
  /// The key of a map's entry; nil for a set.
  var key: String?
  /// The element of a set, or the value of the key.
  var value: Value
}

/// The coding of the values of entries, which are stored beside the keys (FORMAT.md, "Trees of sets and maps").
///
/// The value of a set's entry is empty if the key identifies the element exactly. Otherwise it has the bytes that a cut
/// key has no room for, or the number in the form of `ValueCoding`. The value of a map's entry has the bytes that a cut
/// key has no room for, after their count, and then the element. A null element takes no bytes.
enum EntryCoding {
  // MARK: - Writing

  /// The value of a set's entry.
  static func value(of element: Value, _ key: ElementKey, _ column: Column) -> [UInt8] {
    if let rest = key.rest { return Array(rest) }
    guard !isTold(element, key, column) else { return [] }
    var bytes: [UInt8] = []
    append(element, of: column, to: &bytes)
    return bytes
  }

  /// Whether the key identifies the element exactly.
  static func isTold(_ element: Value, _ key: ElementKey, _ column: Column) -> Bool {
    switch element {
    case .int: column.type == .int64
    case .float, .double: column.type != .mixed && ElementKey.element(key.bytes, of: column) == element
    case .decimal128: false
    default: true
    }
  }

  /// The value of a map's entry.
  static func value(_ value: Value, of key: ElementKey, _ column: Column) -> [UInt8] {
    var bytes: [UInt8] = []
    if let rest = key.rest {
      bytes.appendVarint(UInt64(rest.count))
      bytes += rest
    }
    if case .null = value { return bytes }
    append(value, of: column, to: &bytes)
    return bytes
  }

  /// Appends an element that is not null, in the form that it also has in a cell.
  static func append(_ element: Value, of column: Column, to bytes: inout [UInt8]) {
    if column.type == .mixed {
      ValueCoding.appendMixed(element, to: &bytes)
    } else {
      ValueCoding.append(element, to: &bytes)
    }
  }

  // MARK: - Reading

  /// Reads an entry. Returns nil for bytes that are no entry of a set or map of the column.
  static func entry(_ key: [UInt8], _ value: [UInt8], of column: Column) -> SortedEntry? {
    guard let isCut = ElementKey.isCut(key, of: column) else { return nil }
    guard column.collection == .map else {
      let element = isCut ? cutElement(key, value) : element(key, value, column)
      guard let element, accepts(element, column) else { return nil }
      return SortedEntry(key: nil, value: element)
    }
    guard let read = mapValue(value, isCut: isCut, column) else { return nil }
    let bytes = isCut ? key[..<ElementKey.maximumContent] + read.rest : key[...]
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    return SortedEntry(key: text, value: read.value)
  }

  private static func element(_ key: [UInt8], _ value: [UInt8], _ column: Column) -> Value? {
    guard !value.isEmpty else { return ElementKey.element(key, of: column) }
    var reader = ByteReader(value)
    guard let element = ValueCoding.value(column.type, &reader), reader.isAtEnd else { return nil }
    let rank = ValueOrder.rank(element)
    guard rank == key.first, rank == ValueOrder.Rank.number || rank == ValueOrder.Rank.nan else { return nil }
    // For a column of mixed values or decimals, it takes longer to make the key again than to check whether the
    // elements ascend, so readers of the whole set do the latter.
    let isKey = ElementKey.mayBeUntold(column) || ElementKey(element, of: column).bytes == key
    return isKey ? element : nil
  }

  private static func cutElement(_ key: [UInt8], _ rest: [UInt8]) -> Value? {
    guard !rest.isEmpty else { return nil }
    let content = key[1...ElementKey.maximumContent] + rest
    return switch key[0] {
    case ValueOrder.Rank.string: String(validating: content, as: UTF8.self).map { .string($0) }
    case ValueOrder.Rank.data: .data(Array(content))
    default: nil
    }
  }

  /// The value of a map's entry, and the remaining bytes of its key, which are stored before it; nil for bytes that are
  /// no such value.
  static func mapValue(
    _ bytes: [UInt8], isCut: Bool, _ column: Column
  ) -> (rest: ArraySlice<UInt8>, value: Value)? {
    var reader = ByteReader(bytes)
    var rest: ArraySlice<UInt8> = []
    if isCut {
      guard let counted = reader.counted(), !counted.isEmpty else { return nil }
      rest = counted
    }
    guard !reader.isAtEnd else { return column.isOptional ? (rest, .null) : nil }
    guard let value = ValueCoding.value(column.type, &reader), reader.isAtEnd else { return nil }
    // A null value takes no bytes, so bytes that encode null are damage.
    if case .null = value { return nil }
    return accepts(value, column) ? (rest, value) : nil
  }

  /// A string that is the value of a map's entry, read without a copy of the bytes; nil for any other value, and for
  /// strings of more than 127 bytes.
  static func text(_ bytes: RawSpan, _ column: Column) -> String? {
    guard column.type == .string, (1...128).contains(bytes.byteCount),
      bytes.number(at: 0, count: 1) == UInt64(bytes.byteCount - 1)
    else { return nil }
    return TextMaker().text(bytes.extracting(droppingFirst: 1))
  }

  private static func accepts(_ element: Value, _ column: Column) -> Bool {
    if case .null = element { return column.isOptional }
    return column.type.accepts(element)
  }

  /// The bytes that a cut key has no room for; nil for bytes that are no value of an entry with a cut key.
  static func rest(_ value: [UInt8], of column: Column) -> ArraySlice<UInt8>? {
    guard column.collection == .map else { return value[...] }
    var reader = ByteReader(value)
    return reader.counted()
  }
}
