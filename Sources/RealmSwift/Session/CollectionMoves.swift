/// Lists of any values in which something was put to another place: what stood in them is not found by its place any more.
struct CollectionMoves {
  private struct Place: Hashable {
    var cell: PendingCollections.Cell
    var path: [_CollectionStep]
  }

  /// How many moves there were.
  private(set) var count: UInt64 = 0
  /// The last one in each.
  private var last: [Place: UInt64] = [:]
  /// The last one in any that is not known one by one any more.
  private var lastForgotten: UInt64 = 0

  private static let mostKnown = 1024

  mutating func note(_ cell: PendingCollections.Cell, _ path: [_CollectionStep]) {
    count += 1
    if last.count >= Self.mostKnown { (last, lastForgotten) = ([:], count) }
    last[Place(cell: cell, path: path)] = count
  }

  /// Whether what stood at a path after so many moves may stand elsewhere now.
  func happened(_ cell: PendingCollections.Cell, above path: [_CollectionStep], after count: UInt64) -> Bool {
    if self.count <= count { return false }
    if lastForgotten > count { return true }
    return path.indices.contains { depth in
      (last[Place(cell: cell, path: Array(path[..<depth]))] ?? 0) > count
    }
  }
}
