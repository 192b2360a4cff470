extension Table {
  /// How many rows have a value in a range in an integer, boolean or link column. Null is in no range.
  ///
  /// Takes time in proportion to the rows, a fraction of a nanosecond each.
  ///
  /// - Precondition: the column is one of the table, of whole numbers, and no list.
  public func count(_ column: Int, in range: ClosedRange<Int64>) throws(StorageError) -> Int {
    let column = schema.columns[column]
    precondition(column.storage == .integers, "\(schema.name).\(column.name) is of type \(column.type)")
    return Int(clamping: try IntegerScan.count(column, in: range, of: clusters, beginReading()))
  }
}

extension Table {
  /// The keys of the rows that are stored together from the first one on whose key is not less, and where those after
  /// them start; nil when there are none.
  public func keys(from key: UInt64) throws(StorageError) -> (keys: [UInt64], next: UInt64?) {
    let (rows, next) = try rowKeys(from: key)
    return (rows?.all ?? [], next)
  }

  /// The same, without a list of what runs on.
  package func rowKeys(from key: UInt64) throws(StorageError) -> (rows: RowKeys?, next: UInt64?) {
    guard !clusters.isNull else { return (nil, nil) }
    let access = beginReading()
    let (leaf, next) = try KeyedTree.leafAndNext(for: key, in: clusters, access)
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    return (RowKeys(cluster, from: cluster.lowerBound(key)), next)
  }

  /// For who counted rows in one way and found them in another: in a sound file the numbers agree.
  ///
  /// - Throws: `.corrupted` where they do not.
  package func expect(_ found: Int, of count: Int) throws(StorageError) {
    guard found == count else { throw beginReading().corrupted(.rows, clusters) }
  }

  /// For who found a row that is not where its key leads to, though none was removed: in a sound file there is none.
  package var missingRow: StorageError { beginReading().corrupted(.rows, clusters) }
}
