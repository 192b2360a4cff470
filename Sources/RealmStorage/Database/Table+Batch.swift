/// Lookups of many rows, whose cache misses overlap.
///
/// A lookup waits for memory about four times, each time for an address that the wait before it has told: the leaf of
/// the index, the cluster, the piece. Of one row nothing can be done about that; of many, each wait is for a whole batch.
extension Table {
  /// Calls `body` with the group and place of each row whose primary key is among the numbers, and with the position of
  /// that number. In the order of the numbers; those that are no row's are left out.
  ///
  /// O(log n) each, and less than one after another: what many of them need is asked for at once.
  ///
  /// - Precondition: the table has a primary key of whole numbers, which are never null.
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

  /// The same with the rows of some keys: those without a row are left out.
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

  /// So many that memory is kept busy, and so few that what was asked for is still in the cache when it is read.
  private static let batch = 32

  private typealias IndexPlace = (ref: Ref, least: UInt64, next: UInt64)

  private struct FoundPlace {
    var position: Int
    var key: UInt64
    var cluster: Ref
    /// Else it was found in an index.
    var mayBeGone = false
    var row = -1
  }

  /// The cluster that may hold a row; its head is asked for.
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
