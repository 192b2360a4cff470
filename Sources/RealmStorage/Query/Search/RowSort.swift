/// Sorts rows by numbers that stand for their values, column by column: those that one number does not part are sorted by
/// the next, which of a long text stands for the bytes behind the first.
struct RowSort {
  private let columns: [SortPath]
  private let clusters: Ref
  /// So many rows the table says to have.
  private let count: UInt64
  private var rows = PlacedRows.list([])

  /// - Precondition: there are no lists on the paths.
  init(
    _ sortKeys: [SortKey], of table: TableForm, _ tables: any TableFinder
  ) throws(StorageError) {
    columns = try sortKeys.map { (key) throws(StorageError) in try SortPath(key, of: table, tables) }
    clusters = table.root.clusters
    count = table.root.rows
  }

  /// Takes the rows that are there.
  ///
  /// - Parameter given: nil for all rows.
  mutating func read(_ given: [UInt64]?, _ reader: any NodeReader) throws(StorageError) {
    guard let given else {
      rows = try PlacedRows(in: clusters, expected: count, reader)
      return
    }
    var found: [UInt64] = []
    found.reserveCapacity(given.count)
    try ClusterWalk.forEachRow(of: given, in: clusters, reader) { row, cluster, _ in
      found.append(cluster.key(row))
    }
    rows = .list(found)
  }

  // MARK: - Sorting

  /// Rows that stand together and are not parted yet: next by a column, and by which of its numbers.
  private struct Run {
    var range: Range<Int>
    var number: Number
  }

  /// Which of a column's numbers.
  private struct Number: Hashable {
    var column: Int
    var depth: Int
    /// The short ones, each behind the number of the column before.
    var isPaired = false
  }

  /// Texts that have more bytes in common are compared whole.
  private static let maximumDepth = 8

  /// The rows in order; there are none left then.
  mutating func takeSorted(_ reader: any NodeReader) throws(StorageError) -> [UInt64] {
    defer { rows = .list([]) }
    guard !columns.isEmpty, rows.count > 0 else { return rows.all }
    var numbers = NumberSort(count: rows.count)
    var runs = try loadFirst(&numbers, reader)
    while true {
      var next: [Run] = []
      for run in runs {
        numbers.sort(run.range)
        try split(run, &numbers, into: &next, reader)
      }
      guard !next.isEmpty else { break }
      runs = next
      try load(runs, &numbers, reader)
    }
    switch rows {
    case .run(let keys): return numbers.places(from: keys.lowerBound)
    case .list(var keys):
      rows = .list([])
      numbers.arrange(&keys)
      return keys
    }
  }

  /// Fills in the numbers of the first column, and of the second one behind them where those tell few values apart: then
  /// nearly all rows would be sorted by the second as well, which is read in their order here.
  private func loadFirst(
    _ numbers: inout NumberSort, _ reader: any NodeReader
  ) throws(StorageError) -> [Run] {
    guard !isWorthDealing else { return try dealFirst(&numbers, reader) }
    let first = Number(column: 0, depth: 0)
    var (least, greatest) = (UInt128.max, UInt128(0))
    try forEach(first, of: rows.all, reader) { places, found in
      numbers.put(found, places: places)
      for index in 0..<found.count {
        least = min(least, found[index])
        greatest = max(greatest, found[index])
      }
    }
    let width = 128 - (greatest &- least).leadingZeroBitCount
    guard columns[0].sort.isAlwaysExact, canPair(width) else {
      return [Run(range: 0..<rows.count, number: first)]
    }
    let room = UInt128(128 - width)
    try forEach(Number(column: 1, depth: 0), of: rows.all, isShort: true, reader) { places, found in
      for (index, place) in places.enumerated() {
        numbers.setNumber(place, (numbers.number(place) &- least) &<< room | found[index])
      }
    }
    return [Run(range: 0..<rows.count, number: Self.paired)]
  }

  /// The same of many rows: those whose first numbers begin alike are put together when they are read, each such run to be
  /// sorted by itself, in a cache and with little memory beside.
  private func dealFirst(
    _ numbers: inout NumberSort, _ reader: any NodeReader
  ) throws(StorageError) -> [Run] {
    let first = Number(column: 0, depth: 0)
    let (least, greatest) = try bounds(reader)
    let width = 128 - (greatest &- least).leadingZeroBitCount
    var deal = NumberDeal(least: least, width: width)
    try forEachFirst(reader) { _, found in deal.expect(found) }
    deal.begin()
    let isPaired = canPair(width)
    if isPaired {
      let room = UInt128(128 - width)
      try forEachPair(reader) { places, ones, twos in
        numbers.put(ones, twos, least: least, room: room, places: places, by: &deal)
      }
    } else {
      try forEachFirst(reader) { places, found in numbers.put(found, places: places, by: &deal) }
    }
    return deal.ranges.map { Run(range: $0, number: isPaired ? Self.paired : first) }
  }

  private static let paired = Number(column: 1, depth: 0, isPaired: true)

  /// The first column is read more than once then: of fewer rows, of few of each cluster, and by way of links that takes longer.
  private var isWorthDealing: Bool {
    rows.count >= 1 << 12 && UInt64(rows.count) >= count / 8 && columns[0].sort.isAlwaysExact
      && columns[0].path.steps.isEmpty
  }

  /// No number of the first column is less or greater: of all rows of the clusters where these tell it.
  private func bounds(_ reader: any NodeReader) throws(StorageError) -> (least: UInt128, greatest: UInt128) {
    let first = columns[0]
    var (least, greatest) = (UInt128.max, UInt128(0))
    var found = NumberBuffer()
    try ClusterWalk.forEachLongStretch(of: rows, in: clusters, reader) {
      (stretch, cluster, access) throws(StorageError) in
      if let bounds = first.bounds(of: cluster) {
        least = min(least, bounds.lowerBound)
        greatest = max(greatest, bounds.upperBound)
        return
      }
      try first.read(0, stretch, of: cluster, access, into: &found)
      for index in 0..<found.count {
        least = min(least, found[index])
        greatest = max(greatest, found[index])
      }
    }
    return (least, greatest)
  }

  /// Whether the second column's short numbers have room behind the first's, which differ in `width` bits, and most rows share
  /// theirs.
  private func canPair(_ width: Int) -> Bool {
    guard columns.count > 1, let bits = columns[1].shortBits else { return false }
    return width + bits <= 128 && width < 32 && rows.count >> 2 >= 1 << width
  }

  /// Calls `body` with the places of rows that stand together, and the numbers of their first values.
  private func forEachFirst(
    _ reader: any NodeReader, _ body: (_ places: Range<Int>, borrowing NumberBuffer) -> Void
  ) throws(StorageError) {
    let first = columns[0]
    var found = NumberBuffer()
    var place = 0
    try ClusterWalk.forEachLongStretch(of: rows, in: clusters, reader) {
      (stretch, cluster, access) throws(StorageError) in
      let places = place..<place + stretch.count
      // A forged tree may name one row twice.
      guard places.upperBound <= rows.count else { throw access.corrupted(.keyOrder, clusters) }
      place = places.upperBound
      try first.read(0, stretch, of: cluster, access, into: &found)
      body(places, found)
    }
    try checkFound(place, of: rows.count, reader)
  }

  /// The same with the short numbers of their second values.
  private func forEachPair(
    _ reader: any NodeReader,
    _ body: (_ places: Range<Int>, _ ones: borrowing NumberBuffer, _ twos: borrowing NumberBuffer) -> Void
  ) throws(StorageError) {
    let (first, second) = (columns[0], columns[1])
    var ones = NumberBuffer()
    var twos = NumberBuffer()
    var place = 0
    try ClusterWalk.forEachLongStretch(of: rows, in: clusters, reader) {
      (stretch, cluster, access) throws(StorageError) in
      let places = place..<place + stretch.count
      // A forged tree may name one row twice.
      guard places.upperBound <= rows.count else { throw access.corrupted(.keyOrder, clusters) }
      place = places.upperBound
      try first.read(0, stretch, of: cluster, access, into: &ones)
      try second.read(0, stretch, of: cluster, access, into: &twos)
      second.shorten(&twos)
      body(places, ones, twos)
    }
    try checkFound(place, of: rows.count, reader)
  }

  /// Fills in the numbers of all runs.
  private func load(_ runs: [Run], _ numbers: inout NumberSort, _ reader: any NodeReader)
    throws(StorageError)
  {
    for number in Set(runs.map(\.number)) {
      let ranges = runs.filter { $0.number == number }.map(\.range)
      if ranges.reduce(0, { $0 + $1.count }) > rows.count / 4 {
        try loadInRowOrder(number, of: ranges, &numbers, reader)
      } else {
        let indices = ranges.joined().sorted { numbers.place($0) < numbers.place($1) }
        let some = indices.map { rows[numbers.place($0)] }
        try forEach(number, of: some, reader) { places, found in
          for (index, place) in places.enumerated() { numbers.setNumber(indices[place], found[index]) }
        }
      }
    }
  }

  /// Of all rows: in their order they take less time than a part of them would to be put into it.
  private func loadInRowOrder(
    _ number: Number, of ranges: [Range<Int>], _ numbers: inout NumberSort, _ reader: any NodeReader
  ) throws(StorageError) {
    // One more than where each is.
    let indices = LargeArray<Int>(count: rows.count)
    for index in ranges.joined() { indices[numbers.place(index)] = index + 1 }
    try forEach(number, of: rows.all, reader) { places, found in
      for (index, place) in places.enumerated() where indices[place] > 0 {
        numbers.setNumber(indices[place] - 1, found[index])
      }
    }
  }

  /// Calls `body` with the places of rows that stand together, and the numbers of their values, or the short ones.
  private func forEach(
    _ number: Number, of rows: [UInt64], isShort: Bool = false, _ reader: any NodeReader,
    _ body: (_ places: Range<Int>, borrowing NumberBuffer) -> Void
  ) throws(StorageError) {
    let column = columns[number.column]
    var found = NumberBuffer()
    var place = 0
    try ClusterWalk.forEachStretch(of: rows, in: clusters, reader) {
      (stretch, cluster, access) throws(StorageError) in
      let places = place..<place + stretch.count
      guard places.upperBound <= rows.count else { throw access.corrupted(.keyOrder, clusters) }
      place = places.upperBound
      try column.read(number.depth, stretch, of: cluster, access, into: &found)
      if isShort { column.shorten(&found) }
      body(places, found)
    }
    try checkFound(place, of: rows.count, reader)
  }

  /// The rows were found in the clusters before; only in a forged tree is one of them not where its key leads to.
  private func checkFound(_ found: Int, of count: Int, _ reader: any NodeReader) throws(StorageError) {
    guard found == count else { throw reader.access().corrupted(.keyOrder, clusters) }
  }

  /// What a sorted run leaves to be sorted.
  private func split(
    _ run: Run, _ numbers: inout NumberSort, into next: inout [Run], _ reader: any NodeReader
  ) throws(StorageError) {
    let (column, depth, isPaired) = (run.number.column, run.number.depth, run.number.isPaired)
    let key = columns[column]
    var start = run.range.lowerBound
    while start < run.range.upperBound {
      let number = numbers.number(start)
      var end = start + 1
      while end < run.range.upperBound, numbers.number(end) == number { end += 1 }
      if end - start > 1 {
        let isSettled = key.isExact(number)
        if !isSettled, isPaired {
          next.append(Run(range: start..<end, number: Number(column: column, depth: 0)))
        } else if !isSettled, depth == Self.maximumDepth || !key.sort.isText {
          try settle(start..<end, &numbers, from: column, reader)
        } else if !isSettled {
          next.append(Run(range: start..<end, number: Number(column: column, depth: depth + 1)))
        } else if column + 1 < columns.count {
          next.append(Run(range: start..<end, number: Number(column: column + 1, depth: 0)))
        }
      }
      start = end
    }
  }

  /// Sorts a run by the values of a column and those after it.
  private func settle(
    _ range: Range<Int>, _ numbers: inout NumberSort, from first: Int, _ reader: any NodeReader
  ) throws(StorageError) {
    let places = range.map { numbers.place($0) }
    let tuples = try values(places, from: first, reader)
    let order = places.indices.sorted { left, right in
      for column in first..<columns.count {
        let order = Self.order(tuples[left][column - first], tuples[right][column - first])
        if order != 0 { return columns[column].ascending ? order < 0 : order > 0 }
      }
      return places[left] < places[right]
    }
    for (index, sorted) in zip(range, order) { numbers.setPlace(index, places[sorted]) }
  }

  /// What is not reached comes after all values.
  private static func order(_ left: Value?, _ right: Value?) -> Int {
    if let left, let right { return ValueOrder.sort(left, right) }
    return (left == nil ? 1 : 0) - (right == nil ? 1 : 0)
  }

  /// Nil for what is not reached.
  private func values(
    _ places: [Int], from first: Int, _ reader: any NodeReader
  ) throws(StorageError) -> [[Value?]] {
    var tuples: [[Value?]] = []
    try ClusterWalk.forEachRow(of: places.map { rows[$0] }, in: clusters, reader) {
      (row, cluster, access) throws(StorageError) in
      var tuple: [Value?] = []
      for column in columns[first...] { tuple.append(try column.path.value(row, of: cluster, access)) }
      tuples.append(tuple)
    }
    try checkFound(tuples.count, of: places.count, reader)
    return tuples
  }

  // MARK: - Distinct

  /// What is not reached is null here.
  private static func reached(_ number: UInt128) -> UInt128 {
    number == SortColumn.unreached ? SortColumn.null : number
  }

  /// Of rows with the same values the first.
  func distinct(_ reader: any NodeReader) throws(StorageError) -> [UInt64] {
    if columns.isEmpty { return rows.count > 0 ? [rows[0]] : [] }
    let columns = columns
    var found: [UInt64] = []
    var (seenOne, seen, seenValues): (Set<UInt128>, Set<[UInt128]>, Set<[Value]>) = ([], [], [])
    try ClusterWalk.forEachRow(of: rows.all, in: clusters, reader) {
      (row, cluster, access) throws(StorageError) in
      if columns.count == 1 {
        let number = Self.reached(try columns[0].number(0, row, of: cluster, access))
        if columns[0].isExact(number) {
          if seenOne.insert(number).inserted { found.append(cluster.key(row)) }
          return
        }
      }
      var (tuple, isExact): ([UInt128], Bool) = ([], true)
      for column in columns {
        tuple.append(Self.reached(try column.number(0, row, of: cluster, access)))
        isExact = isExact && column.isExact(tuple[tuple.count - 1])
      }
      if isExact {
        if seen.insert(tuple).inserted { found.append(cluster.key(row)) }
        return
      }
      // What the first bytes do not tell: whole values, which never equal those that they do tell.
      var values: [Value] = []
      for column in columns {
        let value = try column.path.value(row, of: cluster, access) ?? .null
        values.append(ValueOrder.canonical(value, of: column.path.column))
      }
      if seenValues.insert(values).inserted { found.append(cluster.key(row)) }
    }
    return found
  }
}
