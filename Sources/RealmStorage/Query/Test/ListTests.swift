extension TableReading {
  /// Whether a condition holds for a row to which a collection of links leads. Short lists are read in place.
  @inline(__always)
  static func containsLink(
    _ column: Column, _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess,
    _ condition: (UInt64) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    if column.collection == .list, let part = cluster.composite(of: column.id) {
      let cell = try cluster.cell(part, row, dictionary: .null, access.lent)
      if cell.isNull, cell.tree == nil { return false }
      if cell.long == nil {
        guard let found = try PackedElements.containsLink(cell.bytes, condition) else {
          throw access.corrupted(.structure, cell.source)
        }
        return found
      }
    }
    return try contains(column, row, of: cluster, access) { (value) throws(StorageError) in
      if case .link(let key) = value { try condition(key) } else { false }
    }
  }
}

/// A test of a column of lists of strings that are never null. A row passes if one of its elements passes. Short lists
/// are read in place.
final class TextListTest: ClusterTest {
  private let column: Column
  private let search: TextSearch
  private let isNegated: Bool
  override var cost: Int { 100 }

  init(_ column: Column, _ search: TextSearch, isNegated: Bool) {
    (self.column, self.search, self.isNegated) = (column, search, isNegated)
  }

  override func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    var found = RowMask.none
    guard let part = cluster.composite(of: column.id) else { return found }
    try rows.forEach { (row) throws(StorageError) in
      let cell = try cluster.cell(part, row, dictionary: .null, access.lent)
      if cell.isNull, cell.tree == nil { return }
      if cell.long == nil {
        guard let passes = PackedElements.containsText(cell.bytes, { search.finds($0) != isNegated }) else {
          throw access.corrupted(.structure, cell.source)
        }
        if passes { found.insert(row) }
      } else if try containsInTree(row, of: cluster, access) {
        found.insert(row)
      }
    }
    return found
  }

  private func containsInTree(
    _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Bool {
    try TableReading.contains(column, row, of: cluster, access) { value in
      guard case .string(let text) = value else { return false }
      let bytes = Array(text.utf8)
      return search.finds(bytes.span.bytes) != isNegated
    }
  }
}

/// A test of a column of collections of links. It compares the number of linked rows that pass another test with a
/// number. Once the result is certain, no further links are read.
final class LinkCountTest: ClusterTest {
  private let column: Column
  private let target: TargetTest
  private let comparison: Comparison
  private let number: Int
  /// The count from which on the result of the comparison stays the same.
  private let decisive: Int
  override var cost: Int { 400 + target.test.cost }

  init(_ column: Column, _ target: TargetTest, _ comparison: Comparison, _ number: Int) {
    self.column = column
    self.target = target
    self.comparison = comparison
    self.number = number
    switch comparison {
    case .less, .greaterOrEqual: decisive = max(0, number)
    case .equal, .notEqual, .lessOrEqual, .greater:
      decisive = number < 0 ? 0 : number == .max ? number : number + 1
    }
  }

  override func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    var found = RowMask.none
    let decisive = decisive
    try rows.forEach { (row) throws(StorageError) in
      var count = 0
      if decisive > 0 {
        _ = try TableReading.containsLink(column, row, of: cluster, access) { (key) throws(StorageError) in
          if try target.passes(key, access) { count += 1 }
          return count >= decisive
        }
      }
      if comparison.holds(count, number) { found.insert(row) }
    }
    return found
  }
}
