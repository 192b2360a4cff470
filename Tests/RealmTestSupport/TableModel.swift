import RealmStorage

/// The expected content of a table, kept in memory, and random changes of both table and model.
package struct TableModel: Equatable, Sendable {
  package static let name = "Things"
  package var rows: [UInt64: [String: Value]] = [:]
  /// Whether `change` also adds, drops and alters columns.
  var changesSchema: Bool
  /// The number of columns that were added to the table. Each added column has a name of its own.
  var addedColumns = 0
  /// The id of the table, which mixed values use to link to its rows.
  private var tableID: UInt32 = 1

  /// Whether changes keep primary keys as they are.
  private let keepsKeys: Bool

  package init(changesSchema: Bool = false, keepsKeys: Bool = false) {
    self.changesSchema = changesSchema
    self.keepsKeys = keepsKeys
  }

  // MARK: - Columns

  /// A column of each kind.
  package static let everything: [Column] =
    ColumnType.allCases.filter { $0 != .link }.flatMap { type in
      [
        Column("\(type)", type), Column("optional \(type)", type, isOptional: true),
      ]
        + [ColumnCollection.list, .set, .map].map { collection in
          let isOptional = (type.rawValue + collection.rawValue) % 2 == 0
          return Column("\(collection) of \(type)", type, isOptional: isOptional, collection: collection)
        } + (type.canHave(.plain) ? [Column("indexed \(type)", type, isOptional: true, index: .plain)] : [])
    } + few.dropFirst() + [Column("id", .string, isOptional: true, index: .unique)]

  package static let few = [
    Column("id", .int64, index: .unique), Column("name", .string, index: .plain),
    Column("friend", .link), Column("friends", .link, collection: .list), Column("score", .double),
    Column("note", .string, isOptional: true), Column("city", .string, index: .plain),
    Column("tag", .data, isOptional: true), Column("any", .mixed), Column("teams", .link, collection: .set),
    Column("roles", .link, collection: .map),
  ]

  /// The few columns and one column of each type, for tests that would take too long with `everything`.
  package static let ofEachType =
    few
    + ColumnType.allCases.filter { $0 != .link }.map { type in
      Column("\(type)", type, isOptional: type.rawValue % 2 == 0)
    } + [
      Column("list of dates", .date, isOptional: true, collection: .list),
      Column("set of numbers", .int64, isOptional: true, collection: .set),
      Column("map of texts", .string, collection: .map), Column("map of anything", .mixed, collection: .map),
    ]

  /// The names of columns whose cells have one of a few values, with rare exceptions.
  private static let repeating: Set<String> = ["city", "tag", "string", "optional data"]

  package func row(_ schema: TableSchema, _ generator: inout SeededGenerator) -> [String: Value] {
    var row: [String: Value] = [:]
    for column in schema.properties where !generator.chance(5) {
      row[column.name] = value(column, &generator)
    }
    return row
  }

  /// The row with the values that the engine gives to cells without a value.
  private func completed(_ row: [String: Value], _ schema: TableSchema) -> [String: Value] {
    var row = row
    for column in schema.properties where row[column.name] == nil { row[column.name] = Self.empty(column) }
    return row
  }

  /// The value of a cell that was never given one.
  static func empty(_ column: Column) -> Value {
    switch column.collection {
    case .none: break
    case .list, .set: return .list([])
    case .map: return .map(ValueMap())
    }
    if column.isOptional { return .null }
    if let value = column.storedDefault { return value }
    switch column.type {
    case .bool: return .bool(false)
    case .int64: return .int(0)
    case .float: return .float(0)
    case .double: return .double(0)
    case .string: return .string("")
    case .data: return .data([])
    case .date: return .date(Timestamp(seconds: 0))
    case .objectID: return .objectID(ObjectIDBytes([UInt8](repeating: 0, count: 12)))
    case .uuid: return .uuid(SixteenBytes([UInt8](repeating: 0, count: 16)))
    case .decimal128: return .decimal128(SixteenBytes([UInt8](repeating: 0, count: 16)))
    case .link, .mixed: return .null
    }
  }

  func value(_ column: Column, _ generator: inout SeededGenerator) -> Value {
    if Self.repeating.contains(column.name), !generator.chance(8) { return oneOfFew(column, &generator) }
    guard column.isCollection else { return element(column, &generator) }
    let count = generator.below(500) == 0 ? 1200 : generator.below(5)
    let elements: [Value] = (0..<count).compactMap { _ in
      let element = element(column, &generator)
      return element == .null && !column.isOptional ? nil : element
    }
    switch column.collection {
    case .set: return .set(elements.filter { $0.elements == nil })
    case .map: return .map(map(of: elements, &generator))
    default: return .list(elements)
    }
  }

  private func map(of elements: [Value], _ generator: inout SeededGenerator) -> ValueMap {
    ValueMap(Dictionary(elements.map { ("\(generator.below(2000))é\0", $0) }) { first, _ in first })
  }

  /// A value of any type, now and then a nested one.
  func mixed(_ generator: inout SeededGenerator, levels: Int = 4) -> Value {
    let types = ColumnType.allCases.filter { $0 != .mixed }
    let type = types[generator.below(types.count)]
    if levels > 0, generator.chance(15) {
      let elements = (0..<generator.below(4)).map { _ in mixed(&generator, levels: levels - 1) }
      return generator.chance(50) ? .list(elements) : .map(map(of: elements, &generator))
    }
    let element = element(Column("", type), &generator)
    if case .link(let row) = element { return .typedLink(table: tableID, row: row) }
    return element
  }

  /// One of a few values, and now and then another one. So some values have no code, and some clusters have many
  /// different values.
  private func oneOfFew(_ column: Column, _ generator: inout SeededGenerator) -> Value {
    if column.isOptional, generator.chance(30) { return .null }
    if generator.chance(2) { return column.type == .string ? .string(longText) : .data(Array(longText.utf8)) }
    let choice = generator.below(rows.count % 40 < 10 ? 1000 : 4)
    return column.type == .string ? .string("one of few: \(choice)") : .data(Array("\(choice)".utf8))
  }

  /// A text that stands apart from its piece and has no code.
  private var longText: String { String(repeating: "long ", count: 1000) }

  package func element(_ column: Column, _ generator: inout SeededGenerator) -> Value {
    if column.isOptional, generator.chance(30) { return .null }
    switch column.type {
    case .bool: return .bool(generator.chance(50))
    case .int64:
      if generator.chance(20) { return .int([Int64.min, .max, 0, -1][generator.below(4)]) }
      // The numbers need every width to which columns are packed.
      let width = generator.below(16) == 0 ? 1 + generator.below(62) : 13
      return .int(Int64(truncatingIfNeeded: UInt64.random(in: 0..<1 << UInt64(width), using: &generator)))
    case .float: return .float(generator.chance(10) ? -0.0 : Float(generator.below(1000)) / 7)
    case .double: return .double(generator.chance(10) ? .infinity : Double(generator.below(1000)) / 7)
    case .string:
      let text = text(&generator)
      return .string(column.index == .unique ? text + "\(generator.below(5000))" : text)
    case .data:
      if generator.chance(1) { return .data([UInt8](repeating: 9, count: 4097 + generator.below(100_000))) }
      return .data(generator.bytes(generator.below(60)))
    case .date:
      let nanoseconds = generator.chance(50) ? 0 : Int32(generator.below(1_000_000_000))
      return .date(Timestamp(seconds: Int64(generator.below(1_000_000)) - 500_000, nanoseconds: nanoseconds))
    case .objectID: return .objectID(ObjectIDBytes(generator.bytes(12)))
    case .uuid: return .uuid(SixteenBytes(generator.bytes(16)))
    case .decimal128: return .decimal128(SixteenBytes(generator.bytes(16)))
    case .link: return victim(&generator).map { .link($0) } ?? .null
    case .mixed: return mixed(&generator)
    }
  }

  private func text(_ generator: inout SeededGenerator) -> String {
    switch generator.below(100) {
    case 0: return longText
    // An index holds only the beginning of these texts.
    case 1..<4: return String(repeating: "i", count: 245 + generator.below(6)) + "\(generator.below(3))"
    case 4: return "with\0zero"
    default: return String(repeating: "é", count: generator.below(40))
    }
  }

  package func victim(_ generator: inout SeededGenerator) -> UInt64? {
    rows.isEmpty ? nil : rows.keys.sorted()[generator.below(rows.count)]
  }

  // MARK: - Changes

  /// Makes one random change. Returns a description of the first error, or nil.
  package mutating func change(_ table: WritableTable, _ generator: inout SeededGenerator) throws -> String? {
    tableID = table.schema.id
    switch generator.below(100) {
    case 0..<60: return try insert(table, &generator)
    case 60..<84:
      guard let victim = victim(&generator) else { return nil }
      let columns = table.schema.properties
      let column = columns[generator.below(columns.count)]
      if keepsKeys, column.index == .unique { return nil }
      let value = value(column, &generator)
      if column.index == .unique, owner(of: value, column) ?? victim != victim {
        return Self.isRefused { _ = try table.set(value, column.name, ofRow: victim) }
          ? nil : "two rows have one key"
      }
      guard try table.set(value, column.name, ofRow: victim) else { return "no row \(victim)" }
      rows[victim]?[column.name] = value
    case 84: return try changeNested(table, &generator)
    case 85: return try changeSorted(table, &generator)
    case 86..<88: return try changeList(table, &generator)
    case 88..<94:
      guard let victim = victim(&generator) else { return nil }
      guard try table.remove(victim) else { return "no row \(victim)" }
      remove([victim], table.schema)
    case 94..<97: return try removeSome(table, &generator)
    case 97:
      guard changesSchema, generator.chance(50) else { return nil }
      return try changeSchema(table, &generator)
    default:
      guard generator.chance(10) else { return nil }
      try table.removeAll()
      rows = [:]
    }
    return nil
  }

  package mutating func insert(_ table: WritableTable, _ generator: inout SeededGenerator) throws -> String? {
    let row = completed(row(table.schema, &generator), table.schema)
    if let key = table.schema.primaryKey, let value = row[key.name], owner(of: value, key) != nil {
      return Self.isRefused { _ = try table.insert(row) } ? nil : "two rows have one key"
    }
    let key = try table.insert(row)
    guard rows[key] == nil else { return "key \(key) is given again" }
    rows[key] = row
    return nil
  }

  private func owner(of value: Value, _ column: Column) -> UInt64? {
    rows.first { $0.value[column.name] == value }?.key
  }

  private static func isRefused(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch {
      if case .duplicateKey = error as? StorageError { return true }
      return false
    }
  }

  /// Removes several rows at once: a few, or a certain share. The keys are in descending order, one key comes twice,
  /// and one does not exist.
  private mutating func removeSome(
    _ table: WritableTable, _ generator: inout SeededGenerator
  ) throws -> String? {
    let isFew = generator.chance(50)
    let oneIn = isFew ? max(2, rows.count / 4) : 2 + generator.below(8)
    let victims = rows.keys.sorted().filter { _ in generator.below(oneIn) == 0 }
    let asked = [UInt64(1) << 40] + victims.reversed() + victims.prefix(1)
    let removed = try table.remove(asked)
    guard removed == victims.count else { return "\(removed) rows removed, not \(victims.count)" }
    remove(Set(victims), table.schema)
    return nil
  }

  package mutating func remove(_ victims: Set<UInt64>, _ schema: TableSchema) {
    for victim in victims { rows[victim] = nil }
    let columns = schema.columns.filter { $0.type == .link || $0.type == .mixed }
    for (key, row) in rows {
      for column in columns {
        if let value = row[column.name], let rest = without(victims, value, column) {
          rows[key]?[column.name] = rest
        }
      }
    }
  }

  /// The value after the removal of some rows, or nil if the value has no links to them. Links to removed rows become
  /// null. In lists and sets of links, and in all sets, such elements are removed.
  private func without(_ victims: Set<UInt64>, _ value: Value, _ column: Column) -> Value? {
    switch value {
    case .link(let row), .typedLink(tableID, let row): return victims.contains(row) ? .null : nil
    case .list(let elements, _):
      let rest = elements.map { without(victims, $0, column) }
      guard rest.contains(where: { $0 != nil }) else { return nil }
      if column.type == .link || column.collection == .set {
        return .list(zip(elements, rest).filter { $1 == nil }.map(\.0))
      }
      return .list(zip(elements, rest).map { $1 ?? $0 })
    case .map(let map, _):
      let rest = map.values.map { without(victims, $0, column) }
      guard rest.contains(where: { $0 != nil }) else { return nil }
      return .map(
        ValueMap(Dictionary(uniqueKeysWithValues: zip(map.keys, zip(map.values, rest).map { $1 ?? $0 }))))
    default: return nil
    }
  }

  /// The number of links to a row in a value.
  private func linkCount(_ value: Value?, to key: UInt64) -> Int {
    switch value {
    case .link(key), .typedLink(tableID, key): 1
    case .list(let elements, _): elements.reduce(0) { $0 + linkCount($1, to: key) }
    case .map(let map, _): map.values.reduce(0) { $0 + linkCount($1, to: key) }
    default: 0
    }
  }

  // MARK: - Comparison

  /// The first difference between the table with its indexes and links and the model, or nil.
  package func difference(to table: Table, _ generator: inout SeededGenerator) throws -> String? {
    guard table.count == rows.count else { return "\(table.count) rows, not \(rows.count)" }
    var (keys, found): ([UInt64], String?) = ([], nil)
    try table.forEach { key, values in
      keys.append(key)
      for (column, value) in zip(table.schema.columns, values) where rows[key]?[column.name] != value {
        found = "\(column.name) of row \(key) is \(value)"
      }
      return found == nil
    }
    guard found == nil, keys == rows.keys.sorted() else { return found ?? "other keys" }
    if let wrong = try groupDifference(table, keys) { return wrong }
    if let wrong = try countDifference(table, &generator) { return wrong }
    for (position, key) in keys.enumerated() where generator.below(keys.count) < 30 {
      guard try table.key(at: position) == key, try table.rank(of: key) == position, try table.contains(key)
      else { return "row \(key) is not at \(position)" }
      if let wrong = try indexDifference(table, key) { return wrong }
      if let wrong = try linkDifference(table, key) { return wrong }
      if let wrong = try listDifference(table, key, &generator) { return wrong }
      if let wrong = try sortedDifference(table, key, &generator) { return wrong }
    }
    return nil
  }

  private func indexDifference(_ table: Table, _ key: UInt64) throws -> String? {
    guard let row = rows[key] else { return nil }
    for column in table.schema.columns where column.index != .none {
      guard let value = row[column.name] else { continue }
      let expected = rows.filter { row in
        // In a mixed column numbers of different types may be equal.
        guard column.type == .mixed else { return row.value[column.name] == value }
        return row.value[column.name].map { ValueOrder.areEqual($0, value) } ?? false
      }.keys.sorted()
      guard try table.rows(with: value, in: column) == expected,
        try table.count(with: value, in: column) == expected.count
      else { return "the index of \(column.name) does not find \(value)" }
      if column.index == .unique {
        guard try table.row(withPrimaryKey: value) == key else { return "key \(value) is not found" }
        if case .int(let number) = value, !column.isOptional {
          let found = try table.withRow(primaryKey: number) { (group, row) throws(StorageError) in
            try group.key(row)
          }
          guard found == key else { return "key \(value) is not found" }
        }
      }
    }
    return nil
  }

  /// Compares the same rows, read in the groups in which they are stored.
  private func groupDifference(_ table: Table, _ keys: [UInt64]) throws -> String? {
    var (next, found) = (0, String?.none)
    try table.forEachGroup { (group) throws(StorageError) in
      for (index, column) in table.schema.columns.enumerated() where !column.isCollection && found == nil {
        switch column.type {
        case .bool, .int64, .link:
          let values = try group.integers(index)
          for row in 0..<group.count {
            let expected = rows[keys[next + row]]?[column.name] ?? .null
            if values.isNull(row) ? expected != .null : Self.integer(expected) != values[row] {
              found = column.name
            }
          }
        case .double:
          let values = try group.doubles(index)
          for row in 0..<group.count {
            let expected = rows[keys[next + row]]?[column.name] ?? .null
            if values.isNull(row) ? expected != .null : expected != .double(values[row]) {
              found = column.name
            }
          }
        case .string, .data:
          var row = 0
          while row < group.count {
            let values = try group.texts(index, from: row)
            while row < values.rows.upperBound {
              let expected = rows[keys[next + row]]?[column.name] ?? .null
              let bytes = try Self.bytes(values, row)
              if values.isLong(row) {
                if try group.value(index, row) != expected { found = column.name }
              } else if values.isNull(row) ? expected != .null : Self.bytes(expected) != bytes {
                found = column.name
              }
              row += 1
            }
          }
        default: break
        }
      }
      for row in 0..<group.count where try group.key(row) != keys[next + row] { found = "keys of a group" }
      next += group.count
      return true
    }
    return found.map { "\($0), read by groups" } ?? (next == keys.count ? nil : "groups lack rows")
  }

  private static func integer(_ value: Value) -> Int64? {
    switch value {
    case .bool(let flag): flag ? 1 : 0
    case .int(let number): number
    case .link(let row): Int64(row)
    default: nil
    }
  }

  private static func bytes(_ value: Value) -> [UInt8]? {
    switch value {
    case .string(let text): Array(text.utf8)
    case .data(let bytes): bytes
    default: nil
    }
  }

  private static func bytes(_ column: TextColumn, _ row: Int) throws(StorageError) -> [UInt8] {
    try column.bytes(row).withUnsafeBytes { Array($0) }
  }

  private func countDifference(_ table: Table, _ generator: inout SeededGenerator) throws -> String? {
    for (index, column) in table.schema.columns.enumerated() where !column.isCollection {
      switch column.type {
      case .bool, .int64, .link: break
      default: continue
      }
      let numbers = rows.values.compactMap { $0[column.name].flatMap(Self.integer) }
      let some = [numbers.randomElement(using: &generator) ?? 0, Int64(generator.below(1000)), .min, .max]
      let (left, right) = (some[generator.below(4)], some[generator.below(4)])
      let range = min(left, right)...max(left, right)
      guard try table.count(index, in: range) == numbers.count(where: range.contains) else {
        return "\(column.name): another count in \(range)"
      }
    }
    return nil
  }

  private func linkDifference(_ table: Table, _ key: UInt64) throws -> String? {
    for column in table.schema.columns where column.type == .link || column.type == .mixed {
      let expected = rows.sorted(by: { $0.key < $1.key }).flatMap { source, row in
        Array(repeating: source, count: linkCount(row[column.name], to: key))
      }
      let found = try table.sources(of: key, column: column, of: table.schema).flatMap {
        [UInt64](repeating: $0.row, count: $0.count)
      }
      guard found == expected else {
        return "\(column.name): other sources of row \(key)"
      }
    }
    return nil
  }

  package func addTo(_ hash: inout Fingerprint) {
    for (key, row) in rows.sorted(by: { $0.key < $1.key }) {
      hash.add(key)
      for (_, value) in row.sorted(by: { $0.key < $1.key }) { hash.add(value) }
    }
  }

  package static func add(_ table: Table, to hash: inout Fingerprint) throws {
    let order = table.schema.columns.indices.sorted {
      table.schema.columns[$0].name < table.schema.columns[$1].name
    }
    try table.forEach { key, values in
      hash.add(key)
      for index in order { hash.add(values[index]) }
      return true
    }
  }
}
