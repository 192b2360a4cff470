/// A predicate whose columns have been looked up and whose constants are prepared.
indirect enum BoundCondition {
  case constant(Bool)
  case test(BoundPath, ValueTest)
  case and([BoundCondition])
  case or([BoundCondition])
  case not(BoundCondition)

  /// - Precondition: the tables have the columns, and tests fit them, as `Predicate` says.
  init(_ predicate: Predicate, of table: TableForm, _ tables: any TableFinder) throws(StorageError) {
    func bound(_ predicates: [Predicate]) throws(StorageError) -> [BoundCondition] {
      var bound: [BoundCondition] = []
      for predicate in predicates { bound.append(try BoundCondition(predicate, of: table, tables)) }
      return bound
    }
    switch predicate {
    case .always: self = .constant(true)
    case .never: self = .constant(false)
    case .and(let parts): self = .and(try bound(parts))
    case .or(let parts): self = .or(try bound(parts))
    case .not(let part): self = .not(try BoundCondition(part, of: table, tables))
    case .compare(let path, let comparison, let value):
      self = .test(try BoundPath(path, of: table, tables), .compare(comparison, value))
    case .isIn(let path, let values):
      self = .test(try BoundPath(path, of: table, tables), .isIn(values))
    case .between(let path, let low, let high):
      self = .test(try BoundPath(path, of: table, tables), .between(low, high))
    case .text(let path, let match, let value, let ignoringCase):
      let path = try BoundPath(path, of: table, tables)
      precondition(
        path.column.type == .string || path.column.type == .data,
        "\(table.schema.name): column \(path.column.name) holds neither strings nor data")
      let test = TextTest(match, value, ignoringCase: ignoringCase, isString: path.column.type == .string)
      self = .test(path, .text(test))
    case .count(let path, let comparison, let number):
      let path = try BoundPath(path, of: table, tables)
      precondition(path.column.isList, "\(table.schema.name): column \(path.column.name) is no list")
      self = .test(path, .count(comparison, number))
    }
  }

  /// Whether it holds of a row.
  func holds(
    _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Bool {
    switch self {
    case .constant(let holds): return holds
    case .not(let part): return try !part.holds(row, of: cluster, access)
    case .and(let parts):
      for part in parts where try !part.holds(row, of: cluster, access) { return false }
      return true
    case .or(let parts):
      for part in parts where try part.holds(row, of: cluster, access) { return true }
      return false
    case .test(let path, let test):
      return try path.anyValue(row, of: cluster, access, isCount: test.isCount) { value in
        test.holds(value, ordersNull: path.isDirect)
      }
    }
  }
}

extension ValueTest {
  var isCount: Bool { if case .count = self { true } else { false } }
}

extension BoundPath {
  /// Whether one of the values it leads to passes a test.
  ///
  /// - Parameter isCount: lists are tested, not their elements.
  func anyValue(
    _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess, isCount: Bool,
    _ test: (Value) -> Bool
  ) throws(StorageError) -> Bool {
    try anyValue(0, row, of: cluster, access, isCount, test)
  }

  private func anyValue(
    _ step: Int, _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess,
    _ isCount: Bool, _ test: (Value) -> Bool
  ) throws(StorageError) -> Bool {
    guard step < steps.count else {
      let value = try TableReading.value(column, row, of: cluster, access)
      guard !isCount, case .list(let elements) = value else { return test(value) }
      return elements.contains(where: test)
    }
    let link = steps[step]
    switch try TableReading.value(link.column, row, of: cluster, access) {
    case .link(let key): return try anyValue(step + 1, key, in: link.target, access, isCount, test)
    case .list(let elements):
      for case .link(let key) in elements {
        if try anyValue(step + 1, key, in: link.target, access, isCount, test) { return true }
      }
      return false
    default:
      if isCount { return column.type != .link && !isMany(before: step) && test(.list([])) }
      return !isMany && test(.null)
    }
  }

  private func isMany(before step: Int) -> Bool {
    steps[..<step].contains { $0.column.isList }
  }

  private func anyValue(
    _ step: Int, _ key: UInt64, in clusters: Ref, _ access: borrowing NodeAccess, _ isCount: Bool,
    _ test: (Value) -> Bool
  ) throws(StorageError) -> Bool {
    guard !clusters.isNull else { throw access.corrupted(.link, clusters) }
    let leaf = try KeyedTree.leaf(for: key, in: clusters, access)
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    guard let row = cluster.row(of: key) else { throw access.corrupted(.link, leaf) }
    return try anyValue(step, row, of: cluster, access, isCount, test)
  }
}

extension BoundPath {
  /// The one value it leads to.
  ///
  /// - Precondition: there are no lists on it.
  func value(
    _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value {
    var found = Value.null
    _ = try anyValue(row, of: cluster, access, isCount: false) { value in
      found = value
      return true
    }
    return found
  }
}
