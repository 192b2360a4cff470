/// Goes through the clusters of a table.
enum ClusterWalk {
  typealias Body = (borrowing ClusterNode, borrowing NodeAccess) throws(StorageError) -> Void
  /// A closure that is called with clusters that the walk reaches soon, so that it can prefetch more than their heads.
  typealias Ahead = (Ref, borrowing NodeAccess) -> Void

  /// Calls `body` with all clusters below a node, in order.
  ///
  /// - Throws: `.corrupted` if their keys are not in order: a forged tree may name one node many times.
  static func visit(
    _ ref: Ref, _ access: borrowing NodeAccess, ahead: Ahead = { _, _ in }, _ body: Body
  ) throws(StorageError) {
    var end: UInt64 = 0
    try visit(ref, access, &end, ahead, body)
  }

  /// - Parameter end: the least key that the next cluster may have.
  private static func visit(
    _ ref: Ref, _ access: borrowing NodeAccess, _ end: inout UInt64, _ ahead: Ahead, _ body: Body
  ) throws(StorageError) {
    guard !ref.isNull else { return }
    guard !ref.isKeyedBranch else {
      let branch = KeyedBranch(try access.node(ref))
      for index in 0..<branch.count {
        if let next = branch.prefetchHead(behind: index, access) { ahead(next, access) }
        try visit(branch.child(index), access, &end, ahead, body)
      }
      return
    }
    let cluster = ClusterNode(try access.node(ref, .cluster))
    try expectInOrder(cluster, ref, access, &end)
    try body(cluster, access)
  }

  /// Checks that the keys of a cluster come after those of the cluster before it.
  ///
  /// - Parameter end: the least key that the cluster may have; afterwards the least key that the next cluster may have.
  /// - Throws: `.corrupted` if the keys are not in order.
  @inline(__always)
  static func expectInOrder(
    _ cluster: borrowing ClusterNode, _ ref: Ref, _ access: borrowing NodeAccess, _ end: inout UInt64
  ) throws(StorageError) {
    let last = cluster.key(cluster.rows - 1)
    guard cluster.firstKey >= end, last >= cluster.firstKey, last < .max else {
      throw access.corrupted(.keyOrder, ref)
    }
    end = last + 1
  }

  /// Calls `body` with all clusters, one branch of them at a time, so that the decrypted nodes of a branch can be
  /// forgotten before the next one is read.
  static func forEach(
    in clusters: Ref, _ reader: any NodeReader, ahead: Ahead = { _, _ in }, _ body: Body
  ) throws(StorageError) {
    var (next, end): (UInt64?, UInt64) = (0, 0)
    while let key = next, !clusters.isNull {
      let access = reader.access()
      let (branch, following) = try lastBranch(for: key, in: clusters, access)
      try visit(branch, access, &end, ahead, body)
      next = following
    }
  }

  /// Calls `body` with one cluster after another until it returns true, one branch of them at a time.
  static func walk(
    in clusters: Ref, _ reader: any NodeReader,
    until body: (borrowing ClusterNode, borrowing NodeAccess) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var (next, end): (UInt64?, UInt64) = (0, 0)
    while let key = next, !clusters.isNull {
      let access = reader.access()
      let (branch, following) = try lastBranch(for: key, in: clusters, access)
      if try visit(branch, access, &end, until: body) { return }
      next = following
    }
  }

  /// Calls `body` with the clusters below a node until it returns true.
  ///
  /// - Returns: whether `body` returned true.
  private static func visit(
    _ ref: Ref, _ access: borrowing NodeAccess, _ end: inout UInt64,
    until body: (borrowing ClusterNode, borrowing NodeAccess) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    guard !ref.isNull else { return false }
    guard !ref.isKeyedBranch else {
      let branch = KeyedBranch(try access.node(ref))
      for index in 0..<branch.count {
        if try visit(branch.child(index), access, &end, until: body) { return true }
      }
      return false
    }
    let cluster = ClusterNode(try access.node(ref, .cluster))
    try expectInOrder(cluster, ref, access, &end)
    return try body(cluster, access)
  }

  /// The lowest branch above the leaf that may hold `key`, and the least key that may stand behind that branch; nil if
  /// none may.
  static func lastBranch(
    for key: UInt64, in clusters: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (ref: Ref, next: UInt64?) {
    var (ref, next) = (clusters, UInt64?.none)
    while ref.isKeyedBranch {
      let branch = KeyedBranch(try access.node(ref))
      let index = branch.search(key)
      guard branch.child(index).isKeyedBranch else { break }
      if index + 1 < branch.count { next = branch.leastKey(index + 1) }
      ref = branch.child(index)
    }
    // Only in a forged tree does the walk lead back.
    if let next, next <= key { throw access.corrupted(.keyOrder, ref) }
    return (ref, next)
  }

  /// Calls `body` with each cluster that has rows with some keys, and with these rows. Keys without a row are left out.
  ///
  /// - Precondition: no key is less than the key before it.
  static func forEach(
    of keys: [UInt64], in clusters: Ref, _ reader: any NodeReader,
    _ body: (borrowing ClusterNode, RowMask, borrowing NodeAccess) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard !clusters.isNull else { return }
    var index = 0
    while index < keys.count {
      let access = reader.access()
      let (leaf, next) = try KeyedTree.leafAndNext(for: keys[index], in: clusters, access)
      let cluster = ClusterNode(try access.node(leaf, .cluster))
      var rows = RowMask.none
      repeat {
        if let row = cluster.row(of: keys[index]) { rows.insert(row) }
        index += 1
      } while index < keys.count && next.map({ keys[index] < $0 }) ?? true
      if !rows.isEmpty { try body(cluster, rows, access) }
    }
  }

  /// Calls `body` with the rows that have some keys, in the order of `keys`, which may be any order. Keys without a row
  /// are left out.
  ///
  /// This takes least time if keys that are close to each other stand one after another.
  static func forEachRow(
    of keys: [UInt64], in clusters: Ref, _ reader: any NodeReader,
    _ body: (_ row: Int, borrowing ClusterNode, borrowing NodeAccess) throws(StorageError) -> Void
  ) throws(StorageError) {
    try forEachStretch(of: keys, in: clusters, reader) { (rows, cluster, access) throws(StorageError) in
      for row in rows { try body(Int(row), cluster, access) }
    }
  }

  /// Calls `body` with the same rows as `forEachRow`, but with all rows of a cluster at once that come one after
  /// another.
  static func forEachStretch(
    of keys: [UInt64], in clusters: Ref, _ reader: any NodeReader,
    _ body: (_ rows: [UInt16], borrowing ClusterNode, borrowing NodeAccess) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard !clusters.isNull else { return }
    var rows: [UInt16] = []
    var index = 0
    while index < keys.count {
      let access = reader.access()
      let (leaf, next) = try KeyedTree.leafAndNext(for: keys[index], in: clusters, access)
      let cluster = ClusterNode(try access.node(leaf, .cluster))
      take(&rows, of: cluster, before: next, keys, from: &index)
      if !rows.isEmpty { try body(rows, cluster, access) }
    }
  }

  /// Calls `body` as `forEachStretch` does, for rows that are most of the table's rows and mostly in order: whole
  /// clusters of them are recognized at once. Short walks take less time without looking for whole clusters.
  static func forEachLongStretch(
    of keys: PlacedRows, in clusters: Ref, _ reader: any NodeReader, _ body: StretchBody
  ) throws(StorageError) {
    switch keys {
    case .run(let keys): try forEachStretch(of: keys, in: clusters, reader, body)
    case .list(let keys): try forEachLongStretch(of: keys, in: clusters, reader, body)
    }
  }

  typealias StretchBody = (
    _ rows: [UInt16], borrowing ClusterNode, borrowing NodeAccess
  ) throws(StorageError) -> Void

  /// Calls `body` with all rows of a table that was found to have exactly the rows of the run.
  private static func forEachStretch(
    of run: Range<UInt64>, in clusters: Ref, _ reader: any NodeReader, _ body: StretchBody
  ) throws(StorageError) {
    var all: [UInt16] = []
    var next = run.lowerBound
    try forEach(in: clusters, reader) { (cluster, access) throws(StorageError) in
      // Only in a forged tree is the cluster not the one that was found before.
      guard cluster.isDense, cluster.firstKey == next, UInt64(cluster.rows) <= run.upperBound - next else {
        throw access.corrupted(.keyOrder, clusters)
      }
      if all.count != cluster.rows { all = (0..<UInt16(cluster.rows)).map { $0 } }
      next += UInt64(cluster.rows)
      try body(all, cluster, access)
    }
  }

  private static func forEachLongStretch(
    of keys: [UInt64], in clusters: Ref, _ reader: any NodeReader, _ body: StretchBody
  ) throws(StorageError) {
    guard !clusters.isNull else { return }
    var (rows, all): ([UInt16], [UInt16]) = ([], [])
    var index = 0
    while index < keys.count {
      let access = reader.access()
      let (leaf, next) = try KeyedTree.leafAndNext(for: keys[index], in: clusters, access)
      let cluster = ClusterNode(try access.node(leaf, .cluster))
      if cluster.isDense, keys.hasSuccessors(of: cluster.firstKey, cluster.rows, at: index) {
        if all.count != cluster.rows { all = (0..<UInt16(cluster.rows)).map { $0 } }
        index += cluster.rows
        try body(all, cluster, access)
      } else {
        take(&rows, of: cluster, before: next, keys, from: &index)
        if !rows.isEmpty { try body(rows, cluster, access) }
      }
    }
  }

  /// Takes the rows of a cluster whose keys stand at a place of `keys` and right behind it.
  @inline(__always)
  private static func take(
    _ rows: inout [UInt16], of cluster: borrowing ClusterNode, before next: UInt64?, _ keys: [UInt64],
    from index: inout Int
  ) {
    rows.removeAll(keepingCapacity: true)
    repeat {
      if let row = cluster.row(of: keys[index]) { rows.append(UInt16(row)) }
      index += 1
    } while index < keys.count && keys[index] >= cluster.firstKey && next.map({ keys[index] < $0 }) ?? true
  }
}

/// The place of a column's values in the cluster that was read last. In the clusters behind it they usually stand there
/// too.
struct LikelyPlace {
  private var offset = 0
  private var count = 0

  /// The greatest number of bytes to prefetch. Processors load the bytes behind them by themselves, because they follow
  /// a walk through memory.
  private static let maximumCount = 512

  @inline(__always)
  mutating func note(_ descriptor: ClusterNode.Descriptor, of cluster: borrowing ClusterNode) {
    offset = cluster.view.bodyOffset &+ descriptor.offset
    count = min(descriptor.length, Self.maximumCount)
  }

  @inline(__always)
  func prefetch(_ cluster: Ref, _ access: borrowing NodeAccess) {
    if count > 0 { access.prefetch(cluster, at: offset, count: count) }
  }
}
