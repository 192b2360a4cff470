/// What the values of a column are. Stored on disk, never renumber; 2, 3 and 4 were integers of fewer bits in drafts of the
/// format, and are given to no other type.
public enum ColumnType: UInt8, Sendable, CaseIterable, BitwiseCopyable {
  case bool = 1
  /// Whole numbers of every width: a program may hold them in narrower types, the file does not tell.
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
  /// Values of any of the types above, but that links name their table, and lists and maps of such values.
  case mixed = 15

  /// The value of a row that was never given one, where its column is not optional and has no stored default.
  public var zero: Value {
    switch self {
    case .bool: .bool(false)
    case .int64: .int(0)
    case .float: .float(0)
    case .double: .double(0)
    case .string: .string("")
    case .data: .data([])
    case .date: .date(Timestamp(seconds: 0))
    case .objectID: .objectID(ObjectIDBytes(high: 0, low: 0))
    case .uuid: .uuid(SixteenBytes(high: 0, low: 0))
    case .decimal128: .decimal128(SixteenBytes(high: 0, low: 0))
    case .link, .mixed: .null
    }
  }

  /// Whether a value may stand in a column of this type, null aside.
  func accepts(_ value: Value) -> Bool {
    switch (self, value) {
    case (.bool, .bool), (.int64, .int), (.float, .float), (.double, .double), (.string, .string),
      (.data, .data),
      (.date, .date), (.objectID, .objectID), (.uuid, .uuid), (.decimal128, .decimal128), (.link, .link):
      true
    case (.mixed, _): value.isMixed()
    default: false
    }
  }

  /// Whether a column of such values can have an index of this kind. A value of any type is found by one, and is no key:
  /// 1 and 1.0 are equal and not the same.
  public func canHave(_ index: ColumnIndex) -> Bool {
    switch self {
    case .bool, .int64, .string, .date, .objectID, .uuid: true
    case .mixed: index != .unique
    case .float, .double, .data, .decimal128, .link: index == .none
    }
  }

  /// Values that can be summed up, and compare with those of other such types by what they are.
  public var isNumber: Bool { self == .int64 || isReal || self == .decimal128 }

  /// Numbers of a binary floating-point format.
  var isReal: Bool { self == .float || self == .double }

  /// How a cluster stores one value a row.
  var storage: ColumnStorage {
    switch self {
    case .bool, .int64, .link: .integers
    case .date: .dates
    case .float: .fixed(4)
    case .double: .fixed(8)
    case .objectID: .fixed(12)
    case .uuid, .decimal128: .fixed(16)
    case .string, .data: .varying
    case .mixed: .composite
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
  /// Pieces apart from the cluster, or codes: strings and data.
  case varying
  /// Pieces apart from the cluster: values that have parts (`CompositeCell`).
  case composite

  /// Whether values may stand apart from the cluster.
  var hasPieces: Bool { self == .varying || self == .composite }
}
