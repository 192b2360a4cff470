/// What reading a column and replacing its values takes, in two words.
struct ColumnForm: BitwiseCopyable, Equatable {
  /// As `ColumnStorage`.
  enum Kind: UInt8 {
    case integers, dates, fixed, varying, composite
  }

  let id: UInt16
  let kind: Kind
  /// Bytes of a value, where all have as many.
  let size: UInt8
  let isOptional: Bool
  let isCollection: Bool
  /// Strings, where it is of varying size.
  let isText: Bool
  /// It has neither an index nor links: nothing else is changed with its values.
  let isPlain: Bool
  let type: ColumnType

  init(_ column: Column) {
    id = column.id
    isOptional = column.isOptional
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

  /// Whether a value, which is not null, fits the column, which is none of collections.
  @inline(__always)
  func acceptsOne(_ value: Value) -> Bool { !isCollection && type.accepts(value) }

  /// One value of so many bytes a row; of none for kinds of other sizes.
  @inline(__always)
  func isOne(_ kind: Kind, size: UInt8 = 0) -> Bool {
    self.kind == kind && self.size == size && !isCollection
  }
}
