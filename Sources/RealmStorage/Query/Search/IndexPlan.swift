/// The parts of a predicate that indexes can answer. All parts must hold, and the index of each part finds its rows.
struct IndexPlan {
  struct Part {
    enum Sought {
      /// The rows with one of these values. Each value is listed once.
      case values([Value])
      case span(IndexSpan)
      /// The rows for which at least one of these plans holds. Each plan is answered by an index.
      case either([IndexPlan])
    }

    /// The column whose index finds the rows; for several plans, the column of the first one.
    let column: Column
    let sought: Sought

    var span: IndexSpan? { if case .span(let span) = sought { span } else { nil } }

    /// Whether the index finds exactly the rows for which the part holds.
    var isExact: Bool {
      switch sought {
      case .values: true
      case .span(let span): span.isExact
      // Only one part of a plan is looked up, so that a plan with several parts may find too many rows.
      case .either(let plans): plans.allSatisfy { $0.only != nil }
      }
    }

    /// The names of the columns whose indexes may find the rows, for an explanation.
    var name: String {
      guard case .either(let plans) = sought else { return column.name }
      var names: [String] = []
      for plan in plans {
        for part in plan.parts where !names.contains(part.column.name) { names.append(part.column.name) }
      }
      return names.joined(separator: " or ")
    }
  }

  /// The parts, in the order of the predicate.
  let parts: [Part]
  /// Whether there are parts and they say all that the predicate says.
  let isWhole: Bool

  /// - Parameter isInner: whether the predicate is one of several alternatives. Alternatives inside it are then not
  ///   answered by indexes.
  init(_ predicate: Predicate, _ schema: TableSchema, isInner: Bool = false) {
    var (found, rest, isWhole): ([Part], [Predicate], Bool) = ([], [predicate], true)
    while let next = rest.popLast() {
      if case .and(let parts) = next {
        rest += parts.reversed()
      } else if !isInner, let part = Self.either(next, schema) {
        found.append(part)
      } else if let part = Self.part(next, schema) {
        // Two spans of the same column become one span.
        if case .span(let span) = part.sought,
          let place = found.firstIndex(where: { $0.column.id == part.column.id && $0.span != nil }),
          let other = found[place].span
        {
          found[place] = Part(column: part.column, sought: .span(other.common(with: span)))
        } else {
          found.append(part)
        }
      } else {
        isWhole = false
      }
    }
    parts = found
    self.isWhole = isWhole && !found.isEmpty
  }

  /// The only part, if it answers the whole predicate exactly; otherwise nil.
  var only: Part? { parts.count == 1 && isWhole && parts[0].isExact ? parts[0] : nil }

  /// The part `only`, if the number of its index entries is the number of rows; otherwise nil. Of several alternatives
  /// more than one may hold for a row, so their entries can't be counted.
  var onlyCounted: Part? {
    if case .either? = only?.sought { nil } else { only }
  }

  // MARK: - Parts

  /// The part for alternatives of which at least one must hold; nil if indexes do not answer each of them.
  private static func either(_ predicate: Predicate, _ schema: TableSchema) -> Part? {
    guard case .or = predicate else { return nil }
    var (plans, rest): ([IndexPlan], [Predicate]) = ([], [predicate])
    while let next = rest.popLast() {
      switch next {
      case .or(let parts): rest += parts.reversed()
      case .never: break
      default:
        let plan = IndexPlan(next, schema, isInner: true)
        if plan.parts.isEmpty { return nil }
        plans.append(plan)
      }
    }
    return plans.first.map { Part(column: $0.parts[0].column, sought: .either(plans)) }
  }

  /// The part for one condition; nil if no index answers it. The column's values may compare with a constant of another
  /// type too. Tests whether a value equals such a constant, and all tests of strings with one, are left to the scan.
  private static func part(_ condition: Predicate, _ schema: TableSchema) -> Part? {
    guard let path = condition.path, path.links.isEmpty else { return nil }
    let column = schema.columns[path.column]
    guard column.index != .none, !column.isCollection else { return nil }
    switch condition {
    case .compare(_, .equal, let value):
      // No row of a column that is not optional is null.
      if value == .null, !column.isOptional { return Part(column: column, sought: .values([])) }
      guard column.accepts(value) else { return nil }
      return Part(column: column, sought: .values([value]))
    case .isIn(_, var values):
      if !column.isOptional { values.removeAll { $0 == .null } }
      guard values.allSatisfy(column.accepts) else { return nil }
      let each = column.type == .mixed ? unequal(values) : distinct(values)
      return Part(column: column, sought: .values(each))
    case .text(_, .begins, .string(let prefix), let options):
      guard column.type == .string, options.isEmpty, !prefix.isEmpty else { return nil }
      return IndexSpan(column, prefix: prefix).map { Part(column: column, sought: .span($0)) }
    default: return span(condition, column).map { Part(column: column, sought: .span($0)) }
    }
  }

  private static func span(_ condition: Predicate, _ column: Column) -> IndexSpan? {
    guard IndexSpan.serves(column) else { return nil }
    let test: ValueTest
    switch condition {
    case .compare(_, let comparison, let value):
      guard value != .null, comparison != .notEqual else { return nil }
      test = .compare(comparison, value)
    case .between(_, let low, let high):
      guard low != .null, high != .null else { return nil }
      test = .between(low, high)
    default: return nil
    }
    if column.type == .string { return textSpan(test, column) }
    guard let domain = OrderedDomain(column.type) else { return nil }
    let (ranges, isNegated) = domain.solve(test)
    guard ranges.count == 1, !isNegated else { return nil }
    return IndexSpan(
      column, from: .init(value: domain.value(ranges[0].lowerBound), isClosed: true),
      to: .init(value: domain.value(ranges[0].upperBound), isClosed: true))
  }

  private static func textSpan(_ test: ValueTest, _ column: Column) -> IndexSpan? {
    func bound(_ value: Value, isClosed: Bool) -> IndexSpan.Bound? {
      if case .string = value { IndexSpan.Bound(value: value, isClosed: isClosed) } else { nil }
    }
    switch test {
    case .compare(.less, let value):
      return bound(value, isClosed: false).map { IndexSpan(column, from: nil, to: $0, withNull: true) }
    case .compare(.lessOrEqual, let value):
      return bound(value, isClosed: true).map { IndexSpan(column, from: nil, to: $0, withNull: true) }
    case .compare(.greater, let value):
      return bound(value, isClosed: false).map { IndexSpan(column, from: $0, to: nil) }
    case .compare(.greaterOrEqual, let value):
      return bound(value, isClosed: true).map { IndexSpan(column, from: $0, to: nil) }
    case .between(let low, let high):
      guard let low = bound(low, isClosed: true), let high = bound(high, isClosed: true) else { return nil }
      return IndexSpan(column, from: low, to: high)
    default: return nil
    }
  }

  /// The values without those that equal another one. Values of several types may be equal, and then they have the same
  /// rows.
  private static func unequal(_ values: [Value]) -> [Value] {
    var unequal: [Value] = []
    for value in values.sorted(by: { ValueOrder.sort($0, $1) < 0 }) {
      // Collections that differ may have the same place in the order.
      let alike = unequal.reversed().prefix { ValueOrder.sort($0, value) == 0 }
      if !alike.contains(where: { ValueOrder.areEqual($0, value) }) { unequal.append(value) }
    }
    return unequal
  }

  /// The values, each one once. Whole numbers ascend, so that numbers that stand together in the index are looked up
  /// one after another.
  private static func distinct(_ values: [Value]) -> [Value] {
    guard values.count > 1 else { return values }
    var numbers: [Int64] = []
    numbers.reserveCapacity(values.count)
    for value in values {
      guard case .int(let number) = value else { return Array(Set(values)) }
      numbers.append(number)
    }
    numbers.sort()
    var distinct: [Value] = []
    distinct.reserveCapacity(numbers.count)
    for index in numbers.indices where index == 0 || numbers[index] != numbers[index - 1] {
      distinct.append(.int(numbers[index]))
    }
    return distinct
  }
}

extension IndexPlan.Part {
  /// The number of rows in a scan that cost as much as one row found by an index.
  static let indexCost: UInt64 = 16

  /// The number of rows that the index finds; nil if so many values or alternatives have to be looked up that a scan
  /// costs less.
  ///
  /// - Parameter isExact: if this is false, the count may include rows with other values whose index entries look the
  ///   same, and no rows are read.
  func count(
    _ table: TableRoot, isExact: Bool = false, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64? {
    switch sought {
    case .span(let span): return try span.count(table.index(of: column), access)
    case .values(let values):
      guard UInt64(values.count) &* Self.indexCost <= table.rows else { return nil }
      var count: UInt64 = 0
      for value in values {
        count &+=
          isExact
          ? try IndexTree.count(with: value, of: column, table: table, access)
          : try IndexTree.count(like: value, of: column, table: table, access)
      }
      return count
    case .either(let plans):
      guard UInt64(plans.count) &* Self.indexCost <= table.rows else { return nil }
      var count: UInt64 = 0
      for plan in plans {
        guard let least = try plan.least(table, access) else { return nil }
        count &+= least.count
      }
      return count
    }
  }

  /// The rows that the index finds, in the order of their keys.
  func rows(_ table: TableRoot, _ access: borrowing NodeAccess) throws(StorageError) -> [UInt64] {
    switch sought {
    case .span(let span): return try span.rows(table.index(of: column), access).sorted()
    case .values(let values):
      var rows: [UInt64] = []
      for value in values { rows += try rowsOf(value, table, access) }
      return values.count > 1 ? rows.sorted() : rows
    case .either(let plans):
      var rows: [UInt64] = []
      for plan in plans {
        if let least = try plan.least(table, access) { rows += try least.part.rows(table, access) }
      }
      rows.sort()
      // More than one plan may find the same row.
      var count = 0
      for place in rows.indices where place == 0 || rows[place] != rows[place - 1] {
        rows[count] = rows[place]
        count += 1
      }
      rows.removeSubrange(count...)
      return rows
    }
  }

  private func rowsOf(
    _ value: Value, _ table: TableRoot, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [UInt64] {
    // A value may have many entries; a span reads them leaf by leaf.
    if value != .null, IndexSpan.serves(column), !IntegerIndex.serves(column) {
      let bound = IndexSpan.Bound(value: value, isClosed: true)
      let span = IndexSpan(column, from: bound, to: bound)
      if span.isExact { return try span.rows(table.index(of: column), access) }
    }
    return try IndexTree.rows(with: value, of: column, table: table, access)
  }
}

extension IndexPlan {
  /// The rows that indexes find, and whether these are exactly the rows for which the predicate holds.
  struct Candidates {
    var rows: [UInt64]
    var isExact: Bool
  }

  /// How many times less it costs to read a row's index entry and to look it up among other rows than to test the row.
  private static let joinShare: UInt64 = 16

  /// The part with the fewest rows; nil if each part takes longer to look up than a scan.
  fileprivate func least(
    _ table: TableRoot, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (part: Part, count: UInt64)? {
    var least: (part: Part, count: UInt64)?
    for part in parts {
      guard let count = try part.count(table, access) else { continue }
      if least.map({ count < $0.count }) ?? true { least = (part, count) }
    }
    return least
  }

  /// The parts whose indexes are used, the part with the fewest rows first; none if a scan takes less time.
  func chosen(
    _ table: TableRoot, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [(part: Part, count: UInt64)] {
    var counted: [(part: Part, count: UInt64)] = []
    for part in parts {
      if let count = try part.count(table, access) { counted.append((part, count)) }
    }
    counted.sort { $0.count < $1.count }
    guard let best = counted.first, best.count &* Part.indexCost <= table.rows else { return [] }
    return counted.enumerated().filter { $0 == 0 || $1.count <= best.count &* Self.joinShare }.map(\.element)
  }

  /// Whether to use indexes if only the first `limit` rows are wanted. A scan finds rows that are evenly spread in a
  /// part of the table. With an index all of its rows have to be read, because they stand in the order of their values.
  func isWorthReading(
    for limit: Int, _ table: TableRoot, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Bool {
    guard let best = try chosen(table, access).first, best.count > 0 else { return true }
    return best.count < 1_000 || table.rows / best.count >= best.count / UInt64(max(1, limit))
  }

  /// The rows that indexes find, in the order of their keys; nil if they are too many, so that a scan takes less time.
  func candidates(_ table: TableRoot, _ access: borrowing NodeAccess) throws(StorageError) -> Candidates? {
    let chosen = try chosen(table, access)
    guard let first = chosen.first else { return nil }
    var rows = try first.part.rows(table, access)
    var (asked, isExact) = (1, first.part.isExact)
    for (part, count) in chosen.dropFirst() {
      guard count <= UInt64(rows.count) &* Self.joinShare else { break }
      rows = Self.common(rows, try part.rows(table, access))
      isExact = isExact && part.isExact
      asked += 1
    }
    return Candidates(rows: rows, isExact: isWhole && isExact && asked == parts.count)
  }

  /// The numbers that two ascending lists have in common.
  private static func common(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
    var (common, one, two): ([UInt64], Int, Int) = ([], 0, 0)
    while one < left.count, two < right.count {
      if left[one] == right[two] {
        common.append(left[one])
        one += 1
        two += 1
      } else if left[one] < right[two] {
        one += 1
      } else {
        two += 1
      }
    }
    return common
  }
}
