/// A table's name, columns and indexes. `SchemaRecord.swift` has its stored form.
public struct TableSchema: Sendable, Hashable {
  /// Given once, never again. Assigned by the engine.
  public internal(set) var id: UInt32 = 0
  public var name: String
  /// Each row belongs to the row that links to it, and goes with that link. Nothing else may link to it.
  public internal(set) var isEmbedded: Bool
  /// The table is the library's own: no listing of tables has it, and another table may have the same name.
  public internal(set) var isHidden: Bool
  /// The table was taken away: nothing has its name, and what its rows held is given back. It is hidden.
  var isDropped = false
  /// The table's companions stand among them: see `ColumnRole`.
  public internal(set) var columns: [Column]
  /// The ids of columns that were taken away, growing: clusters may hold what rows had in them until that is given back.
  var droppedColumns: [UInt16] = []
  /// The elements of the lists of the columns that are added have ids, but for lists that stand in mixed values.
  public internal(set) var hasElementIDs = false
  /// The id that the next column gets; 65,536 when all are given.
  var nextColumnID: UInt32 = 1
  /// The id that the next index gets; 65,536 when all are given.
  var nextIndexID: UInt32 = 1
  /// See `UnknownAttributes`; nothing for a schema that was not read from a file.
  var unknown: UnknownAttributes {
    get { others?.content ?? UnknownAttributes() }
    set { others = newValue == UnknownAttributes() ? nil : Others(newValue) }
  }
  /// Nil where there are none, as in nearly every schema: schemas are copied often, and a copy counts each part of them.
  private var others: Others?

  private final class Others: Sendable, Hashable {
    let content: UnknownAttributes

    init(_ content: UnknownAttributes) { self.content = content }

    static func == (left: Others, right: Others) -> Bool { left.content == right.content }
    func hash(into hasher: inout Hasher) { hasher.combine(content) }
  }

  /// - Parameter hasElementIDs: the elements of lists have ids, which the recorder of a transaction gives: see `ChangeRecorder.elementIDs`.
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

  /// The schema of a hidden table of the same name with the same columns, their ids included.
  ///
  /// - Parameter isIndexed: it has the same indexes, too.
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

  /// What the next id of a column or an index may be.
  static let nextIDs = UInt32(1)...UInt32(UInt16.max) + 1

  package static let maximumNameLength = 255
  /// A cluster's node has room for the descriptors of so many.
  package static let maximumColumns = 1000

  /// Adds a column, and the companion of a column of lists where elements have ids.
  ///
  /// - Parameter keepsID: the column has its id, which is not less than the next one, and comes without a companion.
  /// - Precondition: `hasColumnIDs`, and for a column with an index `hasIndexIDs`, where the schema is to be stored.
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

  /// The elements of all lists have ids.
  ///
  /// - Precondition: the table was not made yet.
  mutating func giveElementIDs() {
    guard !hasElementIDs else { return }
    self = TableSchema(
      name, isEmbedded: isEmbedded, isHidden: isHidden, hasElementIDs: true, columns: columns)
  }

  /// How many columns the table gets where one is added: a column of lists may come with a companion.
  func addedColumns(with column: Column) -> Int {
    hasElementIDs && column.collection == .list && !column.isCompanion ? 2 : 1
  }

  /// Whether there are ids for so many columns more.
  func hasColumnIDs(_ count: Int) -> Bool { Int(nextColumnID) + count <= Int(Self.nextIDs.upperBound) }
  /// Whether there is an id for another index.
  var hasIndexIDs: Bool { nextIndexID < Self.nextIDs.upperBound }

  /// Gives a column an index of a new id, or takes away the one it has.
  ///
  /// - Precondition: `hasIndexIDs` for one that is given, where the schema is to be stored.
  mutating func setIndex(_ index: ColumnIndex, at position: Int) {
    unknown.indexes[columns[position].indexID] = nil
    columns[position].index = index
    columns[position].indexID = 0
    guard index != .none else { return }
    columns[position].indexID = UInt16(clamping: nextIndexID)
    nextIndexID += 1
  }

  /// Makes a column optional; clusters that lack it read what they did.
  mutating func makeOptional(at position: Int) { columns[position].isOptional = true }

  /// Makes a column required. Clusters that lack it read `value` from now on, where they read null before.
  mutating func makeRequired(at position: Int, nullsBecome value: Value) {
    columns[position].isOptional = false
    guard columns[position].isAbsentNull else { return }
    columns[position].isAbsentNull = false
    columns[position].storedDefault = value == columns[position].type.zero ? nil : value
  }

  /// Gives a column another type; it keeps its id, its collection and its index. The stored default is converted too.
  ///
  /// Clusters that lack the column read what a column that is added now reads there.
  mutating func changeType(
    at position: Int, to type: ColumnType, isOptional: Bool, target: UInt32, _ convert: (Value) -> Value
  ) {
    let old = columns[position]
    var new = Column(
      old.name, type, isOptional: isOptional, collection: old.collection, index: old.index,
      target: target == 0 && type == .link ? id : target)
    (new.id, new.indexID) = (old.id, old.indexID)
    // A program may have no meaning for the zero of the new type, as it had one for that of the old.
    if !old.isCollection, !old.canLink, old.storedDefault != nil || !old.isOptional {
      let value = convert(old.storedDefault ?? old.type.zero)
      if new.canStoreDefault(value), value != type.zero { new.storedDefault = value }
    }
    columns[position] = new
  }

  /// Takes a column away; its id is not given again.
  ///
  /// - Parameter isHeld: there are clusters that may hold it.
  mutating func remove(at position: Int, isHeld: Bool) {
    let column = columns.remove(at: position)
    unknown.columns[column.id] = nil
    unknown.indexes[column.indexID] = nil
    guard isHeld else { return }
    droppedColumns.insert(column.id, at: droppedColumns.partitioningIndex { $0 > column.id })
  }

  /// Something of the table was taken away that has not been given back yet.
  var hasDropped: Bool { isDropped || !droppedColumns.isEmpty }

  /// The column that no two rows have one value of, where there is one.
  public var primaryKey: Column? { columns.first { $0.index == .unique } }

  public func column(_ name: String) -> Column? {
    columns.first { !$0.isCompanion && $0.name.utf8.elementsEqual(name.utf8) }
  }

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
}
