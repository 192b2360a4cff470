/// What stands in a row's column.
public enum Found<Content> {
  /// There is no such row.
  case noRow
  case null
  case value(Content)
}

extension Found: Sendable where Content: Sendable {}
extension Found: Equatable where Content: Equatable {}

extension Table {
  /// A whole number; of a boolean column 0 or 1, of a link the key of the row it points to.
  ///
  /// - Precondition: the column is one of the table, of whole numbers, booleans or links, and no list.
  public func integer(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Int64> {
    switch try value(schema.columns[column], ofRow: key) {
    case nil: .noRow
    case .int(let number): .value(number)
    case .bool(let flag): .value(flag ? 1 : 0)
    case .link(let row): .value(Int64(bitPattern: row))
    default: .null
    }
  }

  /// - Precondition: the column is one of the table, of doubles, and no list.
  public func double(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Double> {
    switch try value(schema.columns[column], ofRow: key) {
    case nil: .noRow
    case .double(let number): .value(number)
    default: .null
    }
  }

  /// - Precondition: the column is one of the table, of floats, and no list.
  public func float(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Float> {
    switch try value(schema.columns[column], ofRow: key) {
    case nil: .noRow
    case .float(let number): .value(number)
    default: .null
    }
  }

  /// - Precondition: the column is one of the table, of dates, and no list.
  public func date(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Timestamp> {
    switch try value(schema.columns[column], ofRow: key) {
    case nil: .noRow
    case .date(let date): .value(date)
    default: .null
    }
  }

  /// - Precondition: the column is one of the table, of strings, and no list.
  public func text(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<String> {
    switch try value(schema.columns[column], ofRow: key) {
    case nil: .noRow
    case .string(let text): .value(text)
    default: .null
    }
  }

  /// - Precondition: the column is one of the table, of data, and no list.
  public func bytes(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<[UInt8]> {
    switch try value(schema.columns[column], ofRow: key) {
    case nil: .noRow
    case .data(let bytes): .value(bytes)
    default: .null
    }
  }
}
