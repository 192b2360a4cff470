/// What reading a column takes, in a word.
struct ColumnForm: BitwiseCopyable, Equatable {
  /// As `ColumnStorage`.
  enum Kind: UInt8 {
    case integers, dates, fixed, varying
  }

  let id: UInt16
  let kind: Kind
  /// Bytes of a value, where all have as many.
  let size: UInt8
  let isOptional: Bool
  let isList: Bool
  /// Strings, where it is of varying size.
  let isText: Bool

  init(_ column: Column) {
    id = column.id
    isOptional = column.isOptional
    isList = column.isList
    isText = column.type == .string
    switch column.storage {
    case .integers: (kind, size) = (.integers, 0)
    case .dates: (kind, size) = (.dates, 0)
    case .fixed(let bytes): (kind, size) = (.fixed, UInt8(bytes))
    case .varying: (kind, size) = (.varying, 0)
    }
  }

  /// One value of so many bytes a row; of none for kinds of other sizes.
  @inline(__always)
  func isOne(_ kind: Kind, size: UInt8 = 0) -> Bool { self.kind == kind && self.size == size && !isList }
}
