/// A path whose columns and tables have been looked up.
struct BoundValuePath {
  enum Hop {
    /// Follows a column of links to one row, or to several rows.
    case links(Column, target: TableRoot)
    /// Goes to the rows that link to a row. `links` is the index of links of the table from which the hop starts.
    case backlinks(table: UInt32, column: UInt16, links: Ref, sources: TableRoot)

    var isMany: Bool {
      switch self {
      case .links(let column, _): column.isCollection
      case .backlinks: true
      }
    }

    /// The clusters of the rows to which the hop leads.
    var clusters: Ref {
      switch self {
      case .links(_, let target): target.clusters
      case .backlinks(_, _, _, let sources): sources.clusters
      }
    }
  }

  indirect enum End {
    case row
    case value(BoundColumn)
    case inner(BoundColumn, InnerWalk)
    case keys(BoundColumn)
    case property(ValueProperty, of: End)
    case rowCount([Hop])
    case linkCount(Ref)
    case aggregate(PathAggregate, ColumnType, [Hop], of: End)
    case subquery([Hop], TargetTest)
    case constant(Bool, [Hop])

    typealias ValueProperty = ValuePath.ValueProperty
  }

  let hops: [Hop]
  let end: End
  /// Whether the path gives one or several sequences for a row, and not one value.
  let isMany: Bool
  /// Whether comparisons order null before strings: see `Predicate`.
  let ordersNull: Bool
  let check: WalkCheck

  /// - Precondition: the tables have the columns, the steps follow links, and there are at most
  ///   `ValuePath.maximumSteps` steps.
  init(
    _ path: ValuePath, of table: TableForm, _ builder: TestBuilder
  ) throws(StorageError) {
    let tables = builder.tables
    var table = table
    check = WalkCheck(builder.bounds)
    hops = try Self.hops(path.steps, from: &table, tables)
    end = try Self.end(path.end, table, builder)
    isMany = hops.contains(where: \.isMany) || end.isMany
    if hops.isEmpty, case .value(let column) = end {
      ordersNull = !column.column.isCollection && column.column.type == .string
    } else {
      ordersNull = false
    }
  }

  private static func hops(
    _ steps: [ValuePath.Step], from table: inout TableForm, _ tables: any TableFinder
  ) throws(StorageError) -> [Hop] {
    precondition(
      steps.count <= ValuePath.maximumSteps,
      "\(table.schema.name): a path of \(steps.count) steps; \(ValuePath.maximumSteps) are allowed")
    var hops: [Hop] = []
    for step in steps {
      switch step {
      case .links(let position):
        let column = table.schema.columns[position]
        precondition(column.type == .link, "\(table.schema.name).\(column.name) is no link")
        if column.target != table.schema.id { table = try tables.form(ofTable: column.target) }
        hops.append(.links(column, target: table.root))
      case .backlinks(let id, let column):
        let links = table.root.links
        let target = table.schema
        if id != target.id { table = try tables.form(ofTable: id) }
        precondition(
          table.schema.columns.contains { $0.id == column && $0.type == .link && $0.target == target.id },
          "\(table.schema.name) has no column of the id \(column) that links to \(target.name)")
        hops.append(.backlinks(table: id, column: column, links: links, sources: table.root))
      }
    }
    return hops
  }

  private static func end(
    _ end: ValuePath.End, _ table: TableForm, _ builder: TestBuilder
  ) throws(StorageError) -> End {
    let tables = builder.tables
    func column(_ position: Int) -> BoundColumn {
      let column = table.schema.columns[position]
      return BoundColumn(column: column, dictionary: table.root.dictionaries[column.id])
    }
    switch end {
    case .row: return .row
    case .value(let position): return .value(column(position))
    case .inner(let position, let steps):
      let column = column(position)
      return .inner(column, InnerWalk(steps, of: column.column, tables))
    case .keys(let position): return .keys(column(position))
    case .property(let property, let end):
      return .property(property, of: try Self.end(end, table, builder))
    case .linkCount: return .linkCount(table.root.links)
    case .rowCount(let steps):
      var table = table
      return .rowCount(try hops(steps, from: &table, tables))
    case .aggregate(let aggregate, let steps, let end):
      var table = table
      let hops = try hops(steps, from: &table, tables)
      let end = try Self.end(end, table, builder)
      return .aggregate(aggregate, end.type, hops, of: end)
    case .subquery(let steps, let predicate):
      precondition(
        // Some conditions are expressed by one more subquery, so one more than the maximum is allowed.
        builder.depth <= ValuePath.maximumSteps,
        "more than \(ValuePath.maximumSteps) subqueries stand in each other")
      var table = table
      let hops = try hops(steps, from: &table, tables)
      let test = try builder.inner.test(predicate, of: table)
      if let constant = test as? ConstantTest { return .constant(constant.holds, hops) }
      return .subquery(hops, TargetTest(test, of: table.root, within: builder.bounds))
    }
  }
}

/// A column, and the dictionary of its strings and data, for values that have codes.
struct BoundColumn {
  var column: Column
  var dictionary: Ref

  func value(
    _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value {
    try TableReading.value(column, row, of: cluster, dictionary: dictionary, access)
  }
}

extension BoundValuePath.End {
  var isMany: Bool {
    switch self {
    case .value(let column): column.column.isCollection
    case .inner(_, let walk): walk.isMany
    case .keys: true
    case .property(.count, of: .value): false
    case .property(_, let end): end.isMany
    case .row, .rowCount, .linkCount, .aggregate, .subquery, .constant: false
    }
  }

  /// The type of the values, as far as the column tells it.
  var type: ColumnType {
    switch self {
    case .value(let column): column.column.type
    case .inner(let column, _): column.column.type
    case .property, .rowCount, .linkCount, .subquery, .constant: .int64
    default: .mixed
    }
  }
}
