/// What stands in a row's column.
public enum Found<Content> {
  /// There is no such row.
  case noRow
  case null
  case value(Content)
}

extension Found: Sendable where Content: Sendable {}
extension Found: Equatable where Content: Equatable {}

/// Reads of one value, by the column's position in the schema. O(log n).
extension Table {
  /// A whole number; of a boolean column 0 or 1, of a link the key of the row it points to.
  ///
  /// - Precondition: the column is one of the table, of whole numbers, booleans or links, and no list.
  public func integer(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Int64> {
    check(column, schema.columns[column].storage == .integers)
    return try withCluster(of: key) { (cluster, row, _) throws(StorageError) in
      guard let descriptor = cluster.find(schema.columns[column].id, .integers) else {
        return schema.columns[column].isOptional ? .null : .value(0)
      }
      return cluster.isNull(descriptor, row) ? .null : .value(cluster.integer(descriptor, row))
    }
  }

  /// - Precondition: the column is one of the table, of doubles, and no list.
  public func double(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Double> {
    try real(column, .double, ofRow: key)
  }

  /// - Precondition: the column is one of the table, of floats, and no list.
  public func float(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Float> {
    switch try real(column, .float, ofRow: key) {
    case .noRow: .noRow
    case .null: .null
    case .value(let number): .value(Float(number))
    }
  }

  @inline(__always)
  private func real(_ column: Int, _ type: ColumnType, ofRow key: UInt64) throws(StorageError) -> Found<
    Double
  > {
    check(column, schema.columns[column].type == type && !schema.columns[column].isList)
    return try withCluster(of: key) { (cluster, row, _) throws(StorageError) in
      guard let descriptor = cluster.find(schema.columns[column].id, .fixed),
        descriptor.width == (type == .double ? 8 : 4)
      else { return schema.columns[column].isOptional ? .null : .value(0) }
      if cluster.isNull(descriptor, row) { return .null }
      return .value(PackedReals.load(cluster.data(descriptor), row, isDouble: type == .double))
    }
  }

  /// - Precondition: the column is one of the table, of dates, and no list.
  public func date(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Timestamp> {
    check(column, schema.columns[column].storage == .dates)
    return try withCluster(of: key) { (cluster, row, access) throws(StorageError) in
      switch try TableReading.value(schema.columns[column], row, of: cluster, dictionary: .null, access) {
      case .date(let date): .value(date)
      default: .null
      }
    }
  }

  /// - Precondition: the column is one of the table, of strings, and no list.
  /// - Throws: `.corrupted` for what is no UTF-8, too.
  public func text(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<String> {
    check(column, schema.columns[column].type == .string && !schema.columns[column].isList)
    return try withBytes(column, ofRow: key, "") { PackedTexts.string($0) }
  }

  /// - Precondition: the column is one of the table, of data, and no list.
  public func bytes(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<[UInt8]> {
    check(column, schema.columns[column].type == .data && !schema.columns[column].isList)
    return try withBytes(column, ofRow: key, []) { $0.array }
  }

  /// - Parameter body: answers nil for bytes that are no such value.
  @inline(__always)
  private func withBytes<Content>(
    _ column: Int, ofRow key: UInt64, _ empty: Content, _ body: (RawSpan) -> Content?
  ) throws(StorageError) -> Found<Content> {
    try withCluster(of: key) { (cluster, row, access) throws(StorageError) in
      guard let descriptor = cluster.findVarying(schema.columns[column]) else {
        return schema.columns[column].isOptional ? .null : .value(empty)
      }
      if descriptor.encoding == .codes {
        if cluster.isNull(descriptor, row) { return .null }
        let root = dictionaries[schema.columns[column].id]
        let bytes = try DictionaryReader(root, access.lent).bytes(cluster.integer(descriptor, row))
        guard let content = body(bytes) else { throw access.corrupted(.structure, root) }
        return .value(content)
      }
      let (ref, index) = cluster.piece(descriptor, row)
      let piece = PieceNode(try access.node(ref, .piece))
      guard index < piece.rows else { throw access.corrupted(.rows, ref) }
      if piece.isNull(index) { return .null }
      var content: Content?
      if let (long, length) = piece.long(index) {
        let bytes = try LongValue.read(long, access)
        guard bytes.count == length else { throw access.corrupted(.rows, long) }
        content = body(bytes.span.bytes)
      } else {
        content = body(piece.bytes(index))
      }
      guard let content else { throw access.corrupted(.structure, ref) }
      return .value(content)
    }
  }

  @inline(__always)
  private func withCluster<Content>(
    of key: UInt64,
    _ body: (borrowing ClusterNode, Int, borrowing NodeAccess) throws(StorageError) -> Found<Content>
  ) throws(StorageError) -> Found<Content> {
    guard !clusters.isNull else { return .noRow }
    let access = beginReading()
    let cluster = ClusterNode(try access.node(cluster(of: key, access), .cluster))
    guard let row = cluster.row(of: key) else { return .noRow }
    return try body(cluster, row, access)
  }

  @inline(__always)
  private func check(_ column: Int, _ fits: Bool) {
    precondition(
      fits, "\(schema.name).\(schema.columns[column].name) is of type \(schema.columns[column].type)")
  }
}
