/// One change of a table or of the schema.
///
/// Each change of a transaction passes through one function of the writer in this form, and a `ChangeRecorder` gets each of them.
/// Tables and columns are named by their ids, which are never given twice. So a change means the same after columns were added. A
/// change says what the table becomes; `RecordedChange.before` has what was there before.
public struct RowChange: Sendable, Equatable {
  /// The id of the table.
  public var table: UInt32
  /// What is changed.
  public var kind: Kind

  /// Makes a change of a table.
  public init(table: UInt32, _ kind: Kind) {
    self.table = table
    self.kind = kind
  }

  /// What is changed.
  public enum Kind: Sendable, Equatable {
    // MARK: Schema

    /// A table is made. The schema has the ids of the table and its columns.
    case createTable(TableSchema)
    /// A column is added after all others. It has its id.
    case addColumn(Column)

    // MARK: Rows

    /// A row with a key is made, with one value for each column in the order of the schema. An embedded object is made by this
    /// change too, and belongs to the row that links to it next.
    case create(row: UInt64, values: [Value])
    /// A row is deleted. Links to it from other rows are removed by derived changes of their own, which come before this one.
    case delete(row: UInt64)

    // MARK: Values

    /// The value of a cell is replaced. If a link to an embedded object is replaced, that object is deleted by a derived change,
    /// which comes after this one.
    case set(Value, CellPlace)
    /// An amount is added to a whole number, which is not null.
    case add(Int64, CellPlace)

    // MARK: Elements of lists

    /// An element is inserted into a list before a position.
    case insertElement(Value, at: Int, ElementsPlace)
    /// Elements are inserted into a list before a position, one after another.
    case insertElements([Value], at: Int, ElementsPlace)
    /// The element of a list at a position is replaced.
    case setElement(Value, at: Int, ElementsPlace)
    /// The elements of a list in a range of positions are removed.
    case removeElements(Range<Int>, ElementsPlace)
    /// An element of a list is moved. The new position is counted without the element.
    case moveElement(from: Int, to: Int, ElementsPlace)
    /// Two elements of a list are swapped.
    case swapElements(Int, Int, ElementsPlace)
    /// The elements of a list are put into another order: for each new position the number is the old position of its element.
    case reorderElements([Int], ElementsPlace)

    // MARK: Elements of sets

    /// Elements are added to a set, which has no equal ones.
    case insertIntoSet([Value], CellPlace)
    /// Elements of a set are removed.
    case removeFromSet([Value], CellPlace)

    // MARK: Entries of maps

    /// The value for a key of a map is set.
    case setValue(Value, key: String, ElementsPlace)
    /// A key of a map is removed with its value.
    case removeValue(key: String, ElementsPlace)

    // MARK: Many rows at once

    /// Rows are made, as by `create` for each of them.
    case createMany(RowBatch)
    /// Cells of one column are set, as by `set` for each row. There are as many values as rows.
    case setMany(column: UInt16, rows: [UInt64], values: [Value])
    /// Rows are deleted, as by `delete` for each of them.
    case deleteMany([UInt64])
    /// All rows are deleted, as by `delete` for each of them.
    case deleteAll
  }
}

/// The place of a value: a row and a column.
public struct CellPlace: Sendable, Hashable {
  /// The key of the row.
  public var row: UInt64
  /// The id of the column.
  public var column: UInt16

  /// Makes the place of a value.
  public init(row: UInt64, column: UInt16) {
    self.row = row
    self.column = column
  }
}

/// The place of a list or map whose elements are changed: the collection of a cell, or a list or map that is part of a mixed
/// value.
public struct ElementsPlace: Sendable, Equatable {
  /// The cell that has the list or map.
  public var cell: CellPlace
  /// The id of a list or map that is part of a mixed value (`Value.nestedID`); 0 for the collection of the column itself.
  public var nestedID: UInt64
  /// Where to look first for a list or map that is part of a mixed value; see `NestedPlace.near`.
  public var near: NestedPlace.Step?

  /// Makes the place of a list or map.
  public init(cell: CellPlace, nestedID: UInt64 = 0, near: NestedPlace.Step? = nil) {
    self.cell = cell
    self.nestedID = nestedID
    self.near = near
  }

  /// Whether the list or map is part of a mixed value.
  public var isNested: Bool { nestedID != 0 }
}

extension RowChange {
  /// The kind of a change without its content, for counting and for messages.
  public enum Name: String, Sendable, CaseIterable {
    /// The kinds of `RowChange.Kind`, with the same names.
    case createTable, addColumn, create, delete, set, add, insertElement, insertElements, setElement,
      removeElements, moveElement, swapElements, reorderElements, insertIntoSet, removeFromSet, setValue,
      removeValue, createMany, setMany, deleteMany, deleteAll
  }

  /// The kind of the change without its content.
  public var name: Name {
    switch kind {
    case .createTable: .createTable
    case .addColumn: .addColumn
    case .create: .create
    case .delete: .delete
    case .set: .set
    case .add: .add
    case .insertElement: .insertElement
    case .insertElements: .insertElements
    case .setElement: .setElement
    case .removeElements: .removeElements
    case .moveElement: .moveElement
    case .swapElements: .swapElements
    case .reorderElements: .reorderElements
    case .insertIntoSet: .insertIntoSet
    case .removeFromSet: .removeFromSet
    case .setValue: .setValue
    case .removeValue: .removeValue
    case .createMany: .createMany
    case .setMany: .setMany
    case .deleteMany: .deleteMany
    case .deleteAll: .deleteAll
    }
  }

  /// The changed cell; nil for changes of rows, of many rows and of the schema.
  public var cell: CellPlace? {
    switch kind {
    case .set(_, let cell), .add(_, let cell), .insertIntoSet(_, let cell), .removeFromSet(_, let cell): cell
    case .insertElement(_, _, let place), .insertElements(_, _, let place), .setElement(_, _, let place),
      .removeElements(_, let place), .moveElement(_, _, let place), .swapElements(_, _, let place),
      .reorderElements(_, let place), .setValue(_, _, let place), .removeValue(_, let place):
      place.cell
    default: nil
    }
  }
}
