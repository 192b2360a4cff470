import RealmStorage

/// Observes one object.
final class ObjectObservation: Observation, @unchecked Sendable {
  enum Event {
    case change([Changed])
    case deleted
    case error(any Error)
  }

  struct Changed {
    /// The position of the property.
    var position: Int
    /// The value at the previous call; nil if the change lies behind a link.
    var old: Value?
  }

  private let row: UInt64
  private let binding: ClassBinding
  private let paths: ObservedPaths
  private let tell: (Event) -> Void
  private var isDeleted = false
  /// The values that changed columns had at the previous call, by the positions of the columns.
  private var old: [Int: Value] = [:]
  /// The positions of the first properties of key paths through linking objects, if something changed behind them.
  private var modifiedBefore: Set<Int> = []

  init(_ row: ManagedRow, _ paths: ObservedPaths, _ tell: @escaping (Event) -> Void) {
    self.row = row.row
    binding = row.context.binding
    (self.paths, self.tell) = (paths, tell)
    super.init(row.session)
  }

  override var tellsFromStart: Bool { true }
  override var table: UInt32? { binding.table?.id }
  override var tables: Set<UInt32>? { paths.tables }

  override func begin(in version: Snapshot, _ pool: LivePool) throws(StorageError) {
    ownChanges = NetChanges()
  }

  override func update(_ step: VersionStep) throws(StorageError) {
    guard let id = binding.table?.id else { return }
    let changes = try step.changes(of: id)
    if changes.hasDeleted(row) { isDeleted = true }
    if changes.hasInserted(row) { isDeleted = false }
    if let change = changes.modification(of: row) {
      let table = try step.old.table(ofID: id)
      for column in change.columns where old[column] == nil && table.schema.columns.indices.contains(column) {
        let stored = table.schema.columns[column]
        // The older elements of a collection are not kept, so they can't be told.
        old[column] = stored.isCollection ? .null : try table.value(stored, ofRow: row) ?? .null
      }
    }
    guard paths.goesUp else { return }
    var tables: [UInt32: TableChanges] = [:]
    for table in paths.tables ?? [] { tables[table] = try step.changes(of: table) }
    let both = try ChangesToTell(tables, in: step.new, [id])
    for path in paths.paths ?? [] where try paths.modified(path, both, step.old).contains(row) {
      modifiedBefore.insert(path.first)
    }
  }

  override func failed(_ error: any Error) -> (() -> Void)? { { [tell] in tell(.error(error)) } }

  override func call(_ changes: ChangesToTell) throws(StorageError) -> (() -> Void)? {
    let (old, before) = (self.old, modifiedBefore)
    (self.old, modifiedBefore) = ([:], [])
    if isDeleted {
      return { [tell] in
        tell(.deleted)
        self.end()
      }
    }
    var positions = before
    if let id = binding.table?.id, let change = changes.tables[id]?.modification(of: row) {
      for position in binding.columns.indices where change.columns.contains(binding.columns[position]) {
        if paths.paths?.contains(where: { $0.levels.count == 1 && $0.first == position }) ?? true {
          positions.insert(position)
        }
      }
    }
    for path in paths.paths ?? [] where path.levels.count > 1 && !positions.contains(path.first) {
      if try paths.modified(path, changes, nil).contains(row) { positions.insert(path.first) }
    }
    if positions.isEmpty { return nil }
    let changed = positions.sorted().map { Changed(position: $0, old: old[binding.columns[$0]]) }
    return { [tell] in tell(.change(changed)) }
  }
}
