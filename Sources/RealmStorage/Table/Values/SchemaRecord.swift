/// The attributes of a table's record. The numbers are stored in files; never change them.
private enum TableAttribute: UInt16, KnownAttribute {
  case name = 1
  case flags = 2
  case nextColumn = 3
  case nextIndex = 4
  case columns = 5
  case indexes = 6
  case elementIDs = 7
  case droppedColumns = 8

  var rule: AttributeRule {
    switch self {
    case .name, .flags, .nextColumn, .columns: .knownToRead
    case .nextIndex, .indexes, .elementIDs, .droppedColumns: .knownToWrite
    }
  }
}

private enum TableFlags {
  static let embedded: UInt8 = 1
  static let hidden: UInt8 = 2
  static let dropped: UInt8 = 4
  static let known = embedded | hidden | dropped
}

/// The stored form of a table's name, columns and indexes (FORMAT.md, "Schema"): a record of attributes. Two of its
/// attributes contain such records, one for each column and one for each index.
extension TableSchema {
  /// - Precondition: this version of the library knows every feature that must be known to write the table.
  var encoded: [UInt8] {
    var record = AttributeRecord(keeping: unknown.table)
    record.add(TableAttribute.name, Array(name.utf8))
    let flags =
      (isEmbedded ? TableFlags.embedded : 0) | (isHidden ? TableFlags.hidden : 0)
      | (isDropped ? TableFlags.dropped : 0)
    if flags != 0 { record.add(TableAttribute.flags, [flags]) }
    record.add(TableAttribute.nextColumn, .init(nextColumnID))
    if nextIndexID != 1 { record.add(TableAttribute.nextIndex, .init(nextIndexID)) }
    var stored: [UInt8] = []
    for column in columns { stored.appendCounted(column.record(keeping: unknown.columns[column.id] ?? [])) }
    if !columns.isEmpty { record.add(TableAttribute.columns, stored) }
    var indexes: [UInt8] = []
    for column in columns.filter({ $0.index != .none }).sorted(by: { $0.indexID < $1.indexID }) {
      let index = IndexRecord(id: column.indexID, kind: column.index.rawValue, columns: [column.id])
      indexes.appendCounted(index.encoded(keeping: unknown.indexes[column.indexID] ?? []))
    }
    if !indexes.isEmpty { record.add(TableAttribute.indexes, indexes) }
    if hasElementIDs { record.add(TableAttribute.elementIDs, []) }
    if !droppedColumns.isEmpty {
      var ids: [UInt8] = []
      for id in droppedColumns { ids.appendInteger(id) }
      record.add(TableAttribute.droppedColumns, ids)
    }
    return record.encoded
  }

  /// - Throws: `RecordFault` if the bytes are no record of a table, or if this version does not know a feature that
  ///   must be known to read it.
  init(record bytes: [UInt8], id: UInt32) throws(RecordFault) {
    let record = try AttributeRecord(bytes)
    guard let name = record[TableAttribute.name]?.text else { throw .damaged }
    let owner = "table \(name)"
    var unknown = UnknownAttributes()
    unknown.table = try record.unknown(to: TableAttribute.self, of: owner)
    unknown.note(unknown.table, of: owner)
    let flags = try record.byte(TableAttribute.flags) ?? 0
    guard flags & ~TableFlags.known == 0 else {
      throw .unknown(.init("flags \(flags & ~TableFlags.known)", of: owner, need: .read))
    }
    guard let nextColumn = record[TableAttribute.nextColumn]?.only(UInt32.self),
      let nextIndex = (record[TableAttribute.nextIndex] ?? .init(UInt32(1))).only(UInt32.self),
      Self.nextIDs.contains(nextColumn), Self.nextIDs.contains(nextIndex)
    else { throw .damaged }
    self.init(
      name, isEmbedded: flags & TableFlags.embedded != 0, isHidden: flags & TableFlags.hidden != 0,
      columns: [])
    self.id = id
    (nextColumnID, nextIndexID, self.unknown) = (nextColumn, nextIndex, unknown)
    isDropped = flags & TableFlags.dropped != 0
    guard isHidden || !isDropped else { throw .damaged }
    try readColumns(record[TableAttribute.columns] ?? [])
    try readIndexes(record[TableAttribute.indexes] ?? [])
    if let value = record[TableAttribute.elementIDs] {
      guard value.isEmpty else { throw .damaged }
      hasElementIDs = true
    }
    if let value = record[TableAttribute.droppedColumns] { try readDropped(value) }
    guard hasUsualCompanions, !isDropped || (columns.isEmpty && droppedColumns.isEmpty) else {
      throw .damaged
    }
  }

  private mutating func readDropped(_ bytes: [UInt8]) throws(RecordFault) {
    var reader = ByteReader(bytes)
    var last: UInt16 = 0
    while !reader.isAtEnd {
      guard let id = reader.integer(UInt16.self), id > last, UInt32(id) < nextColumnID,
        !columns.contains(where: { $0.id == id })
      else { throw .damaged }
      droppedColumns.append(id)
      last = id
    }
    guard !droppedColumns.isEmpty else { throw .damaged }
  }

  /// The records that stand one after another in `bytes`, each with its length before it.
  private static func records(in bytes: [UInt8]) throws(RecordFault) -> [AttributeRecord] {
    var reader = ByteReader(bytes)
    var records: [AttributeRecord] = []
    while !reader.isAtEnd {
      guard let record = reader.counted() else { throw .damaged }
      records.append(try AttributeRecord(record))
    }
    return records
  }

  private mutating func readColumns(_ bytes: [UInt8]) throws(RecordFault) {
    var (ids, names): (Set<UInt16>, Set<[UInt8]>) = ([], [])
    for record in try Self.records(in: bytes) {
      let (column, others) = try Column.read(record, of: name)
      guard UInt32(column.id) < nextColumnID, ids.insert(column.id).inserted,
        column.isCompanion || names.insert(Array(column.name.utf8)).inserted
      else { throw .damaged }
      columns.append(column)
      // The node of a cluster has no room for more columns.
      guard columns.count <= Self.maximumColumns else { throw .damaged }
      if !others.isEmpty {
        unknown.columns[column.id] = others
        unknown.note(others, of: "column \(name).\(column.name)")
      }
    }
  }

  private mutating func readIndexes(_ bytes: [UInt8]) throws(RecordFault) {
    var ids: Set<UInt16> = []
    let positions = Dictionary(uniqueKeysWithValues: columns.indices.map { (columns[$0].id, $0) })
    for record in try Self.records(in: bytes) {
      let index = try IndexRecord(record, of: name)
      guard index.id > 0, UInt32(index.id) < nextIndexID, ids.insert(index.id).inserted else {
        throw .damaged
      }
      let position = index.columns.first.flatMap { positions[$0] }
      if let feature = index.unknown ?? position.flatMap({ self.unknown(in: index, of: columns[$0]) }) {
        unknown.note(feature)
        unknown.foreignIndexes.append(index.id)
        continue
      }
      guard let kind = ColumnIndex(rawValue: index.kind), let position else { throw .damaged }
      columns[position].index = kind
      columns[position].indexID = index.id
      if !index.others.isEmpty { unknown.indexes[index.id] = index.others }
    }
  }

  /// The unknown feature of an index whose attributes this version knows; nil if there is none. This version has no
  /// index of that kind for some types of columns and for collections, and has at most one index for a column.
  private func unknown(in index: IndexRecord, of column: Column) -> StorageError.Feature? {
    guard let kind = ColumnIndex(rawValue: index.kind),
      !column.type.canHave(kind) || column.isCollection || column.index != .none
    else { return nil }
    return .init("index \(index.id) of kind \(index.kind)", of: "column \(name).\(column.name)", need: .write)
  }

  /// The ids of all indexes that the record names.
  var indexIDs: [UInt16] {
    columns.compactMap { $0.index == .none ? nil : $0.indexID } + unknown.foreignIndexes
  }
}

/// The parts of the stored record of a table that this version does not know. A writer keeps them as they are.
struct UnknownAttributes: Hashable, Sendable {
  /// The unknown attributes of the table itself.
  var table: [Attribute] = []
  /// The unknown attributes of columns, by the ids of the columns.
  var columns: [UInt16: [Attribute]] = [:]
  /// The unknown attributes of indexes, by the ids of the indexes.
  var indexes: [UInt16: [Attribute]] = [:]
  /// The ids of indexes that this version does not know how to use.
  var foreignIndexes: [UInt16] = []
  /// The first feature that must be known to write the table; nil if there is none.
  private(set) var feature: StorageError.Feature?

  fileprivate mutating func note(_ attributes: [Attribute], of owner: String) {
    if let first = attributes.first(where: { $0.rule != .ignorable }) {
      note(first.feature(of: owner, need: .write))
    }
  }

  fileprivate mutating func note(_ feature: StorageError.Feature) { self.feature = self.feature ?? feature }
}

// MARK: - Columns

/// The attributes of a column's record. The numbers are stored in files; never change them.
private enum ColumnAttribute: UInt16, KnownAttribute {
  case id = 1
  case name = 2
  case type = 3
  case flags = 4
  case collection = 5
  case target = 6
  case storedDefault = 7
  case companion = 8

  var rule: AttributeRule { .knownToRead }
}

private enum ColumnFlags {
  static let optional: UInt8 = 1
  static let absentNull: UInt8 = 2
  static let known = optional | absentNull
}

extension Column {
  fileprivate func record(keeping kept: [Attribute]) -> [UInt8] {
    var record = AttributeRecord(keeping: kept)
    record.add(ColumnAttribute.id, .init(id))
    record.add(ColumnAttribute.name, Array(name.utf8))
    record.add(ColumnAttribute.type, [type.rawValue])
    let flags = (isOptional ? ColumnFlags.optional : 0) | (isAbsentNull ? ColumnFlags.absentNull : 0)
    if flags != 0 { record.add(ColumnAttribute.flags, [flags]) }
    if collection != .none { record.add(ColumnAttribute.collection, [collection.rawValue]) }
    if type == .link, target != 0 { record.add(ColumnAttribute.target, .init(target)) }
    if let storedDefault {
      var value: [UInt8] = []
      ValueCoding.append(storedDefault, to: &value)
      record.add(ColumnAttribute.storedDefault, value)
    }
    if let companion = role.stored { record.add(ColumnAttribute.companion, companion) }
    return record.encoded
  }

  /// A column without its index, and the attributes of its record that this version does not know.
  fileprivate static func read(
    _ record: AttributeRecord, of table: String
  ) throws(RecordFault) -> (column: Column, others: [Attribute]) {
    guard let id = record[ColumnAttribute.id]?.only(UInt16.self), id > 0,
      let name = record[ColumnAttribute.name]?.text
    else { throw .damaged }
    let owner = "column \(table).\(name)"
    let others = try record.unknown(to: ColumnAttribute.self, of: owner)
    guard let rawType = try record.byte(ColumnAttribute.type) else { throw .damaged }
    let flags = try record.byte(ColumnAttribute.flags) ?? 0
    let rawCollection = try record.byte(ColumnAttribute.collection) ?? 0
    guard let type = ColumnType(rawValue: rawType) else {
      throw .unknown(.init("type \(rawType)", of: owner, need: .read))
    }
    guard flags & ~ColumnFlags.known == 0 else {
      throw .unknown(.init("flags \(flags & ~ColumnFlags.known)", of: owner, need: .read))
    }
    guard let collection = ColumnCollection(rawValue: rawCollection) else {
      throw .unknown(.init("collection \(rawCollection)", of: owner, need: .read))
    }
    let isAbsentNull = flags & ColumnFlags.absentNull != 0
    // A single link or mixed value is null in clusters that do not have its column, whatever the other flags say.
    let mustBeAbsentNull = collection == .none && (type == .link || type == .mixed)
    let mayBeAbsentNull = collection == .none && (flags & ColumnFlags.optional != 0 || mustBeAbsentNull)
    guard isAbsentNull ? mayBeAbsentNull : !mustBeAbsentNull else { throw .damaged }
    var column = Column(name, type, isOptional: flags & ColumnFlags.optional != 0, collection: collection)
    column.id = id
    column.isAbsentNull = isAbsentNull
    try column.readTarget(record)
    try column.readDefault(record)
    if let bytes = record[ColumnAttribute.companion] {
      column.role = try ColumnRole(stored: bytes, of: owner)
    }
    return (column, others)
  }

  private mutating func readTarget(_ record: AttributeRecord) throws(RecordFault) {
    guard let bytes = record[ColumnAttribute.target] else { return }
    guard type == .link, let target = bytes.only(UInt32.self) else { throw .damaged }
    self.target = target
  }

  private mutating func readDefault(_ record: AttributeRecord) throws(RecordFault) {
    guard let bytes = record[ColumnAttribute.storedDefault] else { return }
    var reader = ByteReader(bytes)
    guard let value = ValueCoding.value(type, &reader), reader.isAtEnd, canStoreDefault(value) else {
      throw .damaged
    }
    storedDefault = value
  }
}

extension ColumnRole {
  /// The stored form of the role; nil for a property.
  fileprivate var stored: [UInt8]? {
    let number: UInt8
    switch self {
    case .property: return nil
    case .elementIDs: number = 1
    case .elementPlaces: number = 2
    case .absentLinks: number = 3
    }
    return [number] + [UInt8](owner ?? 0)
  }

  fileprivate init(stored bytes: [UInt8], of owner: String) throws(RecordFault) {
    guard bytes.count == 3 else { throw .damaged }
    let column = bytes.load(UInt16.self, at: 1)
    switch bytes[0] {
    case 1: self = .elementIDs(of: column)
    case 2: self = .elementPlaces(of: column)
    case 3: self = .absentLinks(of: column)
    default: throw .unknown(.init("role \(bytes[0])", of: owner, need: .read))
    }
  }
}

// MARK: - Indexes

/// The attributes of an index's record. The numbers are stored in files; never change them.
private enum IndexAttribute: UInt16, KnownAttribute {
  case id = 1
  case kind = 2
  case columns = 3
  case options = 4

  var rule: AttributeRule { .knownToWrite }
}

/// An index as its table's record describes it.
private struct IndexRecord {
  var id: UInt16
  var kind: UInt8
  /// The ids of the columns of the index. There is at least one.
  var columns: [UInt16]
  /// The attributes that this version does not know.
  var others: [Attribute] = []
  /// The feature that must be known to use the index, and that this version does not know; nil if there is none.
  var unknown: StorageError.Feature?

  init(id: UInt16, kind: UInt8, columns: [UInt16]) {
    (self.id, self.kind, self.columns) = (id, kind, columns)
  }

  init(_ record: AttributeRecord, of table: String) throws(RecordFault) {
    guard let id = record[IndexAttribute.id]?.only(UInt16.self),
      let kind = try record.byte(IndexAttribute.kind), let ids = record[IndexAttribute.columns],
      !ids.isEmpty, ids.count.isMultiple(of: 2)
    else { throw .damaged }
    (self.id, self.kind) = (id, kind)
    columns = stride(from: 0, to: ids.count, by: 2).map { ids.load(UInt16.self, at: $0) }
    let owner = "index \(id) of table \(table)"
    others = try record.unknown(to: IndexAttribute.self, of: owner)
    let options = try AttributeRecord(record[IndexAttribute.options] ?? [])
    if let first = others.first(where: { $0.rule != .ignorable }) {
      unknown = first.feature(of: owner, need: .write)
    } else if kind == ColumnIndex.none.rawValue || ColumnIndex(rawValue: kind) == nil {
      unknown = .init("kind \(kind)", of: owner, need: .write)
    } else if let first = options.all.first {
      unknown = .init("option \(first.number)", of: owner, need: .write)
    } else if columns.count > 1 {
      unknown = .init("an entry of \(columns.count) columns", of: owner, need: .write)
    }
  }

  func encoded(keeping kept: [Attribute]) -> [UInt8] {
    var record = AttributeRecord(keeping: kept)
    record.add(IndexAttribute.id, .init(id))
    record.add(IndexAttribute.kind, [kind])
    record.add(IndexAttribute.columns, columns.reduce(into: []) { $0.appendInteger($1) })
    return record.encoded
  }
}

extension AttributeRecord {
  /// The value of an attribute of one byte; nil if the attribute is absent.
  fileprivate func byte(_ known: some KnownAttribute) throws(RecordFault) -> UInt8? {
    guard let bytes = self[known] else { return nil }
    guard bytes.count == 1 else { throw .damaged }
    return bytes[0]
  }
}

extension [UInt8] {
  fileprivate init<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
    self = []
    appendInteger(number)
  }
}
