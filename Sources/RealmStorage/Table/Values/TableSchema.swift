/// A table's name and columns.
///
/// Stored in the schema tree under the table's id, 4 bytes with the highest first, as (FORMAT.md, "Schema"):
/// name, flags (bit 0 embedded), next column id in 2 bytes, count of columns in 2 bytes, and for each its id in 2 bytes,
/// type, flags (bit 0 optional, bit 1 null in clusters that lack the column, bits 2 and 3 the index, bits 4 and 5 the
/// collection, bit 6 a stored default), target table in 4 bytes, name, and the stored default where there is one. A name is
/// its length in 2 bytes and its UTF-8.
public struct TableSchema: Sendable, Hashable {
  /// Given once, never again. Assigned by the engine.
  public internal(set) var id: UInt32 = 0
  public var name: String
  /// Each row belongs to the row that links to it, and goes with that link. Nothing else may link to it.
  public let isEmbedded: Bool
  public internal(set) var columns: [Column]
  var nextColumnID: UInt16 = 1

  public init(_ name: String, isEmbedded: Bool = false, columns: [Column]) {
    self.name = name
    self.isEmbedded = isEmbedded
    self.columns = []
    for column in columns { add(column) }
  }

  private enum Flags {
    static let embedded: UInt8 = 1
  }

  static let maximumNameLength = 255
  /// A cluster's node has room for the descriptors of so many.
  static let maximumColumns = 1000

  mutating func add(_ column: Column) {
    var column = column
    column.id = nextColumnID
    if column.type == .link, column.target == 0 { column.target = id }
    nextColumnID += 1
    columns.append(column)
  }

  mutating func setIndex(_ index: ColumnIndex, at position: Int) { columns[position].index = index }

  /// Makes a column optional; clusters that lack it read what they did.
  mutating func makeOptional(at position: Int) { columns[position].isOptional = true }

  /// Makes a column required. Clusters that lack it read `value` from now on, where they read null before.
  mutating func makeRequired(at position: Int, nullsBecome value: Value) {
    columns[position].isOptional = false
    guard columns[position].isAbsentNull else { return }
    columns[position].isAbsentNull = false
    columns[position].storedDefault = value == columns[position].type.zero ? nil : value
  }

  /// Takes a column away; its id is not given again.
  mutating func remove(at position: Int) { columns.remove(at: position) }

  /// The column that no two rows have one value of, where there is one.
  public var primaryKey: Column? { columns.first { $0.index == .unique } }

  public func column(_ name: String) -> Column? { columns.first { $0.name.utf8.elementsEqual(name.utf8) } }

  /// The schema of the table `id`, to which links without a target point.
  func numbered(_ id: UInt32) -> TableSchema {
    var schema = self
    schema.id = id
    for index in columns.indices where columns[index].type == .link && columns[index].target == 0 {
      schema.columns[index].target = id
    }
    return schema
  }

  static func key(_ id: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: id >> (24 - 8 * UInt32($0))) }
  }

  // MARK: - Coding

  var encoded: [UInt8] {
    var bytes = Self.encoded(name)
    bytes.append(isEmbedded ? Flags.embedded : 0)
    bytes.appendInteger(nextColumnID)
    bytes.appendInteger(UInt16(columns.count))
    for column in columns {
      bytes.appendInteger(column.id)
      bytes += [column.type.rawValue, column.flags]
      bytes.appendInteger(column.target)
      bytes += Self.encoded(column.name)
      if let value = column.storedDefault { ValueCoding.append(value, to: &bytes) }
    }
    return bytes
  }

  private static func encoded(_ name: String) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendInteger(UInt16(name.utf8.count))
    return bytes + Array(name.utf8)
  }

  /// Nil for bytes that are no schema.
  init?(_ bytes: [UInt8], id: UInt32) {
    var reader = ByteReader(bytes)
    guard let name = reader.name(), let flags = reader.integer(UInt8.self), flags <= Flags.embedded,
      let next = reader.integer(UInt16.self),
      let count = reader.integer(UInt16.self)
    else { return nil }
    self.id = id
    self.name = name
    isEmbedded = flags == Flags.embedded
    nextColumnID = next
    columns = []
    for _ in 0..<count {
      guard let columnID = reader.integer(UInt16.self), let rawType = reader.integer(UInt8.self),
        let type = ColumnType(rawValue: rawType), let flags = reader.integer(UInt8.self),
        let form = Column.Form(flags),
        let target = reader.integer(UInt32.self), let columnName = reader.name(), columnID > 0,
        columnID < next
      else { return nil }
      guard type.canHave(form.index), form.index == .none || form.collection == .none,
        form.isAbsentNull ? form.mayBeAbsentNull(type) : !form.mustBeAbsentNull(type)
      else { return nil }
      var column = Column(
        columnName, type, isOptional: form.isOptional, collection: form.collection, index: form.index,
        target: target)
      column.id = columnID
      column.isAbsentNull = form.isAbsentNull
      if form.hasStoredDefault {
        guard let value = ValueCoding.value(type, &reader), column.canStoreDefault(value) else { return nil }
        column.storedDefault = value
      }
      columns.append(column)
    }
    guard reader.isAtEnd, Set(columns.map { $0.id }).count == columns.count,
      Set(columns.map { Array($0.name.utf8) }).count == columns.count
    else { return nil }
  }
}

extension Column {
  /// What the flags of a stored column say.
  fileprivate struct Form {
    let isOptional: Bool
    let isAbsentNull: Bool
    let collection: ColumnCollection
    let index: ColumnIndex
    let hasStoredDefault: Bool

    init?(_ flags: UInt8) {
      guard flags & 0x80 == 0, let index = ColumnIndex(rawValue: flags >> 2 & 3),
        let collection = ColumnCollection(rawValue: flags >> 4 & 3)
      else { return nil }
      isOptional = flags & 1 != 0
      isAbsentNull = flags & 2 != 0
      hasStoredDefault = flags & 0x40 != 0
      self.collection = collection
      self.index = index
    }

    /// A single link or mixed value is null in clusters that lack its column, whatever else is.
    func mustBeAbsentNull(_ type: ColumnType) -> Bool {
      collection == .none && (type == .link || type == .mixed)
    }

    func mayBeAbsentNull(_ type: ColumnType) -> Bool {
      collection == .none && (isOptional || mustBeAbsentNull(type))
    }
  }

  fileprivate var flags: UInt8 {
    (isOptional ? 1 : 0) | (isAbsentNull ? 2 : 0) | index.rawValue << 2 | collection.rawValue << 4
      | (storedDefault == nil ? 0 : 0x40)
  }
}
