/// Reads rows of a table.
enum TableReading {
  /// The value of a column in the row with a key; nil if there is no such row.
  static func value(
    _ column: Column, ofRow key: UInt64, in table: TableRoot, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value? {
    let dictionary = column.storage == .varying ? table.dictionaries[column.id] : .null
    return try value(column, ofRow: key, in: table.clusters, dictionary: dictionary, access)
  }

  /// The value of a column in the row with a key; nil if there is no such row.
  ///
  /// - Parameter dictionary: the dictionary of a column of strings or data; null if it has none.
  static func value(
    _ column: Column, ofRow key: UInt64, in clusters: Ref, dictionary: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value? {
    guard !clusters.isNull else { return nil }
    let cluster = ClusterNode(try access.node(KeyedTree.leaf(for: key, in: clusters, access), .cluster))
    guard let row = cluster.row(of: key) else { return nil }
    return try value(column, row, of: cluster, dictionary: dictionary, access)
  }

  /// Whether there is a row with a key.
  static func contains(
    _ key: UInt64, in clusters: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Bool {
    guard !clusters.isNull else { return false }
    return ClusterNode(try access.node(KeyedTree.leaf(for: key, in: clusters, access), .cluster)).row(of: key)
      != nil
  }

  /// The key of the row at a position.
  static func key(
    at position: UInt64, in clusters: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64 {
    let (leaf, before) = try KeyedTree.leaf(at: position, in: clusters, access)
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    let row = Int(position - before)
    guard row < cluster.rows else { throw access.corrupted(.rows, leaf) }
    return cluster.key(row)
  }

  /// The number of rows with keys less than `key`.
  static func rank(
    of key: UInt64, in clusters: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64 {
    guard !clusters.isNull else { return 0 }
    let before = try KeyedTree.rowsBefore(leafOf: key, in: clusters, access)
    let leaf = try KeyedTree.leaf(for: key, in: clusters, access)
    return before &+ UInt64(ClusterNode(try access.node(leaf, .cluster)).lowerBound(key))
  }

  /// For each of some keys, the number of rows with keys less than it; nil for a key that no row has. Each leaf is read
  /// once.
  ///
  /// - Parameter keys: the keys, in ascending order.
  static func ranks(
    of keys: [UInt64], in clusters: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Int?] {
    guard !clusters.isNull else { return keys.map { _ in nil } }
    var ranks: [Int?] = []
    ranks.reserveCapacity(keys.count)
    while ranks.count < keys.count {
      let key = keys[ranks.count]
      let before = Int(clamping: try KeyedTree.rowsBefore(leafOf: key, in: clusters, access))
      let (leaf, next) = try KeyedTree.leafAndNext(for: key, in: clusters, access)
      let cluster = ClusterNode(try access.node(leaf, .cluster))
      repeat {
        ranks.append(cluster.row(of: keys[ranks.count]).map { before &+ $0 })
      } while ranks.count < keys.count && next.map { keys[ranks.count] < $0 } ?? true
    }
    return ranks
  }

  static func value(
    _ column: Column, _ row: Int, of cluster: borrowing ClusterNode, _ dictionaries: ColumnTrees.View,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value {
    let dictionary = column.storage == .varying ? dictionaries[column.id] : .null
    return try value(column, row, of: cluster, dictionary: dictionary, access)
  }

  /// The value of a column in a row of a cluster.
  ///
  /// - Parameter dictionary: the dictionary of a column of strings or data; null if it has none.
  static func value(
    _ column: Column, _ row: Int, of cluster: borrowing ClusterNode, dictionary: Ref,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value {
    guard let part = cluster.part(of: column) else { return column.absentValue }
    switch column.storage {
    case .integers:
      return cluster.isNull(part, row) ? .null : column.value(integer: cluster.integer(part, row))
    case .dates:
      return cluster.isNull(part, row) ? .null : .date(cluster.date(column.id, part, row))
    case .fixed(let size):
      return cluster.isNull(part, row) ? .null : column.value(fixed: cluster.data(part), row, size: size)
    case .varying, .composite:
      let cell = try cluster.cell(part, row, dictionary: dictionary, access.lent)
      if cell.isNull { return .null }
      if let tree = cell.tree, column.isCollection { return try CollectionForm.value(tree, column, access) }
      guard let value = column.value(varying: try cell.array(access)) else {
        throw access.corrupted(.structure, cell.source)
      }
      return value
    }
  }

  /// The number of elements of a row's collection. O(1) if the collection is a tree.
  static func count(
    _ column: Column, _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Int {
    if let part = cluster.composite(of: column.id),
      let tree = try cluster.cell(part, row, dictionary: .null, access.lent).tree
    {
      return try CollectionForm.count(tree, column, access)
    }
    return try value(column, row, of: cluster, dictionary: .null, access).elements?.count ?? 0
  }

  /// Whether `condition` is true for an element of a row's collection, or for a value of its map. If the collection is
  /// a tree, the leaves after the first such element are not read.
  static func contains(
    _ column: Column, _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess,
    _ condition: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    if let part = cluster.composite(of: column.id),
      let tree = try cluster.cell(part, row, dictionary: .null, access.lent).tree
    {
      return try CollectionForm.contains(tree, column, access, condition)
    }
    for element in try value(column, row, of: cluster, dictionary: .null, access).elements ?? [] {
      if try condition(element) { return true }
    }
    return false
  }
}
