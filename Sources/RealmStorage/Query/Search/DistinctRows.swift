/// Finds the first of the rows that have the same values.
///
/// The values that were found so far are kept as far as there is memory for them. Rows with others wait then until all have been
/// seen: none of them has a value that was kept. Those that wait are looked at class by class, by hashes of their values.
struct DistinctRows {
  private let columns: [SortPath]
  private let clusters: Ref
  private let memory: SortMemory
  private let bounds: QueryBounds

  init(_ columns: [SortPath], in clusters: Ref, _ memory: SortMemory, within bounds: QueryBounds) {
    (self.columns, self.clusters) = (columns, clusters)
    (self.memory, self.bounds) = (memory, bounds)
  }

  /// So many rows are read at a time.
  private static let chunk = 1 << 14

  /// Rows of which each waits for its class of values.
  private struct Round {
    let seed = UInt64.random(in: .min ... .max)
    let classes: UInt64
    var place: UInt64 = 0

    @inline(__always)
    func has(_ entry: [UInt8]) -> Bool {
      classes == 1 || ByteHash.of(entry.span.bytes, seed: seed) >> 32 % classes == place
    }
  }

  /// Those of the rows that come first among equals, in the same order.
  func found(among rows: consuming [UInt64], _ reader: any NodeReader) throws(StorageError) -> [UInt64] {
    var isFound = PlaceSet(count: rows.count)
    var isWaiting = PlaceSet(count: rows.count)
    for place in rows.indices { isWaiting.insert(place) }
    var round = Round(classes: 1)
    // One for all walks: memory that is given back lies between what others have.
    var values = EntrySet(maximumBytes: memory.valueBytes)
    while !isWaiting.isEmpty {
      values.removeAll()
      var next = 0
      while next < rows.count {
        var places: [Int] = []
        places.reserveCapacity(Self.chunk)
        while next < rows.count, places.count < Self.chunk {
          if isWaiting.contains(next) { places.append(next) }
          next += 1
        }
        try forEachEntry(of: places.map { rows[$0] }, reader) { index, entry in
          guard round.has(entry) else { return }
          switch values.insert(entry) {
          case .isNew:
            isFound.insert(places[index])
            isWaiting.remove(places[index])
          case .isKnown: isWaiting.remove(places[index])
          case .hasNoRoom: break
          }
        }
      }
      round.place += 1
      if round.place == round.classes {
        // As if all that wait differed, each as long as a number.
        round = Round(classes: UInt64(isWaiting.count / max(1, memory.valueBytes / 24) + 1))
      }
    }
    var count = 0
    for place in rows.indices where isFound.contains(place) {
      rows[count] = rows[place]
      count += 1
    }
    rows.removeSubrange(count...)
    return rows
  }

  /// Calls `body` with bytes that stand for the values of rows: they are the same where these are.
  private func forEachEntry(
    of keys: [UInt64], _ reader: any NodeReader, _ body: (_ index: Int, [UInt8]) -> Void
  ) throws(StorageError) {
    var check = BoundsCheck(bounds)
    var numbers = NumberBuffer()
    // Of each row those of all columns.
    var tuples: [UInt128] = []
    var isExact: [Bool] = []
    var entry: [UInt8] = []
    var first = 0
    try ClusterWalk.forEachLongStretch(of: .list(keys), in: clusters, reader) {
      (rows, cluster, access) throws(StorageError) in
      try check.next(access)
      guard first + rows.count <= keys.count else { throw access.corrupted(.keyOrder, clusters) }
      tuples.removeAll(keepingCapacity: true)
      tuples.append(contentsOf: repeatElement(0, count: rows.count * columns.count))
      isExact.removeAll(keepingCapacity: true)
      isExact.append(contentsOf: repeatElement(true, count: rows.count))
      for (place, column) in columns.enumerated() {
        try column.read(0, rows, of: cluster, access, into: &numbers)
        for index in 0..<numbers.count {
          // What is not reached is null here.
          let number = numbers[index] == SortColumn.unreached ? SortColumn.null : numbers[index]
          tuples[index * columns.count + place] = number
          if !column.isExact(number) { isExact[index] = false }
        }
      }
      for (index, row) in rows.enumerated() {
        entry.removeAll(keepingCapacity: true)
        // Entries of both kinds differ in the first byte.
        entry.append(isExact[index] ? 1 : 0)
        if isExact[index] {
          for place in 0..<columns.count { entry.append(number: tuples[index * columns.count + place]) }
        } else {
          // What the first bytes do not tell: whole values, which never equal those that they do tell.
          for column in columns {
            let value = try column.path.value(Int(row), of: cluster, access) ?? .null
            let canonical = ValueOrder.canonical(value, of: column.path.column)
            ValueCoding.appendMixed(canonical, to: &entry)
          }
        }
        body(first + index, entry)
      }
      first += rows.count
    }
    guard first == keys.count else { throw reader.access().corrupted(.keyOrder, clusters) }
  }
}

/// Places, a bit for each.
private struct PlaceSet {
  private var words: [UInt64]
  private(set) var count = 0

  init(count: Int) { words = [UInt64](repeating: 0, count: (count + 63) / 64) }

  var isEmpty: Bool { count == 0 }

  func contains(_ place: Int) -> Bool { words[place / 64] >> UInt64(place % 64) & 1 != 0 }

  mutating func insert(_ place: Int) {
    if !contains(place) { count += 1 }
    words[place / 64] |= 1 << UInt64(place % 64)
  }

  mutating func remove(_ place: Int) {
    if contains(place) { count -= 1 }
    words[place / 64] &= ~(1 << UInt64(place % 64))
  }
}
