import RealmTestSupport
import Testing

@testable import RealmStorage

/// The bytes of an encoded value determine its end, so that the values of several columns can stand one after another
/// in an entry.
@Suite struct EncodedValueTests {
  /// Bytes whose length is near the limit for indexes. There are few kinds of bytes, so that many values begin alike.
  private static func bytes(_ generator: inout SeededGenerator, zeros: Bool, last: UInt8) -> [UInt8] {
    let length = generator.chance(50) ? 243 + generator.below(10) : generator.below(4)
    var bytes = [UInt8](repeating: 0x61, count: length)
    for _ in 0..<generator.below(4) where length > 0 {
      let place = generator.chance(70) ? max(0, length - 1 - generator.below(6)) : generator.below(length)
      bytes[place] = zeros && generator.chance(60) ? 0 : last
    }
    return bytes
  }

  private static func value(_ type: ColumnType, _ generator: inout SeededGenerator) -> Value {
    switch type {
    case .bool: .bool(generator.chance(50))
    case .int64: .int(Int64(generator.below(3)) - 1)
    case .date: .date(Timestamp(seconds: Int64(generator.below(2)), nanoseconds: Int32(generator.below(2))))
    case .objectID:
      .objectID(ObjectIDBytes(high: UInt64(generator.below(2)), low: UInt32(generator.below(2))))
    case .uuid: .uuid(SixteenBytes(high: 0, low: UInt64(generator.below(2))))
    case .data: .data(bytes(&generator, zeros: true, last: 0xff))
    case .double: .double([0, -1, .nan, .infinity][generator.below(4)])
    case .string: .string(String(decoding: bytes(&generator, zeros: true, last: 0x7f), as: UTF8.self))
    case .mixed:
      generator.chance(10)
        ? .list([])
        : value([.bool, .int64, .date, .data, .string, .double, .uuid][generator.below(7)], &generator)
    default: .null
    }
  }

  @Test(arguments: [ColumnType.bool, .int64, .date, .objectID, .uuid, .string, .mixed], [false, true])
  func `no encoded value is the beginning of another one`(type: ColumnType, isOptional: Bool) throws {
    var generator = SeededGenerator(seed: 5)
    let column = Column("x", type, isOptional: isOptional)
    var all: Set<[UInt8]> = []
    for _ in 0..<3000 {
      let isNull = column.isOptional && generator.chance(5)
      all.insert(IndexKey.encode(isNull ? .null : Self.value(type, &generator), of: column))
    }
    // A value that begins with another value would follow it directly in the order.
    let inOrder = all.sorted { $0.lexicographicallyPrecedes($1) }
    for (value, next) in zip(inOrder, inOrder.dropFirst()) {
      #expect(!next.starts(with: value), "\(value) and \(next)")
    }
    for value in inOrder {
      let entry = value + inOrder[generator.below(inOrder.count)]
      #expect(IndexKey.valueLength(entry.span.bytes, of: column) == value.count)
    }
    #expect(all.allSatisfy { $0.count <= 1 + 1 + 249 })
    if type == .string { #expect(all.contains { $0.count >= 249 } && all.count > 100) }
  }
}
