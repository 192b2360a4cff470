/// The values that one side of a relation has for one row, in groups: see `Expression`. The groups are filled anew for
/// each row, and keep their memory.
struct Groups {
  /// The facts about the values that a test depends on, besides the values themselves.
  enum Kind {
    /// Nothing else: a value that comes again may be left out.
    case each
    /// Their order, and how often each value comes.
    case sequence
    /// The number of ways that lead to each value.
    case counted
  }

  let kind: Kind
  private(set) var values: [Value] = []
  /// The number of ways that lead to each value, if the kind is `counted`.
  private(set) var ways: [Int] = []
  /// Where each group ends.
  private var ends: [Int] = []

  init(_ kind: Kind = .each) { self.kind = kind }

  var count: Int { ends.count }

  mutating func removeAll() {
    values.removeAll(keepingCapacity: true)
    ways.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  mutating func append(_ value: Value, ways: Int = 1) {
    values.append(value)
    if kind == .counted { self.ways.append(ways) }
  }

  mutating func endGroup() { ends.append(values.count) }

  mutating func appendGroup(_ value: Value) {
    append(value)
    endGroup()
  }

  subscript(group: Int) -> ArraySlice<Value> { values[(group == 0 ? 0 : ends[group - 1])..<ends[group]] }
}

extension BoundValuePath {
  /// Adds the values to which the path leads from a row.
  func append(
    _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess, to groups: inout Groups
  ) throws(StorageError) {
    let isMany = hops.contains(where: \.isMany)
    let grouping: Grouping = end.isMany ? .eachOwner : isMany ? .together : .one
    let isSequence = groups.kind == .sequence
    let reached = try Self.walk(hops[...], row, of: cluster, isSequence: isSequence, check, access) {
      (row, cluster, ways, access) throws(StorageError) in
      try Self.append(end, row, of: cluster, ways, grouping, check, access, to: &groups)
    }
    switch grouping {
    case .together: groups.endGroup()
    case .one where reached == 0: appendUnreached(to: &groups)
    case .eachOwner where reached == 0: groups.endGroup()
    case .one, .eachOwner: break
    }
  }

  /// How values become groups.
  enum Grouping {
    /// Each value is a group.
    case one
    /// All values are one sequence.
    case together
    /// The values of each row that is reached are a sequence.
    case eachOwner
  }

  /// Adds the values to which a null link leads.
  private func appendUnreached(to groups: inout Groups) {
    switch end {
    case .rowCount: break
    case .property(.count, of: .value(let column)) where column.column.isCollection:
      if column.column.type != .link { groups.appendGroup(.int(0)) }
    case .aggregate(.sum, _, _, _): groups.appendGroup(.int(0))
    case .linkCount, .subquery, .constant: break
    default: groups.appendGroup(.null)
    }
  }

  /// A closure that is called with a row and the number of ways that lead to it.
  typealias RowBody = (
    Int, borrowing ClusterNode, _ ways: Int, borrowing NodeAccess
  ) throws(StorageError) -> Void

  /// Calls `body` with each row to which hops lead.
  ///
  /// - Parameter isSequence: if this is true, `body` is called for each way that leads to a row, in the order of the
  ///   ways, of which there may be too many to wait for. If it is false and more than one hop leads to several rows,
  ///   `body` is called once for each row.
  /// - Returns: the number of calls.
  @discardableResult
  static func walk(
    _ hops: ArraySlice<Hop>, _ row: Int, of cluster: borrowing ClusterNode, isSequence: Bool = false,
    _ check: WalkCheck, _ access: borrowing NodeAccess, _ body: RowBody
  ) throws(StorageError) -> Int {
    if isSequence || hops.count(where: \.isMany) < 2 {
      return try walkEachWay(hops, row, of: cluster, check, access, body)
    }
    var reached = ReachedRows()
    var clusters = Ref.null
    for (index, hop) in hops.enumerated() {
      var next = ReachedRows()
      if index == 0 {
        try forEachKey(hop, row, of: cluster, access) { (key, _, _) throws(StorageError) in
          next.add(key, ways: 1)
        }
      }
      for (key, ways) in reached.rows {
        try check.next(access)
        try at(key, in: clusters, access) { (row, cluster, access) throws(StorageError) in
          try forEachKey(hop, row, of: cluster, access) { (key, _, _) throws(StorageError) in
            next.add(key, ways: ways)
          }
        }
      }
      (reached, clusters) = (next, hop.clusters)
    }
    for (key, ways) in reached.rows {
      try check.next(access)
      try at(key, in: clusters, access) { (row, cluster, access) throws(StorageError) in
        try body(row, cluster, ways, access)
      }
    }
    return reached.rows.count
  }

  private static func walkEachWay(
    _ hops: ArraySlice<Hop>, _ row: Int, of cluster: borrowing ClusterNode, _ check: WalkCheck,
    _ access: borrowing NodeAccess, _ body: RowBody
  ) throws(StorageError) -> Int {
    try check.next(access)
    guard let hop = hops.first else {
      try body(row, cluster, 1, access)
      return 1
    }
    var count = 0
    try forEachKey(hop, row, of: cluster, access) { (key, clusters, access) throws(StorageError) in
      try at(key, in: clusters, access) { (row, cluster, access) throws(StorageError) in
        count += try walkEachWay(hops.dropFirst(), row, of: cluster, check, access, body)
      }
    }
    return count
  }

  /// Calls `body` with the row of a key that a link names.
  private static func at(
    _ key: UInt64, in clusters: Ref, _ access: borrowing NodeAccess,
    _ body: (Int, borrowing ClusterNode, borrowing NodeAccess) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard !clusters.isNull else { throw access.corrupted(.link, clusters) }
    let leaf = try KeyedTree.leaf(for: key, in: clusters, access)
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    guard let row = cluster.row(of: key) else { throw access.corrupted(.link, leaf) }
    try body(row, cluster, access)
  }

  /// Calls `body` with the key of each row to which one hop leads, and with the clusters of that row.
  static func forEachKey(
    _ hop: Hop, _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess,
    _ body: (UInt64, Ref, borrowing NodeAccess) throws(StorageError) -> Void
  ) throws(StorageError) {
    switch hop {
    case .links(let column, let target):
      if column.isCollection {
        _ = try TableReading.containsLink(column, row, of: cluster, access) { (key) throws(StorageError) in
          try body(key, target.clusters, access)
          return false
        }
      } else if case .link(let key) = try TableReading.value(
        column, row, of: cluster, dictionary: .null, access)
      {
        try body(key, target.clusters, access)
      }
    case .backlinks(let table, let column, let links, let sources):
      let head = LinkIndex.head(target: cluster.key(row), table: table, column: column)
      var found: [(row: UInt64, count: UInt64)] = []
      try LinkIndex.forEach(head, in: links, access) { link in
        found.append((link.source, UInt64(link.count)))
        return true
      }
      for source in found {
        for _ in 0..<source.count { try body(source.row, sources.clusters, access) }
      }
    }
  }

  /// The number of rows to which the hops lead, where a row counts as often as there are ways to it. The rows of the
  /// last hop are not read.
  private static func count(
    _ hops: [Hop], _ row: Int, of cluster: borrowing ClusterNode, _ check: WalkCheck,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> Int {
    guard let last = hops.last else { return 1 }
    var count = 0
    try walk(hops.dropLast(), row, of: cluster, check, access) {
      (row, cluster, ways, access) throws(StorageError) in
      var links = 0
      switch last {
      case .links(let column, _) where column.isCollection:
        links = try TableReading.count(column, row, of: cluster, access)
      case .backlinks(let table, let column, let index, _):
        let head = LinkIndex.head(target: cluster.key(row), table: table, column: column)
        try LinkIndex.forEach(head, in: index, access) { link in
          links = links.plus(Int(clamping: link.count))
          return true
        }
      case .links:
        try forEachKey(last, row, of: cluster, access) { _, _, _ in links += 1 }
      }
      count = count.plus(ways.times(links))
    }
    return count
  }

  private static func append(
    _ end: End, _ row: Int, of cluster: borrowing ClusterNode, _ ways: Int, _ grouping: Grouping,
    _ check: WalkCheck, _ access: borrowing NodeAccess, to groups: inout Groups
  ) throws(StorageError) {
    func add(_ value: Value) {
      groups.append(value, ways: ways)
      if grouping == .one { groups.endGroup() }
    }
    switch end {
    case .row: add(.link(cluster.key(row)))
    case .value(let column) where column.column.isCollection:
      _ = try TableReading.contains(column.column, row, of: cluster, access) { value in
        groups.append(value, ways: ways)
        return false
      }
      groups.endGroup()
    case .value(let column): add(try column.value(row, of: cluster, access))
    case .keys(let column):
      if case .map(let map, _) = try column.value(row, of: cluster, access) {
        for key in map.keys { groups.append(.string(key), ways: ways) }
      }
      groups.endGroup()
    case .inner(let column, let walk):
      let value = try column.value(row, of: cluster, access)
      try walk.append(value, ways: ways, grouping, check, access, to: &groups)
    case .property(let property, let inner):
      try append(property, of: inner, row, of: cluster, ways, grouping, check, access, to: &groups)
    case .rowCount(let hops): add(.int(Int64(try count(hops, row, of: cluster, check, access))))
    case .linkCount(let links):
      let head = LinkIndex.targetHead(cluster.key(row))
      var count: Int64 = 0
      try LinkIndex.forEach(head, in: links, access) { link in
        count &+= Int64(clamping: link.count)
        return true
      }
      add(.int(count))
    case .constant(let holds, let hops):
      add(.int(holds ? Int64(try count(hops, row, of: cluster, check, access)) : 0))
    case .subquery(let hops, let test):
      add(.int(Int64(try count(hops, test, row, of: cluster, check, access))))
    case .aggregate(let aggregate, let type, let hops, let inner):
      var values = Groups(.counted)
      try walk(hops[...], row, of: cluster, check, access) {
        (row, cluster, ways, access) throws(StorageError) in
        try append(inner, row, of: cluster, ways, .together, check, access, to: &values)
      }
      add(aggregate.value(of: values.values, ways: values.ways, type))
    }
  }

  /// The number of rows to which the hops lead and that pass a test, where a row counts as often as there are ways to
  /// it.
  private static func count(
    _ hops: [Hop], _ test: TargetTest, _ row: Int, of cluster: borrowing ClusterNode, _ check: WalkCheck,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> Int {
    guard let last = hops.last else { return 0 }
    var count = 0
    try walk(hops.dropLast(), row, of: cluster, check, access) {
      (row, cluster, ways, access) throws(StorageError) in
      try forEachKey(last, row, of: cluster, access) { (key, _, access) throws(StorageError) in
        if try test.passes(key, access) { count = count.plus(ways) }
      }
    }
    return count
  }

  private static func append(
    _ property: ValuePath.ValueProperty, of end: End, _ row: Int, of cluster: borrowing ClusterNode,
    _ ways: Int, _ grouping: Grouping, _ check: WalkCheck, _ access: borrowing NodeAccess,
    to groups: inout Groups
  ) throws(StorageError) {
    if property == .count, case .value(let column) = end, column.column.isCollection {
      let count = try TableReading.count(column.column, row, of: cluster, access)
      groups.append(.int(Int64(count)), ways: ways)
      if grouping == .one { groups.endGroup() }
      return
    }
    var values = Groups(groups.kind == .counted ? .sequence : groups.kind)
    try append(end, row, of: cluster, 1, end.isMany ? .eachOwner : .one, check, access, to: &values)
    for group in 0..<values.count {
      var (isEmpty, isLink) = (true, false)
      if case .value(let column) = end { isLink = column.column.type == .link }
      for value in values[group] {
        guard let value = property.value(of: value, isLink: isLink) else { continue }
        groups.append(value, ways: ways)
        isEmpty = false
      }
      if end.isMany || grouping == .one, !isEmpty || end.isMany { groups.endGroup() }
    }
  }
}

extension ValuePath.ValueProperty {
  /// The property of a value; nil if the value does not have it.
  fileprivate func value(of value: Value, isLink: Bool) -> Value? {
    switch (self, value) {
    case (.type, _): .int(ValueType(value).rawValue)
    case (.count, .null) where isLink: .int(0)
    case (.count, .null): .null
    case (.length, .null): .int(0)
    case (_, .string(let text)): .int(Int64(text.utf8.count))
    case (_, .data(let bytes)): .int(Int64(bytes.count))
    case (.count, .link), (.count, .typedLink): .int(1)
    case (.count, .list(let elements, _)): .int(Int64(elements.count))
    case (.count, .map(let map, _)): .int(Int64(map.values.count))
    default: nil
    }
  }
}

extension PathAggregate {
  /// Makes one value of many.
  ///
  /// - Parameters:
  ///   - ways: how often each value counts.
  ///   - type: the type of the values; `mixed` if the numbers may be of several types.
  func value(of values: [Value], ways: [Int], _ type: ColumnType) -> Value {
    switch self {
    case .min: .minimum(of: values)
    case .max: .maximum(of: values)
    case .sum: .sum(of: values, ways: ways, type)
    case .average: .average(of: values, ways: ways, type)
    }
  }
}
