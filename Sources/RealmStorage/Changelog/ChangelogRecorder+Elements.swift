/// Changes of lists and maps.
///
/// The recorder gets each change of a list twice: first as a change of the list itself, then as a change of the column
/// that holds the ids of its elements. The instruction is made from the second one, which has the ids. The first one
/// gives the values of the elements.
extension ChangelogRecorder {
  /// A change of a list that was recorded, while the change of its ids was not recorded yet.
  struct ListChange {
    var cell: CellPlace
    var table: UInt32
    var kind: Kind

    enum Kind {
      case insert([Value], at: Int)
      case remove([Value], from: Int)
      /// A new list replaces an old one. `isCleared` is true if the instruction that empties the list was made.
      case assign(to: [Value], from: [Value], isCleared: Bool)
      /// An embedded object takes the place of another one.
      case replace(Value, with: Value)
      /// Elements get other positions. `back` holds the instructions that move them back. It is known once the new
      /// order of the ids is recorded, and it undoes the first move. `from` is the old position of the element if a
      /// single element is moved.
      case order(back: [Instruction], from: Int? = nil)
    }
  }

  func recordElements(_ change: RecordedChange, of table: TableWriter) throws(StorageError) {
    guard let cell = change.change.cell else { return }
    let position = table.position(of: cell.column)
    let column = table.schema.columns[position]
    if column.isCompanion { return try recordIDs(change, column, cell, table) }
    guard let place = try place(cell.row, table) else { return }
    let path = place.property(column.name)
    if let nested = change.change.kind.elements, nested.isNested {
      return try recordNested(change, position, cell, table, place.object, path)
    }
    func expect(_ kind: ListChange.Kind) {
      list = ListChange(cell: cell, table: table.schema.id, kind: kind)
    }
    switch change.change.kind {
    case .insertElement(let value, let index, _): expect(.insert([value], at: index))
    case .insertElements(let values, let index, _): expect(.insert(values, at: index))
    case .removeElements(let range, _):
      expect(.remove(change.before.values, from: range.lowerBound))
    case .moveElement, .swapElements, .reorderElements: expect(.order(back: []))
    case .setElement(let value, let index, _):
      let old = change.before.value ?? .null
      if try table.linksToEmbedded(column) { return expect(.replace(old, with: value)) }
      let id = try table.elementIDs(at: index, ofList: position, cell.row).id
      try setOne(value, old, column, at: path.appending(.element(id)), place.object, table)
    case .setValue(let value, let key, _):
      try setKey(
        value, change.before.value, nil, column, at: path.appending(.key(key)), place.object, table)
    case .removeValue(let key, _):
      let undo = try placed(
        change.before.value ?? .null, column, at: path.appending(.key(key)), place.object, table)
      try maker.add(
        .set(path.appending(.key(key)), .absent, isDefault: false), to: place.object, undo: undo)
    default: break
    }
  }

  private func setOne(
    _ value: Value, _ old: Value, _ column: Column, at path: InstructionPath,
    _ object: ChangesetMaker.SyncedObject, _ table: TableWriter
  ) throws(StorageError) {
    try maker.add(
      .set(path, try instructionValue(value, column, table.tables), isDefault: false), to: object,
      undo: [.set(path, try instructionValue(old, column, table.tables), isDefault: false)])
  }

  /// - Parameter waiting: the link to a row that is not in the file, which stood under the key.
  private func setKey(
    _ value: Value, _ before: Value?, _ waiting: AbsentLink?, _ column: Column, at path: InstructionPath,
    _ object: ChangesetMaker.SyncedObject, _ table: TableWriter
  ) throws(StorageError) {
    if try table.linksToEmbedded(column) {
      return try setEmbedded(value, before: before, column, at: path, object, table)
    }
    var old = InstructionValue.absent
    if let before { old = try instructionValue(before, column, table.tables) }
    if let waiting { old = .link(try name(of: waiting, table.tables)) }
    try maker.add(
      .set(path, try instructionValue(value, column, table.tables), isDefault: false), to: object,
      undo: [.set(path, old, isDefault: false)])
  }

  // MARK: - Whole collections

  /// Records that a program assigned a whole collection. If no link to an absent row waits in it, the collection is
  /// emptied and filled anew, so that the later of two assignments wins as a whole. Otherwise the waiting links stay,
  /// and each other element is added or removed by itself. An empty value empties the collection in any case.
  func assign(
    _ value: Value, before: Value, _ position: Int, _ row: UInt64, _ table: TableWriter, _ place: Place,
    _ path: InstructionPath
  ) throws(StorageError) {
    let column = table.schema.columns[position]
    let absent = try table.absentLinks(of: position, row)
    let (old, new) = (before.elements ?? [], value.elements ?? [])
    let isCleared = absent.isEmpty || new.isEmpty
    assigned = (table.schema.id, CellPlace(row: row, column: column.id))
    let kind = column.collection.kind ?? .list
    if isCleared {
      let content = try content(
        before, position, ToldRow(key: row, values: nil, table: table), at: path, place.object)
      try maker.add(.clear(path, kind), to: place.object, undo: content)
    }
    let object = place.object
    switch (column.collection, value) {
    case (.list, _):
      let cell = CellPlace(row: row, column: column.id)
      list = ListChange(
        cell: cell, table: table.schema.id, kind: .assign(to: new, from: old, isCleared: isCleared))
    case (.set, _):
      let kept = isCleared ? [] : Set(old)
      if !isCleared {
        let left = Set(new)
        for element in old where !left.contains(element) {
          let value = try instructionValue(element, column, table.tables)
          try maker.add(.setErase(path, value), to: object, undo: [.setInsert(path, value)])
        }
      }
      for element in new where !kept.contains(element) {
        let value = try instructionValue(element, column, table.tables)
        try maker.add(.setInsert(path, value), to: object, undo: [.setErase(path, value)])
      }
    case (.map, .map(let map, _)):
      let known = if case .map(let map, _) = before, !isCleared { map } else { ValueMap() }
      for (key, old) in zip(known.keys, known.values) where map[key] == nil {
        let path = path.appending(.key(key))
        try maker.add(
          .set(path, .absent, isDefault: false), to: object,
          undo: try placed(old, column, at: path, object, table))
      }
      for (key, value) in zip(map.keys, map.values) where known[key] != value {
        let waiting = isCleared ? nil : absent.first { $0.place == .key(key) }
        try setKey(value, known[key], waiting, column, at: path.appending(.key(key)), object, table)
      }
    default: break
    }
  }

  // MARK: - Ids

  private func recordIDs(
    _ change: RecordedChange, _ companion: Column, _ cell: CellPlace, _ table: TableWriter
  ) throws(StorageError) {
    guard let list, let owner = companion.role.owner, list.table == table.schema.id,
      list.cell.row == cell.row,
      list.cell.column == owner, let place = try place(cell.row, table)
    else { return }
    let position = table.position(of: owner)
    let target = ListTarget(
      table: table, position: position, row: cell.row, object: place.object,
      path: place.property(table.schema.columns[position].name))
    if case .elementPlaces = companion.role {
      guard case .setElement(.int(let id), let index, _) = change.change.kind,
        case .order(let back, let from) = list.kind
      else { return }
      self.list?.kind = .order(back: [], from: from)
      return try move(to: index, from: from, ElementID(stored: UInt64(bitPattern: id)), target, undo: back)
    }
    guard case .elementIDs = companion.role else { return }
    switch (change.change.kind, list.kind) {
    case (.moveElement(let old, let new, _), .order):
      self.list?.kind = .order(back: try target.moveBack(from: old, to: new), from: old)
      maker.isWhole = true
    case (.reorderElements(let order, _), .order):
      self.list?.kind = .order(back: try target.moveBack(order))
      maker.isWhole = true
    case (.insertElements(let ids, let index, _), .insert(let values, _)):
      try insert(ids, values[...], at: index, target)
    case (.insertElements(let ids, let index, _), .assign(let values, _, _)):
      try insert(ids, values[index..<index + ids.count], at: index, target)
    case (.removeElements(let range, _), .remove(let values, _)):
      try erase(change.before.values, values[...], range, target)
    case (.removeElements(let range, _), .assign(_, let values, let isCleared)):
      if !isCleared { try erase(change.before.values, values[range], range, target) }
    case (.setElement(let id, let index, _), .replace(let old, let new)):
      let left = index == 0 ? ElementID.none : try target.id(index - 1)
      try insert([id], [new], at: index, target)
      try erase(
        try target.erased(old, change.before.value ?? .null, at: index, left: left, self), target)
    default: break
    }
  }

  /// A list whose elements are changed.
  struct ListTarget {
    var table: TableWriter
    var position: Int
    var row: UInt64
    var object: ChangesetMaker.SyncedObject
    var path: InstructionPath

    var column: Column { table.schema.columns[position] }

    func id(_ index: Int) throws(StorageError) -> ElementID {
      try table.elementIDs(at: index, ofList: position, row).id
    }

    /// The id of the element at a position; `.none` if there is no such element. The list itself may already contain
    /// changes that the column of its ids does not have.
    func idOrNone(_ index: Int) throws(StorageError) -> ElementID {
      guard index >= 0, let ids = table.schema.position(of: .elementIDs(of: column.id)),
        index < (try table.listCount(ids, ofRow: row) ?? 0)
      else { return .none }
      return try id(index)
    }
  }

  /// An element that is erased, with the instructions that restore it.
  struct Erased {
    var id: ElementID
    var restore: [Instruction]
  }

  private func insert(
    _ ids: [Value], _ values: ArraySlice<Value>, at index: Int, _ target: ListTarget
  ) throws(StorageError) {
    var left = try target.left(of: index)
    let right = try target.idOrNone(index + ids.count)
    let isEmbedded = try target.table.linksToEmbedded(target.column)
    for (id, value) in zip(ids, values) {
      guard let id = ElementID(id) else { continue }
      let made: InstructionValue =
        isEmbedded ? .embedded : try instructionValue(value, target.column, target.table.tables)
      try maker.add(
        .insert(target.path, id, left: left, right: right, made), to: target.object,
        undo: [.erase(target.path, id)])
      left = id
      guard isEmbedded, case .link(let row) = value else { continue }
      let path = target.path.appending(.element(id))
      for instruction in try embeddedContents(of: row, target.column, at: path, target.object, target.table) {
        try maker.add(instruction, to: target.object, undo: instruction.inverseOfAddition)
      }
    }
  }

  private func erase(
    _ ids: [Value], _ values: ArraySlice<Value>, _ range: Range<Int>, _ target: ListTarget
  ) throws(StorageError) {
    // The links to rows that are not in the file still stand as they did before the change.
    let absent = try target.table.absentLinks(of: target.position, target.row)
    var left = try target.idOrNone(range.lowerBound - 1)
    for ((offset, id), value) in zip(zip(0..., ids), values) {
      let index = range.lowerBound + offset
      if let link = absent.last(where: { $0.place == .before(index) }) {
        left = ElementID(stored: link.elementID)
      }
      // The elements are restored from the last to the first, each directly behind the same element.
      try erase(try target.erased(value, id, at: index, left: left, self), target)
    }
  }

  private func erase(_ erased: Erased, _ target: ListTarget) throws(StorageError) {
    try maker.add(.erase(target.path, erased.id), to: target.object, undo: erased.restore)
  }

  private func move(
    to index: Int, from old: Int?, _ place: ElementID, _ target: ListTarget, undo: [Instruction]
  ) throws(StorageError) {
    let id = try target.id(index)
    let (left, right) = (try target.left(of: index, movedFrom: old), try target.idOrNone(index + 1))
    try maker.add(
      .move(target.path, id, id: place, left: left, right: right), to: target.object, undo: undo)
  }
}

extension ChangelogRecorder.ListTarget {
  /// The element that a new element at a position stands behind. A link that waits at that position stays before the
  /// new element. The waiting links still have the positions from before the change.
  func left(of index: Int, movedFrom old: Int? = nil) throws(StorageError) -> ElementID {
    let waiting = try table.absentLinks(of: position, row).last { link in
      guard case .before(let place) = link.place else { return false }
      return (old.map { place > $0 ? place - 1 : place } ?? place) == index
    }
    if let waiting { return ElementID(stored: waiting.elementID) }
    return try idOrNone(index - 1)
  }

  /// The erasure of an element, with the instructions that restore it.
  ///
  /// - Parameters:
  ///   - index: the position at which the element stood.
  ///   - left: the element behind which it stood.
  func erased(
    _ value: Value, _ id: Value, at index: Int, left: ElementID, _ recorder: ChangelogRecorder
  ) throws(StorageError) -> ChangelogRecorder.Erased {
    guard let id = ElementID(id) else { throw table.editor.store.corrupted(.structure, table.root.clusters) }
    var restore: [Instruction] = []
    if case .link(let row) = value, try table.linksToEmbedded(column) {
      restore.append(.insert(path, id, left: left, right: .none, .embedded))
      restore += try recorder.embeddedContents(
        of: row, column, at: path.appending(.element(id)), object, table)
    } else {
      let value = try recorder.instructionValue(value, column, table.tables)
      restore.append(.insert(path, id, left: left, right: .none, value))
    }
    // The column of the places is changed after the column of the ids, so it still has the place.
    if let place = try storedPlace(index) {
      restore.append(.move(path, id, id: place, left: left, right: .none))
    }
    return ChangelogRecorder.Erased(id: id, restore: restore)
  }

  /// The instruction that moves an element back. The column of the ids has the new order already. The column of the
  /// places and the waiting links are as they were before the change.
  func moveBack(from old: Int, to new: Int) throws(StorageError) -> [Instruction] {
    // The element that stood at a position before the move.
    let before = { (index: Int) throws(StorageError) -> ElementID in
      if index == old { return try id(new) }
      if old < new, index > old, index <= new { return try id(index - 1) }
      if new < old, index >= new, index < old { return try id(index + 1) }
      return try id(index)
    }
    return [try moveBack(before(old), at: old, behind: old == 0 ? .none : before(old - 1))]
  }

  /// The instructions that undo a new order of the list. `order` has, for each position, the position at which its
  /// element stood before. The elements are moved back in their old order.
  func moveBack(_ order: [Int]) throws(StorageError) -> [Instruction] {
    var before = [ElementID](repeating: .none, count: order.count)
    for (index, source) in order.enumerated() { before[source] = try id(index) }
    var back: [Instruction] = []
    // Some elements that stay at their positions count as moved, too.
    let moved = Set(TableWriter.moved(by: order).map { order[$0] })
    for index in before.indices where order[index] != index || moved.contains(index) {
      back.append(try moveBack(before[index], at: index, behind: index == 0 ? .none : before[index - 1]))
    }
    return back
  }

  private func moveBack(
    _ id: ElementID, at index: Int, behind left: ElementID
  ) throws(StorageError) -> Instruction {
    let absent = try table.absentLinks(of: position, row).last { $0.place == .before(index) }
    return .move(
      path, id, id: try storedPlace(index) ?? id,
      left: absent.map { ElementID(stored: $0.elementID) } ?? left, right: .none)
  }

  /// The place to which the element at a position was moved, as the column of the places has it; nil if it was never
  /// moved.
  private func storedPlace(_ index: Int) throws(StorageError) -> ElementID? {
    guard let places = table.schema.position(of: .elementPlaces(of: column.id)),
      try table.listCount(places, ofRow: row) ?? 0 > index,
      case .int(let place)? = try table.element(at: index, ofList: places, ofRow: row)
    else { return nil }
    return ElementID(stored: UInt64(bitPattern: place))
  }
}

extension ElementID {
  init?(_ value: Value) {
    guard case .int(let id) = value, id > 0 else { return nil }
    self.init(stored: UInt64(id))
  }
}

extension RowChange.Kind {
  /// The list or map whose elements are changed; nil for other changes.
  var elements: ElementsPlace? {
    switch self {
    case .insertElement(_, _, let place), .insertElements(_, _, let place), .setElement(_, _, let place),
      .removeElements(_, let place), .moveElement(_, _, let place), .swapElements(_, _, let place),
      .reorderElements(_, let place), .setValue(_, _, let place), .removeValue(_, let place):
      place
    default: nil
    }
  }
}
