/// Rows whose primary keys differ between two versions, in an order in which each key is free when a row takes it.
///
/// A row that takes the key of another waits for that one. Where rows wait for each other in a ring, as two that swap their keys, one of
/// them takes a key meanwhile that no row has in either version.
struct PrimaryKeyMoves {
  struct Move {
    var row: UInt64
    var old: Value
    var new: Value
  }

  enum Step {
    case set(Move)
    /// No key is left for the meantime, as may be of booleans: the row goes and comes again.
    case takeAway(Move)
    case bringBack(Move)
  }

  private var moves: [Move] = []

  var isEmpty: Bool { moves.isEmpty }

  mutating func append(_ move: Move) { moves.append(move) }

  /// The steps in their order. Takes time in proportion to the moves.
  ///
  /// - Parameter isFree: whether no row has a key, in either version.
  func steps(
    _ column: Column, isFree: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) -> [Step] {
    var holders: [Value: Int] = [:]
    // Of a damaged file two rows may have one key: the order is of no account then.
    for (index, move) in moves.enumerated() { holders[move.old] = index }
    var spares = SpareKeys(column)
    var steps: [Step] = []
    // 0 is a move that was not looked at, 1 one that waits, 2 one that is done.
    var states = [UInt8](repeating: 0, count: moves.count)
    for start in moves.indices {
      var path: [Int] = []
      var next: Int? = start
      while let index = next, states[index] == 0 {
        states[index] = 1
        path.append(index)
        next = holders[moves[index].new]
      }
      var ring: (index: Int, last: Step)?
      if let index = next, states[index] == 1 {
        let move = moves[index]
        if let spare = try spares.next(isFree) {
          steps.append(.set(Move(row: move.row, old: move.old, new: spare)))
          ring = (index, .set(Move(row: move.row, old: spare, new: move.new)))
        } else {
          steps.append(.takeAway(move))
          ring = (index, .bringBack(move))
        }
      }
      for index in path.reversed() {
        steps.append(ring.flatMap { $0.index == index ? $0.last : nil } ?? .set(moves[index]))
        states[index] = 2
      }
    }
    return steps
  }
}

/// Values of a column that may be no row's key.
private struct SpareKeys {
  private let column: Column
  private var number: Int64 = 0
  /// How many values are tried: more than enough, but where the type has few.
  private static let mostTried: Int64 = 1 << 20

  init(_ column: Column) { self.column = column }

  /// The next one that is free; nil where none is found.
  mutating func next(_ isFree: (Value) throws(StorageError) -> Bool) throws(StorageError) -> Value? {
    while number < Self.mostTried, let value = value(number) {
      number += 1
      if try isFree(value) { return value }
    }
    return nil
  }

  private func value(_ number: Int64) -> Value? {
    let bits = UInt64(bitPattern: number)
    switch column.type {
    case .bool: return number < 2 ? .bool(number == 1) : number == 2 && column.isOptional ? .null : nil
    case .int64: return .int(.min + number)
    case .string: return .string("\u{10ffff}\(number)")
    case .date: return .date(Timestamp(seconds: .min + number))
    case .objectID: return .objectID(ObjectIDBytes(high: .max - bits, low: .max))
    case .uuid: return .uuid(SixteenBytes(high: .max, low: .max - bits))
    default: return nil
    }
  }
}
