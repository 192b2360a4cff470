/// What reading a column and replacing its values takes, in three words.
struct ColumnForm: BitwiseCopyable, Equatable {
  /// As `ColumnStorage`.
  enum Kind: UInt8 {
    case integers, dates, fixed, varying, composite
  }

  let id: UInt16
  let kind: Kind
  /// Bytes of a value, where all have as many.
  let size: UInt8
  let isCollection: Bool
  /// Strings, where it is of varying size.
  let isText: Bool
  /// It has neither an index nor links: nothing else is changed with its values.
  let isPlain: Bool
  let type: ColumnType
  /// The rows of clusters that lack the column are null in it.
  let isAbsentNull: Bool
  /// The value that rows of clusters without the column have where it is not null: a whole number, 0 or 1 for a truth value,
  /// the bits of a float or double. For columns of other types `Column.absentValue` tells it.
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

  /// Whether a value, which is not null, fits the column, which is none of collections.
  @inline(__always)
  func acceptsOne(_ value: Value) -> Bool { !isCollection && type.accepts(value) }

  /// One value of so many bytes a row; of none for kinds of other sizes.
  @inline(__always)
  func isOne(_ kind: Kind, size: UInt8 = 0) -> Bool {
    self.kind == kind && self.size == size && !isCollection
  }
}
