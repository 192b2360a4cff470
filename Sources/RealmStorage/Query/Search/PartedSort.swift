/// Sorts more rows than are sorted at once. The numbers of their values split the rows into groups, which are in order
/// among themselves, until each group is small enough.
///
/// The places of the rows stand in one list, which becomes the result. Beside it there is memory for one part.
struct PartedSort: ~Copyable {
  private let columns: [SortPath]
  private let clusters: Ref
  private let memory: SortMemory
  private let bounds: QueryBounds
  private let keys: Keys
  private var places: PlaceList

  /// The row keys that places stand for.
  private enum Keys {
    /// The key of place 0. The keys of the other places follow it without gaps.
    case run(from: UInt64)
    /// Each place is itself the key.
    case places
    case list([UInt64])
  }

  /// Rows next to each other that are equal in all columns before `column` and in the first `depth` numbers of that
  /// column.
  private struct Part {
    var range: Range<Int>
    var column: Int
    var depth: Int
    /// Whether the column's numbers do not tell the rows apart, so that their whole values have to.
    var isByValue = false
  }

  /// Takes the rows and leaves `rows` empty.
  init(
    _ columns: [SortPath], in clusters: Ref, taking rows: inout PlacedRows, _ memory: SortMemory,
    within bounds: QueryBounds
  ) {
    (self.columns, self.clusters) = (columns, clusters)
    (self.memory, self.bounds) = (memory, bounds)
    let taken = rows
    rows = .list([])
    switch consume taken {
    case .run(let run):
      keys = .run(from: run.lowerBound)
      places = PlaceList(count: run.count)
    case .list(let list) where list.last.map { $0 < PlaceList.end } ?? true && list.isRising:
      // The keys ascend, so they are in the order that rows with equal values keep. The keys can therefore serve as
      // places.
      keys = .places
      places = PlaceList(list)
    case .list(let list):
      places = PlaceList(count: list.count)
      keys = .list(list)
    }
  }

  consuming func sorted(_ reader: any NodeReader) throws(StorageError) -> [UInt64] {
    var rest = [Part(range: 0..<places.count, column: 0, depth: 0)]
    while let part = rest.popLast() {
      try bounds.check(reader.access())
      // The places are sorted because a part is read in the order of the rows, and because equal rows keep that order.
      places.sort(part.range)
      if part.column == columns.count { continue }
      if part.range.count <= memory.part {
        try sortAtOnce(part, reader)
      } else if part.isByValue {
        try splitByValue(part, into: &rest, reader)
      } else {
        try split(part, into: &rest, reader)
      }
    }
    switch keys {
    case .run(let first): places.replaceEach { first &+ $0 }
    case .places: break
    case .list(let list): places.replaceEach { list[Int($0)] }
    }
    return places.take()
  }

  private func keys(of range: Range<Int>) -> [UInt64] {
    switch keys {
    case .run(let first): places.some(range).map { first &+ $0 }
    case .places: places.some(range)
    case .list(let list): places.some(range).map { list[Int($0)] }
    }
  }

  private mutating func sortAtOnce(_ part: Part, _ reader: any NodeReader) throws(StorageError) {
    var sort = RowSort(
      Array(columns[part.column...]), from: part.depth, of: keys(of: part.range), in: clusters, memory,
      within: bounds)
    places.put(try sort.takeSorted(places.some(part.range), reader), at: part.range.lowerBound)
  }

  // MARK: - Parting

  /// The number of rows that are read at a time.
  private static let chunk = 1 << 16
  /// The number of rows whose numbers are read for each bound, to choose the bounds.
  private static let sample = 16

  private mutating func split(
    _ part: Part, into rest: inout [Part], _ reader: any NodeReader
  ) throws(StorageError) {
    let column = columns[part.column]
    let boundCount = min(NumberGroups.mostBounds, 2 * (part.range.count / memory.part + 1))
    let groups = NumberGroups(
      NumberGroups.evenly(among: try sample(part, Self.sample * boundCount, reader), count: boundCount))
    var counts = [Int](repeating: 0, count: groups.count)
    for start in stride(from: part.range.lowerBound, to: part.range.upperBound, by: Self.chunk) {
      var found: [UInt8] = []
      found.reserveCapacity(Self.chunk)
      let keys = keys(of: start..<min(start + Self.chunk, part.range.upperBound))
      try column.forEachNumber(part.depth, of: keys, in: clusters, reader, within: bounds) { numbers in
        for index in 0..<numbers.count {
          let group = groups.group(of: numbers[index])
          counts[group] += 1
          found.append(UInt8(group))
        }
      }
      places.setGroups(found, from: start)
    }
    places.gather(part.range, counts)
    var start = part.range.lowerBound
    for (group, count) in counts.enumerated() where count > 0 {
      let range = start..<start + count
      start += count
      if count == 1 { continue }
      guard let number = groups.only(group) else {
        rest.append(Part(range: range, column: part.column, depth: part.depth))
        continue
      }
      if column.isExact(number) {
        rest.append(Part(range: range, column: part.column + 1, depth: 0))
      } else if column.sort.isText, part.depth < RowSort.maximumDepth {
        rest.append(Part(range: range, column: part.column, depth: part.depth + 1))
      } else {
        rest.append(Part(range: range, column: part.column, depth: part.depth, isByValue: true))
      }
    }
  }

  /// The numbers of some rows that are spread evenly over a part. The distances between them vary, because values may
  /// repeat at a fixed distance.
  private func sample(
    _ part: Part, _ count: Int, _ reader: any NodeReader
  ) throws(StorageError) -> [UInt128] {
    let distance = part.range.count / count
    var keys: [UInt64] = []
    var random = UInt64(part.range.count)
    for index in 0..<count where distance > 0 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let place = part.range.lowerBound + index * distance + Int(random >> 33) % distance
      keys += self.keys(of: place..<place + 1)
    }
    if distance == 0 { keys = self.keys(of: part.range) }
    var found: [UInt128] = []
    try columns[part.column].forEachNumber(part.depth, of: keys, in: clusters, reader, within: bounds) {
      for index in 0..<$0.count { found.append($0[index]) }
    }
    return found
  }

  private mutating func splitByValue(
    _ part: Part, into rest: inout [Part], _ reader: any NodeReader
  ) throws(StorageError) {
    let values = RowValues(columns: Array(columns[part.column...]), clusters: clusters)
    let groupBounds = try values.groupBounds(of: keys(of: part.range), reader, within: bounds)
    var counts = [Int](repeating: 0, count: 2 * groupBounds.count + 1)
    for start in stride(from: part.range.lowerBound, to: part.range.upperBound, by: Self.chunk) {
      let keys = keys(of: start..<min(start + Self.chunk, part.range.upperBound))
      let groups = try values.groups(of: keys, between: groupBounds, reader, within: bounds)
      for group in groups { counts[Int(group)] += 1 }
      places.setGroups(groups, from: start)
    }
    places.gather(part.range, counts)
    var start = part.range.lowerBound
    for (group, count) in counts.enumerated() where count > 0 {
      let range = start..<start + count
      start += count
      if group % 2 == 1 {
        rest.append(Part(range: range, column: columns.count, depth: 0))
      } else if count < part.range.count {
        rest.append(Part(range: range, column: part.column, depth: part.depth, isByValue: true))
      } else {
        // All rows are in one group: their values have no strict order, as with numbers of several types.
        places.sort(range)
        try sortAtOnce(part, reader)
      }
    }
  }
}

extension SortPath {
  /// Calls `body` with the numbers of rows, a stretch of rows at a time, in the order of `keys`.
  func forEachNumber(
    _ depth: Int, of keys: [UInt64], in clusters: Ref, _ reader: any NodeReader, within bounds: QueryBounds,
    _ body: (borrowing NumberBuffer) -> Void
  ) throws(StorageError) {
    var numbers = NumberBuffer()
    var check = BoundsCheck(bounds)
    var count = 0
    try ClusterWalk.forEachLongStretch(of: .list(keys), in: clusters, reader) {
      (rows, cluster, access) throws(StorageError) in
      try check.next(access)
      try read(depth, rows, of: cluster, access, into: &numbers)
      count += numbers.count
      // A forged tree may name one row twice.
      guard count <= keys.count else { throw access.corrupted(.keyOrder, clusters) }
      body(numbers)
    }
    guard count == keys.count else { throw reader.access().corrupted(.keyOrder, clusters) }
  }
}

extension [UInt64] {
  /// Whether each number is greater than the number before it.
  var isRising: Bool { indices.dropFirst().allSatisfy { self[$0 - 1] < self[$0] } }
}
