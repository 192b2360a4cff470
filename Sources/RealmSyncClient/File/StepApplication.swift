import RealmStorage
import RealmSync

/// Applies a step to a client's file. What others have decided goes below the pending changes of the file.
///
/// The app sees of an object what the server has, and on top of it the pending changesets of the file, merged by the
/// rules of the server. For each object that a step concerns, the pending changes are undone, the newest first. Then
/// the decided changes are applied, and the changes that are still pending are merged again.
struct StepApplication {
  private let transaction: WriteTransaction
  private let pending: PendingChangesets
  private let records: MergeRecords
  private var position: ClientPosition
  /// The step without its objects.
  private let step: Step
  /// The numbers in the file of the replicas that the present part names.
  private var replicas: [UInt32] = []
  /// The sequence in the file of its last changeset that is decided.
  private let lastDecided: UInt64
  /// True if objects have records, which were made while changes of them were pending.
  private let hasRecords: Bool
  private let hasPending: Bool
  /// The objects with pending changes; nil until they are asked for.
  private var changed: Set<ObjectName>?
  /// The classes of the objects with pending changes; nil until they are asked for.
  private var changedClasses: Set<String>?

  /// - Parameter step: the step without its objects.
  init(
    _ step: Step, _ pending: PendingChangesets, _ position: ClientPosition, _ transaction: WriteTransaction
  )
    throws(StorageError)
  {
    (self.step, self.pending, self.position, self.transaction) = (step, pending, position, transaction)
    records = try MergeRecords(transaction)
    lastDecided = step.lastSequence &+ position.earlierSequences
    hasRecords = try records.tree.count() > 0
    hasPending = try pending.hasAny()
  }

  /// - Returns: the position with the replicas that the step names.
  mutating func apply(_ parts: StepParts) throws(StorageError) -> ClientPosition {
    try transaction.merge(step.schema)
    var told: Set<ObjectName> = []
    if parts.staged > 0 { try applyPrepared(&told) }
    let staged = try StagedParts(transaction)
    for number in 0..<parts.staged { try apply(part: staged.part(number, parts.headers[number]), &told) }
    for part in parts.held { try apply(part: part, &told) }
    if parts.staged > 0 { try staged.removeAll() }
    try applyDecided(except: told)
    return position
  }

  /// Shows the objects that were prepared when their parts arrived. If changes of a class are pending, or the program
  /// has written to it, its objects are made one by one.
  private mutating func applyPrepared(_ told: inout Set<ObjectName>) throws(StorageError) {
    let prepared = try PreparedObjects(transaction)
    for name in prepared.classes {
      if try !isChangePending(of: name), try !hasRecords(of: name), try prepared.show(name) { continue }
      try prepared.forEach(of: name) { (created) throws(StorageError) in
        try apply(created, &told)
      } single: { (object) throws(StorageError) in
        try apply([ObjectStep(object.id, .whole(object.instructions))], &told)
      }
      try prepared.forget(name)
    }
  }

  private mutating func apply(part: Step, _ told: inout Set<ObjectName>) throws(StorageError) {
    replicas = []
    for number in part.replicas { replicas.append(number == 0 ? 0 : position.index(number)) }
    if let created = part.created { try apply(created, &told) }
    try apply(part.objects, &told)
  }

  private mutating func apply(_ objects: [ObjectStep], _ told: inout Set<ObjectName>) throws(StorageError) {
    for object in objects {
      if !step.own.isEmpty { told.insert(object.name) }
      try apply(object)
    }
  }

  private mutating func apply(_ created: CreatedObjects, _ told: inout Set<ObjectName>) throws(StorageError) {
    guard !step.own.isEmpty || hasRecords else { return try apply(created) }
    try apply(created.objects.map { ObjectStep($0.id, .whole($0.instructions)) }, &told)
  }

  /// Makes objects of which most do not exist yet. The others, and those with pending changes, are replaced one by one.
  private mutating func apply(_ created: CreatedObjects) throws(StorageError) {
    var inserter = try CreationInserter(created, transaction, except: pendingObjects())
    var objects: [ObjectInstructions]?
    while let place = try inserter.next() {
      let all = objects ?? created.objects
      objects = all
      try apply(ObjectStep(all[place].id, .whole(all[place].instructions)))
    }
  }

  private mutating func pendingObjects() throws(StorageError) -> Set<ObjectName> {
    if hasPending, changed == nil { changed = try pending.objects() }
    return changed ?? []
  }

  /// True if a changeset of the file concerns an object of a class. The changeset is pending, or the step decides it.
  private mutating func isChangePending(of name: String) throws(StorageError) -> Bool {
    if changedClasses == nil { changedClasses = Set(try pendingObjects().map(\.table)) }
    return changedClasses?.contains(name) == true
  }

  private func hasRecords(of name: String) throws(StorageError) -> Bool {
    guard hasRecords, let id = try transaction.table(name)?.schema.id else { return false }
    return try records.hasAny(ofTable: id)
  }

  /// Rebuilds the objects of own changesets of which the step tells nothing. What these changesets did was refused, or
  /// others had decided otherwise.
  private mutating func applyDecided(except told: Set<ObjectName>) throws(StorageError) {
    var done = told
    for own in step.own {
      let sequence = own.sequence &+ position.earlierSequences
      guard let changeset = try pending.pending(sequence)?.changeset else { continue }
      for object in changeset.objects where done.insert(object.id).inserted {
        try rebuild(object.id, nil, try pending.sequences(of: object.id))
      }
    }
  }

  private mutating func apply(_ object: ObjectStep) throws(StorageError) {
    let sequences = hasPending ? try pending.sequences(of: object.name) : []
    if case .effects(let all) = object.change, isAsShown(all, sequences) {
      // Changes of others may have been recorded while these changes were pending.
      if hasRecords { _ = try forget(transaction.object(object.name)) }
      return
    }
    if case .whole(let content) = object.change, sequences.isEmpty, !hasRecords,
      try create(object.name, content)
    {
      return
    }
    try rebuild(object.name, object.change, sequences)
  }

  /// Creates an object of single values at once. Most objects of a first step are of this kind. Returns false, and does
  /// nothing, for another object.
  private func create(_ name: ObjectName, _ content: [Instruction]) throws(StorageError) -> Bool {
    var object = try transaction.object(name)
    guard !object.isPresent, content.first == .create else { return false }
    var values: [(property: String, value: Value)] = []
    values.reserveCapacity(content.count - 1)
    for instruction in content.dropFirst() {
      guard case .set(let path, .value(let value), _) = instruction, path.steps.isEmpty else { return false }
      values.append((path.property, value))
    }
    return try object.create(with: values) != nil
  }

  /// True if the decisions are what the file shows already: own changesets that took effect as they were written, and
  /// nothing else.
  private func isAsShown(_ effects: [ObjectEffects], _ sequences: [UInt64]) -> Bool {
    var own: [UInt64] = []
    for effect in effects {
      guard case .own(let sequence) = effect else { return false }
      own.append(sequence &+ position.earlierSequences)
    }
    return own == sequences
  }

  // MARK: - One object

  private mutating func rebuild(
    _ name: ObjectName, _ change: ObjectStep.Change?, _ sequences: [UInt64]
  ) throws(StorageError) {
    var object = try transaction.object(name)
    for sequence in sequences.reversed() {
      for instruction in try pending.pending(sequence)?.undo(of: name) ?? [] {
        try object.apply(instruction, isNew: instruction.isMove)
      }
    }
    let left = sequences.filter { $0 > lastDecided }
    var bringsOwnIDs = false
    if let change {
      bringsOwnIDs = !left.isEmpty && change.gives { replica($0.replica) == pending.state.replica }
      object = try apply(change, object, isRecorded: !left.isEmpty)
    }
    object = try left.isEmpty ? forget(object) : mergeAgain(left, object, looksForIDs: bringsOwnIDs)
    try object.finish()
  }

  /// Forgets the records of an object without pending changes, because no decision needs them.
  private func forget(_ object: EditedObject) throws(StorageError) -> EditedObject {
    guard hasRecords else { return object }
    let merged = try MergedObject(object, records: records)
    merged.forgetRecords()
    try merged.store()
    return object
  }

  /// - Parameter looksForIDs: true if the server has sent ids that the file has given. If the server is not honest, one
  ///   of them may be the id of a pending element.
  private func mergeAgain(
    _ sequences: [UInt64], _ object: EditedObject, looksForIDs: Bool
  ) throws(StorageError) -> EditedObject {
    let merged = try MergedObject(object, records: records)
    for sequence in sequences {
      guard let changeset = try pending.pending(sequence) else { continue }
      var context = MergeContext(
        replica: pending.state.replica, base: changeset.stored.base ?? 0, stamp: changeset.stored.stamp,
        version: MergeContext.pendingVersion(sequence),
        partition: position.partition(at: changeset.stored.base),
        replicas: position.replicas)
      // No list has the elements whose insertions were undone.
      if !looksForIDs { context.lastElement = 0 }
      for instruction in changeset.instructions(of: object.name) {
        do throws(StorageError) {
          _ = try merged.merge(instruction, context)
        } catch {
          // Others have defined the property in another way, so the server will refuse the change.
          guard case .instructionDoesNotFit = error else { throw error }
        }
      }
      pending.setUndo(merged.inverse, of: object.name, in: sequence)
      merged.forgetInverse()
    }
    // Changes that were merged again are not decided, so their records are not stored.
    return merged.object
  }

  // MARK: - What was decided

  private mutating func apply(
    _ change: ObjectStep.Change, _ object: EditedObject, isRecorded: Bool
  ) throws(StorageError) -> EditedObject {
    let merged = try MergedObject(object, records: records, keepsInverse: false)
    switch change {
    case .effects(let all):
      for effects in all { try apply(effects, merged, isRecorded: isRecorded) }
    case .whole(let instructions):
      let content = instructions.map { $0.mapReplicas(replica) }
      try merged.replace(with: content)
      for instruction in content { position.note(instruction) }
      merged.forgetRecords()
    case .left:
      try merged.replace(with: nil)
      merged.forgetRecords()
    case .deleted(let decided): try merged.apply(Effect(.delete), context(decided))
    }
    if isRecorded { try merged.store() }
    return merged.object
  }

  private mutating func apply(
    _ effects: ObjectEffects, _ merged: MergedObject, isRecorded: Bool
  ) throws(StorageError) {
    switch effects {
    case .own(let sequence):
      guard let changeset = try pending.pending(sequence &+ position.earlierSequences),
        let own = step.own.first(where: { $0.sequence == sequence })
      else { return }
      var context = context(DecidedBy(version: own.version, stamp: own.stamp, replica: 0))
      context.replica = pending.state.replica
      context.base = changeset.stored.base ?? 0
      context.partition = position.partition(at: changeset.stored.base)
      let instructions = changeset.instructions(of: merged.object.name)
      try merged.applyOwn(instructions, context)
      for instruction in instructions { position.note(instruction) }
    case .others(let decided, let all):
      var context = context(decided)
      for effect in all {
        let effect = effect.mapReplicas(replica)
        context.lastElement = position.lastElements[Int(context.replica)]
        if isRecorded {
          try merged.apply(effect, context)
        } else {
          try merged.applyUnrecorded(effect, context)
        }
        position.note(effect.instruction)
      }
    }
  }

  private func context(_ decided: DecidedBy) -> MergeContext {
    MergeContext(
      replica: replica(decided.replica), base: 0, stamp: decided.stamp, version: decided.version,
      replicas: position.replicas)
  }

  private func replica(_ index: UInt32) -> UInt32 {
    Int(index) < replicas.count ? replicas[Int(index)] : 0
  }
}

extension WriteTransaction {
  /// Adds the definitions of a server.
  ///
  /// - Throws: `.instructionDoesNotFit` if the file has another definition.
  func merge(_ schema: [SchemaInstruction]) throws(StorageError) {
    for instruction in schema {
      let holds = try unrecorded { () throws(StorageError) in try SchemaMerge(self).merge(instruction) }
      guard holds else { throw instruction.otherDefinition }
    }
  }
}

extension SchemaInstruction {
  /// The error for a definition that differs from the file's.
  var otherDefinition: StorageError {
    switch self {
    case .addTable(let table, _): .instructionDoesNotFit(.wrongKind, table: table, column: nil, path: "")
    case .addProperty(let table, let property):
      .instructionDoesNotFit(.wrongKind, table: table, column: property.name, path: "")
    }
  }
}

extension ObjectStep.Change {
  /// True if the change brings an element, or a place of an element, whose id fulfils the condition.
  fileprivate func gives(_ isSuch: (ElementID) -> Bool) -> Bool {
    func gives(_ instruction: Instruction) -> Bool {
      switch instruction {
      case .insert(_, let id, _, _, _), .move(_, _, let id, _, _): isSuch(id)
      default: false
      }
    }
    switch self {
    case .effects(let all):
      return all.contains { effects in
        guard case .others(_, let made) = effects else { return false }
        return made.contains { gives($0.instruction) }
      }
    case .whole(let content): return content.contains(where: gives)
    case .left, .deleted: return false
    }
  }
}
