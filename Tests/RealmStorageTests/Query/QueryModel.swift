import RealmStorage
import RealmTestSupport

/// Tables as plain values, and the plainest implementation of predicates, sorts and aggregates on them.
struct QueryModel {
  struct Rows {
    var schema: TableSchema
    var values: [UInt64: [Value]] = [:]

    init(_ table: Table) throws {
      schema = table.schema
      var values: [UInt64: [Value]] = [:]
      try table.forEach { key, row in
        values[key] = row
        return true
      }
      self.values = values
    }

    var keys: [UInt64] { values.keys.sorted() }
  }

  var tables: [UInt32: Rows] = [:]

  init(_ tables: [Table]) throws {
    for table in tables { self.tables[table.schema.id] = try Rows(table) }
  }

  // MARK: - Values a path leads to

  /// The values that a path leads to.
  struct Reached {
    var values: [Value] = []
    var isMany = false
    /// True if a link before the end is null and no list comes before it.
    var isBroken = false
  }

  func reached(_ path: ColumnPath, _ table: UInt32, _ key: UInt64, countsLists: Bool = false) -> Reached {
    var (table, keys, reached) = (table, [key], Reached())
    for link in path.links {
      let rows = tables[table]!
      var next: [UInt64] = []
      for key in keys {
        switch rows.values[key]![link] {
        case .link(let target): next.append(target)
        case let value where value.elements != nil:
          for case .link(let target) in value.elements ?? [] { next.append(target) }
        default: if !reached.isMany { reached.isBroken = true }
        }
      }
      if rows.schema.columns[link].isCollection { reached.isMany = true }
      keys = next
      table = rows.schema.columns[link].target
    }
    let rows = tables[table]!
    for key in keys {
      let value = rows.values[key]![path.column]
      if let elements = value.elements, !countsLists {
        reached.values += elements
      } else {
        reached.values.append(value)
      }
    }
    if rows.schema.columns[path.column].isCollection, !countsLists { reached.isMany = true }
    return reached
  }

  func column(_ path: ColumnPath, _ table: UInt32) -> Column {
    var table = table
    for link in path.links { table = tables[table]!.schema.columns[link].target }
    return tables[table]!.schema.columns[path.column]
  }

  /// The value that sorts use, or nil if a link on the way is null.
  func single(_ path: ColumnPath, _ table: UInt32, _ key: UInt64) -> Value? {
    reached(path, table, key).values.first
  }

  // MARK: - Predicates

  func holds(_ predicate: Predicate, _ table: UInt32, _ key: UInt64) -> Bool {
    switch predicate {
    case .always: true
    case .never: false
    case .and(let parts): parts.allSatisfy { holds($0, table, key) }
    case .or(let parts): parts.contains { holds($0, table, key) }
    case .not(let parts): !parts.allSatisfy { holds($0, table, key) }
    case .compare(let path, let comparison, let value):
      any(path, table, key) { Self.compare($0, comparison, value, isDirect(path, table)) }
    case .isIn(let path, let values):
      any(path, table, key) { found in values.contains { Self.compare(found, .equal, $0, false) } }
    case .between(let path, let low, let high):
      any(path, table, key) {
        Self.compare($0, .greaterOrEqual, low, isDirect(path, table))
          && Self.compare($0, .lessOrEqual, high, isDirect(path, table))
      }
    case .text(let path, let match, let value, let options):
      any(path, table, key) { PlainText.matches($0, match, value, options) }
    case .relation(let relation): holds(relation, table, key)
    case .count(let path, let comparison, let number) where !column(path, table).isCollection:
      // The column is not a collection, so the count is the number of bytes of its value, or of its links.
      holds(
        Relation(
          .init(.path(ValuePath(path.links.map { .links($0) }, .property(.count, of: .value(path.column))))),
          .compare(comparison), .init(.constant(.int(Int64(number))))), table, key)
    case .count(let path, let comparison, let number):
      counts(path, table, key).contains {
        Self.compare(.int(Int64($0)), comparison, .int(Int64(number)), false)
      }
    }
  }

  private func counts(_ path: ColumnPath, _ table: UInt32, _ key: UInt64) -> [Int] {
    let reached = reached(path, table, key, countsLists: true)
    if reached.isBroken, !reached.isMany { return column(path, table).type == .link ? [] : [0] }
    return reached.values.map { $0.elements?.count ?? -1 }
  }

  private func isDirect(_ path: ColumnPath, _ table: UInt32) -> Bool {
    path.links.isEmpty && !column(path, table).isCollection && column(path, table).type == .string
  }

  private func any(_ path: ColumnPath, _ table: UInt32, _ key: UInt64, _ test: (Value) -> Bool) -> Bool {
    let reached = reached(path, table, key)
    let isMany =
      reached.isMany
      || path.links.indices.contains { step in
        column(ColumnPath(links: Array(path.links[..<step]), column: path.links[step]), table).isCollection
      }
    if reached.isBroken, !isMany { return test(.null) }
    return reached.values.contains(where: test)
  }

  static func compare(_ left: Value, _ comparison: Comparison, _ right: Value, _ isDirect: Bool) -> Bool {
    var order: Int?
    switch (left, right) {
    case (.null, .null): return [.equal, .lessOrEqual, .greaterOrEqual].contains(comparison)
    case (.null, .string) where isDirect: order = -1
    case (.string, .null) where isDirect: order = 1
    default: order = Self.order(left, right)
    }
    switch comparison {
    case .equal: return order == 0
    case .notEqual: return order != 0
    case .less: return order == -1
    case .greater: return order == 1
    case .lessOrEqual: return order == -1 || order == 0
    case .greaterOrEqual: return order == 1 || order == 0
    }
  }

  /// -1, 0 or 1; nil if the values have no order.
  static func order(_ left: Value, _ right: Value) -> Int? {
    func order<Item: Comparable>(_ left: Item, _ right: Item) -> Int {
      left < right ? -1 : left > right ? 1 : 0
    }
    func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
      left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
    }
    if case .int(let left) = left, case .int(let right) = right { return order(left, right) }
    if let left = PlainNumber(left), let right = PlainNumber(right) { return left.order(right) }
    switch (left, right) {
    case (.bool(let left), .bool(let right)): return order(left ? 1 : 0, right ? 1 : 0)
    case (.string(let left), .string(let right)): return order(Array(left.utf8), Array(right.utf8))
    case (.data(let left), .data(let right)): return order(left, right)
    case (.date(let left), .date(let right)):
      return order(
        Int128(left.seconds) * 1_000_000_000 + Int128(left.nanoseconds),
        Int128(right.seconds) * 1_000_000_000 + Int128(right.nanoseconds))
    case (.objectID(let left), .objectID(let right)): return order(left.bytes, right.bytes)
    case (.uuid(let left), .uuid(let right)): return order(left.bytes, right.bytes)
    case (.link(let left), .link(let right)): return left == right ? 0 : nil
    default: return nil
    }
  }

  // MARK: - Sorts

  func sorted(_ rows: [UInt64], _ table: UInt32, _ keys: [SortKey]) -> [UInt64] {
    let tuples = rows.map { row in keys.map { single($0.path, table, row) } }
    return rows.indices.sorted { left, right in
      for (index, key) in keys.enumerated() {
        let order = Self.sortOrder(reaching: tuples[left][index], tuples[right][index])
        if order != 0 { return (order < 0) == key.ascending }
      }
      return left < right
    }.map { rows[$0] }
  }

  func distinct(_ rows: [UInt64], _ table: UInt32, _ paths: [ColumnPath]) -> [UInt64] {
    var first: [(row: UInt64, tuple: [Value])] = []
    for row in rows {
      let tuple = paths.map { single($0, table, row) ?? .null }
      let isNew = !first.contains { other in
        zip(other.tuple, tuple).allSatisfy { $0 == $1 || Self.sortOrder($0, $1) == 0 }
      }
      if isNew { first.append((row, tuple)) }
    }
    return first.map(\.row)
  }

  /// Rows with a null link on the path come after all values.
  private static func sortOrder(reaching left: Value?, _ right: Value?) -> Int {
    guard let left, let right else { return (left == nil ? 1 : 0) - (right == nil ? 1 : 0) }
    return sortOrder(left, right)
  }

  static func sortOrder(_ left: Value, _ right: Value) -> Int {
    func place(_ value: Value) -> Int {
      switch value {
      case .null: 0
      case .bool: 1
      case .string: 4
      case .data: 5
      case .date: 6
      case .objectID: 7
      case .uuid: 8
      case .link, .typedLink: 9
      case .int: 3
      default: PlainNumber(value)?.isNaN == true ? 2 : 3
      }
    }
    if place(left) != place(right) { return place(left) - place(right) }
    if case .link(let left) = left, case .link(let right) = right {
      return left < right ? -1 : left > right ? 1 : 0
    }
    return order(left, right) ?? 0
  }
}
