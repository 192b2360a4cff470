/// Whether rows are found by a column's values.
public enum ColumnIndex: UInt8, Sendable {
  case none = 0
  /// Rows with a value, or with values in a range, are found in O(log n).
  case plain = 1
  /// The same, and no two rows have one value: a primary key. Null is a value like any other.
  case unique = 2
}

/// How many values each row holds in a column, and how they are kept.
public enum ColumnCollection: UInt8, Sendable, CaseIterable, BitwiseCopyable {
  /// One value, no collection.
  case none = 0
  /// Values in order.
  case list = 1
  /// Values none of which is there twice, in the order of their values.
  case set = 2
  /// Values by keys, which are strings, in the order of the keys' bytes.
  case map = 3
}

/// A column of a table.
public struct Column: Sendable, Hashable {
  /// Given once, never again. Assigned by the engine.
  public internal(set) var id: UInt16 = 0
  public var name: String
  public var type: ColumnType
  /// Rows, or the elements of collections, may hold null. A link always may, but for those in lists and sets, which never
  /// may; mixed values always may.
  public var isOptional: Bool
  public var collection: ColumnCollection
  public var index: ColumnIndex
  /// The id of the index, by which the table's node names its tree; 0 without one. Given once in a table, never again. Assigned
  /// by the engine.
  package internal(set) var indexID: UInt16 = 0
  /// The table that links point to.
  public var target: UInt32 = 0
  /// The value of rows that were never given one, where that is neither null nor the zero of the type; nil otherwise.
  ///
  /// A column needs one where its type's zero means nothing to the program, as with an enumeration that has no case 0.
  public internal(set) var storedDefault: Value?
  /// The rows of clusters that lack the column, which are older than it, are null in it.
  ///
  /// This is decided when the column is added, and stays as it is when the column becomes optional or required later.
  public internal(set) var isAbsentNull: Bool
  /// Assigned by the engine.
  public internal(set) var role = ColumnRole.property

  /// - Precondition: only columns of one value each, of a type other than float, double, data, decimal and link,
  ///   have an index, and of mixed ones none is unique; `canStoreDefault` holds of a stored default.
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

  public var isCollection: Bool { collection != .none }

  /// Rows may point to others by it, to rows that are not there too.
  var canLink: Bool { type == .link || type == .mixed || holdsAbsentLinks }

  /// The value of a new row that is given none.
  var defaultValue: Value { value(isNull: isOptional) }

  /// The value of each row of a cluster that lacks the column.
  var absentValue: Value { value(isNull: isAbsentNull) }

  private func value(isNull: Bool) -> Value {
    switch collection {
    case .none: isNull ? .null : storedDefault ?? type.zero
    case .list, .set: .list([])
    case .map: .map(ValueMap())
    }
  }

  /// Bytes of a string or data that is a stored default: no more than stand in a piece, and not apart from it.
  private static let maximumStoredDefault = 4096

  /// Whether the column's record may hold a value as the stored default: one value that fits the column, of at most 4096 bytes
  /// where it is a string or data.
  public func canStoreDefault(_ value: Value) -> Bool {
    collection == .none && !canLink && value != .null && type.accepts(value)
      && (value.varyingBytes(of: self)?.count ?? 0) <= Self.maximumStoredDefault
  }

  /// How a cluster stores it.
  var storage: ColumnStorage { isCollection ? .composite : type.storage }

  func accepts(_ value: Value) -> Bool {
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
