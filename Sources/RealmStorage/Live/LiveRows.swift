/// The rows that a plan finds, kept up to date from one version of the file to the next.
///
/// Where a change concerns few rows, these are asked again whether they belong to the plan, in both versions, and stand where a search finds their place.
/// Where it concerns more than a sixteenth of the table, or the plan takes steps whose result hangs on all rows, the plan is run anew. It belongs to one
/// thread at a time.
package final class LiveRows {
  private let plan: RowPlan
  private let inner: LiveRows?
  private let reads: PlanReads
  package private(set) var order: RowOrder

  /// - Parameter inner: takes the place of the plan's source.
  package init(_ plan: RowPlan, of inner: LiveRows? = nil, in version: Snapshot) throws(StorageError) {
    self.plan = plan
    self.inner = inner
    reads = PlanReads(plan, try version.schemas())
    self.version = version.version
    order = RowOrder()
    order = RowOrder(try rows(in: version))
  }

  /// The tables whose changes concern it; nil for all there are.
  package var tables: Set<UInt32>? {
    guard var tables = reads.tables else { return nil }
    tables.insert(plan.table)
    switch plan.source {
    case .collection(let table, _, _), .backlinks(let table, _, _): tables.insert(table)
    case .table, .rows: break
    }
    guard let inner else { return tables }
    return inner.tables.map { $0.union(tables) }
  }

  private func rows(in version: Snapshot) throws(StorageError) -> [UInt64] {
    var plan = plan
    if let inner { plan.source = .rows(inner.order.rows) }
    return try RowSearch(plan, in: try version.table(ofID: plan.table)).rows()
  }

  /// Moves on. Where that fails it stays what it was.
  package func update(_ step: VersionStep) throws(StorageError) {
    // Several may share it.
    if lastStep === step { return }
    try follow(step)
    lastStep = step
    version = step.new.version
  }

  private weak var lastStep: VersionStep?
  /// The number of the version whose rows it has.
  package private(set) var version: UInt64

  private func follow(_ step: VersionStep) throws(StorageError) {
    let innerOrder = inner?.order
    try inner?.update(step)
    if let innerOrder, let inner, inner.order != innerOrder { return try run(in: step.new) }
    if try isSourceConcerned(step) { return try run(in: step.new) }
    if try reads.concernsAny(step) { return try run(in: step.new) }
    let changes = try step.changes(of: plan.table)
    let table = try step.new.table(ofID: plan.table)
    let most = table.count / Self.share
    if changes.modifications.count > most, plan.source == .table,
      reads.levels.contains(where: { level in
        level.links.isEmpty
          && changes.modifications.prefix(most).contains { !level.columns.isDisjoint(with: $0.columns) }
      })
    {
      // Most likely more than are looked at one by one, and all at once is right in any case.
      return try run(in: step.new)
    }
    var reach = LinkReach(step.new, try step.schemas())
    var touched = try reads.touched(step, &reach)
    touched.subtract(changes.insertions)
    touched.subtract(changes.deletions)
    let concerned = changes.deletions.count + changes.insertions.count + touched.count
    if concerned == 0 { return }
    guard inner == nil, plan.source == .table, isFew(concerned, of: table.count) else {
      return try run(in: step.new)
    }
    switch plan.steps.first {
    case nil: try updateByKey(changes, touched, table)
    case .sort(let keys) where plan.steps.count == 1:
      try updateSorted(changes, touched, try step.old.table(ofID: plan.table), table, keys)
    default: try run(in: step.new)
    }
  }

  /// A change that concerns more than this part of the rows is found by running the plan.
  private static let share = 16

  /// Whether to look at each of so many rows takes less than to run the plan. Each is looked for in a sort with as many reads as there are halves of halves.
  private func isFew(_ rows: Int, of all: Int) -> Bool {
    if plan.steps.isEmpty { return rows <= all / Self.share }
    let reads = 2 * (Int.bitWidth - all.leadingZeroBitCount)
    return rows * reads <= max(all / Self.share, Self.fewReads)
  }

  private static let fewReads = 4_096

  private func isSourceConcerned(_ step: VersionStep) throws(StorageError) -> Bool {
    switch plan.source {
    case .table, .rows: return false
    case .collection(let table, let column, let row):
      let changes = try step.changes(of: table)
      if changes.hasDeleted(row) || changes.hasInserted(row) { return true }
      let schema = try step.schemas().first { $0.id == table }
      let position = schema?.columns.firstIndex { $0.id == column }
      guard let change = changes.modification(of: row) else { return false }
      return position.map { change.columns.contains($0) } ?? true
    case .backlinks(_, _, let column):
      let changes = try step.changes(of: plan.table)
      if !changes.deletions.isEmpty || !changes.insertions.isEmpty { return true }
      let schema = try step.schemas().first { $0.id == plan.table }
      let position = schema?.columns.firstIndex { $0.id == column }
      return changes.modifications.contains { position.map($0.columns.contains) ?? true }
    }
  }

  private func run(in version: Snapshot) throws(StorageError) {
    let rows = try rows(in: version)
    // To look for chunks that stay takes as long as the search did, where hardly one does.
    order = rows.count > Self.mostReplaced ? RowOrder(rows) : order.replaced(by: rows)
  }

  private static let mostReplaced = 100_000

  /// The positions of some rows in the order, growing; all positions of a row that stands there several times.
  ///
  /// - Parameter version: the one that it was brought to last.
  package func positions(of rows: RowSet, in version: Snapshot) throws(StorageError) -> [Int] {
    guard inner == nil, plan.source == .table else { return rows.positions(in: order.chunks) }
    if plan.steps.isEmpty { return order.positions(ofAscending: rows.sorted) }
    // To look at a place takes a nanosecond, and to search for a row a hundred.
    if isFew(rows.count, of: order.count), plan.steps.count == 1, case .sort(let keys) = plan.steps[0] {
      let table = try version.table(ofID: plan.table)
      let places = try RowPlaces(keys, table)
      var found: [Int] = []
      for row in try table.rows(rows.sorted, where: plan.predicate) {
        let position = try places.position(of: row, in: order)
        if position < order.count, order[position] == row { found.append(position) }
      }
      return found.sorted()
    }
    return rows.positions(in: order.chunks)
  }

  // MARK: - From what changed

  private func updateByKey(
    _ changes: TableChanges, _ touched: Set<UInt64>, _ table: Table
  ) throws(StorageError) {
    let asked = (changes.insertions + touched).sorted()
    let passing = try table.rows(asked, where: plan.predicate)
    let passingSet = Set(passing)
    let gone = changes.deletions + touched.filter { !passingSet.contains($0) }
    var removals: [Int] = []
    for row in gone.sorted() where order.contains(ascending: row) {
      removals.append(order.position(ofRowFrom: row))
    }
    var insertions: [RowOrder.Insertion] = []
    for row in passing where !order.contains(ascending: row) {
      insertions.append(.init(at: order.position(ofRowFrom: row), row))
    }
    order = order.edited(removing: removals, inserting: insertions)
  }

  private func updateSorted(
    _ changes: TableChanges, _ touched: Set<UInt64>, _ old: Table, _ new: Table, _ keys: [SortKey]
  ) throws(StorageError) {
    let before = try RowPlaces(keys, old)
    var removals: [Int] = []
    for row in try old.rows((changes.deletions + touched).sorted(), where: plan.predicate) {
      let position = try before.position(of: row, in: order)
      // Each order that was made by this sort has the row there.
      guard position < order.count, order[position] == row else { return try run(in: new) }
      removals.append(position)
    }
    let rest = order.edited(removing: removals.sorted(), inserting: [])
    let passing = try new.rows((changes.insertions + touched).sorted(), where: plan.predicate)
    let after = try RowPlaces(keys, new)
    var insertions: [RowOrder.Insertion] = []
    for row in try new.sorted(passing, by: keys) {
      let position = try after.position(of: row, in: rest)
      guard position >= insertions.last?.position ?? 0 else { return try run(in: new) }
      insertions.append(.init(at: position, row))
    }
    order = rest.edited(removing: [], inserting: insertions)
  }

  private func run(in table: Table) throws(StorageError) {
    order = order.replaced(by: try RowSearch(plan, in: table).rows())
  }
}

/// Finds the places of rows in an order that a sort of a whole table made.
private struct RowPlaces {
  private let values: RowValues
  private let reader: any NodeReader

  init(_ keys: [SortKey], _ table: Table) throws(StorageError) {
    let form = table.form
    let paths = try keys.map { (key) throws(StorageError) in try SortPath(key, of: form, table.tables) }
    values = RowValues(columns: paths, clusters: table.clusters)
    reader = table.reader
  }

  private func tuple(_ row: UInt64) throws(StorageError) -> RowValues.Tuple {
    try values.read([row], reader, within: QueryBounds())[0]
  }

  /// The first position of a row that does not come before `row`; rows with equal values are in the order they were made.
  func position(of row: UInt64, in order: RowOrder) throws(StorageError) -> Int {
    let tuple = try tuple(row)
    return try order.firstPosition { (other) throws(StorageError) in
      let found = values.order(try self.tuple(other), tuple)
      return found > 0 || found == 0 && other >= row
    }
  }
}

extension RowOrder {
  /// Other rows; chunks that stand among them whole are kept.
  package func replaced(by rows: [UInt64]) -> RowOrder {
    if rows.count == count, rows == self.rows { return self }
    // One chunk is kept of those that begin with the same row.
    var first = Dictionary<UInt64, Int>(minimumCapacity: chunks.count)
    for (index, chunk) in chunks.enumerated() where first[chunk.rows[0]] == nil {
      first[chunk.rows[0]] = index
    }
    var made: [Chunk] = []
    var (start, position) = (0, 0)
    while position < rows.count {
      if let index = first[rows[position]] {
        let chunk = chunks[index]
        let end = position + chunk.rows.count
        if end <= rows.count, rows[position..<end].elementsEqual(chunk.rows) {
          Self.add(rows[start..<position], to: &made)
          made.append(chunk)
          (start, position) = (end, end)
          first[chunk.rows[0]] = nil
          continue
        }
      }
      position += 1
    }
    Self.add(rows[start...], to: &made)
    return RowOrder(made)
  }
}
