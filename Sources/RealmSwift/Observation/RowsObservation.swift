import RealmStorage

/// What a collection of objects shows, for a hub.
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

  /// The rows as they are in a version; those that others watch too are found once.
  func live(in version: Snapshot, _ pool: LivePool) throws(StorageError) -> LiveRows {
    if case .plan(let plan, nil) = self {
      if let known = pool.find(plan), known.version == version.version { return known }
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

/// The plans that are watched in one version, for all who watch the same.
final class LivePool {
  private struct Known {
    weak var rows: LiveRows?
  }
  private var known: [RowPlan: Known] = [:]

  func find(_ plan: RowPlan) -> LiveRows? { known[plan]?.rows }

  func keep(_ rows: LiveRows, _ plan: RowPlan) {
    known = known.filter { $0.value.rows != nil }
    known[plan] = Known(rows: rows)
  }
}

/// Observes a collection of objects.
final class RowsObservation: Observation, @unchecked Sendable {
  private let rows: ObservedRows
  private let paths: ObservedPaths
  private let tell: (Told<ElementsChange>) -> Void
  private let passed: (() -> Void)?
  override var didPass: (() -> Void)? { passed }
  /// Nil for all objects of a table, whose order is that of their keys.
  private var live: LiveRows?
  /// The order that it was told last.
  private var told = RowOrder()
  /// Modified objects of which it is known only while both versions are there.
  private var modifiedBefore: Set<UInt64> = []

  init(
    _ session: RealmSession, _ rows: ObservedRows, _ paths: ObservedPaths,
    passed: (() -> Void)? = nil, _ tell: @escaping (Told<ElementsChange>) -> Void
  ) {
    (self.rows, self.paths, self.passed, self.tell) = (rows, paths, passed, tell)
    super.init(session)
  }

  /// What it watches, where that is a plan of its own.
  var watched: (RowPlan, RowOrder)? {
    guard case .plan(let plan, nil) = rows, let live else { return nil }
    return (plan, live.order)
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
      change = try wholeChange(changes.tables[rows.table] ?? TableChanges(), modified, in: changes.version)
    }
    settle()
    return change.isEmpty ? nil : { [tell] in tell(.update(change)) }
  }

  private func change(
    _ live: LiveRows, _ modified: RowSet, _ changes: ChangesToTell
  ) throws(StorageError) -> ElementsChange {
    let moved = told.changes(to: live.order)
    var change = ElementsChange(deletions: moved.deletions, insertions: moved.insertions)
    if !modified.isEmpty {
      change.modifications = try changes.positions(of: modified, in: live, isDefault: paths.isDefault)
        .compactMap {
          moved.oldPosition(of: $0)
        }
    }
    return change
  }

  /// Of a table: places are told by how many rows have lesser keys.
  private func wholeChange(
    _ changes: TableChanges, _ modified: RowSet, in version: Snapshot
  ) throws(StorageError) -> ElementsChange {
    if changes.deletions.isEmpty, changes.insertions.isEmpty, modified.isEmpty { return ElementsChange() }
    let table = try version.table(ofID: rows.table)
    func old(_ row: UInt64) throws(StorageError) -> Int {
      try table.rank(of: row) + changes.deletions.rank(of: row) - changes.insertions.rank(of: row)
    }
    var change = ElementsChange()
    for row in changes.deletions { change.deletions.append(try old(row)) }
    for row in changes.insertions { change.insertions.append(try table.rank(of: row)) }
    for row in modified.sorted where !changes.hasInserted(row) && !changes.hasDeleted(row) {
      guard try table.contains(row) else { continue }
      change.modifications.append(try old(row))
    }
    return change
  }
}

extension [UInt64] {
  /// How many are less.
  ///
  /// - Precondition: they grow.
  fileprivate func rank(of row: UInt64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < row { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
