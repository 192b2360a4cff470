/// A table of a snapshot: rows by key, each with a value for each column.
///
/// Keys are given in order and never again, but to a row whose deletion is undone (`WriteTransaction.apply`), so rows stand in the order they were made. A row is found in O(log n);
/// what is read of it is all that is looked at.
public struct Table {
  @usableFromInline let content: TableContent

  init(schema: TableSchema, root: TableRoot, reader: any TableReader) {
    content = TableContent(schema: schema, root: root, reader: reader)
  }

  public var schema: TableSchema { content.schema }
  private var root: TableRoot { content.root }
  var reader: any TableReader { content.reader }
  var clusters: Ref { content.root.clusters }
  var dictionaries: ColumnTrees { content.root.dictionaries }
  /// What queries read.
  var form: TableForm { TableForm(schema, root) }
  /// The tables of the same version.
  var tables: any TableFinder { reader }
  @_lifetime(borrow self)
  @usableFromInline
  func beginReading() -> NodeAccess { content.beginReading(for: self) }

  /// Whether both have the same rows with the same values, known without looking at them: versions of one file.
  package func hasSameRows(as other: Table) -> Bool { root == other.root }

  /// Rows in the table. O(1).
  public var count: Int { Int(clamping: root.rows) }

  /// The value of a column in the row of `key`; nil when there is no such row.
  ///
  /// - Throws: `.corrupted`; `.system` where the system refuses, `.snapshotExpired` after a failed sync. So does all reading.
  public func value(_ column: Column, ofRow key: UInt64) throws(StorageError) -> Value? {
    try TableReading.value(column, ofRow: key, in: root, beginReading())
  }

  public func contains(_ key: UInt64) throws(StorageError) -> Bool {
    try TableReading.contains(key, in: root.clusters, beginReading())
  }

  /// The key of the row with `position` rows before it.
  ///
  /// - Precondition: `position` is in `0..<count`.
  public func key(at position: Int) throws(StorageError) -> UInt64 {
    precondition((0..<count).contains(position), "Table.key(at:): there is no row \(position) of \(count)")
    return try TableReading.key(at: UInt64(position), in: root.clusters, beginReading())
  }

  /// The row with a value of the primary key; nil where there is none, or no primary key. O(log n).
  public func row(withPrimaryKey value: Value) throws(StorageError) -> UInt64? {
    if content.hasKeyIndex {
      guard case .int(let number) = value else { return nil }
      return try row(withPrimaryKey: number, beginReading())
    }
    guard let column = schema.primaryKey, column.accepts(value) else { return nil }
    return try IndexTree.row(with: value, of: column, table: root, beginReading())
  }

  /// The rows with a value of an indexed column, in the order they were made. O(log n) and in proportion to the rows.
  ///
  /// - Precondition: the column has an index.
  public func rows(with value: Value, in column: Column) throws(StorageError) -> [UInt64] {
    precondition(column.index != .none, "\(schema.name).\(column.name) has no index")
    guard column.accepts(value) else { return [] }
    return try IndexTree.rows(with: value, of: column, table: root, beginReading())
  }

  /// How many rows have a value of an indexed column. O(log n), but for texts of 248 bytes or more and values of
  /// any type, of which it takes time in proportion to the rows.
  ///
  /// - Precondition: the column has an index.
  public func count(with value: Value, in column: Column) throws(StorageError) -> Int {
    precondition(column.index != .none, "\(schema.name).\(column.name) has no index")
    guard column.accepts(value) else { return 0 }
    return Int(clamping: try IndexTree.count(with: value, of: column, table: root, beginReading()))
  }

  /// The rows that link to a row by a column of a table, and how often each does. O(log n) and in proportion to them.
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

  /// How many links there are to a row by a column of a table. O(log n); of a column of lists in proportion to the rows
  /// that link.
  public func linkCount(
    of row: UInt64, column: Column, of table: TableSchema
  ) throws(StorageError) -> Int {
    // A row links once by one link.
    guard column.type == .link, !column.isCollection else {
      return try sources(of: row, column: column, of: table).reduce(0) { $0 + $1.count }
    }
    let head = LinkIndex.head(target: row, table: table.id, column: column.id)
    return Int(clamping: try LinkIndex.count(head, in: root.links, beginReading()))
  }

  /// How many rows have a key less than `key`.
  public func rank(of key: UInt64) throws(StorageError) -> Int {
    Int(clamping: try TableReading.rank(of: key, in: root.clusters, beginReading()))
  }

  /// How many rows have a lesser key than each of some; nil of keys that no row has. Reads each leaf once.
  ///
  /// - Parameter keys: growing.
  package func ranks(of keys: [UInt64]) throws(StorageError) -> [Int?] {
    try TableReading.ranks(of: keys, in: root.clusters, beginReading())
  }

  /// Calls `body` with the key of each row and its values, in the order of the schema's columns, until it answers false.
  public func forEach(
    _ body: (_ key: UInt64, _ values: [Value]) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var next: UInt64? = 0
    while let key = next, !root.clusters.isNull {
      // One cluster at a time, so that decrypted nodes can be forgotten behind it.
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

/// A table of a transaction, with its changes.
///
/// Used by the transaction's thread, while it is open.
public struct WritableTable {
  private let transaction: WriteTransaction
  private let writer: TableWriter

  /// The table's writer, while the transaction is open.
  func usableWriter() throws(StorageError) -> TableWriter {
    try checkUsable()
    return writer
  }

  init(transaction: WriteTransaction, writer: TableWriter) {
    self.transaction = transaction
    self.writer = writer
  }

  public var schema: TableSchema { writer.schema }

  /// The table as changed so far. What is read of it later does not show later changes, and nothing may be read of it
  /// after them.
  public func reading() throws(StorageError) -> Table {
    try checkUsable()
    return Table(schema: schema, root: try writer.flushed(), reader: transaction)
  }

  /// Whether there is a row of that key, as changed so far. O(log n).
  public func contains(_ key: UInt64) throws(StorageError) -> Bool {
    try checkUsable()
    return try writer.contains(key)
  }

  /// The value of a column in the row of `key`, as changed so far; nil when there is no such row. O(log n): cheaper than
  /// `reading()` between changes, since entries of indexes are collected, and not put into their trees for it.
  ///
  /// - Parameter column: its position in the schema.
  public func value(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Value? {
    try checkUsable()
    return try writer.value(schema.columns[column], ofRow: key)
  }

  /// The row with a value of the primary key, as changed so far; nil where there is none, or no primary key. O(log n):
  /// cheaper than `reading()` between changes, since what was changed is left as it is.
  public func row(withPrimaryKey value: Value) throws(StorageError) -> UInt64? {
    try checkUsable()
    return try writer.row(withPrimaryKey: value)
  }

  /// Adds a row; answers its key. O(1) but for indexes and links, which take O(log n).
  ///
  /// - Throws: what `fill` throws, and `.duplicateKey`: then no row is added. `.limitExceeded`, `.corrupted`: then the
  ///   transaction can't be committed any more, where the row was added in part.
  @discardableResult
  public func insert(_ fill: (inout NewRow) throws(StorageError) -> Void) throws(StorageError) -> UInt64 {
    try checkUsable()
    return try writer.insert(fill)
  }

  /// Adds a row. A column without a value gets null where it is optional, else its stored default, else the zero of its type.
  ///
  /// - Precondition: each value fits its column, which the table has.
  @discardableResult
  public func insert(_ values: [String: Value]) throws(StorageError) -> UInt64 {
    var byColumn: [(Int, Value)] = []
    for (name, value) in values { byColumn.append((position(of: name), value)) }
    return try insert { (row: inout NewRow) throws(StorageError) in
      for (column, value) in byColumn { try row.set(column, value) }
    }
  }

  /// Sets a value. O(log n). Answers whether there is such a row.
  ///
  /// - Precondition: the value fits the column, which the table has, and links point to rows there are.
  /// - Throws: `.duplicateKey`; and as `insert`.
  @discardableResult
  public func set(_ value: Value, _ name: String, ofRow key: UInt64) throws(StorageError) -> Bool {
    try checkUsable()
    return try set(value, position(of: name), ofRow: key)
  }

  /// Sets the value of the column at a position of the schema; else as `set(_:_:ofRow:)`.
  @discardableResult
  public func set(_ value: Value, _ column: Int, ofRow key: UInt64) throws(StorageError) -> Bool {
    try checkUsable()
    return try writer.apply(.set(value, writer.cell(column, key))).isDone
  }

  /// Adds to a whole number. O(log n).
  ///
  /// - Parameters:
  ///   - column: its position in the schema.
  ///   - range: a sum outside of it is not stored; a program that holds numbers of fewer bits names theirs.
  /// - Precondition: the column holds one whole number a row.
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

  /// Changes the whole numbers of a column in many rows at once, those that are null excepted: in all, or in those of some
  /// keys, in any order. Answers how many rows there were.
  ///
  /// Each cluster of 512 rows that has some of them is written once; where the column has an index, rows are changed one by
  /// one. `change` must not use the table.
  ///
  /// - Precondition: the column, named by its position in the schema, holds one whole number a row.
  /// - Throws: as `set(_:_:ofRow:)`.
  @discardableResult
  public func changeIntegers(
    _ column: Int, ofRows keys: [UInt64]? = nil, _ change: (Int64) -> Int64
  ) throws(StorageError) -> Int {
    try checkUsable()
    return try withoutActuallyEscaping(change) { (change) throws(StorageError) in
      try writer.change(column, of: keys, .integers(change))
    }
  }

  /// The same for a column of doubles.
  @discardableResult
  public func changeDoubles(
    _ column: Int, ofRows keys: [UInt64]? = nil, _ change: (Double) -> Double
  ) throws(StorageError) -> Int {
    try checkUsable()
    return try withoutActuallyEscaping(change) { (change) throws(StorageError) in
      try writer.change(column, of: keys, .doubles(change))
    }
  }

  /// Removes a row. Links to it become null, and leave the lists they stand in. O(log n), for each of them too. Answers
  /// whether there was one.
  @discardableResult
  public func remove(_ key: UInt64) throws(StorageError) -> Bool {
    try checkUsable()
    return try writer.apply(.delete(row: key)).count == 1
  }

  /// Removes rows, as one by one. Answers how many there were; of keys that are given twice the second finds none.
  ///
  /// Each cluster that holds some of them is written once. Of few rows each takes O(log n) in every index, as it does for
  /// each link from or to it; for many, indexes are gone through whole.
  @discardableResult
  public func remove(_ keys: [UInt64]) throws(StorageError) -> Int {
    try checkUsable()
    return try writer.apply(.deleteMany(keys)).count ?? 0
  }

  /// Removes all rows. Keys given before are not given again.
  public func removeAll() throws(StorageError) {
    try checkUsable()
    try writer.apply(.deleteAll)
  }

  /// Adds a column; the rows there are have its default. O(1) in the number of rows, but for a column with an index.
  ///
  /// - Precondition: no column has that name.
  /// - Throws: `.limitExceeded` where the table has 1000 columns, or all 65,535 ids of its columns have been given.
  public func addColumn(_ column: Column) throws(StorageError) {
    try checkUsable()
    precondition(!column.isCompanion, "table \(schema.name): a companion is added by the engine only")
    precondition(
      schema.column(column.name) == nil, "table \(schema.name) has a column \(column.name) already")
    try transaction.check(column)
    try transaction.checkColumns(schema.columns.count + schema.addedColumns(with: column))
    try writer.apply(.addColumn(column))
  }

  /// Gives the column at a position of the schema an index, another or none. Takes time in proportion to the rows.
  ///
  /// - Precondition: the column can have an index, and no other is unique where this is to be.
  /// - Throws: `.duplicateKey` where the index is to be unique and two rows have one value: the transaction can't be
  ///   committed then.
  public func setIndex(_ index: ColumnIndex, ofColumn position: Int) throws(StorageError) {
    try checkUsable()
    let column = schema.columns[position]
    precondition(
      column.type.canHave(index) && (index == .none || !column.isCollection),
      "\(schema.name).\(column.name) of type \(column.type) can't have an index")
    precondition(
      index != .unique || schema.primaryKey == nil || schema.primaryKey == column,
      "table \(schema.name) has a primary key already")
    // Indexes are no part of what is synced, but for the one of the primary key.
    try writer.checkNotRecorded(isLocal: index != .unique && column.index != .unique)
    try writer.setIndex(index, at: position)
  }

  /// Removes the column at a position of the schema, with all that rows hold in it; columns after it move up by one.
  ///
  /// Links that rows have by the column go, and so do the rows of embedded tables that they own by it: this takes time in proportion to these, and to all
  /// links to the table that the column links to. Else it takes no time in proportion to the rows: what they held is given back by later commits, about
  /// 128 KiB by each (`StorageReport.droppedBytes`).
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

  /// Makes the table embedded, so that each row belongs to the row that links to it, or makes it one whose rows stand for themselves.
  ///
  /// A table that becomes embedded loses the rows that nobody links to. If several links lead to a row, the first one keeps it, and each other one gets a copy
  /// of it. Mixed values that link to rows of the table become null. That takes time in proportion to the links to the table.
  ///
  /// - Precondition: a table whose rows come to belong to others has no primary key. It does not own rows, directly or by others, that may link to it, and
  ///   no column of sets links to it.
  /// - Throws: `.notSyncable`, `.schemaChangeWhileRecording`; `.corrupted`: then the transaction can't be committed any more.
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
  /// A column becomes optional in O(1), but for one with an index, which is made anew. For one that becomes required each
  /// cluster of rows that has nulls is written once.
  ///
  /// - Parameter value: takes the place of each null of a column that becomes required; nil for the zero of its type. Rows
  ///   that are older than the column, and are null only for that, have it too.
  /// - Precondition: the column holds one value a row, which is neither a link nor mixed, and `value` fits it.
  /// - Throws: `.duplicateKey` where the column is unique and two rows have one value then: the transaction can't be
  ///   committed then.
  public func setOptional(
    _ isOptional: Bool, ofColumn position: Int, nullsBecome value: Value? = nil
  ) throws(StorageError) {
    try checkUsable()
    let column = schema.columns[position]
    let value = value ?? column.type.zero
    precondition(
      column.canStoreDefault(value),
      "\(schema.name).\(column.name) can't be made \(isOptional ? "optional" : "required")")
    // A column that may be null reads what others write; one that may not reads null as zero.
    try writer.checkNotRecorded(isLocal: isOptional)
    try writer.setOptional(isOptional, at: position, nullsBecome: value)
  }

  /// Gives the column at a position of the schema another type. It keeps its id, its collection and its index.
  ///
  /// Takes time in proportion to the rows, whose clusters are each written once, and O(log n) for each link and entry of an index.
  /// Two versions of the table, one before and one after it, differ in the rows whose values do.
  ///
  /// - Parameters:
  ///   - target: the table that links point to; 0 for this one.
  ///   - convert: answers what takes the place of a value, where the column is one of collections of a whole one. It must not use
  ///     the table. It is asked for the default of the column, too: what it answers for that is the default from now on, where a
  ///     column of the type can have it.
  /// - Precondition: the type can have the index that the column has; what `convert` answers fits the column, and links
  ///   point to rows there are.
  /// - Throws: `.duplicateKey` where the column is unique and two rows have one value then; `.corrupted` for a link that leads
  ///   nowhere. After an error the
  ///   transaction can't be committed.
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
  /// The number that was set last by `WriteTransaction.setSchemaVersion`; 0 until then.
  public func schemaVersion() throws(StorageError) -> UInt64 { try Catalogue(root, access()).schemaVersion }

  /// The tables there are, by id; hidden ones are not told.
  public func schemas() throws(StorageError) -> [TableSchema] {
    let access = access()
    return try database.schemas(Catalogue(root, access), access).filter { !$0.isHidden }
  }

  /// The table of that name, or nil.
  public func table(_ name: String) throws(StorageError) -> Table? { try table(name, isHidden: false) }

  /// The hidden table of that name, or nil.
  package func hiddenTable(_ name: String) throws(StorageError) -> Table? { try table(name, isHidden: true) }

  func table(_ name: String, isHidden: Bool) throws(StorageError) -> Table? {
    let access = access()
    let catalogue = try Catalogue(root, access)
    let schemas = try database.schemas(catalogue, access)
    guard let schema = schemas.first(where: { $0.isNamed(name, isHidden: isHidden) }) else { return nil }
    return Table(schema: schema, root: try Tables.root(of: schema.id, catalogue, access), reader: self)
  }
}
