import RealmStorage

/// The rows that a collection of objects shows, in a form that the hub can follow.
indirect enum ObservedRows {
  /// All objects of a table.
  case all(table: UInt32)
  case plan(RowPlan, of: ObservedRows?)

  var table: UInt32 {
    switch self {
    case .all(let table): table
    case .plan(let plan, _): plan.table
    }
  }

  /// The rows in a version. Rows that other observers watch as well are found once.
  func live(in version: Snapshot, _ pool: LivePool) throws(StorageError) -> LiveRows {
    if case .plan(let plan, nil) = self {
      if let known = pool.find(plan, in: version.version) { return known }
      let made = try LiveRows(plan, in: version)
      pool.keep(made, plan)
      return made
    }
    return try own(in: version)
  }

  private func own(in version: Snapshot) throws(StorageError) -> LiveRows {
    switch self {
    case .all(let table): return try LiveRows(RowPlan(table: table), in: version)
    case .plan(let plan, let inner):
      var below: LiveRows?
      if let inner { below = try inner.own(in: version) }
      return try LiveRows(plan, of: below, in: version)
    }
  }
}

/// The plans that are watched in one version. Observers of the same plan share its rows.
final class LivePool {
  private struct Known {
    weak var rows: LiveRows?
    /// The number of observers that share the rows and keep them up to date.
    var followers: Int
  }
  private var known: [RowPlan: Known] = [:]
  /// The number of plans that were in use when unused plans were last forgotten.
  private var used = 16
  /// The last version that changed a table, by the id of the table.
  private var lastChanges: [UInt32: UInt64] = [:]

  /// The rows of a plan, if they are known and nothing that concerns them has changed up to a version.
  func find(_ plan: RowPlan, in version: UInt64) -> LiveRows? {
    guard let found = known[plan], let rows = found.rows else { return nil }
    if rows.version != version {
      guard rows.version < version, let tables = rows.tables,
        tables.allSatisfy({ lastChanges[$0] ?? 0 <= rows.version })
      else { return nil }
    }
    known[plan]?.followers += 1
    return rows
  }

  /// Removes an observer from the followers of the rows of a plan. If it was the last one, the rows are forgotten.
  func forget(_ rows: LiveRows, of plan: RowPlan) {
    guard let found = known[plan], found.rows === rows else { return }
    known[plan] = found.followers > 1 ? Known(rows: rows, followers: found.followers - 1) : nil
  }

  /// Notes which tables a version changed; nil if that is not known.
  func note(_ changed: Set<UInt32>?, _ version: UInt64) {
    guard let changed else { return known = [:] }
    for table in changed { lastChanges[table] = version }
  }

  func keep(_ rows: LiveRows, _ plan: RowPlan) {
    if known.count >= 2 * used {
      known = known.filter { $0.value.rows != nil }
      used = max(known.count, 16)
    }
    known[plan] = Known(rows: rows, followers: 1)
  }
}

/// Observes a collection of objects.
final class RowsObservation: Observation, @unchecked Sendable {
  private let rows: ObservedRows
  private let paths: ObservedPaths
  private let tell: (Told<ElementsChange>) -> Void
  private let passed: (() -> Void)?
  override var didPass: (() -> Void)? { passed }
  /// The rows that are followed; nil for all objects of a table, whose order is that of their keys.
  private var live: LiveRows?
  /// The order that the observer was told last.
  private var told = RowOrder()
  /// Modified objects that could only be found while both versions existed.
  private var modifiedBefore: Set<UInt64> = []
  /// Whether the audience knows that this observer has followed a step.
  var hasFollowed = false

  init(
    _ session: RealmSession, _ rows: ObservedRows, _ paths: ObservedPaths,
    passed: (() -> Void)? = nil, _ tell: @escaping (Told<ElementsChange>) -> Void
  ) {
    (self.rows, self.paths, self.passed, self.tell) = (rows, paths, passed, tell)
    super.init(session)
  }

  /// The plan that the observer watches, and its rows; nil if it watches all objects of a class, or rows of another collection.
  var watched: (RowPlan, RowOrder)? {
    guard case .plan(let plan, nil) = rows, let live else { return nil }
    return (plan, live.order)
  }

  /// Stops following the rows.
  func leave(_ pool: LivePool) {
    if case .plan(let plan, nil) = rows, let live { pool.forget(live, of: plan) }
  }

  private var isWhole: Bool { if case .all = rows { true } else { false } }

  override var table: UInt32? { rows.table }
  override var tables: Set<UInt32>? {
    guard var tables = paths.tables else { return nil }
    tables.insert(rows.table)
    guard let live else { return tables }
    return live.tables.map { $0.union(tables) }
  }

  override func begin(in version: Snapshot, _ pool: LivePool) throws(StorageError) {
    if !isWhole { live = try rows.live(in: version, pool) }
  }

  override func update(_ step: VersionStep) throws(StorageError) {
    try live?.update(step)
    guard paths.goesUp else { return }
    var changes: [UInt32: TableChanges] = [:]
    for table in paths.tables ?? [] { changes[table] = try step.changes(of: table) }
    let both = try ChangesToTell(changes, in: step.new, [rows.table])
    modifiedBefore.formUnion(try paths.modified(both, old: step.old).sorted)
  }

  override func first() -> (() -> Void)? {
    settle()
    return { [tell] in tell(.initial) }
  }

  override func failed(_ error: any Error) -> (() -> Void)? { { [tell] in tell(.error(error)) } }

  override func restoring() -> () -> Void {
    let (told, modified) = (told, modifiedBefore)
    return { (self.told, self.modifiedBefore) = (told, modified) }
  }

  private func settle() {
    if let live { told = live.order }
    modifiedBefore = []
  }

  override func call(_ changes: ChangesToTell) throws(StorageError) -> (() -> Void)? {
    let modified = paths.goesUp ? RowSet(modifiedBefore) : try paths.modified(changes)
    let change: ElementsChange
    if let live {
      change = try self.change(live, modified, changes)
    } else {
      change = try wholeChange(changes, modified)
    }
    settle()
    return change.isEmpty ? nil : { [tell] in tell(.update(change)) }
  }

  override func prepare(_ changes: ChangesToTell) throws(StorageError) {
    // Observers share only the positions of rows that are modified within the default depth.
    guard paths.isDefault, !isNew else { return }
    let modified = try paths.modified(changes)
    if modified.isEmpty { return }
    if let live {
      _ = try changes.positions(of: modified, in: live, isDefault: true)
    } else {
      let table = try changes.version.table(ofID: rows.table)
      _ = try changes.modifiedPositions(modified, of: table, isDefault: true)
    }
  }

  private func change(
    _ live: LiveRows, _ modified: RowSet, _ changes: ChangesToTell
  ) throws(StorageError) -> ElementsChange {
    let moved = told.changes(to: live.order)
    var change = ElementsChange(deletions: moved.deletions, insertions: moved.insertions)
    if !modified.isEmpty {
      let positions = try changes.positions(of: modified, in: live, isDefault: paths.isDefault)
      change.modifications = moved.isEmpty ? positions : positions.compactMap { moved.oldPosition(of: $0) }
    }
    return change
  }

  /// The change of all objects of a class. The index of an object is the number of objects with lesser keys.
  private func wholeChange(
    _ all: ChangesToTell, _ modified: RowSet
  ) throws(StorageError) -> ElementsChange {
    let changes = all.tables[rows.table] ?? TableChanges()
    if changes.deletions.isEmpty, changes.insertions.isEmpty, modified.isEmpty { return ElementsChange() }
    let table = try all.version.table(ofID: rows.table)
    var change = ElementsChange()
    for row in changes.deletions {
      let rank = try table.rank(of: row)
      change.deletions.append(rank + changes.deletions.rank(of: row) - changes.insertions.rank(of: row))
    }
    change.insertions = try table.ranks(of: changes.insertions).compactMap { $0 }
    change.modifications = try all.modifiedPositions(modified, of: table, isDefault: paths.isDefault)
    return change
  }
}

extension ChangesToTell {
  /// The indexes that modified rows of a table had among all of its rows. New rows are left out. With the default
  /// depth, the indexes are found once for all observers of the table.
  fileprivate func modifiedPositions(
    _ modified: RowSet, of table: Table, isDefault: Bool
  ) throws(StorageError) -> [Int] {
    let id = table.schema.id
    if isDefault, let found = tablePlaces[id] { return found }
    let changes = tables[id] ?? TableChanges()
    let rows = modified.sorted
    var found: [Int] = []
    found.reserveCapacity(rows.count)
    for (row, rank) in zip(rows, try table.ranks(of: rows)) {
      guard let rank else { continue }
      if changes.deletions.isEmpty, changes.insertions.isEmpty {
        found.append(rank)
      } else if !changes.hasInserted(row), !changes.hasDeleted(row) {
        found.append(rank + changes.deletions.rank(of: row) - changes.insertions.rank(of: row))
      }
    }
    if isDefault { tablePlaces[id] = found }
    return found
  }
}

extension [UInt64] {
  /// The number of elements that are less than `row`.
  ///
  /// - Precondition: the elements are in ascending order.
  fileprivate func rank(of row: UInt64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < row { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
