/// The rows that a plan finds, kept up to date from one version of the file to the next.
///
/// If a change concerns few rows, only these rows are tested against the predicate, and their positions in the order
/// are found by binary search. Otherwise the plan is run again: if more than a sixteenth of the rows are concerned, or
/// for a plan with a sort, if more than `isFew` allows. It is also run again if its source is not the whole table, or
/// if it has other steps than one sort, because the result of such steps depends on all rows.
///
/// Only one thread at a time may use an instance.
package final class LiveRows {
  private let plan: RowPlan
  private let inner: LiveRows?
  private let reads: PlanReads
  package private(set) var order: RowOrder

  /// Runs the plan in a version.
  ///
  /// - Parameter inner: the live rows that replace the plan's source; nil if the plan takes its rows from its own
  ///   source.
  package init(_ plan: RowPlan, of inner: LiveRows? = nil, in version: Snapshot) throws(StorageError) {
    self.plan = plan
    self.inner = inner
    reads = PlanReads(plan, try version.schemas())
    self.version = version.version
    order = RowOrder()
    order = RowOrder(try rows(in: version))
  }

  /// The ids of the tables whose changes can change these rows or their order; nil for all tables.
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

  /// Brings the rows to the newer version of a step. If it throws, the order and the version stay as they were, but
  /// those of `inner` may be the newer ones already.
  package func update(_ step: VersionStep) throws(StorageError) {
    // Several observers may share these rows, and each of them calls this.
    if lastStep === step { return }
    try follow(step)
    lastStep = step
    version = step.new.version
  }

  private weak var lastStep: VersionStep?
  /// The number of the version to which the rows belong.
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
      // Most likely more rows are concerned than are tested one by one. To run the plan again is correct in any case.
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

  /// If a change concerns more than one row in this number of rows, the plan is run again.
  private static let share = 16

  /// Whether to test `rows` rows one by one takes less time than to run the plan on `all` rows. In a sorted order the
  /// position of a row is found by binary search in the older and in the newer order, with about 2 · log₂(`all`) reads
  /// of rows.
  private func isFew(_ rows: Int, of all: Int) -> Bool {
    if plan.steps.isEmpty { return rows <= all / Self.share }
    let reads = 2 * (Int.bitWidth - all.leadingZeroBitCount)
    return rows * reads <= max(all / Self.share, Self.fewReads)
  }

  /// The number of reads that is accepted for any sorted order, however few rows it has.
  private static let fewReads = 4_096

  /// Whether a step may change the rows of the plan's source, if that is a collection or the links to a row.
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
    // The order shares chunks with the older one only if it is short: if hardly any chunk stays, to look for them takes
    // as long as the search did.
    order = rows.count > Self.mostReplaced ? RowOrder(rows) : order.replaced(by: rows)
  }

  private static let mostReplaced = 100_000

  /// The positions of some rows in the order, in ascending order. If a row stands in the order several times, all of
  /// its positions are found.
  ///
  /// - Parameter version: the version to which the rows were brought last.
  package func positions(of rows: RowSet, in version: Snapshot) throws(StorageError) -> [Int] {
    guard inner == nil, plan.source == .table else { return rows.positions(in: order.chunks) }
    if plan.steps.isEmpty { return order.positions(ofAscending: rows.sorted) }
    // To scan the order takes about a nanosecond for each position, and a binary search takes about a hundred for each
    // row.
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
      // An order that this sort made has the row at this position. If this order does not, the plan is run again.
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

/// Finds the positions of rows in an order that was made by sorting rows of a whole table.
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

  /// The first position whose row does not come before `row` in the order of the sort. Rows with equal values stand in
  /// the order in which they were made.
  func position(of row: UInt64, in order: RowOrder) throws(StorageError) -> Int {
    let tuple = try tuple(row)
    return try order.firstPosition { (other) throws(StorageError) in
      let found = values.order(try self.tuple(other), tuple)
      return found > 0 || found == 0 && other >= row
    }
  }
}

extension RowOrder {
  /// The order of other rows. A chunk of this order is kept if all of its rows stand in `rows`, one after another.
  package func replaced(by rows: [UInt64]) -> RowOrder {
    if rows.count == count, rows == self.rows { return self }
    // Of several chunks that begin with the same row, only the first one can be kept.
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
