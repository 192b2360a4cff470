/// A path whose columns and tables have been looked up.
struct BoundPath {
  struct Step {
    var column: Column
    /// The table the links lead to.
    var target: TableRoot
  }

  var steps: [Step]
  var column: Column
  /// The dictionary of the column, for values that have codes.
  var dictionary: Ref
  /// Whether there may be several values.
  var isMany: Bool { column.isCollection || steps.contains { $0.column.isCollection } }
  /// Whether comparisons order null: see `Predicate`.
  var ordersNull: Bool { steps.isEmpty && !column.isCollection && column.type == .string }

  /// - Precondition: the tables have the columns, and all columns of the path but the last one are links.
  init(
    _ path: ColumnPath, of table: TableForm, _ tables: any TableFinder
  ) throws(StorageError) {
    precondition(
      path.links.count <= ColumnPath.maximumLinks,
      "\(table.schema.name): a path of \(path.links.count) links; \(ColumnPath.maximumLinks) are allowed")
    var table = table
    steps = []
    for link in path.links {
      let column = table.schema.columns[link]
      precondition(column.type == .link, "\(table.schema.name).\(column.name) is no link")
      if column.target != table.schema.id {
        table = try tables.form(ofTable: column.target)
      }
      steps.append(Step(column: column, target: table.root))
    }
    column = table.schema.columns[path.column]
    dictionary = table.root.dictionaries[column.id]
  }
}

extension BoundPath {
  /// The single value to which the path leads; nil if a link on the path is null.
  ///
  /// - Precondition: there are no collections on the path.
  func value(
    _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value? {
    try reach(0, row, of: cluster, access) { (row, cluster, access) throws(StorageError) in
      try TableReading.value(column, row, of: cluster, dictionary: dictionary, access)
    }
  }

  /// Calls `body` with the row at the end of the links, and returns its result; nil if one of the links is null.
  func reach<Result>(
    _ step: Int, _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess,
    _ body: (Int, borrowing ClusterNode, borrowing NodeAccess) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    guard step < steps.count else { return try body(row, cluster, access) }
    let link = steps[step]
    guard
      case .link(let key) = try TableReading.value(link.column, row, of: cluster, dictionary: .null, access)
    else {
      return nil
    }
    let clusters = link.target.clusters
    guard !clusters.isNull else { throw access.corrupted(.link, clusters) }
    let leaf = try KeyedTree.leaf(for: key, in: clusters, access)
    let next = ClusterNode(try access.node(leaf, .cluster))
    guard let place = next.row(of: key) else { throw access.corrupted(.link, leaf) }
    return try reach(step + 1, place, of: next, access, body)
  }
}
