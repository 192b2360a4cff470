/// Rows with all their values, in the order of their keys.
///
/// Made of clusters: a batch that was recorded keeps the columns as the writer held them, and makes values of them when they are asked for.
public struct RowBatch: Sendable {
  private var parts: [Part] = []

  /// Rows that stand together.
  struct Part: Sendable {
    var keys: [UInt64]
    /// Of the schema's columns, in their order.
    var columns: [Values]
    /// The places of the rows in the columns' buffers begin with this one.
    var first = 0
  }

  /// The values of a column.
  enum Values: Sendable {
    case values([Value])
    case fixed(FixedBuffer, Column)
    case varying(PieceBuffer, Column)
  }

  /// A row of the batch. Its values are those of the schema's columns, in their order.
  public struct Row: Sendable, Equatable {
    public var key: UInt64
    public var values: [Value]

    public init(key: UInt64, values: [Value]) {
      self.key = key
      self.values = values
    }
  }

  public init() {}

  /// - Precondition: the keys grow.
  public init(_ rows: [Row]) {
    precondition(
      zip(rows, rows.dropFirst()).allSatisfy { $0.key < $1.key }, "RowBatch: the keys of its rows must grow")
    guard let first = rows.first else { return }
    append(
      Part(
        keys: rows.map(\.key),
        columns: first.values.indices.map { column in .values(rows.map { $0.values[column] }) }))
  }

  mutating func append(_ part: Part) { if !part.keys.isEmpty { parts.append(part) } }

  public var count: Int { parts.reduce(0) { $0 + $1.keys.count } }
  public var isEmpty: Bool { parts.isEmpty }

  /// The keys of the rows, growing.
  public var keys: [UInt64] { parts.flatMap(\.keys) }

  /// The first row.
  public var first: Row? { parts.first.map { $0.row(0) } }

  /// Calls `body` with each row. Takes time in proportion to the values.
  public func forEach<Failure: Error>(_ body: (Row) throws(Failure) -> Void) throws(Failure) {
    for part in parts { for place in part.keys.indices { try body(part.row(place)) } }
  }
}

extension RowBatch.Part {
  fileprivate func row(_ place: Int) -> RowBatch.Row {
    RowBatch.Row(key: keys[place], values: columns.map { $0.value(first + place) })
  }
}

extension RowBatch.Values {
  fileprivate func value(_ place: Int) -> Value {
    switch self {
    case .values(let values): values[place]
    case .fixed(let buffer, let column): buffer.value(place, of: column)
    case .varying(let buffer, let column): buffer.wholeValue(place, of: column)
    }
  }
}

extension RowBatch: Equatable {
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
