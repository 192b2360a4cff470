/// A table of a snapshot: rows by key, with a value for each column.
///
/// The engine gives keys in increasing order and never twice, except to a row whose deletion is undone (`WriteTransaction.apply`). So rows stand in
/// the order in which they were made. A row is found in O(log n). Reading a value reads only that value.
public struct Table {
  @usableFromInline let content: TableContent

  init(schema: TableSchema, root: TableRoot, reader: any TableReader) {
    content = TableContent(schema: schema, root: root, reader: reader)
  }

  /// The name and the columns of the table.
  public var schema: TableSchema { content.schema }
  private var root: TableRoot { content.root }
  var reader: any TableReader { content.reader }
  var clusters: Ref { content.root.clusters }
  var dictionaries: ColumnTrees { content.root.dictionaries }
  /// The schema and the root, which queries read.
  var form: TableForm { TableForm(schema, root) }
  /// The tables of the same version.
  var tables: any TableFinder { reader }
  @_lifetime(borrow self)
  @usableFromInline
  func beginReading() -> NodeAccess { content.beginReading(for: self) }

  /// Whether both are known to have the same rows with the same values, without reading them. Both have to be of the same file.
  package func hasSameRows(as other: Table) -> Bool { root == other.root }

  /// The number of rows. O(1).
  public var count: Int { Int(clamping: root.rows) }

  /// The value of a column in a row; nil if there is no such row.
  ///
  /// - Throws: `.corrupted`; `.system` if the system refuses to read; `.snapshotExpired` after a failed sync. All functions that read throw these.
  public func value(_ column: Column, ofRow key: UInt64) throws(StorageError) -> Value? {
    try TableReading.value(column, ofRow: key, in: root, beginReading())
  }

  /// Whether there is a row with a key. O(log n).
  public func contains(_ key: UInt64) throws(StorageError) -> Bool {
    try TableReading.contains(key, in: root.clusters, beginReading())
  }

  /// The key of the row with `position` rows before it. O(log n).
  ///
  /// - Precondition: `position` is in `0..<count`.
  public func key(at position: Int) throws(StorageError) -> UInt64 {
    precondition((0..<count).contains(position), "Table.key(at:): there is no row \(position) of \(count)")
    return try TableReading.key(at: UInt64(position), in: root.clusters, beginReading())
  }

  /// The key of the row with a primary key; nil if there is no such row or the table has no primary key. O(log n).
  public func row(withPrimaryKey value: Value) throws(StorageError) -> UInt64? {
    if content.hasKeyIndex {
      guard case .int(let number) = value else { return nil }
      return try row(withPrimaryKey: number, beginReading())
    }
    guard let column = schema.primaryKey, column.accepts(value) else { return nil }
    return try IndexTree.row(with: value, of: column, table: root, beginReading())
  }

  /// The keys of the rows with a value in an indexed column, in the order in which they were made. Takes O(log n), and time in proportion to the
  /// rows.
  ///
  /// - Precondition: the column has an index.
  public func rows(with value: Value, in column: Column) throws(StorageError) -> [UInt64] {
    precondition(column.index != .none, "\(schema.name).\(column.name) has no index")
    guard column.accepts(value) else { return [] }
    return try IndexTree.rows(with: value, of: column, table: root, beginReading())
  }

  /// The number of rows with a value in an indexed column. O(log n); for texts of 248 bytes or more and for mixed values it takes time in proportion
  /// to the rows found.
  ///
  /// - Precondition: the column has an index.
  public func count(with value: Value, in column: Column) throws(StorageError) -> Int {
    precondition(column.index != .none, "\(schema.name).\(column.name) has no index")
    guard column.accepts(value) else { return 0 }
    return Int(clamping: try IndexTree.count(with: value, of: column, table: root, beginReading()))
  }

  /// The keys of the rows that link to a row by a column of a table, and how often each one does. Takes O(log n), and time in proportion to these
  /// rows.
  public func sources(
    of row: UInt64, column: Column, of table: TableSchema
  ) throws(StorageError) -> [(row: UInt64, count: Int)] {
    var sources: [(row: UInt64, count: Int)] = []
    let head = LinkIndex.head(target: row, table: table.id, column: column.id)
    try LinkIndex.forEach(head, in: root.links, beginReading()) { link in
      sources.append((link.source, Int(clamping: link.count)))
      return true
    }
    return sources
  }

  /// The number of links to a row by a column of a table. O(log n); for a column of collections it takes time in proportion to the rows that link.
  public func linkCount(
    of row: UInt64, column: Column, of table: TableSchema
  ) throws(StorageError) -> Int {
    // A row has one link in such a column.
    guard column.type == .link, !column.isCollection else {
      return try sources(of: row, column: column, of: table).reduce(0) { $0 + $1.count }
    }
    let head = LinkIndex.head(target: row, table: table.id, column: column.id)
    return Int(clamping: try LinkIndex.count(head, in: root.links, beginReading()))
  }

  /// The number of rows whose key is less than `key`. O(log n).
  public func rank(of key: UInt64) throws(StorageError) -> Int {
    Int(clamping: try TableReading.rank(of: key, in: root.clusters, beginReading()))
  }

  /// For each of some keys the number of rows with a smaller key; nil for a key that no row has. Reads each leaf once.
  ///
  /// - Parameter keys: in increasing order.
  package func ranks(of keys: [UInt64]) throws(StorageError) -> [Int?] {
    try TableReading.ranks(of: keys, in: root.clusters, beginReading())
  }

  /// Calls `body` with the key and the values of each row, in the order of the keys, until it returns false. The values are in the order of the
  /// schema's columns.
  public func forEach(
    _ body: (_ key: UInt64, _ values: [Value]) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var next: UInt64? = 0
    while let key = next, !root.clusters.isNull {
      // Each cluster is read with its own access, so that decrypted nodes of earlier ones can be forgotten.
      let access = beginReading()
      let (leaf, following) = try KeyedTree.leafAndNext(for: key, in: root.clusters, access)
      let cluster = ClusterNode(try access.node(leaf, .cluster))
      for row in 0..<cluster.rows {
        var values: [Value] = []
        values.reserveCapacity(schema.columns.count)
        for column in schema.columns {
          values.append(try TableReading.value(column, row, of: cluster, dictionaries.view, access))
        }
        guard try body(cluster.key(row), values) else { return }
      }
      next = following
    }
  }
}

/// A table of a write transaction, with the changes made so far. It is used by the thread of the transaction, while the transaction is open.
public struct WritableTable {
  private let transaction: WriteTransaction
  private let writer: TableWriter

  /// The table's writer. The transaction has to be open.
  func usableWriter() throws(StorageError) -> TableWriter {
    try checkUsable()
    return writer
  }

  init(transaction: WriteTransaction, writer: TableWriter) {
    self.transaction = transaction
    self.writer = writer
  }

  /// The name and the columns of the table, as changed so far.
  public var schema: TableSchema { writer.schema }

  /// The table with the changes made so far. It does not show later changes, and must not be used after one.
  public func reading() throws(StorageError) -> Table {
    try checkUsable()
    return Table(schema: schema, root: try writer.flushed(), reader: transaction)
  }

  /// Whether there is a row with a key, as changed so far. O(log n).
  public func contains(_ key: UInt64) throws(StorageError) -> Bool {
    try checkUsable()
    return try writer.contains(key)
  }

  /// The value of a column in a row, as changed so far; nil if there is no such row. O(log n). Between changes it is cheaper than `reading()`, which
  /// has to put collected entries of indexes into their trees first.
  ///
  /// - Parameter column: the position of the column in the schema.
  public func value(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Value? {
    try checkUsable()
    return try writer.value(schema.columns[column], ofRow: key)
  }

  /// The key of the row with a primary key, as changed so far; nil if there is no such row or the table has no primary key. O(log n). Between changes
  /// it is cheaper than `reading()`.
  public func row(withPrimaryKey value: Value) throws(StorageError) -> UInt64? {
    try checkUsable()
    return try writer.row(withPrimaryKey: value)
  }

  /// Adds a row. O(1), and O(log n) for each index and link.
  ///
  /// - Returns: the key of the row.
  /// - Throws: what `fill` throws, and `.duplicateKey`: no row is added then. `.limitExceeded`, `.corrupted`: if the row was added in part, the
  ///   transaction can't be committed.
  @discardableResult
  public func insert(_ fill: (inout NewRow) throws(StorageError) -> Void) throws(StorageError) -> UInt64 {
    try checkUsable()
    return try writer.insert(fill)
  }

  /// Adds a row of values by the names of columns. An optional column without a value gets null; another one gets its stored default, or the zero of
  /// its type if it has none.
  ///
  /// - Returns: the key of the row.
  /// - Precondition: the table has the columns, and each value fits its column.
  @discardableResult
  public func insert(_ values: [String: Value]) throws(StorageError) -> UInt64 {
    var byColumn: [(Int, Value)] = []
    for (name, value) in values { byColumn.append((position(of: name), value)) }
    return try insert { (row: inout NewRow) throws(StorageError) in
      for (column, value) in byColumn { try row.set(column, value) }
    }
  }

  /// Sets the value of a column in a row. O(log n).
  ///
  /// - Returns: whether there is such a row.
  /// - Precondition: the table has the column, the value fits it, and links lead to rows that exist.
  /// - Throws: as `insert(_:)`.
  @discardableResult
  public func set(_ value: Value, _ name: String, ofRow key: UInt64) throws(StorageError) -> Bool {
    try checkUsable()
    return try set(value, position(of: name), ofRow: key)
  }

  /// Sets the value of the column at a position of the schema in a row, as `set(_:_:ofRow:)` with a name does.
  @discardableResult
  public func set(_ value: Value, _ column: Int, ofRow key: UInt64) throws(StorageError) -> Bool {
    try checkUsable()
    return try writer.apply(.set(value, writer.cell(column, key))).isDone
  }

  /// Adds an amount to the whole number of a column in a row. O(log n).
  ///
  /// - Parameters:
  ///   - column: the position of the column in the schema.
  ///   - range: the range of allowed sums, for programs whose numbers have fewer bits. A sum outside of it is not stored.
  /// - Precondition: the column has whole numbers and is not a collection.
  /// - Throws: as `set(_:_:ofRow:)`.
  @discardableResult
  public func add(
    _ amount: Int64, to column: Int, ofRow key: UInt64, within range: ClosedRange<Int64> = .min ... .max
  ) throws(StorageError) -> Addition {
    try checkUsable()
    let form = schema.columns[column]
    precondition(
      !form.isCollection && form.type == .int64,
      "\(schema.name).\(form.name) holds no whole numbers")
    guard
      case .addition(let addition) = try writer.apply(.add(amount, writer.cell(column, key)), within: range)
    else { return .noRow }
    return addition
  }

  /// Changes the whole numbers of a column in all rows, or in those with some keys in any order. Nulls stay. Each cluster of up to 512 rows is
  /// written once; if the column has an index, rows are changed one by one.
  ///
  /// - Parameters:
  ///   - column: the position of the column in the schema.
  ///   - change: returns the new number. It must not use the table.
  /// - Returns: the number of rows that were found.
  /// - Precondition: the column has whole numbers and is not a collection.
  /// - Throws: what `set(_:_:ofRow:)` throws. If a row was changed before, the transaction can't be committed. In a unique column each
  ///   number must be free when its row's turn comes, in the order of keys.
  @discardableResult
  public func changeIntegers(
    _ column: Int, ofRows keys: [UInt64]? = nil, _ change: (Int64) -> Int64
  ) throws(StorageError) -> Int {
    try checkUsable()
    return try withoutActuallyEscaping(change) { (change) throws(StorageError) in
      try writer.change(column, of: keys, .integers(change))
    }
  }

  /// Changes the numbers of a column of doubles, as `changeIntegers(_:ofRows:_:)` does for whole numbers.
  @discardableResult
  public func changeDoubles(
    _ column: Int, ofRows keys: [UInt64]? = nil, _ change: (Double) -> Double
  ) throws(StorageError) -> Int {
    try checkUsable()
    return try withoutActuallyEscaping(change) { (change) throws(StorageError) in
      try writer.change(column, of: keys, .doubles(change))
    }
  }

  /// Removes a row. Links to it become null, and elements of lists and sets that link to it are removed. Takes O(log n) for the row and for each of
  /// these links.
  ///
  /// - Returns: whether there was such a row.
  @discardableResult
  public func remove(_ key: UInt64) throws(StorageError) -> Bool {
    try checkUsable()
    return try writer.apply(.delete(row: key)).count == 1
  }

  /// Removes rows, with the same effect as removing them one by one. Each cluster with some of them is written once. For few rows each one takes
  /// O(log n) in each index and for each link from or to it; for many rows, indexes are gone through as a whole.
  ///
  /// - Returns: the number of rows that were removed. A key that stands twice counts once.
  @discardableResult
  public func remove(_ keys: [UInt64]) throws(StorageError) -> Int {
    try checkUsable()
    return try writer.apply(.deleteMany(keys)).count ?? 0
  }

  /// Removes all rows. The keys that they had are not given again.
  public func removeAll() throws(StorageError) {
    try checkUsable()
    try writer.apply(.deleteAll)
  }

  /// Adds a column. Existing rows have its default. O(1) in the number of rows, except for a column with an index.
  ///
  /// - Precondition: no column has the name.
  /// - Throws: `.limitExceeded` if the table has 1000 columns, all 65,535 ids of its columns are used up, or the name is empty or too long.
  public func addColumn(_ column: Column) throws(StorageError) {
    try checkUsable()
    precondition(!column.isCompanion, "table \(schema.name): a companion is added by the engine only")
    precondition(
      schema.column(column.name) == nil, "table \(schema.name) has a column \(column.name) already")
    try transaction.check(column)
    try transaction.checkColumns(schema.columns.count + schema.addedColumns(with: column))
    try writer.apply(.addColumn(column))
  }

  /// Gives the column at a position of the schema another index, or none. Takes time in proportion to the rows.
  ///
  /// - Precondition: the column can have such an index, and no other column is unique if this one becomes unique.
  /// - Throws: `.duplicateKey` if the index is unique and two rows have the same value: the transaction can't be committed then.
  public func setIndex(_ index: ColumnIndex, ofColumn position: Int) throws(StorageError) {
    try checkUsable()
    let column = schema.columns[position]
    precondition(
      column.type.canHave(index) && (index == .none || !column.isCollection),
      "\(schema.name).\(column.name) of type \(column.type) can't have an index")
    precondition(
      index != .unique || schema.primaryKey == nil || schema.primaryKey == column,
      "table \(schema.name) has a primary key already")
    // Indexes are not synced, except that of the primary key.
    try writer.checkNotRecorded(isLocal: index != .unique && column.index != .unique)
    try writer.setIndex(index, at: position)
  }

  /// Removes the column at a position of the schema with its values; columns after it move up by one.
  ///
  /// Links that rows have by the column are removed, and so are the rows of embedded tables that they own by it: this takes time in proportion to
  /// these, and to all links to the table that the column links to. Otherwise it takes no time in proportion to the rows: later commits give their
  /// space back, about 128 KiB each (`StorageReport.droppedBytes`).
  public func dropColumn(_ position: Int) throws(StorageError) {
    try checkUsable()
    try writer.checkNotRecorded()
    try writer.drop(at: position)
  }

  /// Gives the column at a position of the schema another name. O(1).
  ///
  /// - Precondition: no column has that name.
  /// - Throws: `.limitExceeded` for a name that is empty or too long; `.notSyncable`, `.schemaChangeWhileRecording`.
  public func renameColumn(_ position: Int, to name: String) throws(StorageError) {
    try checkUsable()
    try transaction.checkName(name)
    let column = schema.columns[position]
    guard !column.name.utf8.elementsEqual(name.utf8) else { return }
    precondition(!column.isCompanion, "table \(schema.name): a companion has no name")
    precondition(
      schema.column(name) == nil,
      "\(schema.name).\(column.name) can't be renamed: there is a column \(name) already")
    try writer.checkNotRecorded()
    try writer.changeSchema { $0.columns[position].name = name }
  }

  /// Makes the table embedded, so that each row belongs to the row that links to it, or makes it a table whose rows stand on their own.
  ///
  /// A table that becomes embedded loses the rows to which no link leads. If several links lead to a row, the first one keeps it, and each other one
  /// gets a copy of it. Mixed values that link to rows of the table become null. That takes time in proportion to the links to the table.
  ///
  /// - Precondition: a table that becomes embedded has no primary key. It does not own, directly or through other tables, rows of a table that links
  ///   to it, and no column of sets links to it.
  /// - Throws: `.notSyncable`, `.schemaChangeWhileRecording`; `.corrupted`: then the transaction can't be committed.
  public func setEmbedded(_ isEmbedded: Bool) throws(StorageError) {
    try checkUsable()
    guard isEmbedded != schema.isEmbedded else { return }
    try writer.checkNotRecorded()
    guard isEmbedded else { return try writer.becomeUnembedded() }
    precondition(schema.primaryKey == nil, "table \(schema.name) can't be embedded: it has a primary key")
    let all = try transaction.schemas()
    // The tables whose rows this one owns, directly or by rows of other tables.
    var owned: [TableSchema] = [schema]
    var next = 0
    while next < owned.count {
      for column in owned[next].columns where column.type == .link {
        guard let target = all.first(where: { $0.id == column.target }), target.isEmbedded,
          !owned.contains(where: { $0.id == target.id })
        else { continue }
        owned.append(target)
      }
      next += 1
    }
    for other in all {
      for column in other.columns where column.type == .link && column.target == schema.id {
        precondition(
          !owned.contains { $0.id == other.id } && column.collection != .set,
          "table \(schema.name) can't be embedded: \(other.name).\(column.name) links to it")
      }
    }
    try writer.becomeEmbedded()
  }

  /// Makes the column at a position of the schema optional, or required.
  ///
  /// A column becomes optional in O(1), except that an index is made anew. If it becomes required, each cluster of rows with nulls is written once.
  ///
  /// - Parameter value: replaces each null of a column that becomes required; nil for the zero of its type. Rows that are older than the column, and
  ///   are null only for that reason, get it too.
  /// - Precondition: the column is not a collection and has neither links nor mixed values, and `value` fits it.
  /// - Throws: `.duplicateKey` if the column is unique and two rows have the same value then: the transaction can't be committed then.
  public func setOptional(
    _ isOptional: Bool, ofColumn position: Int, nullsBecome value: Value? = nil
  ) throws(StorageError) {
    try checkUsable()
    let column = schema.columns[position]
    let value = value ?? column.type.zero
    precondition(
      column.canStoreDefault(value),
      "\(schema.name).\(column.name) can't be made \(isOptional ? "optional" : "required")")
    // An optional column can read what other devices write; a required one reads null as zero.
    try writer.checkNotRecorded(isLocal: isOptional)
    try writer.setOptional(isOptional, at: position, nullsBecome: value)
  }

  /// Gives the column at a position of the schema another type. It keeps its id, its kind of collection and its index.
  ///
  /// Takes time in proportion to the rows, whose clusters are each written once, and O(log n) for each link and each entry of an index.
  /// `Snapshot.changes` between a version before and one after it tells only the rows whose values differ.
  ///
  /// - Parameters:
  ///   - target: the id of the table to which links lead; 0 for this table.
  ///   - convert: returns the new value for an old one; for a column of collections it gets the whole collection. It must not use the table. It is
  ///     also called for the default of the column, and what it returns is the new default if a column of the type can have it.
  /// - Precondition: the type can have the column's index, the results of `convert` fit the column, and links lead to rows that exist.
  /// - Throws: `.duplicateKey` if the column is unique and two rows have the same value then; `.corrupted` for a link that leads nowhere. After an
  ///   error the transaction can't be committed.
  public func changeType(
    ofColumn position: Int, to type: ColumnType, isOptional: Bool = false, target: UInt32 = 0,
    convert: (Value) -> Value
  ) throws(StorageError) {
    try checkUsable()
    let column = schema.columns[position]
    precondition(
      type.canHave(column.index), "\(schema.name).\(column.name) has an index, which a \(type) can't have")
    var new = column
    (new.type, new.target) = (type, target)
    try transaction.check(new)
    try writer.checkNotRecorded()
    try writer.changeType(at: position, to: type, isOptional: isOptional, target: target, convert)
  }

  private func checkUsable() throws(StorageError) {
    precondition(transaction.isOpen, "table \(schema.name): its transaction has ended")
    try writer.checkWhole()
  }

  private func position(of name: String) -> Int {
    guard
      let position = schema.columns.firstIndex(where: {
        !$0.isCompanion && $0.name.utf8.elementsEqual(name.utf8)
      })
    else {
      preconditionFailure("table \(schema.name) has no column \(name)")
    }
    return position
  }
}

extension Snapshot {
  /// The number that `WriteTransaction.setSchemaVersion` has set last; 0 before the first call.
  public func schemaVersion() throws(StorageError) -> UInt64 { try Catalogue(root, access()).schemaVersion }

  /// The schemas of the tables, in the order of their ids, without hidden tables.
  public func schemas() throws(StorageError) -> [TableSchema] {
    let access = access()
    return try database.schemas(Catalogue(root, access), access).filter { !$0.isHidden }
  }

  /// The table with a name; nil if there is none.
  public func table(_ name: String) throws(StorageError) -> Table? { try table(name, isHidden: false) }

  /// The hidden table with a name; nil if there is none.
  package func hiddenTable(_ name: String) throws(StorageError) -> Table? { try table(name, isHidden: true) }

  func table(_ name: String, isHidden: Bool) throws(StorageError) -> Table? {
    let access = access()
    let catalogue = try Catalogue(root, access)
    let schemas = try database.schemas(catalogue, access)
    guard let schema = schemas.first(where: { $0.isNamed(name, isHidden: isHidden) }) else { return nil }
    return Table(schema: schema, root: try Tables.root(of: schema.id, catalogue, access), reader: self)
  }
}
