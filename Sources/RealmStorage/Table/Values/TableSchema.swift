/// The name, columns and indexes of a table. `SchemaRecord.swift` has its stored form.
public struct TableSchema: Sendable, Hashable {
  /// The id of the table. The engine assigns it, and never gives the same id to two tables of a database.
  public internal(set) var id: UInt32 = 0
  /// The name of the table, of 1 to 255 bytes.
  public var name: String
  /// Whether the table is embedded: each row belongs to the one row that links to it, and is removed with that link.
  public internal(set) var isEmbedded: Bool
  /// Whether the table belongs to the library: lists of tables leave it out, and another table may have the same name.
  public internal(set) var isHidden: Bool
  /// Whether the table was dropped: no name finds it, and the space of its rows is given back. It is hidden.
  var isDropped = false
  /// The columns, including companions: see `ColumnRole`. `properties` has the columns of the program alone.
  public internal(set) var columns: [Column]
  /// The ids of dropped columns, in ascending order: clusters may still have their values until their space is given back.
  var droppedColumns: [UInt16] = []
  /// Whether the elements of lists have ids, also in columns that are added later. Lists that are parts of mixed values have
  /// none.
  public internal(set) var hasElementIDs = false
  /// The id of the next column; 65,536 if all ids have been given.
  var nextColumnID: UInt32 = 1
  /// The id of the next index; 65,536 if all ids have been given.
  var nextIndexID: UInt32 = 1
  /// Attributes that this library does not know: see `UnknownAttributes`. A schema that was not read from a file has none.
  var unknown: UnknownAttributes {
    get { others?.content ?? UnknownAttributes() }
    set { others = newValue == UnknownAttributes() ? nil : Others(newValue) }
  }
  /// The unknown attributes; nil if there are none, as in nearly every schema. They are kept apart because schemas are copied
  /// often, and each copy costs time for each part.
  private var others: Others?

  private final class Others: Sendable, Hashable {
    let content: UnknownAttributes

    init(_ content: UnknownAttributes) { self.content = content }

    static func == (left: Others, right: Others) -> Bool { left.content == right.content }
    func hash(into hasher: inout Hasher) { hasher.combine(content) }
  }

  /// Makes a schema for `WriteTransaction.createTable(_:)`.
  ///
  /// - Parameters:
  ///   - name: the name of the table.
  ///   - isEmbedded: whether each row belongs to the row that links to it.
  ///   - hasElementIDs: whether the elements of lists have ids, which the recorder of a transaction gives: see
  ///     `ChangeRecorder.elementIDs`.
  ///   - columns: the columns. Companions among them are left out.
  public init(_ name: String, isEmbedded: Bool = false, hasElementIDs: Bool = false, columns: [Column]) {
    self.init(
      name, isEmbedded: isEmbedded, isHidden: false, hasElementIDs: hasElementIDs, columns: columns)
  }

  package init(
    _ name: String, isEmbedded: Bool = false, isHidden: Bool, hasElementIDs: Bool = false, columns: [Column]
  ) {
    self.name = name
    self.isEmbedded = isEmbedded
    self.isHidden = isHidden
    self.hasElementIDs = hasElementIDs
    self.columns = []
    // Companions of another table's columns belong to that table.
    for column in columns where !column.isCompanion { add(column) }
  }

  /// The schema of a hidden table with the same name and columns, including their ids.
  ///
  /// - Parameter isIndexed: whether it has the same indexes too.
  func twin(isIndexed: Bool) -> TableSchema {
    var twin = TableSchema(name, isHidden: true, columns: [])
    (twin.columns, twin.hasElementIDs, twin.others) = (columns, hasElementIDs, others)
    (twin.nextColumnID, twin.nextIndexID) = (nextColumnID, nextIndexID)
    guard !isIndexed else { return twin }
    for position in columns.indices {
      (twin.columns[position].index, twin.columns[position].indexID) = (.none, 0)
    }
    return twin
  }

  /// The range of `nextColumnID` and `nextIndexID`.
  static let nextIDs = UInt32(1)...UInt32(UInt16.max) + 1

  package static let maximumNameLength = 255
  /// The greatest number of columns. The node of a cluster has space for the descriptors of that many.
  package static let maximumColumns = 1000

  /// Adds a column, and its companion if it is a column of lists whose elements have ids.
  ///
  /// - Parameter keepsID: whether the column has its id already, which is not less than the next one. Then no
  ///   companion is added for it.
  /// - Precondition: if the schema is to be stored, `hasColumnIDs` is true, and `hasIndexIDs` too for a column with an index.
  mutating func add(_ column: Column, keepsID: Bool = false) {
    var column = column
    if keepsID { nextColumnID = UInt32(column.id) }
    column.id = UInt16(clamping: nextColumnID)
    if column.type == .link, column.target == 0 { column.target = id }
    nextColumnID += 1
    columns.append(column)
    columns[columns.count - 1].indexID = 0
    setIndex(column.index, at: columns.count - 1)
    if !keepsID, addedColumns(with: column) > 1 {
      add(Column(.elementIDs(of: column.id)))
    }
  }

  /// Gives ids to the elements of all lists.
  ///
  /// - Precondition: the table was not made yet.
  mutating func giveElementIDs() {
    guard !hasElementIDs else { return }
    self = TableSchema(
      name, isEmbedded: isEmbedded, isHidden: isHidden, hasElementIDs: true, columns: columns)
  }

  /// The number of columns that the table gets if a column is added: a column of lists may come with a companion.
  func addedColumns(with column: Column) -> Int {
    hasElementIDs && column.collection == .list && !column.isCompanion ? 2 : 1
  }

  /// Whether there are ids for `count` further columns.
  func hasColumnIDs(_ count: Int) -> Bool { Int(nextColumnID) + count <= Int(Self.nextIDs.upperBound) }
  /// Whether there is an id for a further index.
  var hasIndexIDs: Bool { nextIndexID < Self.nextIDs.upperBound }

  /// Gives a column an index with a new id, or removes its index.
  ///
  /// - Precondition: if the schema is to be stored and the column gets an index, `hasIndexIDs` is true.
  mutating func setIndex(_ index: ColumnIndex, at position: Int) {
    unknown.indexes[columns[position].indexID] = nil
    columns[position].index = index
    columns[position].indexID = 0
    guard index != .none else { return }
    columns[position].indexID = UInt16(clamping: nextIndexID)
    nextIndexID += 1
  }

  /// Makes a column optional. Clusters that do not have it read the same as before.
  mutating func makeOptional(at position: Int) { columns[position].isOptional = true }

  /// Makes a column required. Clusters that do not have it read `value` from now on if they read null before.
  mutating func makeRequired(at position: Int, nullsBecome value: Value) {
    columns[position].isOptional = false
    guard columns[position].isAbsentNull else { return }
    columns[position].isAbsentNull = false
    columns[position].storedDefault = value == columns[position].type.zero ? nil : value
  }

  /// Gives a column another type. It keeps its id, its kind of collection and its index. The stored default is converted too.
  ///
  /// Clusters that do not have the column read the default of a new column.
  mutating func changeType(
    at position: Int, to type: ColumnType, isOptional: Bool, target: UInt32, _ convert: (Value) -> Value
  ) {
    let old = columns[position]
    var new = Column(
      old.name, type, isOptional: isOptional, collection: old.collection, index: old.index,
      target: target == 0 && type == .link ? id : target)
    (new.id, new.indexID) = (old.id, old.indexID)
    // The zero of the new type may mean nothing to the program, as with that of the old type.
    if !old.isCollection, !old.canLink, old.storedDefault != nil || !old.isOptional {
      let value = convert(old.storedDefault ?? old.type.zero)
      if new.canStoreDefault(value), value != type.zero { new.storedDefault = value }
    }
    columns[position] = new
  }

  /// Removes a column. Its id is not given again.
  ///
  /// - Parameter isHeld: whether clusters may still have it.
  mutating func remove(at position: Int, isHeld: Bool) {
    let column = columns.remove(at: position)
    unknown.columns[column.id] = nil
    unknown.indexes[column.indexID] = nil
    guard isHeld else { return }
    droppedColumns.insert(column.id, at: droppedColumns.partitioningIndex { $0 > column.id })
  }

  /// Whether dropped data of the table still has to be given back.
  var hasDropped: Bool { isDropped || !droppedColumns.isEmpty }

  /// The unique column, which is the primary key; nil if there is none.
  public var primaryKey: Column? { columns.first { $0.index == .unique } }

  /// The column of the program with a name; nil if there is none.
  public func column(_ name: String) -> Column? {
    columns.first { !$0.isCompanion && $0.name.utf8.elementsEqual(name.utf8) }
  }

  /// The schema with a table id, to which links without a target lead.
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
}
