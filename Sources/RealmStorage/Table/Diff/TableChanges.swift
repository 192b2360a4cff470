/// What changed in a table between two versions: the older rows without the deletions and with the insertions are the
/// newer rows, and every row of both whose values differ is a modification.
///
/// A row is its key. One that was deleted and added again is another row. A value that was written again and is the
/// same is no change.
public struct TableChanges: Sendable, Equatable {
  /// Keys of rows that only the older version has, growing.
  public var deletions: [UInt64] = []
  /// Keys of rows that only the newer version has, growing.
  public var insertions: [UInt64] = []
  /// Rows of both versions with other values, by growing key.
  public var modifications: [Modification] = []

  /// A row whose values differ.
  public struct Modification: Sendable, Equatable {
    public var key: UInt64
    /// The columns whose values differ, by their positions in the newer schema, growing. Columns that only one version
    /// has are not compared.
    public var columns: [Int]

    public init(key: UInt64, columns: [Int]) {
      self.key = key
      self.columns = columns
    }
  }

  public init() {}

  /// How a row was modified; nil where it was not. O(log n), as are the next two.
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

  public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}
