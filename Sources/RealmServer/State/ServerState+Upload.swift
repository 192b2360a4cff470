import RealmStorage
import RealmSync

/// The integration of uploads.
extension ServerState {
  /// - Returns: the effects of the upload; nil if it is not accepted.
  func integrate(
    _ upload: Upload, time: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) -> HistoryEntry? {
    guard var replica = replicas[upload.replica], accepts(upload, replica) else { return nil }
    let stamp = upload.stamp.decided(
      arrival: time, mark: mark, seen: try mark(at: upload.base, transaction), own: replica.lastStamp)
    replica.lastStamp = stamp
    (replica.lastSequence, replica.lastHash) = (upload.sequence, upload.hash)
    var entry = HistoryEntry(
      version: version, replica: replica.ordinal, sequence: upload.sequence, hash: upload.hash,
      base: upload.base, stamp: stamp)
    let numbering = ReplicaNumbering(upload.replicas, replicas)
    let changeset = upload.changeset.mapReplicas(numbering.ordinal)
    for instruction in changeset.schema {
      var reason = Refusal.Reason.tooLarge
      if try !isOneTooMany(instruction, transaction) {
        if try SchemaMerge(transaction).merge(instruction) { continue }
        reason = .schemaMismatch
      }
      entry.refusals.append(Refusal(subject: instruction.subject, reason: reason))
      if case .addProperty(let table, let property) = instruction {
        replica.refusedProperties[ObjectName(table, .string(property.name))] = version
      }
    }
    try transaction.gatheringObjects { () throws(StorageError) in
      for object in changeset.objects {
        try integrate(object, upload, &replica, &entry, transaction)
      }
    }
    try note(replica, number: upload.replica, stamp, transaction)
    try ServerStore(transaction, settings).store(
      upload.hash, of: upload.sequence, in: version, replica: replica.ordinal)
    return entry
  }

  /// The greatest number of classes of an app, and of properties of a class. They are limited because any client may
  /// add classes and properties.
  package static let mostClasses = 200
  package static let mostProperties = 200

  private func isOneTooMany(
    _ instruction: SchemaInstruction, _ transaction: WriteTransaction
  ) throws(StorageError) -> Bool {
    switch instruction {
    case .addTable(let name, _):
      guard try transaction.table(name) == nil else { return false }
      return try transaction.schemas().count >= Self.mostClasses
    case .addProperty(let table, let property):
      let columns = try transaction.table(table)?.schema.columns.filter { !$0.isCompanion } ?? []
      return columns.count >= Self.mostProperties
        && !columns.contains { $0.name.utf8.elementsEqual(property.name.utf8) }
    }
  }

  /// Refuses all objects of an upload, because it exceeds a limit of the server. The upload counts as decided, so that
  /// its replica goes on with the next one.
  func refuse(
    _ upload: Upload, time: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) -> HistoryEntry? {
    var refused = upload
    refused.changeset = Changeset()
    guard var entry = try integrate(refused, time: time, transaction) else { return nil }
    entry.refusals = upload.changeset.objects.map { Refusal(subject: .object($0.id), reason: .tooLarge) }
    return entry
  }

  /// Whether an upload is the next one of its replica and is well-formed.
  private func accepts(_ upload: Upload, _ replica: Replica) -> Bool {
    guard !replica.isRetired, upload.user == replica.user, upload.sequence == replica.lastSequence + 1,
      upload.base >= horizon,
      upload.base < version, upload.previous == replica.lastHash, upload.hash.count == Upload.hashLength
    else { return false }
    // The id of a new element or position has the number of the replica that makes it.
    let numbering = ReplicaNumbering(upload.replicas, replicas)
    let own = replica.predecessors + [replica.ordinal]
    return upload.changeset.objects.allSatisfy { object in
      object.instructions.allSatisfy { instruction in
        switch instruction {
        case .insert(_, let id, _, _, _), .move(_, _, let id, _, _):
          own.contains(numbering.ordinal(id.replica))
        default: true
        }
      }
    }
  }

  private func integrate(
    _ object: ObjectInstructions, _ upload: Upload, _ replica: inout Replica, _ entry: inout HistoryEntry,
    _ transaction: WriteTransaction
  ) throws(StorageError) {
    if object.instructions.contains(.create) {
      try addPartitionProperty(to: object.id.table, upload, replica, transaction)
    }
    let access = ObjectAccess(self, upload, replica, object.id.table, transaction)
    let names = access.fields
    let merged: MergedObject
    var before: [Value]?
    do throws(StorageError) {
      merged = try MergedObject(transaction.object(object.id), records: MergeRecords(transaction))
      before = try merged.object.values(of: names)
    } catch {
      guard case .instructionDoesNotFit = error else { throw error }
      entry.refusals.append(Refusal(subject: .object(object.id), reason: .schemaMismatch))
      return
    }
    var context = merged.fitting(self.context(upload, replica, entry.stamp))
    let isCreation = object.instructions.contains(.create)
    var effects: [Effect] = []
    var reason: Refusal.Reason?
    do throws(StorageError) {
      var count = 0
      if replica.refusedProperties.isEmpty {
        (count, effects) = try merged.mergeCreation(object.instructions, context)
      }
      for instruction in object.instructions.dropFirst(count) {
        guard !isUponRefused(instruction, object.id.table, upload, replica) else {
          throw merged.object.doesNotFit(.wrongKind, instruction.path)
        }
        effects += try merged.merge(instruction, context)
        if let id = instruction.newID, id.replica == replica.ordinal {
          replica.lastElement = max(replica.lastElement, id.counter)
          context.lastElement = replica.lastElement
        }
      }
    } catch {
      guard case .instructionDoesNotFit = error else { throw error }
      reason = .schemaMismatch
    }
    var isTaken = false
    if isCreation, let before { isTaken = try !access.saw(merged.object, before) }
    if isTaken {
      reason = .keyInUse
      replica.refusedCreations[object.id] = version
    } else if !isCreation, let refused = replica.refusedCreations[object.id], upload.base < refused {
      reason = .keyInUse
    } else if isCreation {
      replica.refusedCreations[object.id] = nil
    }
    guard !effects.isEmpty || reason != nil else { return }
    let after = try merged.object.values(of: names)
    reason = reason ?? access.refusal(before: before, after: after, isCreation: isCreation)
    if let reason {
      try merged.takeBack()
      try merged.finish()
      entry.refusals.append(Refusal(subject: .object(object.id), reason: reason))
      return
    }
    try merged.finish()
    try merged.store()
    entry.objects.append(
      ObjectHistory(
        name: object.id, before: before, after: after, effects: effects,
        isAsWritten: effects.areAsWritten(object.instructions, context)))
  }

  /// Adds the property with the partition of an object to a class, if the app's class has no such property.
  ///
  /// The property has the type of the partition's value. Null has no type, and a definition never changes. So in the
  /// null partition the class does not get the property here, but with the first object of another partition, or by its
  /// own definition.
  private func addPartitionProperty(
    to table: String, _ upload: Upload, _ replica: Replica, _ transaction: WriteTransaction
  ) throws(StorageError) {
    guard let property = settings.partitionProperty, let value = replica.partition(at: upload.base),
      let schema = try transaction.table(table)?.schema, !schema.isEmbedded,
      !schema.columns.contains(where: { $0.name.utf8.elementsEqual(property.utf8) })
    else { return }
    let type: ColumnType
    switch value {
    case .int: type = .int64
    case .objectID: type = .objectID
    case .uuid: type = .uuid
    case .string: type = .string
    default: return
    }
    let definition = PropertyDefinition(property, type, isOptional: true)
    _ = try SchemaMerge(transaction).merge(.addProperty(table: table, definition))
  }

  /// Whether an instruction changes a property that its writer has defined otherwise, without a value that shows the
  /// other type. Such an instruction must not empty what others have in the property.
  private func isUponRefused(
    _ instruction: Instruction, _ table: String, _ upload: Upload, _ replica: Replica
  ) -> Bool {
    guard !replica.refusedProperties.isEmpty, let property = instruction.path?.property,
      let refused = replica.refusedProperties[ObjectName(table, .string(property))], upload.base < refused
    else { return false }
    return switch instruction {
    case .set(_, let value, _): value == .value(.null) || value == .absent
    case .insert, .setInsert, .setErase: false
    default: true
    }
  }

  private func context(_ upload: Upload, _ replica: Replica, _ stamp: Stamp) -> MergeContext {
    var partition: MergeContext.Partition?
    if let property = settings.partitionProperty, let value = replica.partition(at: upload.base) {
      partition = MergeContext.Partition(property: property, value: value)
    }
    var context = MergeContext(
      replica: replica.ordinal, base: upload.base, stamp: stamp, version: version, partition: partition,
      replicas: numbers)
    context.lastElement = replica.lastElement
    return context
  }
}

extension Instruction {
  /// The id that the instruction gives to a new element or position.
  fileprivate var newID: ElementID? {
    switch self {
    case .insert(_, let id, _, _, _), .move(_, _, let id, _, _): id
    default: nil
    }
  }
}

/// Translates the indexes of replicas in an upload to ordinals in the server's file.
struct ReplicaNumbering {
  private let ordinals: [UInt32]
  /// The ordinal that stands for replicas that the server does not know. No element has an id with it.
  private static let unknown = UInt32(Int32.max)

  init(_ numbers: [UInt64], _ replicas: [UInt64: Replica]) {
    ordinals = numbers.map { replicas[$0]?.ordinal ?? Self.unknown }
  }

  func ordinal(_ index: UInt32) -> UInt32 {
    if index == 0 { return 0 }
    return Int(index) < ordinals.count ? ordinals[Int(index)] : Self.unknown
  }
}

extension SchemaInstruction {
  fileprivate var subject: Refusal.Subject {
    switch self {
    case .addTable(let table, _): .table(table)
    case .addProperty(let table, let property): .property(table: table, property.name)
    }
  }
}
