/// The stored form of values that have parts: lists, sets, maps and mixed values. A column of varying size stores them
/// (FORMAT.md, "Collections" and "Mixed values").
///
/// A collection has these parts in order: the number of elements; if elements may be null, one bit for each element,
/// the lowest first, which is set if the element is null; the keys of a map; and the elements that are not null, in the
/// form of `ValueCoding`.
enum CompositeCell {
  /// The bytes of a value; nil for null.
  static func encode(_ value: Value, of column: Column) -> [UInt8]? {
    var bytes: [UInt8] = []
    switch (column.collection, value) {
    case (.none, .null): return nil
    case (.none, _): ValueCoding.appendMixed(value, to: &bytes)
    case (_, .list(let elements, _)):
      append(column.holdsRuns ? steps(of: elements) : elements, of: column, keys: [], to: &bytes)
    case (_, .map(let map, _)): append(map.values, of: column, keys: map.keys, to: &bytes)
    default: return nil
    }
    return bytes
  }

  private static func append(
    _ elements: [Value], of column: Column, keys: [String], to bytes: inout [UInt8]
  ) {
    bytes.appendVarint(UInt64(elements.count))
    if column.isOptional {
      var bits = [UInt8](repeating: 0, count: (elements.count + 7) / 8)
      for (index, element) in elements.enumerated() where element == .null {
        bits[index / 8] |= 1 << UInt8(index % 8)
      }
      bytes += bits
    }
    for key in keys { ValueCoding.append(key, to: &bytes) }
    for element in elements where element != .null {
      if column.type == .mixed {
        ValueCoding.appendMixed(element, to: &bytes)
      } else {
        ValueCoding.append(element, to: &bytes)
      }
    }
  }

  /// Replaces each whole number by its difference from one more than the whole number before it; nulls are passed over.
  /// In a run each difference is 0, which takes one byte.
  private static func steps(of numbers: [Value]) -> [Value] {
    var next: Int64 = 0
    return numbers.map { value in
      guard case .int(let number) = value else { return value }
      defer { next = number &+ 1 }
      return .int(number &- next)
    }
  }

  /// The inverse of `steps`.
  private static func numbers(of steps: [Value]) -> [Value] {
    var next: Int64 = 0
    return steps.map { value in
      guard case .int(let step) = value else { return value }
      let number = next &+ step
      next = number &+ 1
      return .int(number)
    }
  }

  /// The value that the bytes stand for; nil if they are no value of the column.
  static func decode(_ bytes: [UInt8], of column: Column) -> Value? {
    var reader = ByteReader(bytes)
    let value = column.isCollection ? collection(of: column, &reader) : ValueCoding.mixed(&reader)
    guard let value, reader.isAtEnd else { return nil }
    // Elements that were read with the type of the column fit it. The order of a set and the depth of mixed
    // values have to be checked.
    let isAccepted = column.isCollection && column.collection != .set && column.type != .mixed
    return isAccepted || column.accepts(value) ? value : nil
  }

  private static func collection(of column: Column, _ reader: inout ByteReader) -> Value? {
    // Each element takes at least one byte, or one bit if it is null. Each key takes at least one byte.
    let areBits = column.isOptional && column.collection != .map
    guard let count = reader.varint(), count <= UInt64(reader.count) * (areBits ? 8 : 1) else { return nil }
    var bits: [UInt8] = []
    if column.isOptional {
      guard let found = reader.bytes((Int(count) + 7) / 8) else { return nil }
      bits = Array(found)
    }
    var keys: [String] = []
    if column.collection == .map {
      for _ in 0..<count {
        guard let key = reader.text() else { return nil }
        keys.append(key)
      }
    }
    var elements: [Value] = []
    elements.reserveCapacity(min(Int(count), reader.count))
    for index in 0..<Int(count) {
      if !bits.isEmpty, bits[index / 8] & (1 << UInt8(index % 8)) != 0 {
        elements.append(.null)
      } else {
        guard let element = ValueCoding.value(column.type, &reader) else { return nil }
        elements.append(element)
      }
    }
    guard column.collection == .map else { return .list(column.holdsRuns ? numbers(of: elements) : elements) }
    return ValueMap(ascending: keys, elements).map { .map($0) }
  }
}
