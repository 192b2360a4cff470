/// The changes that lead from an older order to a newer one.
package struct OrderChanges: Sendable, Equatable {
  /// The positions of deleted rows in the older order, in ascending order.
  package var deletions: [Int] = []
  /// The positions of inserted rows in the newer order, in ascending order.
  package var insertions: [Int] = []

  package init() {}

  package var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty }

  /// The position in the older order of the row at a position of the newer one; nil if the row was inserted.
  package func oldPosition(of position: Int) -> Int? {
    let before = insertions.partitioningIndex { $0 >= position }
    if before < insertions.count, insertions[before] == position { return nil }
    // This number of kept rows stand before the row.
    let kept = position - before
    // A deleted row stood before it if at most that number of kept rows stood before the deleted row.
    var (low, high) = (0, deletions.count)
    while low < high {
      let middle = (low + high) / 2
      if deletions[middle] - middle <= kept { low = middle + 1 } else { high = middle }
    }
    return kept + low
  }
}

extension RowOrder {
  /// The changes that lead from this order to a newer one. A row that moved is deleted and inserted.
  ///
  /// Chunks that both orders have at the start or at the end are skipped. If at most 2,000 rows of each order are left,
  /// these are compared as lists (`ListChanges`). Otherwise the longest run of rows that stay in their order is found,
  /// in which a chunk that both orders have counts as a whole. This takes time in proportion to the chunks, and to the
  /// rows of the chunks that only one order has. If more rows are left and some stand in an order more than once, the
  /// stretches between chunks that both orders have are compared as lists.
  ///
  /// There are as few changes as possible, except in this last case.
  package func changes(to newer: RowOrder) -> OrderChanges {
    let shorter = min(chunks.count, newer.chunks.count)
    var (start, end) = (0, 0)
    while start < shorter, chunks[start] === newer.chunks[start] { start += 1 }
    while end < shorter - start,
      chunks[chunks.count - 1 - end] === newer.chunks[newer.chunks.count - 1 - end]
    {
      end += 1
    }
    let (old, new) = (start..<chunks.count - end, start..<newer.chunks.count - end)
    var changes = OrderChanges()
    if rowCount(old) <= Self.mostCompared, newer.rowCount(new) <= Self.mostCompared {
      changes.add(self, old, newer, new)
    } else if isMostlyNew(newer, new), let found = RowStays(rows(old), newer.rows(new)).changes() {
      changes.deletions = found.deletions.map { starts[old.lowerBound] + $0 }
      changes.insertions = found.insertions.map { newer.starts[new.lowerBound] + $0 }
    } else if let found = OrderUnits(self, old, newer, new).changes() {
      changes = found
    } else {
      changes.add(self, old, newer, new, between: chunksOfBoth(old, newer, new))
    }
    return changes
  }

  private static let mostCompared = 2_000

  /// Whether this order does not have most of some chunks of the newer order.
  private func isMostlyNew(_ newer: RowOrder, _ new: Range<Int>) -> Bool {
    let known = Set(chunks.map { ObjectIdentifier($0) })
    return newer.chunks[new].count { !known.contains(ObjectIdentifier($0)) } > new.count / 2
  }

  private func rowCount(_ chunks: Range<Int>) -> Int { starts[chunks.upperBound] - starts[chunks.lowerBound] }

  /// The indexes of chunks that stand in both orders, as pairs in which both indexes ascend.
  private func chunksOfBoth(
    _ old: Range<Int>, _ newer: RowOrder, _ new: Range<Int>
  ) -> [(old: Int, new: Int)] {
    var places: [ObjectIdentifier: Int] = [:]
    for index in old { places[ObjectIdentifier(chunks[index])] = index }
    var pairs: [(old: Int, new: Int)] = []
    for index in new {
      guard let found = places[ObjectIdentifier(newer.chunks[index])], found > pairs.last?.old ?? -1 else {
        continue
      }
      pairs.append((found, index))
    }
    return pairs
  }

  fileprivate func rows(_ chunks: Range<Int>) -> [UInt64] {
    var rows: [UInt64] = []
    rows.reserveCapacity(rowCount(chunks))
    for chunk in self.chunks[chunks] { rows += chunk.rows }
    return rows
  }
}

extension OrderChanges {
  /// Adds the changes in the stretches between chunks that both orders have.
  ///
  /// - Parameter pairs: the indexes of these chunks in both orders, in ascending order.
  fileprivate mutating func add(
    _ old: RowOrder, _ oldChunks: Range<Int>, _ new: RowOrder, _ newChunks: Range<Int>,
    between pairs: [(old: Int, new: Int)]
  ) {
    var (oldStart, newStart) = (oldChunks.lowerBound, newChunks.lowerBound)
    for pair in pairs {
      add(old, oldStart..<pair.old, new, newStart..<pair.new)
      (oldStart, newStart) = (pair.old + 1, pair.new + 1)
    }
    add(old, oldStart..<oldChunks.upperBound, new, newStart..<newChunks.upperBound)
  }

  fileprivate mutating func add(
    _ old: RowOrder, _ oldChunks: Range<Int>, _ new: RowOrder, _ newChunks: Range<Int>
  ) {
    if oldChunks.isEmpty, newChunks.isEmpty { return }
    let found = ListChanges(from: old.rows(oldChunks), to: new.rows(newChunks))
    deletions += found.deletions.map { old.starts[oldChunks.lowerBound] + $0 }
    insertions += found.insertions.map { new.starts[newChunks.lowerBound] + $0 }
  }
}

/// Two orders as units that stay or move as a whole: the chunks that both orders have, and the single rows of other
/// chunks.
private struct OrderUnits {
  private struct Unit {
    /// The position of the first row of the unit.
    var position: Int
    var count: Int
  }

  private var old: [Unit] = []
  private var new: [Unit] = []
  /// For each new unit its index among the old units; nil for a unit that only the newer order has.
  private var places: [Int?] = []
  /// Whether a row was found to stand more than once in one of the orders.
  private var hasRepeats = false

  init(_ older: RowOrder, _ oldChunks: Range<Int>, _ newer: RowOrder, _ newChunks: Range<Int>) {
    var rowPlaces: [UInt64: Int] = [:]
    var chunkPlaces: [ObjectIdentifier: Int] = [:]
    let shared = Set(older.chunks[oldChunks].map { ObjectIdentifier($0) })
      .intersection(newer.chunks[newChunks].map { ObjectIdentifier($0) })
    for index in oldChunks {
      let (chunk, start) = (older.chunks[index], older.starts[index])
      if shared.contains(ObjectIdentifier(chunk)) {
        if chunkPlaces.updateValue(old.count, forKey: ObjectIdentifier(chunk)) != nil { hasRepeats = true }
        old.append(Unit(position: start, count: chunk.rows.count))
      } else {
        for (place, row) in chunk.rows.enumerated() {
          if rowPlaces.updateValue(old.count, forKey: row) != nil { hasRepeats = true }
          old.append(Unit(position: start + place, count: 1))
        }
      }
    }
    var met: Set<Int> = []
    for index in newChunks {
      let (chunk, start) = (newer.chunks[index], newer.starts[index])
      let known = chunkPlaces[ObjectIdentifier(chunk)]
      let units: [(Unit, Int?)] =
        known.map { [(Unit(position: start, count: chunk.rows.count), $0)] }
        ?? chunk.rows.enumerated().map { (Unit(position: start + $0, count: 1), rowPlaces[$1]) }
      for (unit, place) in units {
        if let place, !met.insert(place).inserted { hasRepeats = true }
        new.append(unit)
        places.append(place)
      }
    }
  }

  /// The changes between the orders; nil if a row stands in one of them more than once.
  func changes() -> OrderChanges? {
    if hasRepeats { return nil }
    let kept = staying()
    var keptOld = [Bool](repeating: false, count: old.count)
    var changes = OrderChanges()
    for (index, unit) in new.enumerated() {
      if kept[index], let place = places[index] {
        keptOld[place] = true
      } else {
        changes.insertions += unit.position..<unit.position + unit.count
      }
    }
    for (place, unit) in old.enumerated() where !keptOld[place] {
      changes.deletions += unit.position..<unit.position + unit.count
    }
    return changes
  }

  /// For each new unit whether it stays. The units that stay are in the same order in both orders, and have as many
  /// rows as possible. O(n log n): the best run up to each old unit is kept in a tree of maxima (Fenwick, "A new data
  /// structure for cumulative frequency tables").
  private func staying() -> [Bool] {
    // The nodes of the tree, by index of the old unit, counted from 1. Each has the number of rows of the best run that
    // ends at an old unit in the range of the node, and the new unit at the end of that run.
    var best = [(rows: Int, unit: Int)](repeating: (0, -1), count: old.count + 1)
    var previous = [Int](repeating: -1, count: new.count)
    var last = (rows: 0, unit: -1)
    for (index, unit) in new.enumerated() {
      guard let place = places[index] else { continue }
      var before = (rows: 0, unit: -1)
      var node = place
      while node > 0 {
        if best[node].rows > before.rows { before = best[node] }
        node &= node - 1
      }
      previous[index] = before.unit
      let run = (rows: before.rows + unit.count, unit: index)
      if run.rows > last.rows { last = run }
      node = place + 1
      while node < best.count {
        if run.rows > best[node].rows { best[node] = run }
        node += node & -node
      }
    }
    var stays = [Bool](repeating: false, count: new.count)
    var unit = last.unit
    while unit >= 0 {
      stays[unit] = true
      unit = previous[unit]
    }
    return stays
  }
}

/// Finds which rows stay in their order between two lists in which each row stands at most once.
private struct RowStays {
  private let old: [UInt64]
  private let new: [UInt64]

  init(_ old: [UInt64], _ new: [UInt64]) { (self.old, self.new) = (old, new) }

  /// For each new row its place in the old list, or -1 if the old list does not have it; nil if a row stands in a list
  /// twice.
  private func places() -> [Int32]? {
    let end = max(old.max() ?? 0, new.max() ?? 0)
    guard old.count < Int32.max, end < UInt64(16 * old.count + 1 << 20) else { return placesByHash() }
    // Tables give keys by counting, so an array with an entry for each possible key takes less time than a dictionary.
    var places = [Int32](repeating: -1, count: Int(end) + 1)
    for (place, row) in old.enumerated() {
      if places[Int(row)] >= 0 { return nil }
      places[Int(row)] = Int32(place)
    }
    var found: [Int32] = []
    found.reserveCapacity(new.count)
    for row in new {
      let place = places[Int(row)]
      if place == -2 { return nil }
      found.append(place)
      if place >= 0 { places[Int(row)] = -2 }
    }
    return found
  }

  /// The same result as that of `places()`, found with a dictionary.
  private func placesByHash() -> [Int32]? {
    var places = [UInt64: Int32](minimumCapacity: old.count)
    for (place, row) in old.enumerated() {
      if places.updateValue(Int32(place), forKey: row) != nil { return nil }
    }
    var found: [Int32] = []
    for row in new {
      let place = places[row] ?? -1
      if place == -2 { return nil }
      found.append(place)
      if place >= 0 { places[row] = -2 }
    }
    return found
  }

  /// The positions of deleted and of inserted rows; nil if a row stands in a list twice.
  func changes() -> (deletions: [Int], insertions: [Int])? {
    guard let places = places() else { return nil }
    // The longest ascending run of old places is found by patience sorting. For each length `ends` has the new row that
    // ends a run of this length with the least old place.
    var ends: [Int32] = []
    var previous = [Int32](repeating: -1, count: places.count)
    for (index, place) in places.enumerated() where place >= 0 {
      var length = ends.count
      if let last = ends.last, places[Int(last)] > place {
        length = ends.partitioningIndex { places[Int($0)] >= place }
      }
      if length > 0 { previous[index] = ends[length - 1] }
      if length == ends.count { ends.append(Int32(index)) } else { ends[length] = Int32(index) }
    }
    var stays = [Bool](repeating: false, count: places.count)
    var staysOld = [Bool](repeating: false, count: old.count)
    var index = ends.last ?? -1
    while index >= 0 {
      stays[Int(index)] = true
      staysOld[Int(places[Int(index)])] = true
      index = previous[Int(index)]
    }
    return (old.indices.filter { !staysOld[$0] }, new.indices.filter { !stays[$0] })
  }
}
