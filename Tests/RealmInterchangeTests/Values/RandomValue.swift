import RealmInterchange
import RealmStorage
import RealmTestSupport

/// Random values of each type, often at the ends of the type's range.
struct RandomValue {
  /// The rows to which links of mixed values may lead.
  var targets: [(table: UInt32, row: UInt64)] = []

  /// A value of a column that holds no links.
  func value(of column: Column, _ generator: inout SeededGenerator) -> Value {
    guard column.isCollection else { return one(column, &generator) }
    let elements = (0..<generator.below(5)).map { _ in one(column, &generator) }
    switch column.collection {
    case .set: return .set(elements.filter { $0.elements == nil })
    case .map: return .map(map(of: elements, &generator))
    default: return .list(elements)
    }
  }

  private func one(_ column: Column, _ generator: inout SeededGenerator) -> Value {
    if column.isOptional, generator.chance(20) { return .null }
    return column.type == .mixed ? mixed(3, &generator) : Self.single(column.type, &generator)
  }

  func map(of elements: [Value], _ generator: inout SeededGenerator) -> ValueMap {
    let names = ["$int", "$map", "$link", "$object", "$date", "", "a", "$primaryKey"]
    return ValueMap(
      entries: elements.map { element in
        (key: generator.chance(40) ? names[generator.below(names.count)] : generator.text(5), value: element)
      })
  }

  /// A value of any type, which may contain lists and maps.
  func mixed(_ levels: Int, _ generator: inout SeededGenerator) -> Value {
    if generator.chance(10) { return .null }
    if levels > 0, generator.chance(30) {
      let elements = (0..<generator.below(4)).map { _ in mixed(levels - 1, &generator) }
      return generator.chance(50) ? .list(elements) : .map(map(of: elements, &generator))
    }
    if !targets.isEmpty, generator.chance(30) {
      let (table, row) = targets[generator.below(targets.count)]
      return .typedLink(table: table, row: row)
    }
    let types = ColumnType.allCases.filter { $0 != .link && $0 != .mixed }
    return Self.single(types[generator.below(types.count)], &generator)
  }

  /// A value of a type other than links and mixed values.
  static func single(_ type: ColumnType, _ generator: inout SeededGenerator) -> Value {
    switch type {
    case .bool: .bool(generator.chance(50))
    case .int64: .int(integer(&generator))
    case .float: .float(float(&generator))
    case .double: .double(double(&generator))
    case .string: .string(generator.text(12))
    case .data: .data(generator.bytes(generator.below(20)))
    case .date: .date(date(&generator))
    case .objectID: .objectID(ObjectIDBytes(generator.bytes(12)))
    case .uuid: .uuid(SixteenBytes(generator.bytes(16)))
    case .decimal128: .decimal128(decimal(&generator))
    case .link, .mixed: .null
    }
  }

  private static func integer(_ generator: inout SeededGenerator) -> Int64 {
    let border = Int64(1) << 53
    let special = [0, -1, border - 1, border, border + 1, -border, -border - 1, .max, .min]
    return generator.chance(40)
      ? special[generator.below(special.count)]
      : Int64(bitPattern: generator.next()) >> Int64(generator.below(64))
  }

  private static func float(_ generator: inout SeededGenerator) -> Float {
    let special: [Float] = [
      0, -0.0, .infinity, -.infinity, .nan, .signalingNaN, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
      0.1, 1, 16_777_216, Float(bitPattern: 0xffc0_1234), Float(bitPattern: 0x7f80_0001),
    ]
    return generator.chance(40)
      ? special[generator.below(special.count)]
      : Float(bitPattern: UInt32(truncatingIfNeeded: generator.next()))
  }

  private static func double(_ generator: inout SeededGenerator) -> Double {
    let special: [Double] = [
      0, -0.0, .infinity, -.infinity, .nan, .signalingNaN, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
      0.1, 1, 1e16, 1e-5, 0x1p53, Double(bitPattern: 0xfff8_0000_0000_1234),
      Double(bitPattern: 0x7ff0_0000_0000_0001),
    ]
    return generator.chance(40)
      ? special[generator.below(special.count)] : Double(bitPattern: generator.next())
  }

  private static func date(_ generator: inout SeededGenerator) -> Timestamp {
    // The years 0 to 9999 have a text, and other years have none.
    let special: [Int64] = [
      0, -1, 1, .min, .max, -62_167_219_200, -62_167_219_201, 253_402_300_799, 253_402_300_800,
    ]
    let seconds =
      generator.chance(40)
      ? special[generator.below(special.count)]
      : Int64(bitPattern: generator.next()) >> Int64(generator.below(64))
    let nanoseconds = [0, 0, 1, 999_999_999, Int32(generator.below(1_000_000_000))]
    return Timestamp(seconds: seconds, nanoseconds: nanoseconds[generator.below(nanoseconds.count)])
  }

  /// Numbers as they are usually encoded, and bytes that are not a number or encode one in an unusual way.
  private static func decimal(_ generator: inout SeededGenerator) -> SixteenBytes {
    let texts = [
      "0", "-0", "0E+10", "1", "1.0", "1.50", "-1E-6176", "9999999999999999999999999999999999E+6111",
      "0.000001", "1E-7", "1E+34", "NaN", "Infinity", "-Infinity", "12345678901234567890123456789012.34",
    ]
    switch generator.below(4) {
    case 0: return SixteenBytes(generator.bytes(16))
    case 1:
      let bytes: [UInt8] = [0, 0xff, 0x7c, 0xfc, 0x78, 0xf8, 0x60, 0x6c]
      var number = [UInt8](repeating: generator.chance(50) ? 0 : 0xff, count: 16)
      number[15] = bytes[generator.below(bytes.count)]
      return SixteenBytes(number)
    default:
      let text = texts[generator.below(texts.count)]
      return DecimalNumber(parsingExactly: text)?.stored ?? SixteenBytes(high: 0, low: 0)
    }
  }
}
