/// Whether a column has an index.
public enum ColumnIndex: UInt8, Sendable {
  /// The column has no index.
  case none = 0
  /// An index: it finds rows with a value, or with values in a range, in O(log n).
  case plain = 1
  /// An index of a primary key: no two rows may have the same value. Null is a value like any other.
  case unique = 2
}

/// Whether a column has one value for each row, or a collection.
public enum ColumnCollection: UInt8, Sendable, CaseIterable, BitwiseCopyable {
  /// One value.
  case none = 0
  /// A list: values in order.
  case list = 1
  /// A set: values of which no two are equal, in the order of their values.
  case set = 2
  /// A map: values by their keys, which are strings, in the order of the keys' bytes.
  case map = 3
}

/// A column of a table.
public struct Column: Sendable, Hashable {
  /// The id of the column. The engine assigns it, and never gives the same id to two columns of a table.
  public internal(set) var id: UInt16 = 0
  /// The name of the column, of 1 to 255 bytes.
  public var name: String
  /// The type of the values.
  public var type: ColumnType
  /// Whether values, or elements of collections, may be null. For links this is always true, except in lists and sets, where it
  /// is always false; for mixed values it is always true.
  public var isOptional: Bool
  /// Whether the column has collections, and of which kind.
  public var collection: ColumnCollection
  /// The index of the column.
  public var index: ColumnIndex
  /// The id of the index, by which the table's node names the tree of the index; 0 if there is none. The engine assigns it, and
  /// never gives the same id to two indexes of a table.
  package internal(set) var indexID: UInt16 = 0
  /// The id of the table to which links lead; 0 for the column's own table.
  public var target: UInt32 = 0
  /// The default of rows that were never given a value, if it is neither null nor the zero of the type; otherwise nil.
  ///
  /// A column needs one if the zero of its type means nothing to the program, for example for an enumeration that has no case 0.
  public internal(set) var storedDefault: Value?
  /// Whether rows that are older than the column, and whose cluster does not have it, are null in it.
  ///
  /// This is decided when the column is added, and does not change if the column becomes optional or required later.
  public internal(set) var isAbsentNull: Bool
  /// What the column is for. The engine assigns it.
  public internal(set) var role = ColumnRole.property

  /// Makes a column.
  ///
  /// - Precondition: a column with an index is not a collection and is not of floats, doubles, data, decimals or links; a unique
  ///   one is not of mixed values. `canStoreDefault` is true for a stored default. Otherwise the program stops.
  public init(
    _ name: String, _ type: ColumnType, isOptional: Bool = false, collection: ColumnCollection = .none,
    index: ColumnIndex = .none, target: UInt32 = 0, storedDefault: Value? = nil
  ) {
    precondition(
      type.canHave(index) && (index == .none || collection == .none),
      "column \(name) of type \(type) can't have an index")
    self.name = name
    self.type = type
    switch type {
    case .link: self.isOptional = collection == .none || collection == .map
    case .mixed: self.isOptional = true
    default: self.isOptional = isOptional
    }
    self.collection = collection
    self.index = index
    self.target = target
    isAbsentNull = collection == .none && self.isOptional
    self.storedDefault = storedDefault
    if let storedDefault {
      precondition(
        canStoreDefault(storedDefault), "column \(name) of type \(type) can't have that stored default")
    }
  }

  /// Whether each row has a collection in the column.
  public var isCollection: Bool { collection != .none }

  /// Whether values may have links to other rows, including rows that do not exist.
  var canLink: Bool { type == .link || type == .mixed || holdsAbsentLinks }

  /// The value of a new row if none is given.
  var defaultValue: Value { value(isNull: isOptional) }

  /// The value of the rows of a cluster that does not have the column.
  var absentValue: Value { value(isNull: isAbsentNull) }

  private func value(isNull: Bool) -> Value {
    switch collection {
    case .none: isNull ? .null : storedDefault ?? type.zero
    case .list, .set: .list([])
    case .map: .map(ValueMap())
    }
  }

  /// The longest string or data that can be a stored default, in bytes. Longer values could not stand in a piece.
  private static let maximumStoredDefault = 4096

  /// Whether a value can be the stored default of the column: it fits the column, is not null, and has at most 4096 bytes if it
  /// is a string or data. Columns of collections, links and mixed values can have none.
  public func canStoreDefault(_ value: Value) -> Bool {
    collection == .none && !canLink && value != .null && type.accepts(value)
      && (value.varyingBytes(of: self)?.count ?? 0) <= Self.maximumStoredDefault
  }

  /// How a cluster stores the values.
  var storage: ColumnStorage { isCollection ? .composite : type.storage }

  package func accepts(_ value: Value) -> Bool {
    switch (collection, value) {
    case (.none, _): acceptsOne(value)
    case (.list, .list(let elements, _)): elements.allSatisfy(acceptsOne)
    case (.set, .list(let elements, _)):
      elements.allSatisfy { acceptsOne($0) && !$0.isNested } && ValueOrder.isSet(elements)
    case (.map, .map(let map, _)): map.values.allSatisfy(acceptsOne)
    default: false
    }
  }

  /// Whether a value may be an element of a collection of the column.
  func acceptsElement(_ value: Value) -> Bool { acceptsOne(value) }

  private func acceptsOne(_ value: Value) -> Bool {
    guard value != .null else { return isOptional }
    return type.accepts(value) && (role == .property || role.accepts(value))
  }
}
