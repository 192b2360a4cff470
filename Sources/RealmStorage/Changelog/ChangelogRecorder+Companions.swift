/// Links to rows that are not in the file, and lists and maps that stand in mixed values.
extension ChangelogRecorder {
  /// Records that a cell has lost links to rows that are not in the file. The cell itself does not show these links. A
  /// program can't add such links; only merging does.
  func recordCompanion(
    _ value: Value, _ before: Value?, _ companion: Column, _ row: UInt64, _ table: TableWriter
  ) throws(StorageError) {
    guard case .absentLinks(let owner) = companion.role else { return }
    let position = table.position(of: owner)
    let column = table.schema.columns[position]
    guard let place = try place(row, table), let old = AbsentLink.decode(before ?? .null, in: column),
      let new = AbsentLink.decode(value, in: column)
    else { return }
    let (before, after) = (Set(old.map(\.withoutPosition)), Set(new.map(\.withoutPosition)))
    guard after.isSubset(of: before) else {
      throw table.notSyncable(.appliedChange, column: column.name)
    }
    let path = place.property(column.name)
    let gone = old.filter { !after.contains($0.withoutPosition) }
    switch column.collection {
    case .none:
      // If the program set the value, that change was recorded already, with the link that stood there before.
      guard let link = gone.first, try table.value(column, ofRow: row) == .null else { return }
      try maker.add(
        .set(path, .value(.null), isDefault: false), to: place.object,
        undo: [.set(path, .link(try name(of: link, table.tables)), isDefault: false)])
    case .map:
      guard !isAssigning(column.id, row, table) else { return }
      for link in gone {
        guard case .key(let key) = link.place else { continue }
        let path = path.appending(.key(key))
        try maker.add(
          .set(path, .absent, isDefault: false), to: place.object,
          undo: [.set(path, .link(try name(of: link, table.tables)), isDefault: false)])
      }
    case .list, .set:
      guard !old.isEmpty, new.isEmpty, !isAssigning(column.id, row, table) else { return }
      var undo: [Instruction] = []
      var last = ElementID.none
      for link in old {
        let value = InstructionValue.link(try name(of: link, table.tables))
        if column.collection == .set {
          undo.append(.setInsert(path, value))
        } else {
          let id = ElementID(stored: link.elementID)
          undo.append(.insert(path, id, left: last, right: .none, value))
          if link.elementPlace != 0 {
            undo.append(
              .move(path, id, id: ElementID(stored: link.elementPlace), left: last, right: .none))
          }
          last = id
        }
      }
      try maker.add(.clear(path, column.collection.kind ?? .list), to: place.object, undo: undo)
    }
  }

  /// True if the cell was just assigned as a whole, and the assignment was recorded.
  private func isAssigning(_ column: UInt16, _ row: UInt64, _ table: TableWriter) -> Bool {
    assigned?.cell == CellPlace(row: row, column: column) && assigned?.table == table.schema.id
  }

  // MARK: - Mixed values

  /// Records a change of a list or map that stands in a mixed value. The list or map is a part of that value, and
  /// merging treats the value as one.
  func recordNested(
    _ change: RecordedChange, _ position: Int, _ cell: CellPlace, _ table: TableWriter,
    _ object: ChangesetMaker.SyncedObject, _ path: InstructionPath
  ) throws(StorageError) {
    guard let open = table.nested.find(cell), let place = change.change.kind.elements,
      let nested = open.value.nestedPath(to: place.nestedID)
    else { throw table.editor.store.corrupted(.structure, table.root.clusters) }
    let column = table.schema.columns[position]
    var path = path
    switch open.part {
    case nil: break
    case .position(let index)?:
      path.steps.append(.element(try table.elementIDs(at: index, ofList: position, cell.row).id))
    case .key(let key)?: path.steps.append(.key(key))
    }
    var old = open.value
    old.change(at: nested[...]) { $0.undo(change) }
    try maker.add(
      .set(path, try instructionValue(open.value, column, table.tables), isDefault: false), to: object,
      undo: [.set(path, try instructionValue(old, column, table.tables), isDefault: false)])
  }
}

extension AbsentLink {
  /// The link as if it stood at the beginning of its list. Its position changes when other elements are inserted and
  /// removed, so links are compared without it.
  fileprivate var withoutPosition: AbsentLink {
    var link = self
    if case .before = place { link.place = .before(0) }
    return link
  }
}

extension Value {
  /// Turns the list or map back into what it was before a change of its elements.
  fileprivate mutating func undo(_ recorded: RecordedChange) {
    switch self {
    case .list(var elements, let id):
      elements.undo(recorded)
      self = .list(elements, id: id)
    case .map(var map, let id):
      switch recorded.change.kind {
      case .setValue(_, let key, _), .removeValue(let key, _): map[key] = recorded.before.value
      default: break
      }
      self = .map(map, id: id)
    default: break
    }
  }
}

extension [Value] {
  fileprivate mutating func undo(_ recorded: RecordedChange) {
    switch recorded.change.kind {
    case .insertElement(_, let index, _): remove(at: index)
    case .insertElements(let values, let index, _): removeSubrange(index..<index + values.count)
    case .setElement(_, let index, _): self[index] = recorded.before.value ?? .null
    case .removeElements(let range, _): insert(contentsOf: recorded.before.values, at: range.lowerBound)
    case .moveElement(let old, let new, _): insert(remove(at: new), at: old)
    case .swapElements(let first, let second, _): swapAt(first, second)
    case .reorderElements(let order, _):
      var before = self
      for (place, source) in order.enumerated() { before[source] = self[place] }
      self = before
    default: break
    }
  }
}
