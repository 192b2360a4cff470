import Synchronization

/// The columns that were read of the rows found so far in a table.
///
/// Who looks up rows one by one most often reads the same columns of each. So when the next row is found their cache lines
/// are asked for at once, instead of one after another as they are read. It decides nothing but that.
final class ReadColumns: Sendable {
  /// By position in the schema, the first 64.
  private let columns = Atomic<UInt64>(0)

  @inline(__always)
  var mask: UInt64 { columns.load(ordering: .relaxed) }

  /// Notes that a column is read; answers whether that was known.
  @inline(__always)
  func note(_ column: Int) -> Bool {
    guard column < 64 else { return false }
    if mask & 1 &<< UInt64(column) != 0 { return true }
    columns.bitwiseOr(1 &<< UInt64(column), ordering: .relaxed)
    return false
  }
}
