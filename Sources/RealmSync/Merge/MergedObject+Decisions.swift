import RealmStorage

/// The rules of merging.
///
/// A decision depends on what the writer of the instruction had not seen. A place without a record was decided so long
/// ago that every writer has seen it. A deletion, and an instruction that empties a collection, win over everything
/// that is concurrent with them. Of concurrent writes of one value, the one with the later stamp wins.
extension MergedObject {
  /// The effects of an instruction on the object in its present state; none if the instruction is dead.
  func decide(_ instruction: Instruction, _ context: MergeContext) throws(StorageError) -> [Effect] {
    switch instruction {
    case .create: return creation(context)
    case .delete: return deletion(context)
    default:
      guard let path = instruction.path else { throw object.doesNotFit(.wrongKind) }
      if let place = try object.place(path), try isReached(place, context) {
        return try decide(instruction, place, context)
      }
      // An instruction that no object of the table can have is reported, whether or not it would have had an effect.
      try check(instruction, try object.form(of: path))
      return []
    }
  }

  private func check(_ instruction: Instruction, _ place: EditedPlace) throws(StorageError) {
    let fits =
      switch (instruction, place.kind) {
      case (.set(_, let value, _), .register): try place.accepts(value)
      case (.setInsert(_, let value), .set), (.setErase(_, let value), .set): try place.accepts(value)
      case (.insert(_, let id, _, _, let value), .list): id.isValid ? try place.acceptsElement(value) : false
      case (.add, .register), (.newEmbedded, .embedded), (.killEmbedded, .embedded),
        (.clear(_, .list), .list),
        (.clear(_, .set), .set), (.clear(_, .map), .map), (.move, .list), (.erase, .list),
        (.set(_, .absent, _), .embedded):
        true
      default: false
      }
    guard fits else { throw object.doesNotFit(.wrongKind, instruction.path) }
  }

  // MARK: - Objects

  private func creation(_ context: MergeContext) -> [Effect] {
    // A deletion that the writer had not seen wins, whatever the clocks say.
    guard !object.isPresent, context.hasSeen(records.head.slot.kill) else { return [] }
    var effects = [Effect(.create)]
    if let partition = context.partition {
      effects.append(
        Effect(.set(InstructionPath(partition.property), .value(partition.value), isDefault: false)))
    }
    return effects
  }

  private func deletion(_ context: MergeContext) -> [Effect] {
    let kill = records.head.slot.kill
    if !object.isPresent, context.hasSeen(kill) { return [] }
    return context.isEarlier(than: kill) ? [] : [Effect(.delete)]
  }

  // MARK: - The way

  /// True if everything in which a place lies has been there since the writer saw it.
  private func isReached(_ place: EditedPlace, _ context: MergeContext) throws(StorageError) -> Bool {
    guard object.isPresent, context.hasSeen(records.head.slot.kill) else { return false }
    for container in place.containers {
      let kill = try records.slot(Array(place.key[..<container.keyLength])).kill
      guard context.hasSeen(kill) else { return false }
    }
    return true
  }

  private func decide(
    _ instruction: Instruction, _ place: EditedPlace, _ context: MergeContext
  ) throws(StorageError) -> [Effect] {
    switch (instruction, place.kind) {
    case (.set(let path, let value, let isDefault), .register):
      guard try place.accepts(value) else { throw object.doesNotFit(.wrongValue, path) }
      if context.isPartition(path) { return [] }
      return try setting(path, value, isDefault: isDefault, place, context)
    case (.add(let path, _), .register):
      if context.isPartition(path) { return [] }
      let record = try register(place)
      return record?.isDefault == false && context.isEarlier(than: record) ? [] : [Effect(instruction)]
    case (.newEmbedded, .embedded):
      guard try !place.hasEmbedded(), context.hasSeen(try slot(place).kill) else { return [] }
      return [Effect(instruction)]
    case (.killEmbedded, .embedded), (.set(_, .absent, _), .embedded):
      return context.isEarlier(than: try slot(place).kill) ? [] : [Effect(instruction)]
    case (.clear(_, .list), .list), (.clear(_, .set), .set), (.clear(_, .map), .map):
      return context.isEarlier(than: try records.slot(place.key).kill) ? [] : [Effect(instruction)]
    case (.setInsert(let path, let value), .set), (.setErase(let path, let value), .set):
      guard try place.accepts(value) else { throw object.doesNotFit(.wrongValue, path) }
      guard context.hasSeen(try records.slot(place.key).kill) else { return [] }
      let record = try records.member(place.key(ofMember: value), ofSet: place.key)
      return context.isEarlier(than: record) ? [] : [Effect(instruction)]
    case (_, .list): return try decideInList(instruction, place, context)
    default: throw object.doesNotFit(.wrongKind, instruction.path)
    }
  }

  // MARK: - Registers

  private func setting(
    _ path: InstructionPath, _ value: InstructionValue, isDefault: Bool, _ place: EditedPlace,
    _ context: MergeContext
  ) throws(StorageError) -> [Effect] {
    let record = try register(place)
    let wins: Bool
    if isDefault {
      // A default never overwrites a value that its writer had seen or that was set.
      if let record {
        wins =
          record.isDefault && !context.isEarlier(than: record)
          && (record.version == context.version || !context.hasSeen(record))
      } else {
        let created = try enclosingObject(place).created
        wins = created.map { $0.version == context.version || !context.hasSeen($0) } ?? false
      }
    } else {
      wins = record == nil || record?.isDefault == true || !context.isEarlier(than: record)
    }
    guard wins else { return [] }
    let adds = try records.adds(place, from: isDefault ? nil : context.stamp)
      .filter { isDefault || isLater($0, context) }
    return [Effect(.set(path, value.adding(adds), isDefault: isDefault))]
  }

  /// True if an addition counts as later than a value that is set now.
  private func isLater(_ add: AddRecord, _ context: MergeContext) -> Bool {
    context.isEarlier((context.stamp, context.replica), (add.record.stamp, add.record.replica))
  }

  /// Forgets the additions to a value that is set now, except those that count as later.
  func forgetEarlierAdds(_ place: EditedPlace, _ context: MergeContext) throws(StorageError) {
    try records.forgetAdds(place, upTo: context.stamp) { isLater($0, context) }
  }

  // MARK: - Lists

  private func decideInList(
    _ instruction: Instruction, _ place: EditedPlace, _ context: MergeContext
  ) throws(StorageError) -> [Effect] {
    guard context.hasSeen(try records.slot(place.key).kill) else { return [] }
    let order = try order(place)
    switch instruction {
    case .insert(let path, let id, let left, let right, let value):
      guard try place.acceptsElement(value), id.isValid else { throw object.doesNotFit(.wrongValue, path) }
      if !context.isNew(id), try order.contains(id) { return [] }
      let placement = try order.place(behind: left, before: right, context)
      let (element, dead) = try order.neighbours(placement.behind)
      return [
        Effect(
          .insert(path, id, left: element, right: .none, value),
          order: ElementOrder(placement, dead: dead))
      ]
    case .erase(_, let element): return try order.list.rank(of: element) == nil ? [] : [Effect(instruction)]
    case .move(let path, let element, let id, let left, let right):
      guard id.isValid else { throw object.doesNotFit(.wrongValue, path) }
      let rank = try order.list.rank(of: element)
      if rank == nil {
        guard try order.isKnown(element, context) else { return [] }
      }
      if !context.isNew(id), try order.contains(id) { return [] }
      var isLost = true
      if let rank {
        let place = try order.list.element(at: rank).place
        isLost = context.isEarlier(than: try order.records.position(place, of: element)?.record)
      }
      let placement = try order.place(behind: left, before: right, context)
      let (left, dead) = try order.neighbours(placement.behind, without: isLost ? nil : rank)
      return [
        Effect(
          .move(path, element, id: id, left: left, right: .none),
          order: ElementOrder(placement, dead: dead, isLost: isLost))
      ]
    default: throw object.doesNotFit(.wrongKind, instruction.path)
    }
  }
}

extension ElementOrder {
  fileprivate init(_ placement: ListOrder.Placement, dead: ElementID, isLost: Bool = false) {
    self.init(
      dead: dead, parent: placement.parent, isLeftOfParent: placement.isLeftOfParent, left: placement.left,
      isLost: isLost)
  }
}

extension InstructionValue {
  /// A whole number plus the additions; any other value unchanged.
  fileprivate func adding(_ adds: [AddRecord]) -> InstructionValue {
    guard case .value(.int(let number)) = self else { return self }
    return .value(.int(adds.reduce(number) { $0 &+ $1.delta }))
  }
}

extension MergeContext {
  /// True if a path leads to the property of the partition. A replica with a partition can't change that property.
  fileprivate func isPartition(_ path: InstructionPath) -> Bool {
    guard let partition else { return false }
    return path.steps.isEmpty && path.property.utf8.elementsEqual(partition.property.utf8)
  }
}
