/// Lookups of many rows at once, so that their cache misses overlap.
///
/// A lookup waits for memory about four times, each time for an address that it has just read: the leaf of the index, the
/// cluster, the piece. For one row nothing can be done about that. For many rows, each wait serves a whole batch.
extension Table {
  /// Calls `body` for each row whose primary key is one of some numbers, in the order of the numbers: with the position of the
  /// number, the group that has the row, and the row's position in the group. Numbers that are not a primary key are left out.
  ///
  /// Takes O(log n) for each row, and less time than single lookups, because the memory that many rows need is requested at once.
  ///
  /// - Precondition: the primary key of the table has whole numbers and is not optional.
  public func forEachRow(
    withPrimaryKeys numbers: [Int64],
    _ body: (_ position: Int, _ group: borrowing RowGroup, _ row: Int) throws(StorageError) -> Void
  ) throws(StorageError) {
    precondition(content.hasKeyIndex, "the table has no primary key of whole numbers")
    guard !content.keyIndex.root.isNull else { return }
    var leaves: [IndexPlace] = []
    var found: [FoundPlace] = []
    leaves.reserveCapacity(Self.batch)
    found.reserveCapacity(Self.batch)
    for start in stride(from: 0, to: numbers.count, by: Self.batch) {
      let positions = start..<min(start + Self.batch, numbers.count)
      let access = beginReading()
      leaves.removeAll(keepingCapacity: true)
      found.removeAll(keepingCapacity: true)
      for position in positions {
        let key = IntegerIndex.key(numbers[position])
        let leaf = try content.keyIndex.leafAndRange(for: key, access)
        IntegerIndexNode.prefetch(key, in: leaf, access)
        leaves.append(leaf)
      }
      for position in positions {
        guard let key = try IntegerIndex.row(of: numbers[position], leaves[position - start], access) else {
          continue
        }
        found.append(FoundPlace(position: position, key: key, cluster: try ask(forRow: key, access)))
      }
      try lend(&found, access, body)
    }
  }

  /// Calls `body` for each row with one of some keys, in the order of the keys: with the position of the key, the group that has
  /// the row, and the row's position in the group. Keys that no row has are left out.
  public func forEachRow(
    _ keys: [UInt64],
    _ body: (_ position: Int, _ group: borrowing RowGroup, _ row: Int) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard !clusters.isNull else { return }
    var found: [FoundPlace] = []
    found.reserveCapacity(Self.batch)
    for start in stride(from: 0, to: keys.count, by: Self.batch) {
      let access = beginReading()
      found.removeAll(keepingCapacity: true)
      for position in start..<min(start + Self.batch, keys.count) {
        let cluster = try ask(forRow: keys[position], access)
        found.append(FoundPlace(position: position, key: keys[position], cluster: cluster, mayBeGone: true))
      }
      try lend(&found, access, body)
    }
  }

  /// The number of rows in a batch: enough to keep the memory busy, and few enough that prefetched data is still in the cache
  /// when it is read.
  private static let batch = 32

  private typealias IndexPlace = (ref: Ref, least: UInt64, next: UInt64)

  private struct FoundPlace {
    var position: Int
    var key: UInt64
    var cluster: Ref
    /// Whether the row may not exist. It is false for a row that was found in an index.
    var mayBeGone = false
    var row = -1
  }

  /// The cluster that may have a row. It prefetches the head of the cluster.
  @inline(__always)
  private func ask(forRow key: UInt64, _ access: borrowing NodeAccess) throws(StorageError) -> Ref {
    let cluster = try cluster(of: key, access)
    access.prefetch(cluster, count: RowGroup.headBytes)
    return cluster
  }

  private func lend(
    _ found: inout [FoundPlace], _ access: borrowing NodeAccess,
    _ body: (Int, borrowing RowGroup, Int) throws(StorageError) -> Void
  ) throws(StorageError) {
    for index in found.indices {
      let group = try RowGroup(found[index].cluster, lent, notes: true, access.lent)
      guard let row = group.node.row(of: found[index].key) else {
        if found[index].mayBeGone { continue }
        throw access.corrupted(.index, found[index].cluster)
      }
      found[index].row = row
      group.prefetch(row)
    }
    for place in found where place.row >= 0 {
      try body(place.position, try RowGroup(place.cluster, lent, notes: true, access.lent), place.row)
    }
  }
}

extension WritableTable {
  /// Adds a row with a given key, as `insert(_:)` does with the next key.
  ///
  /// - Parameter key: a key that is greater than those of all rows that the table has had, by at most about 2^40.
  /// - Returns: the key; nil if it is not such a key. No row is added then.
  package func insert(
    key: UInt64, _ fill: (inout NewRow) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64? {
    try usableWriter().insert(ahead: key, fill)
  }
}
