/// Ids of the elements of lists, and links to rows that are not there: what is kept beside the cells of a column.
///
/// - Precondition: of all, the column is named by its position in the schema, and holds a property.
/// - Throws: of all, `.corrupted`.
extension Table {
  /// The ids of the elements of a list, in their order; nil where the elements of the column have none, or where there is no such row.
  public func elementIDs(ofList column: Int, ofRow key: UInt64) throws(StorageError) -> [UInt64]? {
    try schema.elementIDs(column) { (place) throws(StorageError) in
      try value(schema.columns[place], ofRow: key)
    }
  }

  /// The ids of the places that the elements of a list were moved to, in their order, nil for an element that was never moved; nothing where none was. Nil as
  /// `elementIDs`.
  public func elementPlaces(ofList column: Int, ofRow key: UInt64) throws(StorageError) -> [UInt64?]? {
    try schema.elementPlaces(column) { (place) throws(StorageError) in
      try value(schema.columns[place], ofRow: key)
    }
  }

  /// The links of a cell to rows that are not there. In the order of a list; of sets and maps in no order.
  public func absentLinks(ofColumn column: Int, ofRow key: UInt64) throws(StorageError) -> [AbsentLink] {
    let links = try schema.absentLinks(column) { (place) throws(StorageError) in
      try value(schema.columns[place], ofRow: key)
    }
    guard let links else { throw beginReading().corrupted(.structure, .null) }
    return links
  }

  /// The cells with links to the row of this table that has a primary key and is not there: each by its table, its column and its row. A cell may be
  /// among them that links to another primary key, where the two are long and begin alike, or are numbers of more than 53 bits: `absentLinks` of the cell tells.
  /// O(log n), and in proportion to them.
  public func sources(
    ofAbsent primaryKey: Value
  ) throws(StorageError) -> [(table: UInt32, column: UInt16, row: UInt64)] {
    try AbsentLinkIndex.sources(of: primaryKey, in: content.root.absentLinks, beginReading())
      .map { ($0.table, $0.column, $0.row) }
  }
}

/// The same of a table of a transaction, with its changes.
///
/// - Throws: of all, `.limitExceeded` too: then the transaction can't be committed any more.
extension WritableTable {
  /// From now on the elements of lists have ids, those of columns that are added later too. Lists that stand in mixed values are left out. Ids are given by the
  /// recorder of each transaction: without one that gives ids no element can be inserted or moved.
  ///
  /// - Throws: `.tableNotEmpty` where there are rows; `.schemaChangeWhileRecording`. Nothing was changed then.
  public func useElementIDs() throws(StorageError) {
    let writer = try usableWriter()
    guard !schema.hasElementIDs else { return }
    guard writer.root.rows == 0 else {
      throw .tableNotEmpty(table: schema.name, path: writer.editor.store.storage.path)
    }
    try writer.checkNotRecorded()
    try writer.useElementIDs()
  }

  /// See `Table.elementIDs`.
  public func elementIDs(ofList column: Int, ofRow key: UInt64) throws(StorageError) -> [UInt64]? {
    try schema.elementIDs(column) { (place) throws(StorageError) in try value(place, ofRow: key) }
  }

  /// See `Table.elementPlaces`.
  public func elementPlaces(ofList column: Int, ofRow key: UInt64) throws(StorageError) -> [UInt64?]? {
    try schema.elementPlaces(column) { (place) throws(StorageError) in try value(place, ofRow: key) }
  }

  /// See `Table.absentLinks`.
  public func absentLinks(ofColumn column: Int, ofRow key: UInt64) throws(StorageError) -> [AbsentLink] {
    let links = try schema.absentLinks(column) { (place) throws(StorageError) in
      try value(place, ofRow: key)
    }
    guard let links else { throw try usableWriter().editor.store.corrupted(.structure, .null) }
    return links
  }

  /// Gives a cell links to rows that are not there, in place of those it had. A single value becomes null with that, and a map loses the keys. Each link takes its
  /// place when a row of its primary key is made. It goes when the cell is set, the key of the map is set or removed, or the collection is emptied by
  /// assigning an empty one; as elements of a list come and go, the positions of the links among them follow.
  ///
  /// - Parameter links: of a list in order.
  /// - Precondition: the column can link to the tables, which have a primary key of that type; no row has that primary key; places are those of the column's kind
  ///   of collection, and elements have ids where those of the column do.
  /// - Returns: whether there is such a row.
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

/// What the companions of a column say of a row, whose values `read` gives by the position of a column; nil where there is no such row.
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

  /// Nil for what is damaged.
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
