/// Finds the first row of each group of rows with the same values.
///
/// The values that are found are kept as long as there is memory for them. Rows with other values wait until all rows
/// have been read; none of the waiting rows has a value that was kept. They are then read again class by class. A hash
/// of its values gives the class of a row.
struct DistinctRows {
  private let columns: [SortPath]
  private let clusters: Ref
  private let memory: SortMemory
  private let bounds: QueryBounds

  init(_ columns: [SortPath], in clusters: Ref, _ memory: SortMemory, within bounds: QueryBounds) {
    (self.columns, self.clusters) = (columns, clusters)
    (self.memory, self.bounds) = (memory, bounds)
  }

  /// The number of rows that are read at a time.
  private static let chunk = 1 << 14

  /// A walk over the waiting rows that handles only the rows of one class.
  private struct Round {
    let seed = UInt64.random(in: .min ... .max)
    let classes: UInt64
    var place: UInt64 = 0

    @inline(__always)
    func has(_ entry: [UInt8]) -> Bool {
      classes == 1 || ByteHash.of(entry.span.bytes, seed: seed) >> 32 % classes == place
    }
  }

  /// The rows that come first among rows with equal values, in the order in which the rows are given.
  func found(among rows: consuming [UInt64], _ reader: any NodeReader) throws(StorageError) -> [UInt64] {
    var isFound = PlaceSet(count: rows.count)
    var isWaiting = PlaceSet(count: rows.count)
    for place in rows.indices { isWaiting.insert(place) }
    var round = Round(classes: 1)
    // All walks use one set, because memory that is returned to the allocator may lie between blocks that are in use.
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
        // The number of classes is chosen as if all waiting rows had different values that take 24 bytes each, about
        // the entry of one number.
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

  /// Calls `body` with an entry of bytes for each row. The entries of two rows are the same if the values of the rows
  /// are.
  private func forEachEntry(
    of keys: [UInt64], _ reader: any NodeReader, _ body: (_ index: Int, [UInt8]) -> Void
  ) throws(StorageError) {
    var check = BoundsCheck(bounds)
    var numbers = NumberBuffer()
    // The sort numbers of all columns for the first row, then those for the second row, and so on.
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
          // Here a value that is not reached, because a link on the path is null, counts as null.
          let number = numbers[index] == SortColumn.unreached ? SortColumn.null : numbers[index]
          tuples[index * columns.count + place] = number
          if !column.isExact(number) { isExact[index] = false }
        }
      }
      for (index, row) in rows.enumerated() {
        entry.removeAll(keepingCapacity: true)
        // Entries of sort numbers and entries of whole values differ in the first byte.
        entry.append(isExact[index] ? 1 : 0)
        if isExact[index] {
          for place in 0..<columns.count { entry.append(number: tuples[index * columns.count + place]) }
        } else {
          // The sort numbers of this row do not tell its values exactly, so the entry has the whole values. They never
          // equal values that sort numbers tell exactly.
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

/// A set of places, with a bit for each place.
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
