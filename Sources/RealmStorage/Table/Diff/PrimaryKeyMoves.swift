/// Rows whose primary keys differ between two versions, in an order in which each key is free when a row takes it.
///
/// A row that takes the key of another row waits until that row has given it up. If rows wait for each other in a ring,
/// for example two that swap their keys, one of them takes a temporary key that no row has in either version.
struct PrimaryKeyMoves {
  struct Move {
    var row: UInt64
    var old: Value
    var new: Value
  }

  enum Step {
    case set(Move)
    /// Deletes the row, which `bringBack` creates again. This is done if there is no free temporary key, for example in
    /// a column of booleans.
    case takeAway(Move)
    case bringBack(Move)
  }

  private var moves: [Move] = []

  var isEmpty: Bool { moves.isEmpty }

  mutating func append(_ move: Move) { moves.append(move) }

  /// The steps in their order. Takes time in proportion to the number of moves.
  ///
  /// - Parameter isFree: returns whether no row has a key, in either version.
  func steps(
    _ column: Column, isFree: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) -> [Step] {
    var holders: [Value: Int] = [:]
    // In a damaged file two rows may have the same key. Then the order does not matter.
    for (index, move) in moves.enumerated() { holders[move.old] = index }
    var spares = SpareKeys(column)
    var steps: [Step] = []
    // The state is 0 for a move that was not processed, 1 for a move that waits, and 2 for a move that is done.
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

/// Values of a column that are candidates for temporary keys.
private struct SpareKeys {
  private let column: Column
  private var number: Int64 = 0
  /// The greatest number of values that are tried. It is more than enough, except for a type with few values.
  private static let mostTried: Int64 = 1 << 20

  init(_ column: Column) { self.column = column }

  /// The next free value; nil if there is none.
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
