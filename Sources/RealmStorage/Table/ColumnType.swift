/// What the values of a column are. Stored on disk, never renumber.
public enum ColumnType: UInt8, Sendable, CaseIterable {
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
    case .objectID: .objectID(ObjectIDBytes([UInt8](repeating: 0, count: 12)))
    case .uuid: .uuid(SixteenBytes([UInt8](repeating: 0, count: 16)))
    case .decimal128: .decimal128(SixteenBytes([UInt8](repeating: 0, count: 16)))
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

  /// How a cluster stores it.
  var storage: ColumnStorage {
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

/// A column of a table.
public struct Column: Sendable, Hashable {
  /// Given once, never again. Assigned by the engine.
  public internal(set) var id: UInt16 = 0
  public var name: String
  public var type: ColumnType
  /// Rows may hold null. Links always may.
  public var isOptional: Bool
  /// The table that links point to.
  public var target: UInt32 = 0

  public init(_ name: String, _ type: ColumnType, isOptional: Bool = false, target: UInt32 = 0) {
    self.name = name
    self.type = type
    self.isOptional = isOptional || type == .link
    self.target = target
  }

  var defaultValue: Value { isOptional ? .null : type.zero }

  func accepts(_ value: Value) -> Bool { value == .null ? isOptional : type.accepts(value) }
}
