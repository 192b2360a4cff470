/// One change that a program makes of a table, or of the schema.
///
/// Every change of a transaction goes through one function of the writer in this form, and a `ChangeRecorder` is told each of them. Tables and columns are
/// named by their ids, which are given once, so that a change says the same after columns were added. A change says what becomes of the table; what stood there before
/// stands in `RecordedChange.before`.
public struct RowChange: Sendable, Equatable {
  /// The id of the table.
  public var table: UInt32
  public var kind: Kind

  public init(table: UInt32, _ kind: Kind) {
    self.table = table
    self.kind = kind
  }

  public enum Kind: Sendable, Equatable {
    // MARK: Schema

    /// The table is made. The schema has the ids of the table and its columns.
    case createTable(TableSchema)
    /// The column is added behind all others. It has its id.
    case addColumn(Column)

    // MARK: Rows

    /// A row of that key is made. One value for each column of the schema, in the schema's order. An embedded object is made by
    /// this, and belongs to the row by whose link it is named next.
    case create(row: UInt64, values: [Value])
    /// The row goes. Links to it from rows that stay are changed by changes of their own, which are told before this one and are derived.
    case delete(row: UInt64)

    // MARK: Values

    /// The value takes the place of the one in the cell. A link to an embedded object ends the object that was linked there
    /// before, whose deletion is told after this one and is derived.
    case set(Value, CellPlace)
    /// Added to a whole number that is not null.
    case add(Int64, CellPlace)

    // MARK: Elements of lists

    case insertElement(Value, at: Int, ElementsPlace)
    /// Elements that follow each other from a position on.
    case insertElements([Value], at: Int, ElementsPlace)
    case setElement(Value, at: Int, ElementsPlace)
    case removeElements(Range<Int>, ElementsPlace)
    /// To a position that is counted without the element.
    case moveElement(from: Int, to: Int, ElementsPlace)
    case swapElements(Int, Int, ElementsPlace)
    /// Each place gets the element of the place that is named for it.
    case reorderElements([Int], ElementsPlace)

    // MARK: Elements of sets

    /// None of the elements is equal to one that is there.
    case insertIntoSet([Value], CellPlace)
    case removeFromSet([Value], CellPlace)

    // MARK: Entries of maps

    case setValue(Value, key: String, ElementsPlace)
    case removeValue(key: String, ElementsPlace)

    // MARK: Many rows at once

    /// As `create` of each row.
    case createMany(RowBatch)
    /// As `set` of one cell of each row: as many values as rows.
    case setMany(column: UInt16, rows: [UInt64], values: [Value])
    /// As `delete` of each row.
    case deleteMany([UInt64])
    /// As `delete` of every row there is.
    case deleteAll
  }
}

/// A row's value in a column.
public struct CellPlace: Sendable, Hashable {
  /// The key of the row.
  public var row: UInt64
  /// The id of the column.
  public var column: UInt16

  public init(row: UInt64, column: UInt16) {
    self.row = row
    self.column = column
  }
}

/// The list or map whose elements a change is of: that of a column of collections, or one that stands in a mixed value.
public struct ElementsPlace: Sendable, Equatable {
  public var cell: CellPlace
  /// `Value.nestedID` of a list or map that stands in the cell's mixed value, or in an element of the cell's collection; 0 for the
  /// collection that the column itself holds.
  public var nestedID: UInt64
  /// As of `NestedPlace.near`: where to look first for one that stands in a mixed value.
  public var near: NestedPlace.Step?

  public init(cell: CellPlace, nestedID: UInt64 = 0, near: NestedPlace.Step? = nil) {
    self.cell = cell
    self.nestedID = nestedID
    self.near = near
  }

  public var isNested: Bool { nestedID != 0 }
}

extension RowChange {
  /// What a change is of, without its content: to count and to tell changes.
  public enum Name: String, Sendable, CaseIterable {
    case createTable, addColumn, create, delete, set, add, insertElement, insertElements, setElement,
      removeElements, moveElement, swapElements, reorderElements, insertIntoSet, removeFromSet, setValue,
      removeValue, createMany, setMany, deleteMany, deleteAll
  }

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

  /// The cell that is changed; nil for changes of rows, of many rows and of the schema.
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
