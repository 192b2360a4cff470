/// Lists the changes that lead from one version of a table to another. Their order is such that each change fits the
/// state after the changes before it: first deleted rows, then different values, then new rows.
///
/// The newer schema is the older one, possibly with more columns after the others. The older rows have the defaults of
/// the added columns.
struct RowDiff {
  typealias Side = TableDiff.Side
  /// A closure that gets a change, and returns whether it wants more.
  typealias Body = (RecordedChange) throws(StorageError) -> Bool

  let old: Side
  let new: Side
  private let walk: DiffWalk
  /// The columns of the newer schema, in its order. `old` is nil for a column that was added.
  let columns: [ColumnPair]

  struct ColumnPair {
    var old: Column?
    var new: Column
  }

  var table: UInt32 { new.schema.id }

  init(_ old: Side, _ new: Side) throws(StorageError) {
    self.old = old
    self.new = new
    columns = new.schema.columns.enumerated().map { place, column in
      ColumnPair(old: place < old.schema.columns.count ? old.schema.columns[place] : nil, new: column)
    }
    walk = try DiffWalk(old, new)
  }

  /// Calls `body` with each change until it returns false. Returns whether `body` wanted all changes.
  ///
  /// Takes memory for the refs of clusters, for the differing rows of one cluster, and for the primary keys that
  /// changed in rows of both versions.
  func forEach(_ body: Body) throws(StorageError) -> Bool {
    var (moves, hasCreations) = (PrimaryKeyMoves(), false)
    guard try forEachDeletion(&hasCreations, body), try forEachModification(&moves, body),
      try tell(moves, body)
    else { return false }
    return hasCreations ? try forEachCreation(body) : true
  }

  /// Calls `body` with each stretch of rows that have to be compared, until it returns false. Returns whether `body`
  /// wanted all stretches.
  func forEachStretch(
    _ body: (DiffWalk.Stretch) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    var walk = walk
    while let stretch = try walk.next() {
      guard try body(stretch) else { return false }
    }
    return true
  }

  func change(_ kind: RowChange.Kind, _ before: RecordedChange.Before = .nothing) -> RecordedChange {
    RecordedChange(RowChange(table: table, kind), before: before)
  }

  // MARK: - Rows

  private func forEachDeletion(_ hasCreations: inout Bool, _ body: Body) throws(StorageError) -> Bool {
    var isAnyNew = false
    defer { hasCreations = isAnyNew }
    return try forEachStretch { (stretch) throws(StorageError) in
      isAnyNew = isAnyNew || !stretch.insertions.isEmpty
      guard let leaf = stretch.old, !stretch.deletions.isEmpty else { return true }
      let batch = try batch(stretch.deletions, of: leaf, old, columns.map(\.old))
      let keys = batch.keys
      return try body(change(keys.count == 1 ? .delete(row: keys[0]) : .deleteMany(keys), .rows(batch)))
    }
  }

  private func forEachCreation(_ body: Body) throws(StorageError) -> Bool {
    try forEachStretch { (stretch) throws(StorageError) in
      guard let leaf = stretch.new, !stretch.insertions.isEmpty else { return true }
      let batch = try batch(stretch.insertions, of: leaf, new, columns.map(\.new))
      guard batch.count == 1, let row = batch.first else { return try body(change(.createMany(batch))) }
      return try body(change(.create(row: row.key, values: row.values)))
    }
  }

  /// Rows of a cluster, with a value for each column of the newer schema.
  ///
  /// - Parameter stored: the columns in the form that the version of `side` has; nil for a column that it lacks.
  private func batch(
    _ rows: [Int], of leaf: Ref, _ side: Side, _ stored: [Column?]
  ) throws(StorageError) -> RowBatch {
    let reader = side.reader
    let access = reader.access()
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    var values: [RowBatch.Values] = []
    for (place, column) in stored.enumerated() {
      values.append(
        .values(
          try Self.values(
            column, of: rows, cluster, side.root, absent: columns[place].new.absentValue, access)
        ))
    }
    var batch = RowBatch()
    batch.append(
      RowBatch.Part(keys: rows.map { [cluster = copy cluster] in cluster.key($0) }, columns: values))
    return batch
  }

  @inline(never)
  private static func values(
    _ column: Column?, of rows: [Int], _ cluster: borrowing ClusterNode, _ root: TableRoot, absent: Value,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Value] {
    guard let column else { return Array(repeating: absent, count: rows.count) }
    let dictionary = column.storage == .varying ? root.dictionaries[column.id] : .null
    var values: [Value] = []
    values.reserveCapacity(rows.count)
    for row in rows {
      values.append(try TableReading.value(column, row, of: cluster, dictionary: dictionary, access))
    }
    return values
  }

  // MARK: - Primary keys

  private func tell(_ moves: PrimaryKeyMoves, _ body: Body) throws(StorageError) -> Bool {
    guard !moves.isEmpty, let place = columns.firstIndex(where: { $0.new.index == .unique }) else {
      return true
    }
    let column = columns[place].new
    let steps = try moves.steps(column) { (key) throws(StorageError) in
      guard try Self.row(with: key, column, new) == nil else { return false }
      guard let column = columns[place].old else { return true }
      return try Self.row(with: key, column, old) == nil
    }
    for step in steps {
      switch step {
      case .set(let move):
        let cell = CellPlace(row: move.row, column: column.id)
        guard try body(change(.set(move.new, cell), .value(move.old))) else { return false }
      case .takeAway(let move):
        // The changes of the row's other values come before this step.
        var values = try values(ofRow: move.row)
        values[place] = move.old
        let row = RowBatch([RowBatch.Row(key: move.row, values: values)])
        guard try body(change(.delete(row: move.row), .rows(row))) else { return false }
      case .bringBack(let move):
        let values = try values(ofRow: move.row)
        guard try body(change(.create(row: move.row, values: values))) else { return false }
      }
    }
    return true
  }

  private static func row(
    with key: Value, _ column: Column, _ side: Side
  ) throws(StorageError) -> UInt64? {
    let reader = side.reader
    return try IndexTree.row(with: key, of: column, table: side.root, reader.access())
  }

  /// The values that a row of the newer version has.
  private func values(ofRow key: UInt64) throws(StorageError) -> [Value] {
    let reader = new.reader
    let access = reader.access()
    var values: [Value] = []
    for column in columns {
      guard let value = try TableReading.value(column.new, ofRow: key, in: new.root, access) else {
        throw access.corrupted(.keyOrder, new.root.clusters)
      }
      values.append(value)
    }
    return values
  }
}
