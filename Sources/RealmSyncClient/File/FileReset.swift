import RealmStorage
import RealmSync

/// Replaces the content of a client's file by what the server has, and writes the changes that no server has decided
/// again on top of it.
///
/// The file becomes a new replica. Edits of objects, elements and entries that are gone have no effect, sums are added,
/// and values win.
///
/// The parts of the step are read one at a time, and an object is replaced when its part is read. So a reset takes no
/// more memory than one part, and a few bits for each object.
struct FileReset {
  private let transaction: WriteTransaction
  private let pending: PendingChangesets
  private let records: MergeRecords
  /// The step without its objects.
  private let step: Step
  private let old: ClientPosition
  private var position: ClientPosition
  private var clock: HybridClock
  private let time: UInt64
  /// The number of the new replica in the file.
  private let own: UInt32
  private var nextElement: UInt64 = 1
  /// The ids that a copy of the file may have used, with the new ids that replace them.
  private var renewed: [ElementID: ElementID] = [:]
  private let renews: Bool
  /// The sequences of the changesets that are written again.
  private let kept: [UInt64]
  /// The former bases of these changesets.
  private var bases: [UInt64: UInt64] = [:]
  /// The sequences of the changesets that change an object, in ascending order.
  private var sequences: [ObjectName: [UInt64]] = [:]
  /// The changed objects, in the order of their first changes.
  private var changed: [ObjectName] = []
  /// The changed objects that still have to be replaced.
  private var waiting: Set<ObjectName> = []
  /// The rows of the objects that the server has, by the names of their tables.
  private var told: [String: RowMarks] = [:]
  /// The objects that the file had created and somebody else has. Changes of them are not written again.
  private let refused: Set<ObjectName>
  /// The numbers in the file of the replicas that the present part names.
  private var replicas: [UInt32] = []

  /// - Parameters:
  ///   - step: the step from nothing to the view at a version, without its objects.
  ///   - decided: the sequence of the last changeset of the file that was decided. The changesets behind it are written
  ///     again.
  init(
    _ reset: Welcome.Reset, _ step: Step, decided: UInt64, _ pending: PendingChangesets,
    _ position: ClientPosition, time: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) {
    (self.step, self.pending, self.transaction, self.time) = (step, pending, transaction, time)
    (old, self.position, renews) = (position, position, reset.isInDoubt)
    records = try MergeRecords(transaction)
    kept = try pending.sequences().filter { $0 > decided }
    own = self.position.add(reset.registered.replica)
    clock = HybridClock(last: max(pending.state.lastStamp, step.mark), offset: pending.state.clockOffset)
    refused = Set(
      reset.refusals.compactMap { refusal in
        if case .object(let name) = refusal.subject, refusal.reason == .keyInUse { name } else { nil }
      })
    self.position.earlierSequences = decided
    self.position.decided = NamedChangeset(sequence: 0, hash: [])
    self.position.sessionNumber = reset.registered.sessionNumber
  }

  /// Carries out the reset.
  ///
  /// - Parameter parts: the parts of the step.
  /// - Returns: the new position of the file. It is nil if the parts do not bring whole objects, each once. The changes
  ///   must not be committed then.
  mutating func run(_ parts: StepParts) throws(StorageError) -> ClientPosition? {
    try transaction.merge(step.schema)
    try tellDefinitions()
    (position.version, position.tag, position.querySet) = (step.to, step.tag, step.querySet)
    (position.flexibleFrom, position.isCopy) = (nil, false)
    if step.partition == nil { position.partition = nil }
    try records.tree.removeAll()
    for sequence in try pending.sequences() {
      for object in try pending.pending(sequence)?.changeset.objects ?? [] {
        if sequences[object.id] == nil { changed.append(object.id) }
        sequences[object.id, default: []].append(sequence)
      }
    }
    waiting = Set(changed)
    try restamp()
    guard try replaceTold(parts) else { return nil }
    try replaceOthers()
    try pending.store(above: position.earlierSequences)
    try transaction.acknowledge(upTo: position.earlierSequences)
    let (own, element, mark) = (own, nextElement, clock.last)
    try transaction.changeChangelogState { state in
      (state.replica, state.nextElement) = (own, element)
      state.lastStamp = max(state.lastStamp, mark)
    }
    return position
  }

  /// Replaces the objects that the server has.
  private mutating func replaceTold(_ parts: StepParts) throws(StorageError) -> Bool {
    let staged = try StagedParts(transaction)
    for number in 0..<parts.staged {
      guard try replace(staged.part(number, parts.headers[number])) else { return false }
    }
    for part in parts.held {
      guard try replace(part) else { return false }
    }
    if parts.staged > 0 { try staged.removeAll() }
    return true
  }

  private mutating func replace(_ part: Step) throws(StorageError) -> Bool {
    replicas = []
    for number in part.replicas { replicas.append(number == 0 ? 0 : position.index(number)) }
    for object in part.expanded.objects {
      // An object that came twice would get the changes that are written again twice.
      guard case .whole(let content) = object.change,
        sequences[object.name] == nil || waiting.contains(object.name)
      else { return false }
      if let row = try rebuild(object.name, content) {
        told[object.name.table, default: RowMarks()].insert(row)
      }
    }
    return true
  }

  /// Replaces all other objects that the file has or changes, because the server does not have them for this file.
  private mutating func replaceOthers() throws(StorageError) {
    for schema in try transaction.schemas() where !schema.isEmbedded {
      guard let key = schema.columns.firstIndex(where: { $0.index == .unique }),
        let table = try transaction.table(schema.name)
      else { continue }
      let (marks, reading) = (told[schema.name] ?? RowMarks(), try table.reading())
      var rows: [UInt64] = []
      var next: UInt64? = 0
      while let start = next {
        let (keys, following) = try reading.keys(from: start)
        rows += keys.filter { !marks.contains($0) }
        next = following
      }
      for row in rows {
        guard let value = try table.value(key, ofRow: row) else { continue }
        _ = try rebuild(ObjectName(schema.name, value), nil)
      }
    }
    for name in changed where waiting.contains(name) { _ = try rebuild(name, nil) }
  }

  /// Tells the server the definitions that the file has and the server does not have, because the server goes on from
  /// an older copy. These include properties that have become optional.
  private func tellDefinitions() throws(StorageError) {
    let known = Dictionary(
      step.schema.map { ($0.name, $0.isOptional) }, uniquingKeysWith: { $0 || $1 })
    let missing = try transaction.definitions().filter { definition in
      known[definition.name].map { isOptional in definition.isOptional && !isOptional } ?? true
    }
    guard !missing.isEmpty else { return }
    if let first = kept.first {
      try pending.define(missing, in: first)
    } else {
      try transaction.record(missing)
    }
  }

  /// Gives the changesets that are written again a new base and a new stamp, as if they were written now upon what the
  /// server has.
  private mutating func restamp() throws(StorageError) {
    for sequence in kept {
      bases[sequence] = try pending.pending(sequence)?.stored.base
      try pending.set(base: step.to, stamp: clock.stamp(at: time), of: sequence)
      // Changes that wait for the first query set go on waiting.
      let named = try pending.pending(sequence)?.stored.querySet ?? 0
      try pending.set(querySet: max(pending.state.querySet, named), of: sequence)
    }
  }

  // MARK: - One object

  /// - Returns: the row of the object; nil if it does not exist afterwards.
  private mutating func rebuild(
    _ name: ObjectName, _ content: [Instruction]?
  ) throws(StorageError) -> UInt64? {
    waiting.remove(name)
    var object = try transaction.object(name)
    let all = sequences[name] ?? []
    for sequence in all.reversed() {
      for instruction in try pending.pending(sequence)?.undo(of: name) ?? [] {
        try object.apply(instruction, isNew: instruction.isMove)
      }
    }
    let left = all.filter { $0 > position.earlierSequences }
    let orders = try orders(left, object)
    let base = try MergedObject(object, records: records, keepsInverse: false)
    let map = replicas
    let content = content?.map { $0.mapReplicas { Int($0) < map.count ? map[Int($0)] : 0 } }
    try base.replace(with: content)
    for instruction in content ?? [] { position.note(instruction) }
    let merged = try MergedObject(base.object, records: records)
    var isRefused = refused.contains(name)
    for sequence in left { try writeAgain(sequence, merged, orders, &isRefused) }
    try merged.finish()
    return merged.object.row
  }

  /// The lists into which pending changes insert or in which they move elements, as the lists stood before these
  /// changes.
  private func orders(
    _ sequences: [UInt64], _ object: EditedObject
  ) throws(StorageError) -> [InstructionPath: FormerOrder] {
    var orders: [InstructionPath: FormerOrder] = [:]
    for sequence in sequences {
      for instruction in try pending.pending(sequence)?.instructions(of: object.name) ?? [] {
        guard let path = instruction.listPath, orders[path] == nil else { continue }
        orders[path] = FormerOrder([])
        guard let place = try? object.place(path), place.kind == .list else { continue }
        let list = try place.list()
        var ids: [ElementID] = []
        for rank in 0..<(try list.count()) { ids.append(try list.element(at: rank).id) }
        orders[path] = FormerOrder(ids)
      }
    }
    return orders
  }

  private mutating func writeAgain(
    _ sequence: UInt64, _ merged: MergedObject, _ orders: [InstructionPath: FormerOrder],
    _ isRefused: inout Bool
  ) throws(StorageError) {
    guard let changeset = try pending.pending(sequence) else { return }
    let name = merged.object.name
    let context = MergeContext(
      replica: own, base: step.to, stamp: changeset.stored.stamp,
      version: MergeContext.pendingVersion(sequence), partition: position.partition,
      replicas: position.replicas)
    var written: [Instruction] = []
    let partition = old.partition(at: bases[sequence])
    for instruction in changeset.instructions(of: name) {
      if instruction == .create { isRefused = false }
      guard !isRefused else { continue }
      let order = instruction.listPath.flatMap { orders[$0] }
      for instruction in try rewritten(instruction, merged, order, partition) {
        written.append(instruction)
        do throws(StorageError) {
          _ = try merged.merge(instruction, context)
        } catch {
          guard case .instructionDoesNotFit = error else { throw error }
        }
      }
    }
    pending.setInstructions(written, of: name, in: sequence)
    pending.setUndo(merged.inverse, of: name, in: sequence)
    merged.forgetInverse()
  }

  // MARK: - Instructions

  private mutating func rewritten(
    _ instruction: Instruction, _ merged: MergedObject, _ order: FormerOrder?,
    _ partition: MergeContext.Partition?
  ) throws(StorageError) -> [Instruction] {
    var instruction = renew(instruction)
    switch instruction {
    case .insert(let path, let id, let left, _, let value):
      if let (left, right) = try neighbours(path, left, merged, order, moved: nil) {
        instruction = .insert(path, id, left: left, right: right, value)
      }
    case .move(let path, let element, let id, let left, _):
      if let (left, right) = try neighbours(path, left, merged, order, moved: element) {
        instruction = .move(path, element, id: id, left: left, right: right)
      }
    case .create:
      // The new replica has no partition, so the value of the former partition is set explicitly.
      guard let partition, position.partition == nil,
        partition.value != .null || merged.object.hasProperty(partition.property)
      else { break }
      let path = InstructionPath(partition.property)
      return [instruction, .set(path, .value(partition.value), isDefault: false)]
    case .set(let path, _, _), .add(let path, _):
      guard let partition, path == InstructionPath(partition.property) else { break }
      return []
    default: break
    }
    return [instruction]
  }

  /// The neighbours for an insertion or a move. A left neighbour that is gone is replaced by the nearest element to its
  /// left in the old list that still exists.
  private func neighbours(
    _ path: InstructionPath, _ left: ElementID, _ merged: MergedObject, _ order: FormerOrder?,
    moved: ElementID?
  ) throws(StorageError) -> (ElementID, ElementID)? {
    guard let place = try? merged.object.place(path), place.kind == .list else { return nil }
    let list = try place.list()
    var left = left
    var rank = left == .none ? nil : try list.rank(of: left)
    if left != .none, rank == nil {
      var found = ElementID.none
      if let order {
        found = try order.nearest(to: left) { (id) throws(StorageError) in try list.rank(of: id) != nil }
      }
      left = found
      rank = left == .none ? nil : try list.rank(of: left)
    }
    if left == moved { (left, rank) = (.none, nil) }
    var right = (rank ?? -1) + 1
    let count = try list.count()
    while right < count, try list.element(at: right).id == moved { right += 1 }
    return (left, right < count ? try list.element(at: right).id : .none)
  }

  /// The instruction with new ids in place of those that a copy of the file may have used.
  private mutating func renew(_ instruction: Instruction) -> Instruction {
    guard renews else { return instruction }
    switch instruction {
    case .insert(_, let id, _, _, _), .move(_, _, let id, _, _):
      if renewed[id] == nil {
        renewed[id] = ElementID(replica: own, counter: UInt32(nextElement))
        nextElement += 1
      }
    default: break
    }
    return instruction.mapElements { renewed[$0] ?? $0 }
  }
}

extension Instruction {
  /// The list into which an element is inserted, or in which it is moved; nil for other instructions.
  fileprivate var listPath: InstructionPath? {
    switch self {
    case .insert(let path, _, _, _, _), .move(let path, _, _, _, _): path
    default: nil
    }
  }
}

extension SchemaInstruction {
  /// The name of the defined table, or of the table and the defined property.
  fileprivate var name: [String] {
    switch self {
    case .addTable(let table, _): [table]
    case .addProperty(let table, let property): [table, property.name]
    }
  }

  /// True for a property with one value that may be null.
  fileprivate var isOptional: Bool {
    guard case .addProperty(_, let property) = self else { return false }
    return property.isOptional && property.collection == nil
  }
}
