/// Counts the rows of a table whose value of an integer column lies in a range, a cluster at a time, on packed values.
///
/// The least and the greatest value in a cluster's descriptor decide most clusters, whose values are then not read.
enum IntegerScan {
  /// Nodes of an encrypted file stay in memory as long as the access that has read them. So each branch of clusters has an access of
  /// its own.
  static func count(
    _ column: Column, in range: ClosedRange<Int64>, of clusters: Ref, _ reader: any NodeReader,
    within bounds: QueryBounds = QueryBounds()
  ) throws(StorageError) -> UInt64 {
    var (place, end, sum) = (LikelyPlace(), UInt64(0), UInt64(0))
    var next: UInt64? = 0
    while let key = next, !clusters.isNull {
      let access = reader.access()
      if !bounds.isEmpty { try bounds.check(access) }
      let (branch, following) = try ClusterWalk.lastBranch(for: key, in: clusters, access)
      sum &+= try visit(branch, column, range, &place, &end, access)
      next = following
    }
    return sum
  }

  /// - Parameter end: the least key that the next cluster may have. It is checked because a forged tree may name one
  ///   node many times.
  private static func visit(
    _ ref: Ref, _ column: Column, _ range: ClosedRange<Int64>, _ place: inout LikelyPlace,
    _ end: inout UInt64, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64 {
    guard ref.isKeyedBranch else {
      let cluster = ClusterNode(try access.node(ref, .cluster))
      try ClusterWalk.expectInOrder(cluster, ref, access, &end)
      return UInt64(count(cluster, column, range, &place))
    }
    let branch = KeyedBranch(try access.node(ref))
    var sum: UInt64 = 0
    for index in 0..<branch.count {
      if let next = branch.prefetchHead(behind: index, access) { place.prefetch(next, access) }
      sum &+= try visit(branch.child(index), column, range, &place, &end, access)
    }
    return sum
  }

  private static func count(
    _ cluster: ClusterNode, _ column: Column, _ range: ClosedRange<Int64>, _ place: inout LikelyPlace
  ) -> Int {
    guard let descriptor = cluster.integers(of: column.id) else {
      let value = column.absentValue
      return value != .null && range.contains(value.integer) ? cluster.rows : 0
    }
    let nulls = Int(descriptor.nullCount)
    guard nulls < cluster.rows, range.lowerBound <= descriptor.greatest, range.upperBound >= descriptor.least
    else { return 0 }
    let low = max(range.lowerBound, descriptor.least) &- descriptor.least
    let high = min(range.upperBound, descriptor.greatest) &- descriptor.least
    place.note(descriptor, of: cluster)
    let distances = UInt64(bitPattern: low)...UInt64(bitPattern: high)
    let found = PackedIntegers.count(
      cluster.data(descriptor), cluster.rows, width: Int(descriptor.width), in: distances)
    // Nulls are stored as the least value.
    return low == 0 ? max(0, found - nulls) : found
  }
}
