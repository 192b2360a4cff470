import RealmStorage
import RealmTestSupport

/// Random tables and predicates. All values come from small sets, so that conditions often hold.
struct QuerySample {
  var generator: SeededGenerator

  static let letters = ["a", "B", "b", "A", "é", "É", "×", "÷", "z", "\0", "漢", "*", "?", "ß", "Ã"]
  /// Letters that some options fold to those above, or to each other.
  static let otherLetters = [
    "e", "E", "e\u{301}", "\u{301}", "á", "Á", "\u{212b}", "ẞ", "\u{17f}", "s", "\u{212a}", "k", "Σ", "σ",
    "ς", "İ", "ı", "i",
    "각", "\u{1100}\u{1161}\u{11a8}", "\u{1d165}", "\u{1d16d}",
  ]

  // MARK: - Tables

  mutating func columns(target: UInt32) -> [Column] {
    var columns: [Column] = []
    for type in ColumnType.allCases where type != .link {
      for form in 0..<4 where generator.chance(40) {
        let isOptional = form & 1 != 0
        let collection =
          form & 2 == 0 ? .none : [ColumnCollection.list, .list, .set, .map][generator.below(4)]
        let isIndexed = collection == .none && type.canHave(.plain) && generator.chance(40)
        columns.append(
          Column(
            "\(type) \(form)", type, isOptional: isOptional, collection: collection,
            index: isIndexed ? .plain : .none))
      }
    }
    columns.append(Column("other", .link, target: target))
    columns.append(Column("others", .link, collection: .list, target: target))
    columns.append(Column("friend", .link))
    columns.append(Column("friends", .link, collection: .list))
    columns.append(Column("set of friends", .link, collection: .set))
    columns.append(Column("map of friends", .link, collection: .map))
    if generator.chance(50) { columns.append(Column("id", .int64, index: .unique)) }
    return columns.shuffled(using: &generator)
  }

  mutating func value(_ column: Column, linking keys: [UInt64], row: Int) -> Value {
    if column.index == .unique { return .int(Int64(row * 3)) }
    guard column.isCollection else { return element(column, keys) }
    let elements: [Value] = (0..<generator.below(4)).compactMap { _ in
      let element = element(column, keys)
      return element == .null && !column.isOptional ? nil : element
    }
    switch column.collection {
    case .set: return .set(elements)
    case .map:
      return .map(ValueMap(Dictionary(uniqueKeysWithValues: elements.enumerated().map { ("\($0)", $1) })))
    default: return .list(elements)
    }
  }

  private mutating func element(_ column: Column, _ keys: [UInt64]) -> Value {
    if column.isOptional, generator.chance(20) { return .null }
    if column.type == .link { return keys.isEmpty ? .null : .link(keys[generator.below(keys.count)]) }
    return column.type == .int64 ? .int(integer(column)) : value(column.type)
  }

  /// A random number that takes at most 64, 8, 16 or 32 bits, depending on the last character of the column's name.
  private mutating func integer(_ column: Column) -> Int64 {
    let small = generator.below(12)
    switch column.name.last {
    case "1": return Int64([-128, 127, 0, 1, 2, 3][small % 6])
    case "2": return Int64(small < 2 ? [-32768, 32767][small] : small * 30)
    case "3": return Int64(small < 2 ? [Int32.min, .max][small] : Int32(small))
    default: return [Int64.min, .max, .max - 1, 1 << 53, 1 << 53 + 1, 0, 1, 2, 3, -1, -2, -3][small]
    }
  }

  mutating func value(_ type: ColumnType) -> Value {
    let small = generator.below(12)
    switch type {
    case .bool: return .bool(small < 6)
    case .int64: return .int(integer(Column("\(small % 4)", .int64)))
    case .float:
      return .float([Float.nan, -0.0, 0, 1.5, -1.5, .infinity, -.infinity, 0.1, 3, 2, 1, 16_777_216][small])
    case .double:
      return .double(
        [Double.nan, -0.0, 0, 1.5, -1.5, .infinity, -.infinity, 0.1, 0x1p53, 0x1p63, -0x1p63, 2][small])
    case .string: return .string(text())
    case .data: return .data(data())
    case .date:
      return .date(
        Timestamp(
          seconds: small == 0 ? .max : small == 1 ? .min : Int64(small),
          nanoseconds: generator.chance(50) ? 0 : Int32(generator.below(3))))
    case .objectID: return .objectID(ObjectIDBytes(Array(repeating: UInt8(small), count: 12)))
    case .uuid: return .uuid(SixteenBytes(Array(repeating: UInt8(small) * 20, count: 16)))
    case .decimal128: return .decimal128(decimal(small))
    case .link: return .null
    // Decimals are left out because a decimal may equal two doubles that differ. A sort of both has no unique result.
    case .mixed:
      return value([.bool, .int64, .float, .double, .string, .data, .date, .uuid][generator.below(8)])
    }
  }

  private mutating func decimal(_ small: Int) -> SixteenBytes {
    var word: UInt128
    switch small {
    case 0: word = 0x1f << 122
    case 1: word = 0x1e << 122
    case 2: word = 3 << 125
    default:
      let digits = UInt128(generator.below(30)) * [1, 10, 1_000_000_000_000_000_000_000][small % 3]
      word = digits | UInt128(6176 - 2 + generator.below(4)) << 113
    }
    if generator.chance(30) { word |= 1 << 127 }
    return SixteenBytes((0..<16).map { UInt8(truncatingIfNeeded: word >> UInt128(8 * $0)) })
  }

  private mutating func text() -> String {
    if generator.chance(1) { return String(repeating: "long ", count: 1000) + "aB" }
    if generator.chance(1) { return String(repeating: "i", count: 245 + generator.below(6)) + "b" }
    let letters = generator.chance(70) ? Self.letters : Self.letters + Self.otherLetters
    return (0..<generator.below(4)).map { _ in letters[generator.below(letters.count)] }.joined()
  }

  private mutating func data() -> [UInt8] {
    if generator.chance(1) { return [UInt8](repeating: 9, count: 5000) + [1, 2] }
    return (0..<generator.below(4)).map { _ in [0, 1, 0x41, 0x61, 0xc3, 0x85, 0xa5, 0x97][generator.below(8)]
    }
  }

  // MARK: - Predicates

  mutating func path(_ table: UInt32, _ model: QueryModel, isMany: Bool) -> ColumnPath {
    var (path, table) = (ColumnPath(0), table)
    for _ in 0..<[0, 0, 0, 0, 1, 1, 2].randomElement(using: &generator)! {
      let columns = model.tables[table]!.schema.columns
      let links = columns.indices.filter {
        columns[$0].type == .link && (isMany || !columns[$0].isCollection)
      }
      guard let link = links.randomElement(using: &generator) else { break }
      path.links.append(link)
      table = columns[link].target
    }
    let columns = model.tables[table]!.schema.columns
    path.column = columns.indices.filter { isMany || !columns[$0].isCollection }.randomElement(
      using: &generator)!
    return path
  }

  mutating func predicate(_ table: UInt32, _ model: QueryModel, depth: Int = 3) -> Predicate {
    switch generator.below(depth == 0 ? 8 : 14) {
    case 8, 9: return .and((0..<generator.below(4)).map { _ in predicate(table, model, depth: depth - 1) })
    case 10, 11: return .or((0..<generator.below(4)).map { _ in predicate(table, model, depth: depth - 1) })
    case 12: return .not(predicate(table, model, depth: depth - 1))
    case 13: return generator.chance(50) ? .always : .never
    default: return condition(table, model)
    }
  }

  private mutating func condition(_ table: UInt32, _ model: QueryModel) -> Predicate {
    if generator.chance(40) { return relation(table, model) }
    let path = path(table, model, isMany: true)
    let column = model.column(path, table)
    if column.isCollection, generator.chance(20) {
      return .count(path, Comparison.allCases.randomElement(using: &generator)!, generator.below(4))
    }
    if [.string, .data, .mixed].contains(column.type), generator.chance(60) {
      let match = TextMatch.allCases.randomElement(using: &generator)!
      let options = TextOptions(rawValue: generator.chance(30) ? 0 : UInt8(generator.below(8)))
      return .text(path, match, constant(column, model), options: options)
    }
    switch generator.below(6) {
    case 0: return .isIn(path, (0..<generator.below(12)).map { _ in constant(column, model) })
    case 1: return .between(path, constant(column, model), constant(column, model))
    default:
      return .compare(path, Comparison.allCases.randomElement(using: &generator)!, constant(column, model))
    }
  }

  mutating func constant(_ column: Column, _ model: QueryModel) -> Value {
    if generator.chance(10) { return .null }
    if column.type == .link {
      return model.tables[column.target]?.keys.randomElement(using: &generator).map { .link($0) } ?? .null
    }
    let numbers: [ColumnType] = [.int64, .float, .double, .decimal128]
    if numbers.contains(column.type) || column.type == .mixed, generator.chance(40) {
      return value(numbers.randomElement(using: &generator)!)
    }
    if generator.chance(4) { return value(ColumnType.allCases.randomElement(using: &generator)!) }
    return value(column.type)
  }
}
