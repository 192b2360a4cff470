/// Pairs the rows of two tables of different databases by their primary keys.
///
/// Rows that stand in the same order in both are paired run by run, column against column. Where the order differs a row is looked up by its
/// key, and the next ones are expected behind it. So memory is taken for one cluster, whatever the sizes.
struct KeyJoin {
  let old: TableDiff.Side
  let new: TableDiff.Side
  let oldKey: Column
  let newKey: Column
  /// The columns of the newer table whose values are read of rows that are paired.
  let forms: [ColumnForm]

  /// Calls `body` with stretches that have each row of both tables once, until it answers false; answers whether it wanted all.
  func forEach(_ body: (DiffWalk.Stretch) throws(StorageError) -> Bool) throws(StorageError) -> Bool {
    var cursor = try LeafCursor(new)
    var paired: UInt64 = 0
    let goesOn = try Leaves.forEach(of: old) { (leaf) throws(StorageError) in
      let found = try Self.join(leaf, of: old, oldKey, with: new, newKey, forms, &cursor)
      for stretch in found.stretches {
        paired += UInt64(stretch.pairs.count)
        guard try body(stretch) else { return false }
      }
      guard !found.alone.isEmpty else { return true }
      return try body(DiffWalk.Stretch(old: leaf, deletions: found.alone))
    }
    // Each row of the newer table was met: none is left.
    guard goesOn, paired < new.root.rows else { return goesOn }
    cursor = try LeafCursor(old)
    return try Leaves.forEach(of: new) { (leaf) throws(StorageError) in
      let alone = try Self.join(leaf, of: new, newKey, with: old, oldKey, [], &cursor).alone
      return alone.isEmpty ? true : try body(DiffWalk.Stretch(new: leaf, insertions: alone))
    }
  }

  /// The rows of a cluster with those of another table that have the same keys, and the places of those without one.
  @inline(never)
  private static func join(
    _ leaf: Ref, of side: TableDiff.Side, _ key: Column, with other: TableDiff.Side, _ otherKey: Column,
    _ forms: [ColumnForm], _ cursor: inout LeafCursor
  ) throws(StorageError) -> (stretches: [DiffWalk.Stretch], alone: [Int]) {
    let (reader, otherReader) = (side.reader, other.reader)
    let access = reader.access()
    let otherAccess = otherReader.access()
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    var (stretches, alone): ([DiffWalk.Stretch], [Int]) = ([], [])
    func add(_ pairs: [RowPair], _ there: Ref) {
      if stretches.last?.new == there {
        stretches[stretches.count - 1].pairs += pairs
      } else {
        stretches.append(DiffWalk.Stretch(old: leaf, new: there, pairs: pairs))
      }
    }
    // How many rows are compared at once: few where the order was another just before. How many are looked up: few where it was the same.
    var (row, most, lookups) = (0, 1, 1)
    while row < cluster.rows {
      if let there = cursor.leaf {
        let node = ClusterNode(try otherAccess.node(there, .cluster))
        let asked = min(most, cluster.rows - row, node.rows - cursor.row)
        let pairs = (0..<asked).map { RowPair(old: row + $0, new: cursor.row + $0) }
        let clusters = ClusterPair(cluster, node, side, other, access.lent, otherAccess.lent)
        let same = try clusters.commonStart(pairs, key, otherKey)
        if same > 0 { add(Array(pairs.prefix(same)), there) }
        row += same
        try cursor.advance(to: cursor.row + same, of: node.rows, otherAccess)
        most = same == asked ? min(2 * most, ClusterNode.maximumRows) : 1
        if same == asked {
          lookups = 1
          continue
        }
      }
      let rows = row..<min(row + lookups, cluster.rows)
      let found = try find(rows, of: cluster, side, key, access, in: other, otherKey, otherAccess, &cursor)
      try ask(for: found, forms, otherAccess)
      for (row, place) in zip(rows, found) {
        if let place { add([RowPair(old: row, new: place.row)], place.leaf) } else { alone.append(row) }
      }
      row = rows.upperBound
      lookups = min(2 * lookups, mostLookups)
    }
    return (stretches, alone)
  }

  private typealias Place = (leaf: Ref, row: Int)

  /// So many lookups that memory is kept busy, and so few that what was asked for is still in the cache when it is read.
  private static let mostLookups = 32

  /// The rows with the keys of others, by the index; the cursor is set behind the last one.
  @inline(never)
  private static func find(
    _ rows: Range<Int>, of cluster: borrowing ClusterNode, _ side: TableDiff.Side, _ key: Column,
    _ access: borrowing NodeAccess, in other: TableDiff.Side, _ otherKey: Column,
    _ otherAccess: borrowing NodeAccess, _ cursor: inout LeafCursor
  ) throws(StorageError) -> [Place?] {
    var leaves: [(key: UInt64, leaf: Ref, next: UInt64?)?] = []
    for row in rows {
      let value = try TableReading.value(key, row, of: cluster, side.root.dictionaries.view, access)
      guard let found = try IndexTree.row(with: value, of: otherKey, table: other.root, otherAccess) else {
        leaves.append(nil)
        continue
      }
      guard !other.root.clusters.isNull else {
        throw otherAccess.corrupted(.index, other.root.index(of: otherKey))
      }
      let (leaf, next) = try KeyedTree.leafAndNext(for: found, in: other.root.clusters, otherAccess)
      otherAccess.prefetch(leaf, count: RowGroup.headBytes)
      leaves.append((found, leaf, next))
    }
    var places: [Place?] = []
    for found in leaves {
      guard let (key, leaf, next) = found else {
        places.append(nil)
        continue
      }
      let node = ClusterNode(try otherAccess.node(leaf, .cluster))
      guard let place = node.row(of: key) else { throw otherAccess.corrupted(.index, leaf) }
      cursor.set(leaf, next)
      try cursor.advance(to: place + 1, of: node.rows, otherAccess)
      places.append((leaf, place))
    }
    return places
  }

  /// Asks memory for what is read of rows that stand apart.
  @inline(never)
  private static func ask(
    for places: [Place?], _ forms: [ColumnForm], _ access: borrowing NodeAccess
  ) throws(StorageError) {
    guard places.count > 1 else { return }
    for case let (leaf, row)? in places {
      let node = ClusterNode(try access.node(leaf, .cluster))
      for form in forms { node.prefetch(form, row, access.lent) }
    }
  }
}

/// Where the next row is expected.
private struct LeafCursor {
  private let clusters: Ref
  /// Nil behind the last row.
  private(set) var leaf: Ref?
  private(set) var row = 0
  /// The least key that may stand in the next leaf; nil for the last one.
  private var next: UInt64?

  /// At the first row.
  init(_ side: TableDiff.Side) throws(StorageError) {
    clusters = side.root.clusters
    guard !clusters.isNull else { return }
    let reader = side.reader
    let (leaf, next) = try KeyedTree.leafAndNext(for: 0, in: clusters, reader.access())
    set(leaf, next)
  }

  mutating func set(_ leaf: Ref, _ next: UInt64?) { (self.leaf, self.next, row) = (leaf, next, 0) }

  /// - Parameter rows: how many the leaf has; behind the last one the next leaf begins.
  mutating func advance(
    to row: Int, of rows: Int, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    self.row = row
    guard row == rows else { return }
    guard let next else {
      leaf = nil
      return
    }
    let (leaf, following) = try KeyedTree.leafAndNext(for: next, in: clusters, access)
    set(leaf, following)
  }
}
