/// The type of the values of a column. The numbers are stored in files and never change. The numbers 2, 3 and 4 stood for shorter
/// integers in drafts of the format, and no other type gets them.
public enum ColumnType: UInt8, Sendable, CaseIterable, BitwiseCopyable {
  /// Booleans.
  case bool = 1
  /// Whole numbers. A program may use shorter types for them; the file does not know of that.
  case int64 = 5
  /// Floating-point numbers of 32 bits.
  case float = 6
  /// Floating-point numbers of 64 bits.
  case double = 7
  /// Texts.
  case string = 8
  /// Bytes.
  case data = 9
  /// Points in time.
  case date = 10
  /// Object ids of 12 bytes.
  case objectID = 11
  /// UUIDs.
  case uuid = 12
  /// Decimal numbers of up to 34 digits.
  case decimal128 = 13
  /// Links to rows of one table.
  case link = 14
  /// Mixed values: values of any other type, in which a link names its table, and lists and maps of such values.
  case mixed = 15

  /// The value of rows that were never given one, in a required column without a stored default. It is null for links and mixed
  /// values.
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

  /// Whether a value other than null can stand in a column of this type.
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

  /// Whether a column of this type can have an index of some kind. Mixed values can have an index, but can't be a primary key: 1
  /// and 1.0 are equal, but not the same value.
  public func canHave(_ index: ColumnIndex) -> Bool {
    switch self {
    case .bool, .int64, .string, .date, .objectID, .uuid: true
    case .mixed: index != .unique
    case .float, .double, .data, .decimal128, .link: index == .none
    }
  }

  /// Whether the values are numbers: they can be added up, and are compared with other numbers by their values.
  public var isNumber: Bool { self == .int64 || isReal || self == .decimal128 }

  /// Whether the values are binary floating-point numbers.
  var isReal: Bool { self == .float || self == .double }

  /// How a cluster stores the values of a column with one value in each row.
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
  /// Integers, stored as packed differences from a base.
  case integers
  /// Dates: the seconds as integers, and the nanoseconds as integers beside them if any is not zero.
  case dates
  /// Values of this many bytes each.
  case fixed(Int)
  /// Strings and data: in pieces outside of the cluster, or as codes.
  case varying
  /// Values with parts, in pieces outside of the cluster (`CompositeCell`).
  case composite

  /// Whether values may be stored in pieces outside of the cluster.
  var hasPieces: Bool { self == .varying || self == .composite }
}
