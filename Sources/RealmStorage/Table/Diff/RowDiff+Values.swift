/// Changes of the values of rows that both versions have.
extension RowDiff {
  /// Calls `body` with each change of a value until it returns false. Returns whether `body` wanted all changes.
  ///
  /// - Parameter moves: gets the changes of primary keys, which come later in an order of their own.
  func forEachModification(_ moves: inout PrimaryKeyMoves, _ body: Body) throws(StorageError) -> Bool {
    var found = PrimaryKeyMoves()
    defer { moves = found }
    return try forEachStretch { (stretch) throws(StorageError) in
      guard let oldLeaf = stretch.old, let newLeaf = stretch.new, !stretch.pairs.isEmpty else { return true }
      let (oldReader, newReader) = (old.reader, new.reader)
      let oldAccess = oldReader.access()
      let newAccess = newReader.access()
      let before = ClusterNode(try oldAccess.node(oldLeaf, .cluster))
      let after = ClusterNode(try newAccess.node(newLeaf, .cluster))
      let clusters = ClusterPair(before, after, old, new, oldAccess.lent, newAccess.lent)
      let changed = try changedColumns(stretch.pairs, clusters)
      for (pair, places) in zip(stretch.pairs, changed) {
        for place in places {
          let cell = CellPair(
            place: CellPlace(row: after.key(pair.new), column: columns[place].new.id), column: columns[place],
            old: pair.old, new: pair.new)
          guard try tell(cell, before, oldAccess, after, newAccess, &found, body) else { return false }
        }
      }
      return true
    }
  }

  /// For each pair of rows, the places of the columns that differ.
  private func changedColumns(
    _ pairs: [RowPair], _ clusters: borrowing ClusterPair
  ) throws(StorageError) -> [[Int]] {
    var changed = [[Int]](repeating: [], count: pairs.count)
    for (place, column) in columns.enumerated() {
      if let old = column.old {
        try clusters.forEachDifference(pairs, old, column.new) { changed[$0].append(place) }
      } else {
        try clusters.forEachDifference(pairs, fromAbsent: column.new) { changed[$0].append(place) }
      }
    }
    return changed
  }

  /// The cell of one row in the clusters of two versions.
  private struct CellPair {
    var place: CellPlace
    var column: ColumnPair
    /// The row in the older cluster.
    var old: Int
    /// The row in the newer cluster.
    var new: Int
  }

  @inline(never)
  private func tell(
    _ cell: CellPair, _ before: borrowing ClusterNode, _ oldAccess: borrowing NodeAccess,
    _ after: borrowing ClusterNode, _ newAccess: borrowing NodeAccess, _ moves: inout PrimaryKeyMoves,
    _ body: Body
  ) throws(StorageError) -> Bool {
    let column = cell.column.new
    guard !column.isCollection else {
      let left: CollectionDiff.Side
      if let stored = cell.column.old {
        left = try CollectionDiff.Side(stored, cell.old, of: before, oldAccess)
      } else {
        left = .value(column.absentValue)
      }
      let right = try CollectionDiff.Side(column, cell.new, of: after, newAccess)
      let changes = try CollectionDiff(column: column).changes(from: left, oldAccess, to: right, newAccess)
      let elements = ElementDiff(cell: cell.place, column: column, old: left, new: right)
      return try elements.forEach(changes, oldAccess, newAccess) { (kind, before) throws(StorageError) in
        try body(change(kind, before))
      }
    }
    let value = try TableReading.value(column, cell.new, of: after, new.root.dictionaries.view, newAccess)
    var earlier = column.absentValue
    if let stored = cell.column.old {
      earlier = try TableReading.value(stored, cell.old, of: before, old.root.dictionaries.view, oldAccess)
    }
    if column.index == .unique {
      moves.append(PrimaryKeyMoves.Move(row: cell.place.row, old: earlier, new: value))
      return true
    }
    return try body(change(.set(value, cell.place), .value(earlier)))
  }
}
