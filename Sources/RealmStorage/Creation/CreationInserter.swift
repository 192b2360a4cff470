/// Makes the objects of creations in a synced file, column by column, without recording them, because they were created
/// elsewhere.
///
/// The objects are made in the tables of their classes, or prepared in hidden tables (`PreparedObjects`).
package struct CreationInserter {
  private let created: CreatedObjects
  private let tables: OpenTables
  private let prepares: Bool
  /// The objects that must not be made in this way.
  private let excepted: Set<ObjectName>
  private var reader: ByteReader
  /// The number of creations that were read.
  private var count = 0
  /// The classes found so far, by the index of the class name in `created.names`.
  private var classes: [Class?]
  /// The values of the creation that is being read.
  private var fields: [Field] = []

  private struct Class {
    /// Nil if no objects of the class can be made.
    let table: TableWriter?
    /// The position of the primary key.
    let key: Int
    let keyColumn: Column
    /// The properties, by the index of the property name in `created.names`.
    let properties: [Property]
  }

  /// The facts of a column of single values that are needed for each value.
  private struct Property {
    /// The position of the column; -1 if this inserter can't set it.
    var position = -1
    var type: ColumnType?
    var isOptional = false
  }

  /// A value: the position of its column, and the offset of its bytes.
  private struct Field {
    let position: Int
    let start: Int
    let type: ColumnType?
  }

  /// - Parameter excepted: The objects at which `next` stops.
  /// - Throws: `.corrupted`.
  package init(
    _ created: CreatedObjects, _ transaction: WriteTransaction, except excepted: Set<ObjectName> = []
  ) throws(StorageError) {
    self.init(created, try transaction.tables(), except: excepted)
  }

  /// - Parameter prepares: True if the objects are made in hidden tables.
  init(
    _ created: CreatedObjects, _ tables: OpenTables, except excepted: Set<ObjectName> = [],
    prepares: Bool = false
  ) {
    (self.created, self.tables, self.excepted, self.prepares) = (created, tables, excepted, prepares)
    reader = ByteReader(created.bytes, at: created.start)
    classes = Array(repeating: nil, count: created.names.count)
  }

  /// Makes the next objects. Stops at an object that can't be made in this way: it is excepted, it exists already, or
  /// its values do not fit its class.
  ///
  /// - Returns: The index of that object among the creations, after which the function can be called again; nil if all
  ///   creations were read.
  /// - Throws: `.instructionDoesNotFit` if the class does not exist; `.limitExceeded`; `.corrupted`. After an error the
  ///   transaction can't be committed.
  package mutating func next() throws(StorageError) -> Int? {
    let tables = tables
    do throws(StorageError) {
      return try tables.knowing { () throws(StorageError) in
        try tables.deriving { () throws(StorageError) in
          while count < created.count {
            count += 1
            if try !insertNext() { return count - 1 }
          }
          return nil
        }
      }
    } catch {
      throw tables.fail(error)
    }
  }

  /// Makes the next object. Returns false, and does nothing, if the object can't be made in this way.
  private mutating func insertNext() throws(StorageError) -> Bool {
    _ = reader.skip(1)
    let found = try classOfName()
    let key = ValueCoding.mixed(&reader, levels: 0) ?? .null
    _ = reader.skip(1)
    guard readFields(found), let table = found.table, try isFree(key, table, found.keyColumn) else {
      return false
    }
    _ = try table.insert { (row: inout NewRow) throws(StorageError) in
      try row.set(found.key, key)
      for field in fields { try row.set(field.position, field.type, created.bytes, at: field.start) }
    }
    return true
  }

  /// True if an object of the class can have the key, and no object has it.
  private func isFree(
    _ key: Value, _ table: TableWriter, _ column: Column
  ) throws(StorageError) -> Bool {
    guard column.accepts(key), excepted.isEmpty || !excepted.contains(ObjectName(table.schema.name, key))
    else { return false }
    guard !prepares else { return true }
    // Usually no object has the key. To ask the index for that costs less than to look for the row.
    if let index = table.index(of: column), try !index.mayContain(key) { return true }
    return try table.row(withPrimaryKey: key) == nil
  }

  private mutating func classOfName() throws(StorageError) -> Class {
    let place = Int(truncatingIfNeeded: reader.varint() ?? 0)
    if let known = classes[place] { return known }
    guard let (table, schema) = try tableOfClass(created.names[place]) else {
      let unfit = Class(
        table: nil, key: 0, keyColumn: Column("", .int64), properties: created.names.map { _ in Property() })
      classes[place] = unfit
      return unfit
    }
    guard !schema.isEmbedded, let key = schema.columns.firstIndex(where: { $0.index == .unique })
    else { throw table.doesNotFit(.noTable, nil) }
    let columns = schema.columns
    let properties = created.names.map { name in
      let position = columns.firstIndex {
        !$0.isCompanion && $0.holdsSingleValues && $0.name.utf8.elementsEqual(name.utf8)
      }
      // The positions that were found in a creation are the bits of one integer.
      guard let position, position < 64 else { return Property() }
      return Property(
        position: position, type: columns[position].type, isOptional: columns[position].isOptional)
    }
    let found = Class(table: table, key: key, keyColumn: columns[key], properties: properties)
    classes[place] = found
    return found
  }

  /// The table in which the objects of a class are made, and the schema of the class; nil if the objects can't be
  /// prepared.
  private func tableOfClass(
    _ name: String
  ) throws(StorageError) -> (table: TableWriter, schema: TableSchema)? {
    guard prepares else {
      let table = try ObjectEditor(tables: tables).table(name)
      return (table, table.schema)
    }
    guard let prepared = try tables.preparedTable(of: name), let table = try tables.writer(name) else {
      return nil
    }
    return (prepared, table.schema)
  }

  /// Reads the values of a creation. Returns whether they fit their columns.
  private mutating func readFields(_ found: Class) -> Bool {
    fields.removeAll(keepingCapacity: true)
    var fits = true
    var seen: UInt64 = 0
    while let tag = reader.next, tag == ChangesetTag.set || tag == ChangesetTag.setDefault {
      _ = reader.skip(1)
      let name = Int(truncatingIfNeeded: reader.varint() ?? 0)
      _ = reader.skip(1)
      let start = reader.offset
      let type = reader.next.flatMap { ColumnType(rawValue: $0) }
      _ = ValueCoding.skipSingle(&reader)
      let property = found.properties[name]
      let bit: UInt64 = 1 << UInt64(max(0, property.position))
      guard fits, property.position >= 0, seen & bit == 0,
        type == nil ? property.isOptional : type == property.type
      else {
        fits = false
        continue
      }
      seen |= bit
      fields.append(Field(position: property.position, start: start, type: type))
    }
    return fits
  }
}

extension Column {
  fileprivate var holdsSingleValues: Bool {
    collection == .none && index != .unique && type != .link && type != .mixed
  }
}

extension NewRow {
  /// - Parameters:
  ///   - type: The type of the value and of the column; nil for null.
  ///   - start: The offset of the mixed value. The value must be valid.
  fileprivate mutating func set(
    _ position: Int, _ type: ColumnType?, _ bytes: [UInt8], at start: Int
  ) throws(StorageError) {
    var reader = ByteReader(bytes, at: start)
    if type == .string || type == .data {
      _ = reader.skip(1)
      let length = Int(truncatingIfNeeded: reader.varint() ?? 0)
      let from = reader.offset
      return try set(position, bytes: bytes.span.bytes.extracting(from..<from + length))
    }
    switch ValueCoding.mixed(&reader, levels: 0) ?? .null {
    case .int(let number): try set(position, number)
    case .bool(let flag): try set(position, flag)
    case .double(let number): try set(position, number)
    case .date(let date): try set(position, date)
    case let value: try set(position, value)
    }
  }
}
