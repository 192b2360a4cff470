import RealmStorage

/// Carries out what was decided, here or on the server.
extension MergedObject {
  /// Carries out an effect of a changeset, without deciding anything.
  ///
  /// - Parameter context: the context of the changeset, as it was decided.
  /// - Throws: `.instructionDoesNotFit` if the object differs from what it was at the decision; `.limitExceeded`,
  ///   `.corrupted`.
  package func apply(_ effect: Effect, _ context: MergeContext) throws(StorageError) {
    let instruction = effect.instruction
    switch instruction {
    case .create:
      try change(instruction)
      records.clear([])
      records.setHead { $0.slot.created = context.record() }
    case .delete:
      if object.isPresent { try change(instruction) }
      records.clear([])
      records.setHead { $0.slot = SlotRecord(kill: context.record()) }
    default:
      guard let path = instruction.path else { throw object.doesNotFit(.wrongKind) }
      guard let place = try object.place(path) else { throw object.doesNotFit(.noObject, path) }
      try apply(effect, place, context)
    }
  }

  /// Carries out the instructions of a changeset of this file that all took effect as they were written.
  package func applyOwn(_ instructions: [Instruction], _ context: MergeContext) throws(StorageError) {
    let context = fitting(context)
    let neighbours = neighbours(in: instructions)
    for var effect in instructions.asWritten(context) {
      if let id = effect.instruction.placedID, let (path, left, right) = neighbours[id],
        let place = try object.place(path), place.kind == .list
      {
        let placement = try order(place).place(behind: left, before: right, context)
        effect.order = ElementOrder(
          dead: .none, parent: placement.parent, isLeftOfParent: placement.isLeftOfParent,
          left: placement.left)
      }
      try apply(effect, context)
    }
  }

  /// The lists, and the neighbours that the writer saw, by the ids that insertions and moves give.
  private func neighbours(
    in instructions: [Instruction]
  ) -> [ElementID: (path: InstructionPath, left: ElementID, right: ElementID)] {
    var found: [ElementID: (path: InstructionPath, left: ElementID, right: ElementID)] = [:]
    for instruction in instructions {
      switch instruction {
      case .insert(let path, let id, let left, let right, _), .move(let path, _, let id, let left, let right):
        if found[id] == nil { found[id] = (path, left, right) }
      default: break
      }
    }
    return found
  }

  private func apply(
    _ effect: Effect, _ place: EditedPlace, _ context: MergeContext
  ) throws(StorageError) {
    let instruction = effect.instruction
    switch instruction {
    case .set(_, _, let isDefault) where place.kind == .register:
      try change(instruction)
      if !isDefault { try forgetEarlierAdds(place, context) }
      records.set(context.record(isDefault: isDefault), of: place)
    case .add(_, let delta):
      try change(instruction)
      try records.add(delta, context.record(), to: place)
    case .newEmbedded:
      try change(instruction)
      let kill = try records.slot(place.key).kill
      records.clear(place.key)
      records.set(SlotRecord(kill: kill, created: context.record()), at: place.key)
    case .set:
      try change(instruction)
      records.clear(place.key)
      records.set(SlotRecord(kill: context.record()), at: place.key)
    case .killEmbedded:
      try change(instruction)
      records.clear(place.key)
      records.set(SlotRecord(kill: context.record()), at: place.key)
    case .setInsert(_, let value), .setErase(_, let value):
      try change(instruction)
      records.set(context.record(), ofMember: place.key(ofMember: value), inSet: place.key)
    case .clear:
      try change(instruction)
      records.clear(place.key)
      records.set(SlotRecord(kill: context.record()), at: place.key)
    case .insert(_, let id, let left, _, _): try insert(id, behind: left, effect, place, context)
    case .move(_, let element, let id, let left, _):
      try move(element, to: id, behind: left, effect, place, context)
    case .erase(let path, let element):
      let order = try order(place)
      guard let rank = try order.list.rank(of: element), let inside = try object.place(path.element(element))
      else { throw object.doesNotFit(.noElement, path) }
      if inside.kind == .embedded { records.clear(inside.key) } else { try records.clearElement(inside) }
      try order.noteEnd(of: rank, version: context.version)
      try change(instruction)
    case .create, .delete, .ingest: break
    }
  }

  // MARK: - Lists

  private func insert(
    _ id: ElementID, behind left: ElementID, _ effect: Effect, _ place: EditedPlace, _ context: MergeContext
  ) throws(StorageError) {
    let order = try order(place)
    let dead = effect.order?.dead ?? .none
    let offset = try order.offset(behind: dead, left)
    try change(effect.instruction, isNew: context.isNew(id))
    try order.noteInserted(
      position(of: id, id, effect, behind: left, context), behind: left, offset: offset)
  }

  private func move(
    _ element: ElementID, to id: ElementID, behind left: ElementID, _ effect: Effect, _ place: EditedPlace,
    _ context: MergeContext
  ) throws(StorageError) {
    let order = try order(place)
    var position = position(of: element, id, effect, behind: left, context)
    let dead = effect.order?.dead ?? .none
    if effect.order?.isLost == true {
      position.end = context.version
      return try order.noteEnded(position, behind: left, offset: order.offset(behind: dead, left))
    }
    guard let rank = try order.list.rank(of: element) else {
      throw object.doesNotFit(.noElement, effect.instruction.path)
    }
    try order.noteEnd(of: rank, version: context.version)
    let offset = try order.offset(behind: dead, left)
    try change(effect.instruction, isNew: context.isNew(id))
    try order.noteInserted(position, behind: left, offset: offset)
  }

  private func position(
    of element: ElementID, _ id: ElementID, _ effect: Effect, behind left: ElementID, _ context: MergeContext
  ) -> ListPosition {
    var position = ListPosition(element: element, id: id, record: context.record())
    position.parent = effect.order?.parent ?? left
    position.isLeftOfParent = effect.order?.isLeftOfParent ?? false
    position.left = effect.order?.left ?? left
    return position
  }
}

extension Instruction {
  /// The id that the instruction gives to an element or to the place of an element; nil for other instructions.
  fileprivate var placedID: ElementID? {
    switch self {
    case .insert(_, let id, _, _, _), .move(_, _, let id, _, _): id
    default: nil
    }
  }
}

extension InstructionPath {
  fileprivate func element(_ id: ElementID) -> InstructionPath {
    InstructionPath(property, steps + [.element(id)])
  }
}

extension MergedObject {
  /// Replaces the whole content of the object by what the server has.
  ///
  /// - Parameter content: the instructions that make a new object with that content; nil if the object does not exist
  ///   there.
  package func replace(with content: [Instruction]?) throws(StorageError) {
    var rest = (content ?? [])[...]
    if object.isPresent {
      try change(.delete)
    } else if !keepsInverse, rest.first == .create, let made = try create(Array(rest)) {
      rest = rest.dropFirst(1 + made.columns.count)
    }
    for instruction in rest { try change(instruction) }
  }

  /// Carries out an effect of a changeset without records, because no later decision needs them.
  package func applyUnrecorded(_ effect: Effect, _ context: MergeContext) throws(StorageError) {
    // A move without an effect leaves only a position that is not in force.
    if effect.order?.isLost == true { return }
    let isNew = effect.instruction.placedID.map { context.isNew($0) } ?? false
    try change(effect.instruction, isNew: isNew)
  }
}
