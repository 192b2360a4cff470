/// Sorts rows by numbers that stand for their values, column by column. Rows with the same number are sorted by the
/// next number. For a long text the next number stands for the bytes that follow those of the number before it.
struct RowSort {
  private let columns: [SortPath]
  /// The index of the first number of the first column in which the rows may differ.
  private let depth: Int
  private let clusters: Ref
  /// The number of rows that the table states; 0 if the rows are a part of the rows to be sorted.
  private let count: UInt64
  private let memory: SortMemory
  private let bounds: QueryBounds
  private var rows: PlacedRows

  /// Takes the rows that exist.
  ///
  /// - Parameter given: the keys of the rows; nil for all rows. It is nil afterwards.
  /// - Precondition: there are no collections on the paths.
  init(
    _ sortKeys: [SortKey], of table: TableForm, _ tables: any TableFinder, taking given: inout [UInt64]?,
    _ reader: any NodeReader, _ memory: SortMemory, within bounds: QueryBounds
  ) throws(StorageError) {
    columns = try sortKeys.map { (key) throws(StorageError) in try SortPath(key, of: table, tables) }
    depth = 0
    clusters = table.root.clusters
    count = table.root.rows
    (self.memory, self.bounds) = (memory, bounds)
    rows = try PlacedRows(taking: &given, in: clusters, expected: count, reader, within: bounds)
  }

  /// Makes a sort of rows that are equal in all columns before these, and in the first `depth` numbers of the first of
  /// these.
  init(
    _ columns: [SortPath], from depth: Int, of rows: [UInt64], in clusters: Ref, _ memory: SortMemory,
    within bounds: QueryBounds
  ) {
    (self.columns, self.depth, self.clusters) = (columns, depth, clusters)
    (self.memory, self.bounds, count) = (memory, bounds, 0)
    self.rows = .list(rows)
  }

  // MARK: - Sorting

  /// Rows next to each other that are not in order yet, and the number by which they are sorted next.
  private struct Run {
    var range: Range<Int>
    var number: Number
  }

  /// One of the numbers that stand for a value of a column.
  private struct Number: Hashable {
    var column: Int
    var depth: Int
    /// Whether it is the short number, which stands behind the number of the column before.
    var isPaired = false
  }

  /// The greatest depth. Texts that have more bytes in common are compared whole.
  static let maximumDepth = 8

  /// Returns the rows in order, and leaves the sort without rows.
  mutating func takeSorted(_ reader: any NodeReader) throws(StorageError) -> [UInt64] {
    defer { rows = .list([]) }
    guard !columns.isEmpty, rows.count > 0 else { return rows.all }
    guard rows.count <= memory.rows else {
      return try PartedSort(columns, in: clusters, taking: &rows, memory, within: bounds).sorted(reader)
    }
    var numbers = NumberSort(count: rows.count)
    try sort(&numbers, reader)
    switch rows {
    case .run(let keys): return numbers.places(from: keys.lowerBound)
    case .list(var keys):
      rows = .list([])
      numbers.arrange(&keys)
      return keys
    }
  }

  /// Returns the numbers of `standing`, which stand for the rows, in the order of the sorted rows, and leaves the sort
  /// without rows.
  mutating func takeSorted(_ standing: [UInt64], _ reader: any NodeReader) throws(StorageError) -> [UInt64] {
    defer { rows = .list([]) }
    var numbers = NumberSort(count: rows.count)
    try sort(&numbers, reader)
    var standing = standing
    numbers.arrange(&standing)
    return standing
  }

  private func sort(_ numbers: inout NumberSort, _ reader: any NodeReader) throws(StorageError) {
    var runs = try loadFirst(&numbers, reader)
    while true {
      var next: [Run] = []
      try bounds.check(reader.access())
      for run in runs {
        numbers.sort(run.range)
        try split(run, &numbers, into: &next, reader)
      }
      guard !next.isEmpty else { break }
      runs = next
      try load(runs, &numbers, reader)
    }
  }

  /// Fills in the numbers of the first column. If these tell few values apart, it also fills in the short numbers of
  /// the second column behind them. In that case nearly all rows would be sorted by the second column too, which is
  /// read here in the order of the rows.
  private func loadFirst(
    _ numbers: inout NumberSort, _ reader: any NodeReader
  ) throws(StorageError) -> [Run] {
    guard !isWorthDealing else { return try dealFirst(&numbers, reader) }
    let first = Number(column: 0, depth: depth)
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

  /// Fills in the numbers as `loadFirst` does, for many rows. Rows whose first numbers have the same highest bits are
  /// put together when they are read. Each of these runs is then sorted by itself, which fits into a cache and takes
  /// little memory besides.
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

  /// Whether `dealFirst` takes less time. It reads the first column more than once, which takes longer for few rows,
  /// for few rows of each cluster, and for a path with links.
  private var isWorthDealing: Bool {
    rows.count >= 1 << 12 && count > 0 && UInt64(rows.count) >= count / 8 && columns[0].sort.isAlwaysExact
      && columns[0].path.steps.isEmpty
  }

  /// Bounds of the numbers of the first column: no number is less or greater. If a cluster states bounds, they are
  /// those of all of its rows.
  private func bounds(_ reader: any NodeReader) throws(StorageError) -> (least: UInt128, greatest: UInt128) {
    let first = columns[0]
    var (least, greatest) = (UInt128.max, UInt128(0))
    var found = NumberBuffer()
    var check = BoundsCheck(bounds)
    try ClusterWalk.forEachLongStretch(of: rows, in: clusters, reader) {
      (stretch, cluster, access) throws(StorageError) in
      try check.next(access)
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

  /// Whether the second column's short numbers have room behind the numbers of the first column, which differ in
  /// `width` bits, and most rows share their first number with other rows.
  private func canPair(_ width: Int) -> Bool {
    guard columns.count > 1, let bits = columns[1].shortBits else { return false }
    return width + bits <= 128 && width < 32 && rows.count >> 2 >= 1 << width
  }

  /// Calls `body` with the places of rows that stand together, and the numbers of their values in the first column.
  private func forEachFirst(
    _ reader: any NodeReader, _ body: (_ places: Range<Int>, borrowing NumberBuffer) -> Void
  ) throws(StorageError) {
    let first = columns[0]
    var found = NumberBuffer()
    var place = 0
    var check = BoundsCheck(bounds)
    try ClusterWalk.forEachLongStretch(of: rows, in: clusters, reader) {
      (stretch, cluster, access) throws(StorageError) in
      try check.next(access)
      let places = place..<place + stretch.count
      // A forged tree may name one row twice.
      guard places.upperBound <= rows.count else { throw access.corrupted(.keyOrder, clusters) }
      place = places.upperBound
      try first.read(0, stretch, of: cluster, access, into: &found)
      body(places, found)
    }
    try checkFound(place, of: rows.count, reader)
  }

  /// Calls `body` as `forEachFirst` does, and also with the short numbers of the values in the second column.
  private func forEachPair(
    _ reader: any NodeReader,
    _ body: (_ places: Range<Int>, _ ones: borrowing NumberBuffer, _ twos: borrowing NumberBuffer) -> Void
  ) throws(StorageError) {
    let (first, second) = (columns[0], columns[1])
    var ones = NumberBuffer()
    var twos = NumberBuffer()
    var place = 0
    var check = BoundsCheck(bounds)
    try ClusterWalk.forEachLongStretch(of: rows, in: clusters, reader) {
      (stretch, cluster, access) throws(StorageError) in
      try check.next(access)
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

  /// Fills in the numbers of some ranges by reading all rows in their order. That takes less time than sorting the rows
  /// of the ranges into that order.
  private func loadInRowOrder(
    _ number: Number, of ranges: [Range<Int>], _ numbers: inout NumberSort, _ reader: any NodeReader
  ) throws(StorageError) {
    // For each place the index of its number, plus one; 0 if no range has the place.
    let indices = LargeArray<Int>(count: rows.count)
    for index in ranges.joined() { indices[numbers.place(index)] = index + 1 }
    try forEach(number, of: rows.all, reader) { places, found in
      for (index, place) in places.enumerated() where indices[place] > 0 {
        numbers.setNumber(indices[place] - 1, found[index])
      }
    }
  }

  /// Calls `body` with the places of rows that stand together, and the numbers of their values; with the short numbers
  /// if `isShort` is true.
  private func forEach(
    _ number: Number, of rows: [UInt64], isShort: Bool = false, _ reader: any NodeReader,
    _ body: (_ places: Range<Int>, borrowing NumberBuffer) -> Void
  ) throws(StorageError) {
    let column = columns[number.column]
    var found = NumberBuffer()
    var place = 0
    var check = BoundsCheck(bounds)
    try ClusterWalk.forEachStretch(of: rows, in: clusters, reader) {
      (stretch, cluster, access) throws(StorageError) in
      try check.next(access)
      let places = place..<place + stretch.count
      guard places.upperBound <= rows.count else { throw access.corrupted(.keyOrder, clusters) }
      place = places.upperBound
      try column.read(number.depth, stretch, of: cluster, access, into: &found)
      if isShort { column.shorten(&found) }
      body(places, found)
    }
    try checkFound(place, of: rows.count, reader)
  }

  /// Throws if the number of rows that were read is not the expected one. The rows were found in the clusters before,
  /// so only in a forged tree is one of them not where its key leads.
  private func checkFound(_ found: Int, of count: Int, _ reader: any NodeReader) throws(StorageError) {
    guard found == count else { throw reader.access().corrupted(.keyOrder, clusters) }
  }

  /// Adds the parts of a sorted run that are still to be sorted to `next`. Parts that no further number can sort are
  /// sorted by their whole values instead.
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

  /// Sorts a run by the whole values of a column and of the columns after it.
  private func settle(
    _ range: Range<Int>, _ numbers: inout NumberSort, from first: Int, _ reader: any NodeReader
  ) throws(StorageError) {
    let values = RowValues(columns: Array(columns[first...]), clusters: clusters)
    var rest = [(range: range, isWhole: false)]
    while let (range, isWhole) = rest.popLast() {
      let keys = range.map { rows[numbers.place($0)] }
      guard range.count > memory.values, !isWhole else {
        try settle(range, of: keys, &numbers, values, reader)
        continue
      }
      // If there are many rows, only a few of their values are kept, and these split the rows into groups.
      let groupBounds = try values.groupBounds(of: keys, reader, within: bounds)
      let groups = try values.groups(of: keys, between: groupBounds, reader, within: bounds)
      for (index, group) in zip(range, groups) { numbers.setNumber(index, UInt128(group)) }
      numbers.sort(range)
      var start = range.lowerBound
      while start < range.upperBound {
        let group = numbers.number(start)
        var end = start + 1
        while end < range.upperBound, numbers.number(end) == group { end += 1 }
        // Values without a strict order, such as numbers of several types, may all be in one group; then they are
        // sorted whole.
        if group % 2 == 0, end - start > 1 { rest.append((start..<end, end - start == range.count)) }
        start = end
      }
    }
  }

  private func settle(
    _ range: Range<Int>, of keys: [UInt64], _ numbers: inout NumberSort, _ values: RowValues,
    _ reader: any NodeReader
  ) throws(StorageError) {
    let places = range.map { numbers.place($0) }
    let tuples = try values.read(keys, reader, within: bounds)
    let order = places.indices.sorted { left, right in
      let order = values.order(tuples[left], tuples[right])
      return order != 0 ? order < 0 : places[left] < places[right]
    }
    for (index, sorted) in zip(range, order) { numbers.setPlace(index, places[sorted]) }
  }

  // MARK: - Distinct

  /// Returns the first row of each group of rows with the same values, and leaves the sort without rows.
  mutating func takeDistinct(_ reader: any NodeReader) throws(StorageError) -> [UInt64] {
    defer { rows = .list([]) }
    if columns.isEmpty { return rows.count > 0 ? [rows[0]] : [] }
    let distinct = DistinctRows(columns, in: clusters, memory, within: bounds)
    let list = rows.all
    rows = .list([])
    return try distinct.found(among: list, reader)
  }
}
