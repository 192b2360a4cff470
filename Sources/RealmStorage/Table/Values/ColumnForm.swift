/// The facts about a column that are needed to read and to replace its values, in three words.
struct ColumnForm: BitwiseCopyable, Equatable {
  /// The kinds of `ColumnStorage`.
  enum Kind: UInt8 {
    case integers, dates, fixed, varying, composite
  }

  let id: UInt16
  let kind: Kind
  /// The number of bytes of each value, if all values have the same number; else 0.
  let size: UInt8
  let isCollection: Bool
  /// True if the values are strings. Among the columns of varying size this tells strings from data.
  let isText: Bool
  /// True if the column has neither an index nor links. Then nothing else changes when its values change.
  let isPlain: Bool
  let type: ColumnType
  /// True if rows of clusters that do not have the column are null in it.
  let isAbsentNull: Bool
  /// The value that is not null of the rows in clusters without the column: a whole number, 0 or 1 for a boolean, or
  /// the bits of a float or double. For columns of other types use `Column.absentValue`.
  let absentBits: UInt64

  init(_ column: Column) {
    id = column.id
    isAbsentNull = column.isAbsentNull
    absentBits = Self.absentBits(column)
    isCollection = column.isCollection
    isText = column.type == .string
    isPlain = column.index == .none && !column.canLink
    type = column.type
    switch column.storage {
    case .integers: (kind, size) = (.integers, 0)
    case .dates: (kind, size) = (.dates, 0)
    case .fixed(let bytes): (kind, size) = (.fixed, UInt8(bytes))
    case .varying: (kind, size) = (.varying, 0)
    case .composite: (kind, size) = (.composite, 0)
    }
  }

  private static func absentBits(_ column: Column) -> UInt64 {
    switch column.storedDefault {
    case .int(let number): UInt64(bitPattern: number)
    case .bool(let flag): flag ? 1 : 0
    case .float(let number): UInt64(number.bitPattern)
    case .double(let number): number.bitPattern
    default: 0
    }
  }

  /// Whether a value that is not null fits the column. The answer is false for a column of collections.
  @inline(__always)
  func acceptsOne(_ value: Value) -> Bool { !isCollection && type.accepts(value) }

  /// Whether each row has one value of that kind and of `size` bytes. The size is 0 for kinds without a fixed size.
  @inline(__always)
  func isOne(_ kind: Kind, size: UInt8 = 0) -> Bool {
    self.kind == kind && self.size == size && !isCollection
  }
}
