/// Compares the cells of two clusters of two versions of a table, which have rows in common.
struct ClusterPair: ~Escapable {
  private let old: ClusterNode
  private let new: ClusterNode
  private let oldAccess: LentAccess
  private let newAccess: LentAccess
  private let oldDictionaries: ColumnTrees
  private let newDictionaries: ColumnTrees

  @_lifetime(copy oldAccess, copy newAccess, copy old, copy new)
  init(
    _ old: ClusterNode, _ new: ClusterNode, _ oldSide: TableDiff.Side, _ newSide: TableDiff.Side,
    _ oldAccess: LentAccess, _ newAccess: LentAccess
  ) {
    self.old = old
    self.new = new
    self.oldAccess = oldAccess
    self.newAccess = newAccess
    oldDictionaries = oldSide.root.dictionaries
    newDictionaries = newSide.root.dictionaries
  }

  func key(_ pair: RowPair) -> UInt64 { new.key(pair.new) }

  /// Calls `body` with the index in `pairs` of each pair of rows whose cells of a column differ, in ascending order.
  func forEachDifference(
    _ pairs: [RowPair], _ oldColumn: Column, _ newColumn: Column, _ body: (Int) -> Void
  ) throws(StorageError) {
    // A cluster may lack a column that was added later. Values of two types are never compared by their bytes.
    if oldColumn.hasValues(like: newColumn), let before = old.part(of: oldColumn),
      let after = new.part(of: newColumn)
    {
      switch newColumn.storage {
      case .integers: return forEachDifference(ofIntegers: pairs, before, after, body)
      // Absent nanoseconds are zero.
      case .dates where old.nanoseconds(of: oldColumn.id) == nil && new.nanoseconds(of: newColumn.id) == nil:
        return forEachDifference(ofIntegers: pairs, before, after, body)
      case .dates: break
      case .fixed: return forEachDifference(ofBytes: pairs, before, after, body)
      case .varying, .composite:
        if isSamePieces(pairs, before, oldColumn, after, newColumn) { return }
        let left = VaryingCells(old, before, oldColumn, dictionary: oldDictionaries[oldColumn.id], oldAccess)
        let right = VaryingCells(new, after, newColumn, dictionary: newDictionaries[newColumn.id], newAccess)
        for place in pairs.indices where try !left.isEqual(pairs[place].old, right, pairs[place].new) {
          body(place)
        }
        return
      }
    }
    try forEachDifference(ofValues: pairs, oldColumn, newColumn, body)
  }

  /// The number of pairs at the beginning that have the same value of a column.
  func commonStart(
    _ pairs: [RowPair], _ oldColumn: Column, _ newColumn: Column
  ) throws(StorageError) -> Int {
    var count = pairs.count
    try forEachDifference(pairs, oldColumn, newColumn) { count = min(count, $0) }
    return count
  }

  /// Calls `body` with the index in `pairs` of each pair of rows that differ in a column that only the newer version
  /// has. The older rows have the default of the column.
  func forEachDifference(
    _ pairs: [RowPair], fromAbsent column: Column, _ body: (Int) -> Void
  ) throws(StorageError) {
    // The rows of a cluster that lacks the column have the default, too.
    guard new.part(of: column) != nil else { return }
    let access = NodeAccess(within: newAccess)
    let absent = column.absentValue
    for (place, pair) in pairs.enumerated() {
      if try TableReading.value(column, pair.new, of: new, newDictionaries.view, access) != absent {
        body(place)
      }
    }
  }

  private func forEachDifference(
    ofIntegers pairs: [RowPair], _ before: ClusterNode.Descriptor, _ after: ClusterNode.Descriptor,
    _ body: (Int) -> Void
  ) {
    if isSame(pairs, before, after) { return }
    for (place, pair) in pairs.enumerated() {
      let isNull = old.isNull(before, pair.old)
      if isNull != new.isNull(after, pair.new)
        || !isNull && old.integer(before, pair.old) != new.integer(after, pair.new)
      {
        body(place)
      }
    }
  }

  private func forEachDifference(
    ofBytes pairs: [RowPair], _ before: ClusterNode.Descriptor, _ after: ClusterNode.Descriptor,
    _ body: (Int) -> Void
  ) {
    if isSame(pairs, before, after) { return }
    let size = Int(before.width)
    for (place, pair) in pairs.enumerated() {
      let isNull = old.isNull(before, pair.old)
      if isNull != new.isNull(after, pair.new) {
        body(place)
      } else if !isNull {
        let left = old.data(before).extracting(pair.old * size..<(pair.old + 1) * size)
        let right = new.data(after).extracting(pair.new * size..<(pair.new + 1) * size)
        if left.compare(right) != 0 { body(place) }
      }
    }
  }

  /// Whether all rows of both clusters are in `pairs`, and both have the same pieces of a column, or the same codes of
  /// the same dictionary. The answer is false if collections are trees.
  private func isSamePieces(
    _ pairs: [RowPair], _ before: ClusterNode.Descriptor, _ oldColumn: Column,
    _ after: ClusterNode.Descriptor, _ newColumn: Column
  ) -> Bool {
    // The rows of two files often do not pair with the rows of one whole cluster.
    guard pairs.count == old.rows, pairs.count == new.rows, before.encoding == after.encoding else {
      return false
    }
    if before.encoding == .codes {
      return oldDictionaries[oldColumn.id] == newDictionaries[newColumn.id] && isSame(pairs, before, after)
    }
    guard pairs.allSatisfy({ $0.old == $0.new }), old.trees(of: oldColumn.id) == nil,
      new.trees(of: newColumn.id) == nil
    else { return false }
    return old.pieces(before).elementsEqual(new.pieces(after)) { $0 == $1 }
  }

  /// Whether all rows of both clusters are in `pairs`, and all bytes of a column are the same. In a cluster in which
  /// one row was changed, this is true for most columns.
  private func isSame(
    _ pairs: [RowPair], _ before: ClusterNode.Descriptor, _ after: ClusterNode.Descriptor
  ) -> Bool {
    guard pairs.count == old.rows, pairs.count == new.rows, before.width == after.width,
      before.nullCount == after.nullCount, before.least == after.least,
      // The rows of two files may be paired in another order.
      pairs.allSatisfy({ $0.old == $0.new })
    else { return false }
    return old.view.bytes(at: before.offset, count: before.length)
      .compare(new.view.bytes(at: after.offset, count: after.length)) == 0
  }

  /// Compares the values of any column, also if a cluster lacks the column because it was added later.
  private func forEachDifference(
    ofValues pairs: [RowPair], _ oldColumn: Column, _ newColumn: Column, _ body: (Int) -> Void
  ) throws(StorageError) {
    let left = NodeAccess(within: oldAccess)
    let right = NodeAccess(within: newAccess)
    let targetsDiffer =
      oldColumn.type == .link && newColumn.type == .link && oldColumn.target != newColumn.target
    for (place, pair) in pairs.enumerated() {
      let before = try TableReading.value(oldColumn, pair.old, of: old, oldDictionaries.view, left)
      let after = try TableReading.value(newColumn, pair.new, of: new, newDictionaries.view, right)
      // A link to a row of another table is a different value, even if the rows have the same key.
      let areOthers = targetsDiffer && !before.linkTargets(of: oldColumn).isEmpty
      if areOthers || before != after { body(place) }
    }
  }
}

/// The cells of a column of varying size in a cluster. Values are compared by their stored bytes.
private struct VaryingCells: ~Escapable {
  private let cluster: ClusterNode
  private let descriptor: ClusterNode.Descriptor
  private let column: Column
  private let dictionary: Ref
  private let access: LentAccess

  @_lifetime(copy cluster, copy access)
  init(
    _ cluster: ClusterNode, _ descriptor: ClusterNode.Descriptor, _ column: Column, dictionary: Ref,
    _ access: LentAccess
  ) {
    self.cluster = cluster
    self.descriptor = descriptor
    self.column = column
    self.dictionary = dictionary
    self.access = access
  }

  private var isCoded: Bool { descriptor.encoding == .codes }

  func isEqual(_ row: Int, _ other: Self, _ otherRow: Int) throws(StorageError) -> Bool {
    if isCoded, other.isCoded, dictionary == other.dictionary {
      let isNull = cluster.isNull(descriptor, row)
      return isNull == other.cluster.isNull(other.descriptor, otherRow)
        && (isNull || cluster.integer(descriptor, row) == other.cluster.integer(other.descriptor, otherRow))
    }
    if !isCoded, !other.isCoded {
      let (left, right) = (
        cluster.piece(descriptor, row), other.cluster.piece(other.descriptor, otherRow)
      )
      // The same cell of the same piece is equal, unless it is a collection that is a tree.
      if left == right, cluster.trees(of: column.id) == nil { return true }
    }
    let left = try cluster.cell(descriptor, row, dictionary: dictionary, access)
    let right = try other.cluster.cell(
      other.descriptor, otherRow, dictionary: other.dictionary, other.access)
    if left.isNull || right.isNull { return left.isNull == right.isNull }
    if left.tree != nil || right.tree != nil {
      if left.tree == right.tree { return true }
      return try isEqual(left, other, right)
    }
    if left.length == right.length {
      // A value has only one form. So values of the same length are both in their pieces or both apart.
      if left.long == nil, right.long == nil {
        if left.bytes.compare(right.bytes) == 0 { return true }
      } else {
        if left.long == right.long { return true }
        let bytes = try left.array(NodeAccess(within: access))
        if try bytes == right.array(NodeAccess(within: other.access)) { return true }
      }
    }
    // The ids of lists and maps in mixed values are not compared.
    guard column.type == .mixed else { return false }
    return try isEqual(left, other, right)
  }

  /// Whether two collections are equal, at least one of which is a tree, or two mixed values.
  private func isEqual(
    _ cell: VaryingCell, _ other: Self, _ otherCell: VaryingCell
  ) throws(StorageError) -> Bool {
    if let left = cell.tree, let right = otherCell.tree {
      let access = NodeAccess(within: access)
      let otherAccess = NodeAccess(within: other.access)
      guard column.collection == .list else {
        return try SortedTree.areEqual(left, access, right, otherAccess, of: column)
      }
      return try ListTree.areEqual(left, access, right, otherAccess, column.element)
    }
    return try value(cell) == other.value(otherCell)
  }

  private func value(_ cell: VaryingCell) throws(StorageError) -> Value {
    let access = NodeAccess(within: access)
    if let tree = cell.tree { return try CollectionForm.value(tree, column, access) }
    guard let value = column.value(varying: try cell.array(access)) else {
      throw access.corrupted(.structure, cell.source)
    }
    return value
  }
}
