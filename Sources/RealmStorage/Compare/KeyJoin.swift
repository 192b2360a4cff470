/// Pairs the rows of two tables of different databases by their primary keys.
///
/// Rows that have the same order in both tables are paired run by run, column against column. If the order differs, a
/// row is looked up by its key, and the next rows are expected behind it. So memory is needed for one cluster only,
/// whatever the sizes of the tables.
struct KeyJoin {
  let old: TableDiff.Side
  let new: TableDiff.Side
  let oldKey: Column
  let newKey: Column
  /// The columns of the newer table whose values are read from paired rows.
  let forms: [ColumnForm]

  /// Calls `body` with stretches that have each row of both tables once, until it returns false. Returns false if
  /// `body` has ended it.
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
    // If each row of the newer table was paired, none is left.
    guard goesOn, paired < new.root.rows else { return goesOn }
    cursor = try LeafCursor(old)
    return try Leaves.forEach(of: new) { (leaf) throws(StorageError) in
      let alone = try Self.join(leaf, of: new, newKey, with: old, oldKey, [], &cursor).alone
      return alone.isEmpty ? true : try body(DiffWalk.Stretch(new: leaf, insertions: alone))
    }
  }

  /// The rows of a cluster, paired with the rows of another table that have the same keys, and the places of the rows
  /// without such a partner.
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
    // `most` is the number of rows that are compared at once: it is small after a difference of the order. `lookups` is
    // the number of rows that are looked up at once: it is small after rows of the same order.
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

  /// The greatest number of lookups at once. It is large enough to keep the memory busy, and small enough that
  /// requested bytes are still in the cache when they are read.
  private static let mostLookups = 32

  /// Finds rows of the other table that have the keys of some rows, by the index. The cursor is set behind the last row
  /// found.
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

  /// Prefetches the values that will be read from rows at different places.
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

/// The place in a table at which the next row is expected.
private struct LeafCursor {
  private let clusters: Ref
  /// The leaf; nil behind the last row.
  private(set) var leaf: Ref?
  private(set) var row = 0
  /// The least key that may be in the next leaf; nil if this is the last leaf.
  private var next: UInt64?

  /// Makes a cursor at the first row.
  init(_ side: TableDiff.Side) throws(StorageError) {
    clusters = side.root.clusters
    guard !clusters.isNull else { return }
    let reader = side.reader
    let (leaf, next) = try KeyedTree.leafAndNext(for: 0, in: clusters, reader.access())
    set(leaf, next)
  }

  mutating func set(_ leaf: Ref, _ next: UInt64?) { (self.leaf, self.next, row) = (leaf, next, 0) }

  /// - Parameter rows: The number of rows of the leaf. Behind the last one, the cursor moves to the next leaf.
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
