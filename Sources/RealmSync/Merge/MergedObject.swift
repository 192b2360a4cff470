import RealmStorage

/// An object that changesets are merged into. The same code decides on the server what a changeset does, and on a client what its own pending changesets do on top of what the server has
/// decided.
///
/// The rows of the object are changed at once. What is recorded of it is kept once `store` is called.
package final class MergedObject {
  private(set) package var object: EditedObject
  let records: ObjectRecords
  /// What takes back each change of the rows, in the order of the changes.
  private var inverses: [[Instruction]] = []
  let keepsInverse: Bool
  /// The object was made since then: to remove it takes back all that was done to it.
  private var isMade = false

  /// - Parameters:
  ///   - records: the tree that the records of all objects stand in.
  ///   - keepsInverse: the changes of the rows may have to be taken back.
  package init(
    _ object: EditedObject, records: MergeRecords, keepsInverse: Bool = true
  ) throws(StorageError) {
    (self.object, self.keepsInverse) = (object, keepsInverse)
    self.records = try ObjectRecords(object.key, in: records.tree)
  }

  /// What deleted the object, if that is known.
  package var deletion: DecidedBy? {
    records.head.slot.kill.map { DecidedBy(version: $0.version, stamp: $0.stamp, replica: $0.replica) }
  }

  /// How changesets are merged into this object. Null is no value that tells of what type a property is: a class that lacks the property of the partition does not get it from the null
  /// partition, and all its objects count as having null in it. Nothing is to be set then.
  package func fitting(_ context: MergeContext) -> MergeContext {
    guard let partition = context.partition, partition.value == .null,
      !object.hasProperty(partition.property)
    else { return context }
    var context = context
    context.partition = nil
    return context
  }

  /// Merges an instruction: decides what it does, and does it.
  ///
  /// - Returns: what it did; nothing where others had decided otherwise.
  /// - Throws: `.instructionDoesNotFit` for one that no object of the table can be changed by, with nothing changed; `.limitExceeded`, `.corrupted`.
  package func merge(_ instruction: Instruction, _ context: MergeContext) throws(StorageError) -> [Effect] {
    let context = fitting(context)
    let effects = try decide(instruction, context)
    for effect in effects { try apply(effect, context) }
    return effects
  }

  /// Merges the creation of an object and the single values that are set directly behind it, where nobody has an object of the name and nothing is recorded of it: then all of them take effect.
  /// They are written at once, which most new objects need.
  ///
  /// - Returns: how many instructions were merged, none where that is not so, and what they did.
  package func mergeCreation(
    _ instructions: [Instruction], _ context: MergeContext
  ) throws(StorageError) -> (count: Int, effects: [Effect]) {
    guard instructions.first == .create, context.partition == nil, !object.isPresent,
      records.head == HeadRecord()
    else { return (0, []) }
    guard let (columns, sets) = try create(instructions) else { return (0, []) }
    if keepsInverse { inverses.append([.delete]) }
    isMade = true
    records.setHead { head in
      head.slot.created = context.record()
      for (column, isDefault) in zip(columns, sets)
      where !isDefault || head.registers[column]?.isDefault != false {
        head.registers[column] = context.record(isDefault: isDefault)
      }
    }
    let count = 1 + sets.count
    return (count, instructions.prefix(count).map { Effect($0) })
  }

  /// Creates the object with the single values that are set directly behind its creation.
  ///
  /// - Returns: the ids of the columns, and whether each value is a default; nil, with nothing done, where they can't be written at once.
  func create(_ instructions: [Instruction]) throws(StorageError) -> (columns: [UInt16], areDefaults: [Bool])?
  {
    var (sets, values) = ([Bool](), [(property: String, value: Value)]())
    for instruction in instructions.dropFirst() {
      guard case .set(let path, .value(let value), let isDefault) = instruction, path.steps.isEmpty else {
        break
      }
      values.append((path.property, value))
      sets.append(isDefault)
    }
    guard let columns = try object.create(with: values) else { return nil }
    return (columns, sets)
  }

  /// Keeps what was recorded.
  package func store() throws(StorageError) { try records.store() }

  /// Ends the changes of the rows: one that went is removed.
  package func finish() throws(StorageError) { try object.finish() }

  /// The instructions that take back all changes of the rows since the beginning, in the order in which they are to be carried out.
  package var inverse: [Instruction] { inverses.reversed().flatMap(\.self) }

  /// Begins anew with what is to be taken back.
  package func forgetInverse() {
    inverses.removeAll()
    isMade = false
  }

  /// Forgets all that is recorded of the object.
  package func forgetRecords() {
    records.clear([])
    records.setHead { $0 = HeadRecord() }
  }

  /// Takes back all changes of the rows. What was recorded is not to be stored then.
  package func takeBack() throws(StorageError) {
    // What stood in a place before stands there again: the place is free.
    for instruction in inverse { try object.apply(instruction, isNew: instruction.isMove) }
    inverses.removeAll()
  }

  /// Changes the rows.
  func change(_ instruction: Instruction, isNew: Bool = false) throws(StorageError) {
    guard keepsInverse else { return try object.apply(instruction, isNew: isNew) }
    guard !isMade else { return try object.apply(instruction, isNew: isNew) }
    let inverse = try object.inverse(of: instruction)
    try object.apply(instruction, isNew: isNew)
    isMade = instruction == .create && object.isPresent
    if !inverse.isEmpty { inverses.append(inverse) }
  }

  func order(_ place: EditedPlace) throws(StorageError) -> ListOrder {
    ListOrder(list: try place.list(), records: records.list(place.key))
  }

  /// What decided the value of a register last. An element was set when it was inserted.
  func register(_ place: EditedPlace) throws(StorageError) -> MergeRecord? {
    if let record = try records.register(place) { return record }
    return try insertion(of: place)?.record
  }

  /// What is recorded of an embedded object. One that is an element was made when it was inserted.
  func slot(_ place: EditedPlace) throws(StorageError) -> SlotRecord {
    try slot(place.key, insertion: place.kind == .embedded ? insertion(of: place) : nil)
  }

  private func slot(_ key: [UInt8], insertion: ListPosition?) throws(StorageError) -> SlotRecord {
    var slot = try records.slot(key)
    if slot.created == nil { slot.created = insertion?.record }
    return slot
  }

  /// The position that the insertion of an element made.
  private func insertion(of place: EditedPlace) throws(StorageError) -> ListPosition? {
    guard let element = place.element, let list = place.containers.last else { return nil }
    return try records.list(Array(place.key[..<list.keyLength])).position(element, of: element)
  }

  /// What is recorded of the innermost object that a place lies in.
  func enclosingObject(_ place: EditedPlace) throws(StorageError) -> SlotRecord {
    guard let index = place.containers.lastIndex(where: { $0.kind == .embedded }) else {
      return records.head.slot
    }
    let key = Array(place.key[..<place.containers[index].keyLength])
    guard index > 0, place.containers[index - 1].kind == .list else { return try records.slot(key) }
    let list = Array(place.key[..<place.containers[index - 1].keyLength])
    let id = ElementID(stored: key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
    return try slot(key, insertion: records.list(list).position(id, of: id))
  }
}
