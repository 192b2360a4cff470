/// What the values of a column are. Stored on disk, never renumber.
public enum ColumnType: UInt8, Sendable, CaseIterable, BitwiseCopyable {
  case bool = 1
  case int8 = 2
  case int16 = 3
  case int32 = 4
  case int64 = 5
  case float = 6
  case double = 7
  case string = 8
  case data = 9
  case date = 10
  case objectID = 11
  case uuid = 12
  case decimal128 = 13
  case link = 14

  /// The value of a row that was never given one.
  var zero: Value {
    switch self {
    case .bool: .bool(false)
    case .int8, .int16, .int32, .int64: .int(0)
    case .float: .float(0)
    case .double: .double(0)
    case .string: .string("")
    case .data: .data([])
    case .date: .date(Timestamp(seconds: 0))
    case .objectID: .objectID(ObjectIDBytes(high: 0, low: 0))
    case .uuid: .uuid(SixteenBytes(high: 0, low: 0))
    case .decimal128: .decimal128(SixteenBytes(high: 0, low: 0))
    case .link: .null
    }
  }

  /// Whether a value may stand in a column of this type, null aside.
  func accepts(_ value: Value) -> Bool {
    switch (self, value) {
    case (.bool, .bool), (.int64, .int), (.float, .float), (.double, .double), (.string, .string),
      (.data, .data),
      (.date, .date), (.objectID, .objectID), (.uuid, .uuid), (.decimal128, .decimal128), (.link, .link):
      true
    case (.int8, .int(let number)): Int8(exactly: number) != nil
    case (.int16, .int(let number)): Int16(exactly: number) != nil
    case (.int32, .int(let number)): Int32(exactly: number) != nil
    default: false
    }
  }

  /// Types whose values are found by an index.
  public var canBeIndexed: Bool {
    switch self {
    case .bool, .int8, .int16, .int32, .int64, .string, .date, .objectID, .uuid: true
    case .float, .double, .data, .decimal128, .link: false
    }
  }

  /// How a cluster stores one value a row.
  fileprivate var storage: ColumnStorage {
    switch self {
    case .bool, .int8, .int16, .int32, .int64, .link: .integers
    case .date: .dates
    case .float: .fixed(4)
    case .double: .fixed(8)
    case .objectID: .fixed(12)
    case .uuid, .decimal128: .fixed(16)
    case .string, .data: .varying
    }
  }
}

enum ColumnStorage: Equatable {
  /// Packed against a base.
  case integers
  /// Seconds as integers, nanoseconds as integers beside them where any is not zero.
  case dates
  /// So many bytes each, as they are.
  case fixed(Int)
  /// Pieces apart from the cluster.
  case varying
}

/// Whether rows are found by a column's values.
public enum ColumnIndex: UInt8, Sendable {
  case none = 0
  /// Rows with a value, or with values in a range, are found in O(log n).
  case plain = 1
  /// The same, and no two rows have one value: a primary key. Null is a value like any other.
  case unique = 2
}

/// A column of a table.
public struct Column: Sendable, Hashable {
  /// Given once, never again. Assigned by the engine.
  public internal(set) var id: UInt16 = 0
  public var name: String
  public var type: ColumnType
  /// Rows, or the elements of lists, may hold null. Links to one row always may, links in a list never.
  public var isOptional: Bool
  /// Each row holds a list of values.
  public var isList: Bool
  public var index: ColumnIndex
  /// The table that links point to.
  public var target: UInt32 = 0

  /// - Precondition: only columns of one value each, of a type other than float, double, data, decimal and link, have
  ///   an index.
  public init(
    _ name: String, _ type: ColumnType, isOptional: Bool = false, isList: Bool = false,
    index: ColumnIndex = .none, target: UInt32 = 0
  ) {
    precondition(
      index == .none || (!isList && type.canBeIndexed), "column \(name) of type \(type) can't have an index")
    self.name = name
    self.type = type
    self.isOptional = type == .link ? !isList : isOptional
    self.isList = isList
    self.index = index
    self.target = target
  }

  /// The value of a row that was never given one.
  var defaultValue: Value { isList ? .list([]) : isOptional ? .null : type.zero }

  /// How a cluster stores it.
  var storage: ColumnStorage { isList ? .varying : type.storage }

  func accepts(_ value: Value) -> Bool {
    if case .list(let elements) = value { return isList && elements.allSatisfy(acceptsOne) }
    return !isList && acceptsOne(value)
  }

  private func acceptsOne(_ value: Value) -> Bool { value == .null ? isOptional : type.accepts(value) }
}
