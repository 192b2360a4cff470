/// The keys of rows that are sorted, by their places.
enum PlacedRows {
  /// Keys without a gap between them, as in a table that has lost no row.
  case run(Range<UInt64>)
  case list([UInt64])

  /// Takes the keys of the rows that exist, in the order in which they are given.
  ///
  /// - Parameter given: the keys of rows; nil for all rows of the table. It is nil afterwards.
  init(
    taking given: inout [UInt64]?, in clusters: Ref, expected: UInt64, _ reader: any NodeReader,
    within bounds: QueryBounds
  ) throws(StorageError) {
    guard let list = given else {
      self = try PlacedRows(in: clusters, expected: expected, reader, within: bounds)
      return
    }
    given = nil
    var check = BoundsCheck(bounds)
    var count = 0
    try ClusterWalk.forEachStretch(of: list, in: clusters, reader) {
      (rows, cluster, access) throws(StorageError) in
      try check.next(access)
      count += rows.count
    }
    // Usually all rows exist, and the list need not be made again.
    if count == list.count {
      self = .list(list)
      return
    }
    var found: [UInt64] = []
    found.reserveCapacity(min(count, list.count))
    try ClusterWalk.forEachRow(of: list, in: clusters, reader) { row, cluster, _ in
      found.append(cluster.key(row))
    }
    self = .list(found)
  }

  /// Takes the keys of all rows of a table, in order.
  private init(
    in clusters: Ref, expected: UInt64, _ reader: any NodeReader, within bounds: QueryBounds
  ) throws(StorageError) {
    var run: Range<UInt64>?
    var list: [UInt64] = []
    var check = BoundsCheck(bounds)
    try ClusterWalk.forEach(in: clusters, reader) { (cluster, access) throws(StorageError) in
      try check.next(access)
      let (first, rows) = (cluster.firstKey, UInt64(cluster.rows))
      if list.isEmpty {
        if cluster.isDense, (run?.upperBound ?? first) == first {
          run = (run?.lowerBound ?? first)..<first + rows
          return
        }
        list.reserveCapacity(Int(min(expected, Self.mostExpected)))
        if let run { list += run }
      }
      cluster.appendKeys(RowMask(first: cluster.rows), to: &list)
    }
    self = list.isEmpty ? .run(run ?? 0..<0) : .list(list)
  }
  /// The greatest number of rows that room is reserved for, because a file may state any number.
  private static let mostExpected: UInt64 = 1 << 22

  var count: Int {
    switch self {
    case .run(let keys): keys.count
    case .list(let keys): keys.count
    }
  }

  @inline(__always)
  subscript(_ place: Int) -> UInt64 {
    switch self {
    case .run(let keys):
      precondition(place >= 0 && place < keys.count, "a place outside of what is sorted")
      return keys.lowerBound + UInt64(place)
    case .list(let keys): return keys[place]
    }
  }

  /// The keys as a list.
  var all: [UInt64] {
    switch self {
    case .run(let keys): Array(keys)
    case .list(let keys): keys
    }
  }
}

extension ClusterNode {
  /// Adds the keys of some rows.
  @inline(__always)
  func appendKeys(_ rows: RowMask, to keys: inout [UInt64]) {
    let first = firstKey
    if isDense {
      rows.forEach { keys.append(first &+ UInt64($0)) }
    } else {
      rows.forEach { keys.append(key($0)) }
    }
  }
}
