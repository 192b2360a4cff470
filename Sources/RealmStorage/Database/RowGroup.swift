/// Rows of a table that are stored together: up to 512, column by column.
///
/// It is the fast way to read much of a table, inside the closure that gets the group. Columns are named by their position in the
/// schema, and rows by their position in the group, in `0..<count`.
///
/// - Precondition: for all methods, the table has the column, and it has the type that the method reads.
public struct RowGroup: ~Copyable, ~Escapable {
  private let access: LentAccess
  private let content: Lent<TableContent>
  let node: ClusterNode
  /// Whether the group notes which columns are read, for later lookups. Groups of walks over all rows do not.
  private let notes: Bool
  /// The bytes of the next cluster of a walk, to be prefetched; nil if there is none.
  private let ahead: UpcomingBytes?
  /// The number of rows.
  public var count: Int { node.rows }

  /// The number of bytes at the start of a cluster that are read before any values, for most clusters.
  static let headBytes = 512

  @inline(__always)
  @_lifetime(copy access, copy content)
  init(_ cluster: Ref, _ content: Lent<TableContent>, notes: Bool, _ access: LentAccess) throws(StorageError)
  {
    node = ClusterNode(try access.node(cluster, .cluster))
    self.content = content
    self.notes = notes
    ahead = nil
    self.access = access
  }

  /// Makes the group of a cluster in a walk. When a column is read, the part of it that is likely to be read in the next cluster
  /// is prefetched.
  @inline(__always)
  @_lifetime(copy access, copy content)
  init(_ cluster: Ref, before next: Ref?, _ content: Lent<TableContent>, _ access: LentAccess)
    throws(StorageError)
  {
    node = ClusterNode(try access.node(cluster, .cluster))
    self.content = content
    notes = false
    ahead = if let next { access.upcomingParent(next) } else { nil }
    self.access = access
  }

  /// Makes a group without rows.
  @inline(__always)
  @_lifetime(copy access, copy content)
  init(none content: Lent<TableContent>, _ access: LentAccess) {
    node = ClusterNode(none: access.noNode)
    self.content = content
    notes = false
    ahead = nil
    self.access = access
  }

  /// The number of prefetched bytes. The processor itself prefetches what follows, when a walk reads memory in order.
  private static let aheadBytes = 512

  /// Prefetches a column of the next cluster, at the position that it has in this one: most often it is the same.
  @inline(__always)
  private func askAhead(_ descriptor: ClusterNode.Descriptor?) {
    guard let ahead, let descriptor else { return }
    ahead.prefetch(node.view.bodyOffset &+ descriptor.offset, count: min(descriptor.length, Self.aheadBytes))
  }

  /// Prefetches the columns of a row that were read in rows found before.
  @inline(__always)
  func prefetch(_ row: Int) {
    content.use { content in
      var rest = content.columnsRead
      while rest != 0 {
        let column = rest.trailingZeroBitCount
        if column < content.columns.count { node.prefetch(content.columns[column], row, access) }
        rest &= rest &- 1
      }
    }
  }

  /// The key of a row.
  public func key(_ row: Int) throws(StorageError) -> UInt64 { node.key(row) }

  /// The value of a column of any type in a row.
  public func value(_ column: Int, _ row: Int) throws(StorageError) -> Value {
    note(column)
    let (column, dictionary) = content.use { content in
      let column = content.schema.columns[column]
      return (column, column.storage == .varying ? content.root.dictionaries[column.id] : .null)
    }
    return try TableReading.value(column, row, of: node, dictionary: dictionary, NodeAccess(within: access))
  }

  /// The values of a column of whole numbers, booleans or links. Booleans are 0 and 1, links are the keys of their rows.
  @_lifetime(borrow self)
  public func integers(_ column: Int) throws(StorageError) -> IntegerColumn {
    let form = form(column, .integers)
    note(column)
    let descriptor = node.integers(of: form.id)
    askAhead(descriptor)
    return IntegerColumn(node, descriptor, form)
  }

  /// The values of a column of doubles.
  @_lifetime(borrow self)
  public func doubles(_ column: Int) throws(StorageError) -> DoubleColumn {
    let form = form(column, .fixed, size: 8)
    note(column)
    let descriptor = node.fixed(of: form.id, size: 8)
    askAhead(descriptor)
    return DoubleColumn(node, descriptor, form)
  }

  /// The values of a column of strings or data, in the rows that are stored together with `row`. `TextColumn.rows` has the
  /// positions of these rows, with `row` among them. To read all rows, start at 0 and ask again from `rows.upperBound` until it
  /// is `count`.
  ///
  /// - Throws: `.corrupted`.
  @_lifetime(borrow self)
  public func texts(_ column: Int, from row: Int) throws(StorageError) -> TextColumn {
    let form = form(column, .varying)
    guard let (place, descriptor) = node.placeOfVarying(form.id) else {
      note(column)
      return TextColumn(absent: column, isNull: form.isAbsentNull, node, content, access)
    }
    if descriptor.encoding == .codes {
      note(column)
      return TextColumn(codesAt: place, node, content, access)
    }
    let (ref, index) = node.piece(descriptor, row)
    if let piece = ahead?.child(Int(descriptor.least)) {
      access.upcoming(piece)?.prefetch(0, count: Self.aheadBytes)
    }
    if !note(column) { PieceNode.prefetch(index, of: node.rowsOfPiece(descriptor), in: ref, access) }
    let piece = PieceNode(try access.node(ref, .piece))
    guard index < piece.rows, row &- index &+ piece.rows <= count else { throw access.corrupted(.rows, ref) }
    return TextColumn(piece, first: row &- index, content, access)
  }

  /// Notes that a column is read.
  ///
  /// - Returns: whether the column need not be prefetched any more.
  @discardableResult
  @inline(__always)
  private func note(_ column: Int) -> Bool { notes ? content.use { $0.noteRead(column) } : true }

  /// The form of a column that is read as a column of one kind.
  @inline(__always)
  private func form(_ column: Int, _ kind: ColumnForm.Kind, size: UInt8 = 0) -> ColumnForm {
    content.use { $0.form(column, kind, size: size) }
  }
}

extension Table {
  var lent: Lent<TableContent> { @_lifetime(borrow self) get { Lent(content, of: self) } }

  /// Calls `body` with each group of rows, in the order of their keys, until it returns false.
  public func forEachGroup(
    _ body: (borrowing RowGroup) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var (next, end): (UInt64?, UInt64) = (0, 0)
    while let key = next, !clusters.isNull {
      let access = beginReading()
      let (branch, following) = try ClusterWalk.lastBranch(for: key, in: clusters, access)
      guard try lendGroups(below: branch, access, &end, body) else { return }
      next = following
    }
  }

  /// Calls `body` with the groups below a node.
  ///
  /// - Parameters:
  ///   - ref: a cluster, or a branch of clusters.
  ///   - end: the least key that the next cluster may have. It is checked, because a forged tree may have the same node
  ///     many times.
  /// - Returns: false if `body` has returned false.
  private func lendGroups(
    below ref: Ref, _ access: borrowing NodeAccess, _ end: inout UInt64,
    _ body: (borrowing RowGroup) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    guard ref.isKeyedBranch else {
      return try lend(RowGroup(ref, before: nil, lent, access.lent), ref, access, &end, body)
    }
    let branch = KeyedBranch(try access.node(ref))
    for index in 0..<branch.count {
      branch.prefetchHead(behind: index, access)
      let child = branch.child(index)
      let next = index + 1 < branch.count ? branch.child(index + 1) : nil
      let group = try RowGroup(child, before: next, lent, access.lent)
      guard try lend(group, child, access, &end, body) else { return false }
    }
    return true
  }

  /// Calls `body` with a group, after checking that its keys follow those of the groups before it.
  ///
  /// - Returns: the result of `body`.
  @inline(__always)
  private func lend(
    _ group: borrowing RowGroup, _ ref: Ref, _ access: borrowing NodeAccess, _ end: inout UInt64,
    _ body: (borrowing RowGroup) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    try ClusterWalk.expectInOrder(group.node, ref, access, &end)
    return try body(group)
  }

  /// Calls `body` with the group that has the row with a primary key, and the position of the row in it. O(log n).
  ///
  /// - Returns: the result of `body`; nil if there is no such row.
  /// - Precondition: the primary key of the table has whole numbers and is not optional.
  @inlinable
  public func withRow<Result>(
    primaryKey number: Int64, _ body: (borrowing RowGroup, Int) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    try withRow(primaryKey: number, beginReading(), body)
  }

  /// Calls `body` with the group that has the row with a key, and the position of the row in it. O(log n).
  ///
  /// - Returns: the result of `body`; nil if there is no such row.
  @inlinable
  public func withRow<Result>(
    _ key: UInt64, _ body: (borrowing RowGroup, Int) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    try withRow(key, beginReading(), body)
  }

  // These are separate functions, because a variable that is lent would be stored on the heap.

  @inlinable
  func withRow<Result>(
    primaryKey number: Int64, _ access: borrowing NodeAccess,
    _ body: (borrowing RowGroup, Int) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    try find(primaryKey: number, access).lend(body)
  }

  @inlinable
  func withRow<Result>(
    _ key: UInt64, _ access: borrowing NodeAccess,
    _ body: (borrowing RowGroup, Int) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    try find(key, access).lend(body)
  }

  /// The row with a primary key.
  ///
  /// - Precondition: the primary key of the table has whole numbers and is not optional.
  @inline(__always)
  func row(withPrimaryKey number: Int64, _ access: borrowing NodeAccess) throws(StorageError) -> UInt64? {
    precondition(content.hasKeyIndex, "the table has no primary key of whole numbers")
    guard !content.keyIndex.root.isNull else { return nil }
    let leaf = try content.keyIndex.leafAndRange(for: IntegerIndex.key(number), access)
    return try IntegerIndex.row(of: number, leaf, access)
  }

  /// The cluster that may have a row.
  @inline(__always)
  func cluster(of key: UInt64, _ access: borrowing NodeAccess) throws(StorageError) -> Ref {
    try content.clusters.leafAndRange(for: key, access).ref
  }

  @_lifetime(borrow self, borrow access)
  @usableFromInline
  func find(primaryKey number: Int64, _ access: borrowing NodeAccess) throws(StorageError) -> FoundRow {
    guard let key = try row(withPrimaryKey: number, access) else {
      return FoundRow(RowGroup(none: lent, access.lent))
    }
    let cluster = try cluster(of: key, access)
    access.prefetch(cluster, count: RowGroup.headBytes)
    let found = FoundRow(key, try RowGroup(cluster, lent, notes: true, access.lent))
    guard found.isThere else { throw access.corrupted(.index, cluster) }
    return found
  }

  @_lifetime(borrow self, borrow access)
  @usableFromInline
  func find(_ key: UInt64, _ access: borrowing NodeAccess) throws(StorageError) -> FoundRow {
    guard !clusters.isNull else { return FoundRow(RowGroup(none: lent, access.lent)) }
    let cluster = try cluster(of: key, access)
    return FoundRow(key, try RowGroup(cluster, lent, notes: true, access.lent))
  }
}

/// A row and the group that has it; or no row, with an empty group.
@usableFromInline
struct FoundRow: ~Copyable, ~Escapable {
  @usableFromInline let group: RowGroup
  @usableFromInline let row: Int

  @inline(__always)
  @_lifetime(copy none)
  init(_ none: consuming RowGroup) {
    group = none
    row = -1
  }

  /// Finds a row in a group. If the group has it, the columns that are likely to be read are prefetched.
  @inline(__always)
  @_lifetime(copy group)
  init(_ key: UInt64, _ group: consuming RowGroup) {
    row = group.node.row(of: key) ?? -1
    if row >= 0 { group.prefetch(row) }
    self.group = group
  }

  @inlinable
  var isThere: Bool { row >= 0 }

  @inlinable
  func lend<Result>(
    _ body: (borrowing RowGroup, Int) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? { isThere ? try body(group, row) : nil }
}
