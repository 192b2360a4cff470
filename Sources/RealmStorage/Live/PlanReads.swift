/// The tables and columns that a plan reads. They tell which rows of the plan a change may concern.
struct PlanReads {
  /// The columns that the plan reads in a table to which links lead from its rows.
  struct Level {
    var table: UInt32
    /// The positions of the columns in the schema of the table.
    var columns: Set<Int>
    /// The links that lead from the plan's table to this one, from the last to the first: for each the id of the table
    /// that has the link, and the id of its column. Empty for columns of the plan's own rows.
    var links: [(source: UInt32, column: UInt16)]
  }

  private(set) var levels: [Level] = []
  /// The ids of the tables in which a change may concern any row of the plan; nil for all tables.
  private(set) var others: Set<UInt32>? = []

  /// The ids of the tables whose changes may concern the plan; nil for all tables.
  var tables: Set<UInt32>? { others.map { $0.union(levels.map(\.table)) } }

  init(_ plan: RowPlan, _ schemas: [TableSchema]) {
    let schemas = Dictionary(uniqueKeysWithValues: schemas.map { ($0.id, $0) })
    guard let table = schemas[plan.table] else { return }
    add(plan.predicate, of: table, schemas)
    for step in plan.steps {
      switch step {
      case .sort(let keys): for key in keys { add(key.path, of: table, schemas) }
      case .distinct(let paths): for path in paths { add(path, of: table, schemas) }
      case .limit, .offset: break
      }
    }
  }

  private mutating func add(_ predicate: Predicate, of table: TableSchema, _ schemas: [UInt32: TableSchema]) {
    var rest = [predicate]
    while let next = rest.popLast() {
      if let path = next.path { add(path, of: table, schemas) }
      if case .relation(let relation) = next {
        for part in relation.left.expression.parts + relation.right.expression.parts {
          if case .path(let path) = part { add(path, of: table, schemas) }
        }
      }
      if let parts = next.parts { rest += parts }
    }
  }

  private mutating func add(_ path: ColumnPath, of table: TableSchema, _ schemas: [UInt32: TableSchema]) {
    var table = table
    var links: [(source: UInt32, column: UInt16)] = []
    for link in path.links {
      add(link, of: table, links)
      links.insert((table.id, table.columns[link].id), at: 0)
      guard let target = schemas[table.columns[link].target] else { return addAll() }
      table = target
    }
    add(path.column, of: table, links)
  }

  private mutating func add(_ column: Int, of table: TableSchema, _ links: [(source: UInt32, column: UInt16)])
  {
    let place = levels.firstIndex { level in
      level.table == table.id && level.links.elementsEqual(links, by: ==)
    }
    if let place {
      levels[place].columns.insert(column)
    } else {
      levels.append(Level(table: table.id, columns: [column], links: links))
    }
  }

  private mutating func addAll() { others = nil }
  private mutating func add(other table: UInt32) { others?.insert(table) }

  /// Adds a path of an expression. If it reads only columns of the row itself, these columns are added. Otherwise its
  /// tables are added, so that any change in them concerns the plan.
  private mutating func add(_ path: ValuePath, of table: TableSchema, _ schemas: [UInt32: TableSchema]) {
    if path.steps.isEmpty, let columns = path.end.columnRead {
      for column in columns { add(column, of: table, []) }
      return
    }
    guard let end = add(path.steps, of: table, schemas) else { return addAll() }
    add(path.end, of: end, schemas)
  }

  /// Adds the tables along a path.
  ///
  /// - Returns: the table at the end of the path; nil if it is not known.
  private mutating func add(
    _ steps: [ValuePath.Step], of table: TableSchema, _ schemas: [UInt32: TableSchema]
  ) -> TableSchema? {
    var table = table
    add(other: table.id)
    for step in steps {
      let next: UInt32 =
        switch step {
        case .links(let column): table.columns[column].target
        case .backlinks(let source, _): source
        }
      guard let found = schemas[next] else { return nil }
      table = found
      add(other: table.id)
    }
    return table
  }

  private mutating func add(_ end: ValuePath.End, of table: TableSchema, _ schemas: [UInt32: TableSchema]) {
    switch end {
    case .row, .value, .keys: break
    case .inner(_, let steps): if !steps.allSatisfy(\.staysInRow) { addAll() }
    case .property(_, let end): add(end, of: table, schemas)
    case .rowCount(let steps): if add(steps, of: table, schemas) == nil { addAll() }
    case .linkCount: addAll()
    case .aggregate(_, let steps, let end):
      guard let last = add(steps, of: table, schemas) else { return addAll() }
      add(end, of: last, schemas)
    case .subquery(let steps, let predicate):
      guard let last = add(steps, of: table, schemas) else { return addAll() }
      let inner = PlanReads(RowPlan(table: last.id, predicate: predicate), Array(schemas.values))
      guard let tables = inner.tables else { return addAll() }
      others?.formUnion(tables)
    }
  }

  // MARK: - What changed

  /// Whether a step changes a table in which a change may concern any row of the plan.
  func concernsAny(_ step: VersionStep) throws(StorageError) -> Bool {
    var tables = others ?? []
    if others == nil { tables = Set(try step.schemas().map(\.id)) }
    for table in tables where try !step.changes(of: table).isEmpty { return true }
    return false
  }

  /// The keys of the rows of the plan's table that a step may add to the result, remove from it or move in it, because
  /// it changed a column that the plan reads. Rows that the step inserted or deleted need not be among them.
  func touched(_ step: VersionStep, _ reach: inout LinkReach) throws(StorageError) -> Set<UInt64> {
    var touched: Set<UInt64> = []
    for level in levels {
      var rows: Set<UInt64> = []
      for change in try step.changes(of: level.table).modifications
      where !level.columns.isDisjoint(with: change.columns) {
        rows.insert(change.key)
      }
      var table = level.table
      for link in level.links where !rows.isEmpty {
        rows = try reach.rows(of: link.source, linkingBy: link.column, to: rows, of: table)
        table = link.source
      }
      touched.formUnion(rows)
    }
    return touched
  }
}
