/// How an order became another.
package struct OrderChanges: Sendable, Equatable {
  /// Positions in the older order, growing.
  package var deletions: [Int] = []
  /// Positions in the newer order, growing.
  package var insertions: [Int] = []

  package init() {}

  package var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty }

  /// Where a row of the newer order stood in the older one; nil of one that was inserted.
  package func oldPosition(of position: Int) -> Int? {
    let before = insertions.partitioningIndex { $0 >= position }
    if before < insertions.count, insertions[before] == position { return nil }
    // So many stay before it.
    let kept = position - before
    // Each deletion that has no more than so many kept rows before it stands before it.
    var (low, high) = (0, deletions.count)
    while low < high {
      let middle = (low + high) / 2
      if deletions[middle] - middle <= kept { low = middle + 1 } else { high = middle }
    }
    return kept + low
  }
}

extension RowOrder {
  /// What led from this order to another. A row that moved is deleted and inserted.
  ///
  /// Chunks that both have are passed over. What stands between two of them is compared: there are as few operations there as can be, as `ListChanges` finds them; of more
  /// than 2,000 rows on one side, each of which stands there once, by the longest run of rows that stayed in their order.
  package func changes(to newer: RowOrder) -> OrderChanges {
    var changes = OrderChanges()
    var place: [ObjectIdentifier: Int] = [:]
    var common = 0
    while common < min(chunks.count, newer.chunks.count), chunks[common] === newer.chunks[common] {
      common += 1
    }
    for index in common..<chunks.count { place[ObjectIdentifier(chunks[index])] = index }
    var (old, new) = (common, common)
    for index in common..<newer.chunks.count {
      guard let found = place[ObjectIdentifier(newer.chunks[index])], found >= old else { continue }
      changes.add(self, old..<found, newer, new..<index)
      (old, new) = (found + 1, index + 1)
    }
    changes.add(self, old..<chunks.count, newer, new..<newer.chunks.count)
    return changes
  }

  fileprivate func rows(_ chunks: Range<Int>) -> [UInt64] {
    var rows: [UInt64] = []
    rows.reserveCapacity(starts[chunks.upperBound] - starts[chunks.lowerBound])
    for chunk in self.chunks[chunks] { rows += chunk.rows }
    return rows
  }
}

extension OrderChanges {
  private static let mostCompared = 2_000

  /// Of stretches of chunks that stand at the same place in both.
  fileprivate mutating func add(
    _ old: RowOrder, _ oldChunks: Range<Int>, _ new: RowOrder, _ newChunks: Range<Int>
  ) {
    if oldChunks.isEmpty, newChunks.isEmpty { return }
    let (oldRows, newRows) = (old.rows(oldChunks), new.rows(newChunks))
    let (oldStart, newStart) = (old.starts[oldChunks.lowerBound], new.starts[newChunks.lowerBound])
    var changes = OrderChanges()
    let isLarge = max(oldRows.count, newRows.count) > Self.mostCompared
    if isLarge, let found = Self.ofUnique(oldRows, newRows) {
      changes = found
    } else {
      let found = ListChanges(from: oldRows, to: newRows)
      (changes.deletions, changes.insertions) = (found.deletions, found.insertions)
    }
    deletions += changes.deletions.map { oldStart + $0 }
    insertions += changes.insertions.map { newStart + $0 }
  }

  /// Nil where a row stands more than once on one side.
  private static func ofUnique(_ old: [UInt64], _ new: [UInt64]) -> OrderChanges? {
    var places = Dictionary<UInt64, Int>(minimumCapacity: old.count)
    for (place, row) in old.enumerated() where places.updateValue(place, forKey: row) != nil { return nil }
    var changes = OrderChanges()
    // The old places of the rows that both have, in the new order.
    var kept: [(old: Int, new: Int)] = []
    var met = 0
    for (place, row) in new.enumerated() {
      if let old = places[row] {
        kept.append((old, place))
        met += 1
      } else {
        changes.insertions.append(place)
      }
    }
    guard Set(kept.map(\.old)).count == met else { return nil }
    let stays = longestGrowing(kept.map(\.old))
    var staysOld = [Bool](repeating: false, count: old.count)
    for (index, pair) in kept.enumerated() {
      if stays[index] { staysOld[pair.old] = true } else { changes.insertions.append(pair.new) }
    }
    changes.insertions.sort()
    changes.deletions = old.indices.filter { !staysOld[$0] }
    return changes
  }

  /// Which of some different numbers belong to a longest sequence that grows. O(n log n) (patience sorting).
  private static func longestGrowing(_ numbers: [Int]) -> [Bool] {
    // By length: the place of the least number that ends such a sequence; and before each place the one before it.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: numbers.count)
    for (place, number) in numbers.enumerated() {
      let length = ends.partitioningIndex { numbers[$0] >= number }
      if length > 0 { previous[place] = ends[length - 1] }
      if length == ends.count { ends.append(place) } else { ends[length] = place }
    }
    var belongs = [Bool](repeating: false, count: numbers.count)
    var place = ends.last ?? -1
    while place >= 0 {
      belongs[place] = true
      place = previous[place]
    }
    return belongs
  }
}
