/// The changes of a table between two versions: the older rows without the deletions and with the insertions are the newer rows,
/// and each row of both versions whose values differ is a modification.
///
/// Rows are compared by their keys. A row that was deleted and added again is another row. A value that was written again and is
/// equal is no change.
public struct TableChanges: Sendable, Equatable {
  /// The keys of the rows that only the older version has, in ascending order.
  public var deletions: [UInt64] = []
  /// The keys of the rows that only the newer version has, in ascending order.
  public var insertions: [UInt64] = []
  /// The rows of both versions with different values, in ascending order of their keys.
  public var modifications: [Modification] = []

  /// A row whose values differ.
  public struct Modification: Sendable, Equatable {
    /// The key of the row.
    public var key: UInt64
    /// The positions of the columns whose values differ, in the newer schema and in ascending order. Columns that only one
    /// version has are not compared.
    public var columns: [Int]

    /// Makes a modification of a row.
    public init(key: UInt64, columns: [Int]) {
      self.key = key
      self.columns = columns
    }
  }

  /// Makes changes that are empty.
  public init() {}

  /// The modification of a row; nil if it was not modified. O(log n), as are the next two functions.
  package func modification(of row: UInt64) -> Modification? {
    let place = modifications.partitioningIndex { $0.key >= row }
    return place < modifications.count && modifications[place].key == row ? modifications[place] : nil
  }

  package func hasDeleted(_ row: UInt64) -> Bool { Self.has(row, deletions) }
  package func hasInserted(_ row: UInt64) -> Bool { Self.has(row, insertions) }

  private static func has(_ row: UInt64, _ rows: [UInt64]) -> Bool {
    let place = rows.partitioningIndex { $0 >= row }
    return place < rows.count && rows[place] == row
  }

  /// Whether nothing changed.
  public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}
