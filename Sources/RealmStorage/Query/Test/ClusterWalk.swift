/// Goes through the clusters of a table.
enum ClusterWalk {
  typealias Body = (borrowing ClusterNode, borrowing NodeAccess) throws(StorageError) -> Void
  /// Is told of clusters that the walk comes to soon, to ask memory for more than their heads.
  typealias Ahead = (Ref, borrowing NodeAccess) -> Void

  /// All clusters below a node, in order.
  ///
  /// - Throws: `.corrupted`, where their keys are not: a forged tree may name one node many times.
  static func visit(
    _ ref: Ref, _ access: borrowing NodeAccess, ahead: Ahead = { _, _ in }, _ body: Body
  ) throws(StorageError) {
    var end: UInt64 = 0
    try visit(ref, access, &end, ahead, body)
  }

  /// - Parameter end: no key is less.
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

  /// - Parameter end: no key of the cluster is less; the keys of the next one come behind those.
  /// - Throws: `.corrupted`, where they are less.
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

  /// All clusters, a branch of them at a time, so that decrypted nodes can be forgotten behind it.
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

  /// All clusters until `body` answers true, a branch of them at a time.
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

  /// Answers whether `body` did.
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

  /// The branch above the leaf that may hold `key`, and the least key that may stand behind it.
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
    // Only a forged tree leads back.
    if let next, next <= key { throw access.corrupted(.keyOrder, ref) }
    return (ref, next)
  }

  /// The clusters of the rows with some keys, and which rows of each these are. Keys without a row are left out.
  ///
  /// - Precondition: the keys do not fall.
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

  /// The rows with some keys, in the order these are given, which may be any. Keys without a row are left out.
  ///
  /// Takes least time where keys that are close stand one after another.
  static func forEachRow(
    of keys: [UInt64], in clusters: Ref, _ reader: any NodeReader,
    _ body: (_ row: Int, borrowing ClusterNode, borrowing NodeAccess) throws(StorageError) -> Void
  ) throws(StorageError) {
    try forEachStretch(of: keys, in: clusters, reader) { (rows, cluster, access) throws(StorageError) in
      for row in rows { try body(Int(row), cluster, access) }
    }
  }

  /// The same, with those of a cluster that come one after another at once.
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

  /// The same for rows that are most of the table's, and in order mostly: whole clusters of them are known at once. Short walks do
  /// better without looking for these.
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

  /// Of all rows of a table that was found to have those of the run.
  private static func forEachStretch(
    of run: Range<UInt64>, in clusters: Ref, _ reader: any NodeReader, _ body: StretchBody
  ) throws(StorageError) {
    var all: [UInt16] = []
    var next = run.lowerBound
    try forEach(in: clusters, reader) { (cluster, access) throws(StorageError) in
      // Only in a forged tree is it another one now.
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

  /// The rows of a cluster that stand at a place of `keys` and right behind it.
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

/// Where a column's values stood in the cluster that was read last. In those behind it they most often stand there too.
struct LikelyPlace {
  private var offset = 0
  private var count = 0

  /// What lies behind so many bytes comes by itself: processors follow a walk through memory.
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
