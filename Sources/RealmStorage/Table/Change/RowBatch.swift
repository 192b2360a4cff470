/// Rows with all their values, in the order of their keys.
///
/// A batch that was recorded keeps the columns as the writer had them, and makes values of them when they are read.
public struct RowBatch: Sendable {
  private(set) var parts: [Part] = []

  /// Rows that are stored together.
  struct Part: Sendable {
    var keys: [UInt64]
    /// The values of the columns, in the order of the schema.
    var columns: [Values]
    /// The position of the first row in the buffers of the columns.
    var first = 0
  }

  /// The values of a column.
  enum Values: Sendable {
    case values([Value])
    case fixed(FixedBuffer, Column)
    case varying(PieceBuffer, Column)
  }

  /// A row of a batch.
  public struct Row: Sendable, Equatable {
    /// The key of the row.
    public var key: UInt64
    /// The values, in the order of the schema's columns.
    public var values: [Value]

    /// Makes a row.
    public init(key: UInt64, values: [Value]) {
      self.key = key
      self.values = values
    }
  }

  /// Makes an empty batch.
  public init() {}

  /// Makes a batch of rows.
  ///
  /// - Precondition: the keys are in ascending order, and all rows have the same number of values. Otherwise the program stops.
  public init(_ rows: [Row]) {
    precondition(
      rows.allSatisfy { $0.values.count == rows[0].values.count },
      "RowBatch: each row has one value for each column")
    precondition(
      zip(rows, rows.dropFirst()).allSatisfy { $0.key < $1.key }, "RowBatch: the keys of its rows must grow")
    guard let first = rows.first else { return }
    append(
      Part(
        keys: rows.map(\.key),
        columns: first.values.indices.map { column in .values(rows.map { $0.values[column] }) }))
  }

  mutating func append(_ part: Part) { if !part.keys.isEmpty { parts.append(part) } }

  /// The number of rows.
  public var count: Int { parts.reduce(0) { $0 + $1.keys.count } }
  /// Whether there are no rows.
  public var isEmpty: Bool { parts.isEmpty }

  /// The keys of the rows, in ascending order.
  public var keys: [UInt64] { parts.flatMap(\.keys) }

  /// The first row; nil if there is none.
  public var first: Row? { parts.first.map { $0.row(0) } }

  /// All rows. Takes time in proportion to the values.
  public var rows: [Row] { parts.flatMap { part in part.keys.indices.map { part.row($0) } } }

  /// Calls `body` with each row. Takes time in proportion to the values.
  public func forEach<Failure: Error>(_ body: (Row) throws(Failure) -> Void) throws(Failure) {
    for part in parts { for place in part.keys.indices { try body(part.row(place)) } }
  }
}

extension RowBatch.Part {
  func row(_ place: Int) -> RowBatch.Row {
    RowBatch.Row(key: keys[place], values: columns.map { $0.value(first + place) })
  }
}

extension RowBatch.Values {
  func value(_ place: Int) -> Value {
    switch self {
    case .values(let values): values[place]
    case .fixed(let buffer, let column): buffer.value(place, of: column)
    case .varying(let buffer, let column): buffer.wholeValue(place, of: column)
    }
  }
}

extension RowBatch: Equatable {
  /// Whether both have the same rows with equal values. Takes time in proportion to the values.
  public static func == (left: RowBatch, right: RowBatch) -> Bool {
    guard left.keys == right.keys else { return false }
    var rows: [Row] = []
    left.forEach { rows.append($0) }
    var (place, isEqual) = (0, true)
    right.forEach {
      isEqual = isEqual && rows[place] == $0
      place += 1
    }
    return isEqual
  }
}

extension AppendBuffer {
  /// The rows from a key on, up to another one. A row after them may be unfinished.
  ///
  /// - Parameter asValues: whether the columns are copied as values. Otherwise they are shared as buffers, unless there are few
  ///   rows: then making values costs less than the copy of the columns that the next row would need.
  func part(
    from key: UInt64, below next: UInt64, asValues: Bool
  ) throws(StorageError) -> RowBatch.Part? {
    let first = keys.partitioningIndex { $0 >= key }
    let rows = keys.partitioningIndex { $0 >= next }
    guard first < rows else { return nil }
    let asValues = asValues || rows - first < 8
    var part = RowBatch.Part(keys: Array(keys[first..<rows]), columns: [])
    part.first = asValues ? 0 : first
    for index in columns.indices {
      let column = columns[index].column
      if asValues {
        var values: [Value] = []
        for row in first..<rows { values.append(try value(index, row)) }
        part.columns.append(.values(values))
      } else if !columns[index].isVarying {
        part.columns.append(.fixed(columns[index].fixed, column))
      } else if columns[index].firstVarying == 0, columns[index].varying.isWhole {
        part.columns.append(.varying(columns[index].varying, column))
      } else {
        var values = [Value](repeating: .null, count: first)
        for row in first..<rows { values.append(try value(index, row)) }
        part.columns.append(.values(values))
      }
    }
    return part
  }

  /// The row with a key from `key` on; nil if there is none, or if another one follows below `next`.
  func onlyRow(from key: UInt64, below next: UInt64) throws(StorageError) -> RowBatch.Row? {
    guard let last = keys.last, last >= key, last < next, keys.count == 1 || keys[keys.count - 2] < key
    else { return nil }
    var values: [Value] = []
    values.reserveCapacity(columns.count)
    for index in columns.indices { values.append(try value(index, keys.count - 1)) }
    return RowBatch.Row(key: last, values: values)
  }

  /// The value of a row that is in no piece yet, or in the last one.
  private func value(_ index: Int, _ row: Int) throws(StorageError) -> Value {
    let column = columns[index].column
    guard columns[index].isVarying else { return columns[index].fixed.value(row, of: column) }
    let place = row - columns[index].firstVarying
    let access = editor.access()
    guard place >= 0 else { throw editor.store.corrupted(.rows, node) }
    if columns[index].varying.isWhole(place) { return columns[index].varying.wholeValue(place, of: column) }
    if let tree = columns[index].trees.first(where: { $0.row == row }) {
      return try CollectionForm.value(tree.ref, column, access)
    }
    guard let bytes = try columns[index].varying.content(place, access) else { return .null }
    guard let value = column.value(varying: bytes) else { throw editor.store.corrupted(.structure, node) }
    return value
  }
}

extension AppendBuffer {
  /// The text of a row that is in the buffer and may be nowhere else.
  func text(_ column: Column, ofRow key: UInt64) throws(StorageError) -> Value? {
    guard let row = keys.firstIndex(of: key),
      let index = columns.indices.first(where: { columns[$0].column.id == column.id })
    else { return nil }
    let place = row - columns[index].firstVarying
    guard place < 0 else { return try columns[index].varying.text(place, editor.access()) }
    guard let piece = columns[index].pieces.last(where: { $0.firstRow <= row }) else { return nil }
    return try PieceBuffer(piece.ref, editor.access()).text(row - piece.firstRow, editor.access())
  }

  /// The value of a row of the buffer, in a column of texts or of values with a fixed size.
  func single(_ column: Column, ofRow key: UInt64) throws(StorageError) -> Value? {
    if column.type == .string { return try text(column, ofRow: key) }
    guard let row = keys.firstIndex(of: key),
      let index = columns.indices.first(where: { columns[$0].column.id == column.id })
    else { return nil }
    return columns[index].fixed.value(row, of: column)
  }
}
