/// Reading of what is stored beside the cells of a column: ids of list elements, and links to rows that do not exist.
///
/// - Precondition: for all functions, `column` is the position in the schema of a column that holds a property.
/// - Throws: all functions throw `.corrupted`.
extension Table {
  /// The ids of the elements of a list, in their order; nil if the elements of the column have no ids, or there is no such row.
  public func elementIDs(ofList column: Int, ofRow key: UInt64) throws(StorageError) -> [UInt64]? {
    try schema.elementIDs(column) { (place) throws(StorageError) in
      try value(schema.columns[place], ofRow: key)
    }
  }

  /// The ids of the places to which the elements of a list were moved, in the order of the elements; an entry is nil if its
  /// element was never moved. The result is empty if no element was ever moved, and nil if the elements of the column have no
  /// ids, or there is no such row.
  public func elementPlaces(ofList column: Int, ofRow key: UInt64) throws(StorageError) -> [UInt64?]? {
    try schema.elementPlaces(column) { (place) throws(StorageError) in
      try value(schema.columns[place], ofRow: key)
    }
  }

  /// The links of a cell to rows that do not exist: in the order of a list, and in no order for sets and maps.
  public func absentLinks(ofColumn column: Int, ofRow key: UInt64) throws(StorageError) -> [AbsentLink] {
    let links = try schema.absentLinks(column) { (place) throws(StorageError) in
      try value(schema.columns[place], ofRow: key)
    }
    guard let links else { throw beginReading().corrupted(.structure, .null) }
    return links
  }

  /// The cells with links to a row of this table that does not exist and would have a primary key: for each its table, its column
  /// and its row. A few cells may be among them that link to another primary key, if both keys are long and begin alike, or are
  /// numbers of more than 53 bits: `absentLinks` of the cell shows it. Takes O(log n), and time in proportion to the cells.
  public func sources(
    ofAbsent primaryKey: Value
  ) throws(StorageError) -> [(table: UInt32, column: UInt16, row: UInt64)] {
    try AbsentLinkIndex.sources(of: primaryKey, in: content.root.absentLinks, beginReading())
      .map { ($0.table, $0.column, $0.row) }
  }
}

/// Ids of list elements, and links to rows that do not exist, in a table of a transaction as changed so far.
///
/// - Throws: all functions throw `.corrupted` and `.limitExceeded`: then the transaction can't be committed.
extension WritableTable {
  /// Gives ids to the elements of lists from now on, also in columns that are added later, but not in lists that are parts of
  /// mixed values. The recorder of each transaction provides the ids: without one that does, no element can be inserted or moved.
  ///
  /// - Throws: `.tableNotEmpty` if there are rows; `.schemaChangeWhileRecording`. Nothing was changed then.
  public func useElementIDs() throws(StorageError) {
    let writer = try usableWriter()
    guard !schema.hasElementIDs else { return }
    guard writer.root.rows == 0 else {
      throw .tableNotEmpty(table: schema.name, path: writer.editor.store.storage.path)
    }
    try writer.checkNotRecorded()
    try writer.useElementIDs()
  }

  /// The ids of the elements of a list, as changed so far; see `Table.elementIDs(ofList:ofRow:)`.
  public func elementIDs(ofList column: Int, ofRow key: UInt64) throws(StorageError) -> [UInt64]? {
    try schema.elementIDs(column) { (place) throws(StorageError) in try value(place, ofRow: key) }
  }

  /// The ids of the places to which elements were moved, as changed so far; see `Table.elementPlaces(ofList:ofRow:)`.
  public func elementPlaces(ofList column: Int, ofRow key: UInt64) throws(StorageError) -> [UInt64?]? {
    try schema.elementPlaces(column) { (place) throws(StorageError) in try value(place, ofRow: key) }
  }

  /// The links of a cell to rows that do not exist, as changed so far; see `Table.absentLinks(ofColumn:ofRow:)`.
  public func absentLinks(ofColumn column: Int, ofRow key: UInt64) throws(StorageError) -> [AbsentLink] {
    let links = try schema.absentLinks(column) { (place) throws(StorageError) in
      try value(place, ofRow: key)
    }
    guard let links else { throw try usableWriter().editor.store.corrupted(.structure, .null) }
    return links
  }

  /// Replaces the links of a cell to rows that do not exist. A single value becomes null by that, and a map loses the keys of the
  /// links. A link becomes an ordinary one when a row with its primary key is made. It is removed when the cell is set, the key
  /// of the map is set or removed, or the collection is emptied by assigning an empty one. When elements of a list are inserted
  /// or removed, the positions of the links among them follow.
  ///
  /// - Parameter links: the links; those of a list in their order.
  /// - Precondition: the column can link to the tables, which have a primary key of that type; no row has that primary key; the
  ///   places fit the kind of the collection; and the links have element ids if the elements of the column have.
  /// - Returns: whether there is such a row.
  /// - Throws: `.notSyncable` in a synced file. Nothing was changed then.
  @discardableResult
  public func setAbsentLinks(
    _ links: [AbsentLink], ofColumn column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    try writer.checkNotSynced()
    guard try contains(key) else { return false }
    guard let (cell, value) = try writer.absentCell(links, column, key) else { return true }
    for link in links {
      switch link.place {
      case .value: try writer.apply(.set(.null, writer.cell(column, key)))
      case .key(let name): try writer.apply(.removeValue(key: name, writer.elements(column, key)))
      case .before, .member: break
      }
    }
    try writer.apply(.set(value, cell))
    return true
  }
}

/// Reads what the companions of a column store for a row. `read` returns the row's value in the column at a position, or nil if
/// there is no such row.
extension TableSchema {
  fileprivate typealias Read = (_ position: Int) throws(StorageError) -> Value?

  fileprivate func elementIDs(_ column: Int, _ read: Read) throws(StorageError) -> [UInt64]? {
    guard let ids = position(of: .elementIDs(of: columns[column].id)) else { return nil }
    return try read(ids)?.elementIDs
  }

  fileprivate func elementPlaces(_ column: Int, _ read: Read) throws(StorageError) -> [UInt64?]? {
    guard let ids = try elementIDs(column, read) else { return nil }
    guard !ids.isEmpty, let places = position(of: .elementPlaces(of: columns[column].id)) else { return [] }
    return try read(places)?.elementPlaces
  }

  /// Reads the links; nil if they are damaged.
  fileprivate func absentLinks(_ column: Int, _ read: Read) throws(StorageError) -> [AbsentLink]? {
    guard let links = position(of: .absentLinks(of: columns[column].id)) else { return [] }
    return AbsentLink.decode(try read(links) ?? .null, in: columns[column])
  }
}

extension Value {
  fileprivate var elementIDs: [UInt64] { elementPlaces.map { $0 ?? 0 } }

  fileprivate var elementPlaces: [UInt64?] {
    (elements ?? []).map { if case .int(let id) = $0 { UInt64(bitPattern: id) } else { nil } }
  }
}
