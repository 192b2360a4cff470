import RealmStorage

/// An object into which changesets are merged. The same code decides on the server what a changeset does, and on a
/// client what its own pending changesets do on top of what the server has decided.
///
/// The rows of the object are changed at once. The records of the object are written by `store`.
package final class MergedObject {
  private(set) package var object: EditedObject
  let records: ObjectRecords
  /// The inverses of the changes of the rows, in the order of the changes.
  private var inverses: [[Instruction]] = []
  let keepsInverse: Bool
  /// True if the object was made since the inverses began. To remove it then takes back all later changes of it.
  private var isMade = false

  /// - Parameters:
  ///   - records: the tree with the records of all objects.
  ///   - keepsInverse: true if the changes of the rows may have to be taken back.
  package init(
    _ object: EditedObject, records: MergeRecords, keepsInverse: Bool = true
  ) throws(StorageError) {
    (self.object, self.keepsInverse) = (object, keepsInverse)
    self.records = try ObjectRecords(object.key, in: records.tree)
  }

  /// The changeset that deleted the object, if that is known.
  package var deletion: DecidedBy? {
    records.head.slot.kill.map { DecidedBy(version: $0.version, stamp: $0.stamp, replica: $0.replica) }
  }

  /// The context in which changesets are merged into this object. A null value of the partition does not tell the type
  /// of the partition's property. So a class without that property does not get it from the null partition, and all its
  /// objects count as having null in it. In that case the returned context has no partition, because nothing has to be
  /// set.
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
  /// - Returns: the effects; none if others had decided otherwise.
  /// - Throws: `.instructionDoesNotFit` for an instruction that can't change any object of the table, with nothing
  ///   changed; `.limitExceeded`, `.corrupted`.
  package func merge(_ instruction: Instruction, _ context: MergeContext) throws(StorageError) -> [Effect] {
    let context = fitting(context)
    let effects = try decide(instruction, context)
    for effect in effects { try apply(effect, context) }
    return effects
  }

  /// Merges the creation of an object together with the single values that are set directly behind it. This is done if
  /// the object does not exist and has no records, so that all of these instructions take effect. The values are
  /// written at once, which most new objects need.
  ///
  /// - Returns: the number of merged instructions, and their effects. The number is 0 if the conditions do not hold.
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
  /// - Returns: the ids of the columns, and whether each value is a default. The result is nil, and nothing is done, if
  ///   the values can't be written at once.
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

  /// Stores the records that were changed.
  package func store() throws(StorageError) { try records.store() }

  /// Ends the changes of the rows. The row of a deleted object is removed.
  package func finish() throws(StorageError) { try object.finish() }

  /// The instructions that take back all changes of the rows since the inverses began, in the order in which they are
  /// to be carried out.
  package var inverse: [Instruction] { inverses.reversed().flatMap(\.self) }

  /// Forgets the inverses. They begin anew with the next change.
  package func forgetInverse() {
    inverses.removeAll()
    isMade = false
  }

  /// Forgets all records of the object.
  package func forgetRecords() {
    records.clear([])
    records.setHead { $0 = HeadRecord() }
  }

  /// Takes back all changes of the rows. The changed records must not be stored then.
  package func takeBack() throws(StorageError) {
    // A place in a list to which an element is moved back is free.
    for instruction in inverse { try object.apply(instruction, isNew: instruction.isMove) }
    inverses.removeAll()
  }

  /// Changes the rows, and keeps the inverse if that is wanted.
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

  /// The record of the last decision on the value of a register. If an element was never set, this is the record of its
  /// insertion.
  func register(_ place: EditedPlace) throws(StorageError) -> MergeRecord? {
    if let record = try records.register(place) { return record }
    return try insertion(of: place)?.record
  }

  /// The record of an embedded object. An embedded object that is an element of a list was made by its insertion.
  func slot(_ place: EditedPlace) throws(StorageError) -> SlotRecord {
    try slot(place.key, insertion: place.kind == .embedded ? insertion(of: place) : nil)
  }

  private func slot(_ key: [UInt8], insertion: ListPosition?) throws(StorageError) -> SlotRecord {
    var slot = try records.slot(key)
    if slot.created == nil { slot.created = insertion?.record }
    return slot
  }

  /// The position that the insertion of an element made; nil if the place is no element or has no such record.
  private func insertion(of place: EditedPlace) throws(StorageError) -> ListPosition? {
    guard let element = place.element, let list = place.containers.last else { return nil }
    return try records.list(Array(place.key[..<list.keyLength])).position(element, of: element)
  }

  /// The record of the innermost object or embedded object in which a place lies.
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
