/// Reads of single values, for the functions of `Table` with the same names.
///
/// - Precondition: for all functions, the table has the column, which has the type that is read and is not a
///   collection.
extension TableContent {
  func integer(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Int64> {
    let form = form(column, .integers)
    noteRead(column)
    return try withRow(key, .noRow) { (cluster, row, _) throws(StorageError) in
      guard let descriptor = cluster.integers(of: form.id) else {
        return form.isAbsentNull ? .null : .value(Int64(bitPattern: form.absentBits))
      }
      return cluster.isNull(descriptor, row) ? .null : .value(cluster.integer(descriptor, row))
    }
  }

  func double(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Double> {
    try fixed(column, ofRow: key, size: 8) { Double(bitPattern: $0) }
  }

  func float(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Float> {
    try fixed(column, ofRow: key, size: 4) { Float(bitPattern: UInt32(truncatingIfNeeded: $0)) }
  }

  /// Reads a value that has the same size in every row.
  ///
  /// - Parameters:
  ///   - size: the number of bytes of a value.
  ///   - body: makes the result from the bits of the value.
  @inline(__always)
  private func fixed<Content>(
    _ column: Int, ofRow key: UInt64, size: UInt8, _ body: (UInt64) -> Content
  ) throws(StorageError) -> Found<Content> {
    let form = form(column, .fixed, size: size)
    noteRead(column)
    return try withRow(key, .noRow) { (cluster, row, _) throws(StorageError) in
      guard let descriptor = cluster.fixed(of: form.id, size: size) else {
        return form.isAbsentNull ? .null : .value(body(form.absentBits))
      }
      if cluster.isNull(descriptor, row) { return .null }
      return .value(body(PackedIntegers.load(cluster.data(descriptor), row, width: Int(size) * 8)))
    }
  }

  func date(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Timestamp> {
    let form = form(column, .dates)
    return try withRow(key, .noRow) { (cluster, row, _) throws(StorageError) in
      guard let descriptor = cluster.integers(of: form.id) else {
        if case .date(let date) = schema.columns[column].absentValue { return .value(date) }
        return .null
      }
      return cluster.isNull(descriptor, row) ? .null : .value(cluster.date(form.id, descriptor, row))
    }
  }

  func text(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<String> {
    let form = form(column, .varying)
    if _slowPath(!form.isText) { stopAtType(of: column) }
    noteRead(column)
    return try varying(column, form, ofRow: key) { TextMaker().text($0) }
  }

  func bytes(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<[UInt8]> {
    try bytes(column, ofRow: key) { $0.array }
  }

  /// The result of calling `make` with the bytes of a column of data in a row.
  func bytes<Content>(
    _ column: Int, ofRow key: UInt64, _ make: (RawSpan) -> Content
  ) throws(StorageError) -> Found<Content> {
    let form = form(column, .varying)
    if _slowPath(form.isText) { stopAtType(of: column) }
    return try varying(column, form, ofRow: key, make)
  }

  /// Reads a value of strings or data.
  ///
  /// - Parameter body: makes the result from the bytes of the value; nil if the bytes are not valid.
  @inline(__always)
  private func varying<Content>(
    _ column: Int, _ form: ColumnForm, ofRow key: UInt64, _ body: (RawSpan) -> Content?
  ) throws(StorageError) -> Found<Content> {
    try withRow(key, .noRow) { (cluster, row, access) throws(StorageError) in
      guard let part = cluster.varying(of: form.id) else {
        if form.isAbsentNull { return .null }
        let bytes = absentBytes[column]
        return body(bytes.span.bytes).map { .value($0) } ?? .null
      }
      let cell = try cluster.cell(part, row, dictionary: root.dictionaries[form.id], access.lent)
      return cell.isNull ? .null : .value(try cell.content(access, body))
    }
  }

  /// Calls `body` with the cluster that has a row, and the position of the row in it.
  ///
  /// - Returns: the result of `body`; `noRow` if there is no such row.
  @inline(__always)
  func withRow<Content>(
    _ key: UInt64, _ noRow: @autoclosure () -> Content,
    _ body: (borrowing ClusterNode, Int, borrowing NodeAccess) throws(StorageError) -> Content
  ) throws(StorageError) -> Content {
    try withRow(key, beginReading(for: self), noRow(), body)
  }

  // This is a separate function, because a variable that is lent would be stored on the heap.
  @inline(__always)
  private func withRow<Content>(
    _ key: UInt64, _ access: borrowing NodeAccess, _ noRow: @autoclosure () -> Content,
    _ body: (borrowing ClusterNode, Int, borrowing NodeAccess) throws(StorageError) -> Content
  ) throws(StorageError) -> Content {
    guard !root.clusters.isNull else { return noRow() }
    let ref = try clusters.leafAndRange(for: key, access).ref
    let cluster = ClusterNode(try access.node(ref, .cluster))
    guard let row = cluster.row(of: key) else { return noRow() }
    if _slowPath(isElsewhere(key)) { prefetchRead(cluster, row, access.lent) }
    return try body(cluster, row, access)
  }

  /// Prefetches the columns that were read in rows found before.
  private func prefetchRead(_ cluster: ClusterNode, _ row: Int, _ access: LentAccess) {
    var rest = columnsRead
    while rest != 0 {
      let column = rest.trailingZeroBitCount
      if column < columns.count { cluster.prefetch(columns[column], row, access) }
      rest &= rest &- 1
    }
  }

  func row(withPrimaryKey number: Int64) throws(StorageError) -> UInt64? {
    try row(withPrimaryKey: number, beginReading(for: self))
  }

  @inline(__always)
  private func row(
    withPrimaryKey number: Int64, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64? {
    precondition(hasKeyIndex, "the table has no primary key of whole numbers")
    guard !keyIndex.root.isNull else { return nil }
    let leaf = try keyIndex.leafAndRange(for: IntegerIndex.key(number), access)
    guard let key = try IntegerIndex.row(of: number, leaf, access) else { return nil }
    access.prefetch(try clusters.leafAndRange(for: key, access).ref, count: RowGroup.headBytes)
    return key
  }

  /// The form of a column that is read as a column of one kind. The program stops if the column is of another kind.
  @inline(__always)
  func form(_ column: Int, _ kind: ColumnForm.Kind, size: UInt8 = 0) -> ColumnForm {
    let form = columns[column]
    if _slowPath(!form.isOne(kind, size: size)) { stopAtType(of: column) }
    return form
  }
}
