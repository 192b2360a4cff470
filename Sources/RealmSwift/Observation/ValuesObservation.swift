import RealmStorage

/// Observes a list or set of values, or a map, as a property stores it. The hub finds what changed in it.
final class ValuesObservation<Change>: Observation, @unchecked Sendable {
  private let owner: UInt32
  /// The id of the column.
  private let column: UInt16
  private let row: UInt64
  private let paths: ObservedPaths?
  private let making: (CollectionChange, Set<String>) -> Change?
  private let tell: (Told<Change>) -> Void
  private var pending = Pending.nothing
  private let passed: (() -> Void)?
  override var didPass: (() -> Void)? { passed }

  enum Pending {
    case nothing
    /// The collection changed in one step from the version in which it was copied.
    case changed(CollectionChanges, from: CollectionCopy?)
    /// The collection changed in several steps.
    case changedAgain(from: CollectionCopy?)
  }

  /// - Parameters:
  ///   - paths: decides which changes of the objects in a map count; nil if the values are not objects.
  ///   - making: makes the change to tell from the change of the collection and the keys whose objects have changed;
  ///     returns nil if there is nothing to tell.
  init(
    _ cell: _CollectionCell, _ paths: ObservedPaths?,
    making: @escaping (CollectionChange, Set<String>) -> Change?, passed: (() -> Void)? = nil,
    _ tell: @escaping (Told<Change>) -> Void
  ) {
    self.passed = passed
    let context = cell.owner.context
    owner = context.binding.table?.id ?? .max
    column = context.binding.table?.columns[cell.column].id ?? 0
    row = cell.owner.row
    (self.paths, self.making, self.tell) = (paths, making, tell)
    super.init(cell.owner.session)
  }

  override var table: UInt32? { paths?.table }
  override var tables: Set<UInt32>? {
    guard let paths else { return [owner] }
    return paths.tables.map { $0.union([owner]) }
  }

  override func update(_ step: VersionStep) throws(StorageError) {
    let changes = try step.changes(of: owner)
    let schema = try step.schemas().first { $0.id == owner }
    guard let schema, let position = schema.columns.firstIndex(where: { $0.id == column }) else { return }
    let isConcerned =
      changes.hasDeleted(row) || changes.hasInserted(row)
      || changes.modification(of: row)?.columns.contains(position) == true
    guard isConcerned else { return }
    switch pending {
    case .nothing:
      let before = try CollectionCopy(step.old, owner, position, row)
      if let found = try step.new.collectionChanges(
        inTable: schema.name, column: position, ofRow: row, since: step.old)
      {
        pending = .changed(found, from: before)
      } else {
        pending = .changedAgain(from: before)
      }
    case .changed(_, let before): pending = .changedAgain(from: before)
    case .changedAgain: break
    }
  }

  override func first() -> (() -> Void)? {
    pending = .nothing
    return { [tell] in tell(.initial) }
  }

  override func failed(_ error: any Error) -> (() -> Void)? { { [tell] in tell(.error(error)) } }

  override func restoring() -> () -> Void {
    let pending = pending
    return { self.pending = pending }
  }

  override func call(_ changes: ChangesToTell) throws(StorageError) -> (() -> Void)? {
    let change: CollectionChange
    switch pending {
    case .nothing: change = .none
    case .changed(let found, _): change = CollectionChange(found)
    case .changedAgain(let before):
      let schema = try changes.version.table(ofID: owner).schema
      let position = schema.columns.firstIndex { $0.id == column } ?? 0
      change = CollectionChange(
        from: before, to: try CollectionCopy(changes.version, owner, position, row),
        pairs: schema.columns[position].collection == .list)
    }
    pending = .nothing
    var keys: Set<String> = []
    if let paths, !changes.tables.isEmpty {
      let modified = try paths.modified(changes)
      if !modified.isEmpty { keys = try self.keys(to: modified, in: changes.version) }
    }
    guard let made = making(change, keys) else { return nil }
    return { [tell] in tell(.update(made)) }
  }

  /// The keys of a map whose values link to some rows.
  private func keys(to rows: RowSet, in version: Snapshot) throws(StorageError) -> Set<String> {
    let schema = try version.table(ofID: owner).schema
    let position = schema.columns.firstIndex { $0.id == column } ?? 0
    guard case .map(let map) = try CollectionCopy(version, owner, position, row) else { return [] }
    return Set(
      zip(map.keys, map.values).compactMap { key, value in
        if case .link(let row) = value { rows.contains(row) ? key : nil } else { nil }
      })
  }
}

/// A copy of the elements of a collection, or of the entries of a map, in one version.
enum CollectionCopy {
  case elements([Value])
  case map(ValueMap)
  /// The copy of a larger list or set has only the number of its elements.
  case many(Int)

  /// The number of elements up to which lists and sets are copied.
  static let most = 10_000

  init(_ version: Snapshot, _ table: UInt32, _ column: Int, _ row: UInt64) throws(StorageError) {
    let table = try version.table(ofID: table)
    let stored = table.schema.columns[column]
    let count: Int?
    if stored.collection == .list {
      count = try table.list(column, ofRow: row)?.count
    } else {
      count = try table.sorted(column, ofRow: row)?.count
    }
    guard let count, let value = try Self.value(stored, count, row, table) else {
      self = stored.collection == .map ? .map(ValueMap()) : count.map { .many($0) } ?? .elements([])
      return
    }
    if case .map(let map, _) = value { self = .map(map) } else { self = .elements(value.elements ?? []) }
  }
}

extension CollectionCopy {
  /// The value that is copied; nil if the collection is too large.
  private static func value(
    _ column: Column, _ count: Int, _ row: UInt64, _ table: Table
  ) throws(StorageError) -> Value? {
    column.collection == .map || count <= most ? try table.value(column, ofRow: row) : nil
  }

  fileprivate var count: Int {
    switch self {
    case .elements(let elements): elements.count
    case .map(let map): map.count
    case .many(let count): count
    }
  }
}

/// The change of a collection.
enum CollectionChange {
  case none
  case elements(ElementsChange)
  case keys(KeyChanges)
  /// The collection was too large to be copied until the change is told, so all elements count as removed and inserted.
  case all(old: Int, new: Int)

  init(_ changes: CollectionChanges) {
    switch changes {
    case .list(let found), .set(let found):
      self = .elements(
        ElementsChange(
          deletions: found.deletions, insertions: found.insertions,
          modifications: found.modifications.map(\.old)))
    case .map(let found): self = .keys(found)
    }
  }

  /// - Parameter pairs: whether an element that takes the place of another one is a modification.
  init(from old: CollectionCopy?, to new: CollectionCopy, pairs: Bool) {
    switch (old, new) {
    case (.elements(let old), .elements(let new)):
      let found = ListChanges(from: old, to: new).elements(pairs: pairs)
      self = .elements(
        ElementsChange(
          deletions: found.deletions, insertions: found.insertions,
          modifications: found.modifications.map(\.old)))
    case (.map(let old), .map(let new)):
      var changes = KeyChanges()
      for (key, value) in zip(old.keys, old.values) {
        guard let other = new[key] else {
          changes.deletions.append(key)
          continue
        }
        if other != value { changes.modifications.append(key) }
      }
      changes.insertions = new.keys.filter { old[$0] == nil }
      self = .keys(changes)
    case (let old?, let new): self = .all(old: old.count, new: new.count)
    case (nil, _): self = .none
    }
  }
}

/// Observes a collection that only its realm can compute: sorted or distinct values, or a collection within an
/// `AnyRealmValue`. After the realm has moved, the collection is compared with a copy.
final class ComputedObservation<Change>: Observation, @unchecked Sendable {
  private let owner: UInt32
  private let row: UInt64
  private let content: () -> CollectionCopy
  private let making: (CollectionChange) -> Change?
  private let tell: (Told<Change>) -> Void
  private var told: CollectionCopy?
  private let passed: (() -> Void)?
  override var didPass: (() -> Void)? { passed }
  private var isConcerned = false

  init(
    _ owner: ManagedRow, _ content: @escaping () -> CollectionCopy,
    making: @escaping (CollectionChange) -> Change?,
    passed: (() -> Void)? = nil, _ tell: @escaping (Told<Change>) -> Void
  ) {
    self.passed = passed
    self.owner = owner.context.binding.table?.id ?? .max
    row = owner.row
    (self.content, self.making, self.tell) = (content, making, tell)
    super.init(owner.session)
  }

  override var tables: Set<UInt32>? { [owner] }

  override func update(_ step: VersionStep) throws(StorageError) {
    let changes = try step.changes(of: owner)
    if changes.hasDeleted(row) || changes.modification(of: row) != nil { isConcerned = true }
  }

  override func first() -> (() -> Void)? {
    isConcerned = false
    told = content()
    return { [tell] in tell(.initial) }
  }

  override func failed(_ error: any Error) -> (() -> Void)? { { [tell] in tell(.error(error)) } }

  override func restoring() -> () -> Void {
    let (told, isConcerned) = (told, isConcerned)
    return { (self.told, self.isConcerned) = (told, isConcerned) }
  }

  override func call(_ changes: ChangesToTell) throws(StorageError) -> (() -> Void)? {
    guard isConcerned else { return nil }
    isConcerned = false
    let new = content()
    let change = CollectionChange(from: told, to: new, pairs: true)
    told = new
    return making(change).map { made in { [tell] in tell(.update(made)) } }
  }
}
