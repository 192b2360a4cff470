import Synchronization

/// What a table is, once for all copies of it. Readers find it through one pointer and count no reference.
@usableFromInline
final class TableContent {
  let schema: TableSchema
  let root: TableRoot
  let reader: any TableReader
  /// The reader, where it is one: called without a look at what it is.
  private let snapshot: Unmanaged<Snapshot>?
  /// The index of a primary key of whole numbers.
  let keyIndex: LeafDirectory.Lookup
  let hasKeyIndex: Bool
  let clusters: LeafDirectory.Lookup
  /// By position in the schema.
  let columns: [ColumnForm]
  /// The bytes that the rows of clusters without the column read of a column of strings or data, by position in the schema;
  /// none in nearly every one. Read in place while this is lent, so they never change.
  let absentBytes: [[UInt8]]

  /// The columns that were read of the rows found so far, by position in the schema: the first 64.
  ///
  /// Who looks up rows one by one most often reads the same columns of each. So when the next row is found their cache
  /// lines are asked for at once, instead of one after another as they are read. It decides nothing but that.
  private let readColumns = Atomic<UInt64>(0)
  /// The row that a value was read of last, for the same purpose.
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

  /// Begins reading, for as long as somebody keeps this.
  @inline(__always)
  @_lifetime(borrow owner)
  func beginReading<Owner: ~Copyable & ~Escapable>(for owner: borrowing Owner) -> NodeAccess {
    if let snapshot { return NodeAccess(snapshot.lend { $0.reach }, keptBy: owner) }
    return NodeAccess(reader, keptBy: owner)
  }

  @inline(__always)
  var columnsRead: UInt64 { readColumns.load(ordering: .relaxed) }

  /// Notes that a column is read; answers whether that was known.
  @inline(__always)
  @discardableResult
  func noteRead(_ column: Int) -> Bool {
    guard column < 64 else { return false }
    if columnsRead & 1 &<< UInt64(column) != 0 { return true }
    readColumns.bitwiseOr(1 &<< UInt64(column), ordering: .relaxed)
    return false
  }

  /// Notes that a value of a row is read; answers whether it stands neither where the last did nor beside it.
  @inline(__always)
  func isElsewhere(_ key: UInt64) -> Bool {
    let last = lastRow.load(ordering: .relaxed)
    if last == key { return false }
    lastRow.store(key, ordering: .relaxed)
    return key &- last &- 1 != 0
  }

  /// Stops the program, where a column is not of the type that it is read as.
  @inline(never)
  func stopAtType(of column: Int) -> Never {
    preconditionFailure(
      "\(schema.name).\(schema.columns[column].name) is of type \(schema.columns[column].type)")
  }
}
