import Synchronization

/// The content of a `Table`, which all copies of the table share. Readers reach it through one pointer, without
/// counting references.
@usableFromInline
final class TableContent {
  let schema: TableSchema
  let root: TableRoot
  let reader: any TableReader
  /// The reader if it is a snapshot; otherwise nil. Calls of it need no dynamic dispatch.
  private let snapshot: Unmanaged<Snapshot>?
  /// The index of the primary key, if that has whole numbers and is not optional.
  let keyIndex: LeafDirectory.Lookup
  /// Whether the table has such a primary key. Otherwise `keyIndex` is not used.
  let hasKeyIndex: Bool
  let clusters: LeafDirectory.Lookup
  /// The forms of the columns, by position in the schema.
  let columns: [ColumnForm]
  /// For each column of strings or data, by position in the schema, the bytes of the value in rows whose cluster does
  /// not have the column. They are empty for nearly every column. They never change, because they are read in place
  /// while this object is lent.
  let absentBytes: [[UInt8]]

  /// The columns that were read in the rows found so far: a bit for each of the first 64 positions in the schema.
  ///
  /// A program that looks up rows one by one most often reads the same columns in each of them. So when the next row is
  /// found, the cache lines of these columns are prefetched at once, instead of being waited for one after another. The
  /// bits have no other effect.
  private let readColumns = Atomic<UInt64>(0)
  /// The key of the row in which a value was read last, for the same purpose.
  private let lastRow = Atomic<UInt64>(0)

  init(schema: TableSchema, root: TableRoot, reader: any TableReader) {
    self.schema = schema
    self.root = root
    self.reader = reader
    snapshot = (reader as? Snapshot).map { .passUnretained($0) }
    columns = schema.columns.map { ColumnForm($0) }
    absentBytes = schema.columns.map { $0.storedDefault?.varyingBytes(of: $0) ?? [] }
    let key = schema.primaryKey.flatMap { IntegerIndex.serves($0) ? $0 : nil }
    hasKeyIndex = key != nil
    let leaves = Int(clamping: root.rows / UInt64(ClusterNode.maximumRows))
    keyIndex = LeafDirectory.Lookup(key.map { root.index(of: $0) } ?? .null, leaves: leaves)
    clusters = LeafDirectory.Lookup(root.clusters, leaves: leaves)
  }

  /// Begins reading. The access is valid as long as `owner`, which has to keep this object.
  @inline(__always)
  @_lifetime(borrow owner)
  func beginReading<Owner: ~Copyable & ~Escapable>(for owner: borrowing Owner) -> NodeAccess {
    if let snapshot { return NodeAccess(snapshot.lend { $0.reach }, keptBy: owner) }
    return NodeAccess(reader, keptBy: owner)
  }

  @inline(__always)
  var columnsRead: UInt64 { readColumns.load(ordering: .relaxed) }

  /// Notes that a column is read.
  ///
  /// - Returns: whether the column was noted before. Always false for a column after the first 64.
  @inline(__always)
  @discardableResult
  func noteRead(_ column: Int) -> Bool {
    guard column < 64 else { return false }
    if columnsRead & 1 &<< UInt64(column) != 0 { return true }
    readColumns.bitwiseOr(1 &<< UInt64(column), ordering: .relaxed)
    return false
  }

  /// Notes that a value of a row is read.
  ///
  /// - Returns: whether the row is neither the one that was read last nor the one with the next key.
  @inline(__always)
  func isElsewhere(_ key: UInt64) -> Bool {
    let last = lastRow.load(ordering: .relaxed)
    if last == key { return false }
    lastRow.store(key, ordering: .relaxed)
    return key &- last &- 1 != 0
  }

  /// Stops the program, because a column is read as a type that it does not have.
  @inline(never)
  func stopAtType(of column: Int) -> Never {
    preconditionFailure(
      "\(schema.name).\(schema.columns[column].name) is of type \(schema.columns[column].type)")
  }
}
