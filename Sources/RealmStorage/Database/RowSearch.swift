/// Runs a plan on one version, or on an open transaction as changed so far. It looks only for as many rows as are requested.
///
/// - Throws: all functions throw `.corrupted`, and `.queryCancelled` and `.queryDeadline` according to `bounds`.
public struct RowSearch {
  /// The plan that it runs.
  public let plan: RowPlan
  /// The conditions on which the search ends before it has found all rows.
  public var bounds: QueryBounds
  /// The memory that sorts and distinct values may use beside the rows.
  package var memory = SortMemory.standard
  private let table: Table

  /// Makes a search.
  ///
  /// - Precondition: `table` is the plan's table and has the columns that the plan names, and its version has the tables that the
  ///   plan's source names.
  public init(_ plan: RowPlan, in table: Table, within bounds: QueryBounds = QueryBounds()) {
    precondition(
      plan.table == table.schema.id,
      "RowSearch: a plan for the table of the id \(plan.table) was given the table \(table.schema.name)")
    self.plan = plan
    self.table = table
    self.bounds = bounds
  }

  // MARK: - Finding

  /// The keys of all rows that the plan finds, in its order.
  public func rows() throws(StorageError) -> [UInt64] { try run(atMost: nil) }

  /// The keys of the first rows that the plan finds. If the plan has no sort and no distinct values, the search stops when they
  /// are found.
  ///
  /// - Precondition: `count` is not negative.
  public func rows(first count: Int) throws(StorageError) -> [UInt64] {
    precondition(count >= 0, "RowSearch.rows(first:): \(count) rows can't be asked for")
    return try run(atMost: count)
  }

  /// The key of the first row that the plan finds; nil if it finds none.
  public func first() throws(StorageError) -> UInt64? { try run(atMost: 1).first }

  /// Whether the plan finds no row.
  public func isEmpty() throws(StorageError) -> Bool {
    // A sort does not change whether there are rows.
    var plan = plan
    plan.steps.removeAll { if case .sort = $0 { true } else { false } }
    return try RowSearch(plan, in: table, within: bounds).first() == nil
  }

  /// The number of rows that the plan finds. Rows are listed for that only if the plan has distinct values.
  public func count() throws(StorageError) -> Int {
    guard let start = plan.steps.lastIndex(where: { $0.isDistinct }) else {
      return window(of: try sourceCount(), plan.steps[...])
    }
    var listed = plan
    listed.steps = Array(plan.steps[...start])
    // Sorts only decide which of several equal rows stays. That does not change the number of rows, unless a limit or
    // an offset removes some.
    if !listed.steps.contains(where: \.isCut) { listed.steps.removeAll { $0.isSort } }
    var search = RowSearch(listed, in: table, within: bounds)
    search.memory = memory
    let rows = try search.rows()
    return window(of: rows.count, plan.steps[(start + 1)...])
  }

  /// Whether the plan finds a row. If the plan has a limit, an offset or distinct values, all of its rows are found for
  /// that.
  public func contains(_ row: UInt64) throws(StorageError) -> Bool {
    guard plan.steps.allSatisfy({ $0.isSort }) else { return try rows().contains(row) }
    if let sourceRows = try sourceRows(), !sourceRows.contains(row) { return false }
    return try !RowQuery(plan.predicate, of: table.form, table.tables, within: bounds)
      .rows(of: [row], table.reader).isEmpty
  }

  // MARK: - Running

  private func run(atMost limit: Int?) throws(StorageError) -> [UInt64] {
    let needed = plan.needed(limit)
    var place = 0
    // If the plan takes the whole table and its first step is a sort, that sort reads the table itself.
    var rows: [UInt64]?
    if case .sort(let keys)? = plan.steps.first, let wanted = needed[1],
      let found = try firstByIndex(wanted, by: keys)
    {
      rows = found
      place = 1
    } else if case .sort(let keys)? = plan.steps.first, isWholeTable {
      try checkBounds()
      try sort(&rows, by: keys, atMost: needed[1])
      place = 1
    }
    if rows == nil { rows = try source(atMost: needed[0]) }
    while place < plan.steps.count {
      try checkBounds()
      try take(plan.steps[place], &rows, atMost: needed[place + 1])
      place += 1
    }
    if let limit, let count = rows?.count, limit < count { rows?.removeSubrange(limit...) }
    return rows ?? []
  }

  private func checkBounds() throws(StorageError) {
    let reader = table.reader
    try bounds.check(reader.access())
  }

  /// The first rows are looked for in an index only up to one in this number of the table's rows. If it does not find
  /// them there, all rows are sorted.
  private static let indexShare = 16

  /// The first rows in the order of an indexed column; nil if there is no index, or it does not find them among few rows.
  private func firstByIndex(_ wanted: Int, by keys: [SortKey]) throws(StorageError) -> [UInt64]? {
    let most = table.count / Self.indexShare
    guard plan.source == .table, wanted <= most, let column = indexColumn(keys) else { return nil }
    let query =
      plan.predicate == .always
      ? nil : RowQuery(plan.predicate, of: table.form, table.tables, within: bounds)
    let reader = table.reader
    if let query, try query.isFound(byIndexAmong: most, reader.access()) { return nil }
    var (found, pending, looked): ([UInt64], [UInt64], Int) = ([], [], 0)
    var isWithin = true
    try checkBounds()
    let isWhole = try IndexOrder.forEachGroup(
      of: column, in: table.form.root.index(of: column), ascending: keys[0].ascending, atMost: most,
      reader.access()
    ) { (group) throws(StorageError) in
      looked += group.rows.count
      pending +=
        keys.count > 1 || group.isCut
        ? try table.sorted(group.rows, by: keys, limit: .max, memory, within: bounds) : group.rows
      guard found.count + pending.count >= wanted || pending.count >= 64 else { return true }
      found += try query?.rows(of: pending, reader) ?? pending
      pending = []
      isWithin = looked <= most || found.count >= wanted
      return isWithin && found.count < wanted
    }
    guard isWhole, isWithin else { return nil }
    found += try query?.rows(of: pending, reader) ?? pending
    return Array(found.prefix(wanted))
  }

  /// The column whose index has the order of the first sort key.
  private func indexColumn(_ keys: [SortKey]) -> Column? {
    guard let path = keys.first?.path, path.links.isEmpty else { return nil }
    let column = table.schema.columns[path.column]
    return IndexSpan.serves(column) ? column : nil
  }

  /// Whether the source is the whole table and there is no predicate.
  private var isWholeTable: Bool {
    if case .table = plan.source, case .always = plan.predicate { true } else { false }
  }

  /// Carries out a step: it replaces the rows, and reuses their memory if possible.
  private func take(
    _ step: RowPlan.Step, _ rows: inout [UInt64]?, atMost needed: Int?
  ) throws(StorageError) {
    let count = rows?.count ?? 0
    switch step {
    case .sort(let keys): try sort(&rows, by: keys, atMost: needed)
    case .limit(let limit): if count > limit { rows?.removeSubrange(limit...) }
    case .offset(let offset): rows?.removeSubrange(..<min(offset, count))
    case .distinct(let paths):
      if let needed {
        // More and more of the first rows are compared, until enough of them are distinct.
        var looked = max(64, needed > count / 4 ? count : 4 * needed)
        while looked < count {
          var some = rows.map { Array($0.prefix(looked)) }
          let found = try table.takeDistinct(&some, by: paths, memory, within: bounds)
          if found.count >= needed {
            rows = Array(found.prefix(needed))
            return
          }
          looked *= 4
        }
      }
      rows = try table.takeDistinct(&rows, by: paths, memory, within: bounds)
    }
  }

  /// Sorts rows.
  ///
  /// - Parameter rows: nil for all rows of the table.
  private func sort(
    _ rows: inout [UInt64]?, by keys: [SortKey], atMost needed: Int?
  ) throws(StorageError) {
    if let needed {
      rows = try table.sorted(rows, by: keys, limit: needed, memory, within: bounds)
    } else {
      rows = try table.takeSorted(&rows, by: keys, memory, within: bounds)
    }
  }

  /// The rows of the source that match the predicate, at most `needed`.
  private func source(atMost needed: Int?) throws(StorageError) -> [UInt64] {
    guard let rows = try sourceRows() else {
      let query = RowQuery(plan.predicate, of: table.form, table.tables, within: bounds)
      guard let needed else { return try query.rows(table.reader) }
      return try query.rows(atMost: needed, table.reader)
    }
    if plan.predicate == .always { return needed.map { Array(rows.prefix($0)) } ?? rows }
    guard let needed, needed < rows.count else { return try passing(rows) }
    var found: [UInt64] = []
    var (start, length) = (0, max(64, 2 * min(needed, rows.count)))
    while start < rows.count, found.count < needed {
      found += try passing(Array(rows[start..<min(rows.count, start + length)]))
      start += length
      length *= 2
    }
    return Array(found.prefix(needed))
  }

  /// The given rows that match the predicate, in the given order.
  private func passing(_ rows: [UInt64]) throws(StorageError) -> [UInt64] {
    try RowQuery(plan.predicate, of: table.form, table.tables, within: bounds).rows(of: rows, table.reader)
  }

  /// The number of rows of the source that match the predicate.
  private func sourceCount() throws(StorageError) -> Int {
    if let rows = try sourceRows() {
      return plan.predicate == .always ? rows.count : try passing(rows).count
    }
    if case .always = plan.predicate { return table.count }
    if bounds.isEmpty { return try table.count(where: plan.predicate) }
    return try RowQuery(plan.predicate, of: table.form, table.tables, within: bounds).count(table.reader)
  }

  /// The number of rows that limits and offsets leave of `count` rows.
  private func window(of count: Int, _ steps: ArraySlice<RowPlan.Step>) -> Int {
    steps.reduce(count) { count, step in
      switch step {
      case .limit(let limit): min(count, limit)
      case .offset(let offset): max(0, count - offset)
      case .sort, .distinct: count
      }
    }
  }

  /// The rows of a source other than the whole table, without the predicate; nil for all rows of the table.
  private func sourceRows() throws(StorageError) -> [UInt64]? {
    switch plan.source {
    case .table: return nil
    case .rows(let rows): return rows
    case .collection(let id, let column, let row):
      let owner = try table.tables.form(ofTable: id)
      guard let column = owner.schema.columns.first(where: { $0.id == column }) else { return [] }
      precondition(
        column.target == plan.table && column.type == .link && column.isCollection,
        "\(owner.schema.name).\(column.name) is no collection of links to \(table.schema.name)")
      let reader = table.reader
      let access = reader.access()
      let value = try TableReading.value(column, ofRow: row, in: owner.root, access)
      return (value?.elements ?? []).compactMap { if case .link(let row) = $0 { row } else { nil } }
    case .backlinks(let id, let row, let column):
      let target = try table.tables.form(ofTable: id)
      let head = LinkIndex.head(target: row, table: plan.table, column: column)
      var rows: [UInt64] = []
      let reader = table.reader
      try LinkIndex.forEach(head, in: target.root.links, reader.access()) { link in
        for _ in 0..<link.count { rows.append(link.source) }
        return true
      }
      return rows
    }
  }
}

extension RowPlan.Step {
  fileprivate var isSort: Bool { if case .sort = self { true } else { false } }
  fileprivate var isDistinct: Bool { if case .distinct = self { true } else { false } }
  /// Whether the step removes rows by their position in the order.
  fileprivate var isCut: Bool { !isSort && !isDistinct }
}

// MARK: - In words

extension RowSearch {
  /// A text that describes how the rows are found, with a line for each stage from the source on. It is for people and may
  /// change.
  public func explain() throws(StorageError) -> String {
    let reader = table.reader
    let access = reader.access()
    var lines: [String] = []
    switch plan.source {
    case .table:
      let how = try RowQuery(plan.predicate, of: table.form, table.tables).explanation(access)
      lines.append("\(table.schema.name), \(table.count) rows: \(how)")
    case .rows(let rows): lines.append("\(table.schema.name): takes \(rows.count) rows that were given")
    case .collection(let id, let column, let row):
      let owner = try table.tables.form(ofTable: id).schema
      let name = owner.columns.first { $0.id == column }?.name ?? "column \(column)"
      lines.append("\(table.schema.name): takes what \(owner.name).\(name) of row \(row) links to")
    case .backlinks(let id, let row, let column):
      let target = try table.tables.form(ofTable: id).schema.name
      let name = table.schema.columns.first { $0.id == column }?.name ?? "column \(column)"
      lines.append("\(table.schema.name): takes the rows that link to row \(row) of \(target) by \(name)")
    }
    if plan.source != .table, plan.predicate != .always { lines.append("looks at each of these") }
    for (place, step) in plan.steps.enumerated() {
      lines.append(words(step, isCutNext: plan.steps.dropFirst(place + 1).first?.isCut ?? false))
    }
    return lines.joined(separator: "\n")
  }

  private func words(_ step: RowPlan.Step, isCutNext: Bool) -> String {
    switch step {
    case .sort(let keys):
      let names = keys.map { name($0.path) + ($0.ascending ? "" : " descending") }.joined(separator: ", ")
      guard isCutNext else { return "sorts by \(names)" }
      let index =
        plan.source == .table
        ? indexColumn(keys).map { ", by the index of \($0.name) where that finds them soon" } : nil
      return "puts the first of them in order by \(names)\(index ?? "")"
    case .distinct(let paths):
      return "leaves the first of each group with the same " + paths.map(name).joined(separator: ", ")
    case .limit(let limit): return "takes the first \(limit)"
    case .offset(let offset): return "passes over the first \(offset)"
    }
  }

  private func name(_ path: ColumnPath) -> String {
    var (schema, names) = (table.schema, [String]())
    for link in path.links {
      let column = schema.columns[link]
      names.append(column.name)
      guard let target = try? table.tables.form(ofTable: column.target) else { break }
      schema = target.schema
    }
    return (names + [schema.columns[path.column].name]).joined(separator: ".")
  }
}
