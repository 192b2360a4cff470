/// Makes the inverse of an instruction before the instruction is carried out.
struct InverseInstructions {
  let editor: ObjectEditor
  let object: ChangesetMaker.SyncedObject
  private let teller = ObjectTeller()

  init(editor: ObjectEditor, object: ChangesetMaker.SyncedObject) {
    (self.editor, self.object) = (editor, object)
  }

  /// The instructions of the inverse, in the order in which they are to be carried out.
  func inverse(
    of instruction: Instruction, _ table: TableWriter, _ row: UInt64
  ) throws(StorageError) -> [Instruction] {
    func place(_ path: InstructionPath) throws(StorageError) -> ObjectEditor.Place {
      try editor.place(path, table, row)
    }
    switch instruction {
    case .create, .delete, .ingest: return []
    case .set(let path, _, _), .newEmbedded(let path), .killEmbedded(let path):
      return try restore(try place(path), path)
    case .add(let path, let delta):
      let place = try place(path)
      guard case .int? = try editor.value(place) else { return [] }
      return [.add(path, 0 &- delta)]
    case .insert(let path, let id, _, _, _): return [.erase(path, id)]
    case .move(let path, let element, _, _, _):
      let list = try editor.list(path, table, row)
      guard let rank = try list.rank(of: element) else { return [] }
      return [
        .move(path, element, id: try list.ids(at: rank).place, left: try list.id(before: rank), right: .none)
      ]
    case .erase(let path, let element): return try restore(element, path, try editor.list(path, table, row))
    case .setInsert(let path, let value):
      return try isMember(value, try place(path)) ? [] : [.setErase(path, value)]
    case .setErase(let path, let value):
      return try isMember(value, try place(path)) ? [.setInsert(path, value)] : []
    case .clear(let path, _):
      let place = try place(path)
      try editor.flush(place)
      return try teller.content(
        place.table.value(place.column, ofRow: place.row) ?? .null, place.position,
        ObjectTeller.ToldRow(key: place.row, values: nil, table: place.table), at: path, object)
    }
  }

  /// The instructions that restore the content of a place that holds one value.
  private func restore(
    _ place: ObjectEditor.Place, _ path: InstructionPath
  ) throws(StorageError) -> [Instruction] {
    let value = try editor.value(place)
    if case .link(let row)? = value, try place.table.linksToEmbedded(place.column) {
      try editor.flush(place, row)
      // Whatever stands in the place at that time is removed first.
      return [.killEmbedded(path), .newEmbedded(path)]
        + (try teller.embeddedContents(of: row, place.column, at: path, object, place.table))
    }
    let waiting = try waitingLink(place)
    if let waiting {
      return [.set(path, .link(try teller.name(of: waiting, editor.tables)), isDefault: false)]
    }
    guard let value else { return [.set(path, .absent, isDefault: false)] }
    if try place.table.linksToEmbedded(place.column) { return [.killEmbedded(path)] }
    return [
      .set(path, try teller.instructionValue(value, place.column, editor.tables), isDefault: false)
    ]
  }

  /// The hidden link in the place, to an object that is not in the file; nil if there is none.
  private func waitingLink(_ place: ObjectEditor.Place) throws(StorageError) -> AbsentLink? {
    switch place.part {
    case nil: return try place.links().first
    case .key(let key)?: return try editor.waiting(AbsentLink(key: key), in: place)
    case .element(let id)?: return try SyncedList(place: place, editor.collections).link(of: id)
    default: return nil
    }
  }

  private func restore(
    _ element: ElementID, _ path: InstructionPath, _ list: SyncedList
  ) throws(StorageError) -> [Instruction] {
    guard let rank = try list.rank(of: element) else { return [] }
    let left = try list.id(before: rank)
    let (id, moved) = try list.ids(at: rank)
    let place = list.place
    var made: [Instruction] = []
    func insert(_ value: InstructionValue) { made.append(.insert(path, id, left: left, right: .none, value)) }
    switch try list.standing(at: rank) {
    case .absent:
      guard let link = try list.link(of: id) else { return [] }
      insert(.link(try teller.name(of: link, editor.tables)))
    case .shown(let index):
      guard let value = try place.table.element(at: index, ofList: place.position, ofRow: place.row) else {
        return []
      }
      if case .link(let row) = value, try place.table.linksToEmbedded(place.column) {
        try editor.flush(place, row)
        insert(.embedded)
        made += try teller.embeddedContents(
          of: row, place.column, at: path.appending(.element(id)), object, place.table)
      } else {
        insert(try teller.instructionValue(value, place.column, editor.tables))
      }
    }
    if moved != id { made.append(.move(path, id, id: moved, left: left, right: .none)) }
    return made
  }

  private func isMember(_ value: InstructionValue, _ place: ObjectEditor.Place) throws(StorageError) -> Bool {
    switch try editor.content(of: value, place) {
    case .value(let content):
      if try place.table.sorted(place.position, ofRow: place.row)?.contains(content) ?? false { return true }
      // The object may be in the file by now, while its waiting link has not been resolved yet.
      guard case .link(let object) = value, let target = try editor.tables.writer(object.table) else {
        return false
      }
      let link = AbsentLink(memberOf: target.schema.id, object.key)
      return try editor.waiting(link, in: place) != nil
    case .absent(let target, let key):
      return try editor.waiting(AbsentLink(memberOf: target, key), in: place) != nil
    }
  }
}

extension SyncedList {
  /// The number of elements, including the hidden ones.
  func countOfAll() throws(StorageError) -> Int {
    if let opened { return opened.elements.count }
    return try (place.table.listCount(place.position, ofRow: place.row) ?? 0) + place.links().count
  }

  /// The rank of an element among all elements, including the hidden ones.
  func rank(of id: ElementID) throws(StorageError) -> Int? {
    if let opened { return opened.elements.rank(of: id.stored) }
    guard let found = try find(id) else { return nil }
    let links = try place.links()
    switch found {
    case .absent(let index): return links[index].listPosition + index
    case .shown(let index): return index + links.count { $0.listPosition <= index }
    }
  }

  /// The rank of the element that was moved to a place, among all elements. If any element of the list was moved, this
  /// takes time in proportion to the list, unless the list is in memory.
  func rank(ofPlace id: ElementID) throws(StorageError) -> Int? {
    if let opened {
      return opened.elements.element(movedTo: id.stored).flatMap { opened.elements.rank(of: $0) }
    }
    let links = try place.links()
    if let index = links.firstIndex(where: { $0.elementPlace == id.stored }) {
      return links[index].listPosition + index
    }
    guard let places = try usedPlaces(), let list = try place.table.list(places, ofRow: place.row) else {
      return nil
    }
    var (start, found) = (0, Int?.none)
    while start < list.count, found == nil {
      let values = try list.values(from: start)
      found = values.firstIndex(of: .int(Int64(bitPattern: id.stored))).map { start + $0 }
      start += max(1, values.count)
    }
    try note(start)
    return found.map { position in position + links.count { $0.listPosition <= position } }
  }

  func standing(at rank: Int) throws(StorageError) -> Standing {
    if let opened { return opened.elements.standing(at: rank) }
    let links = try place.links()
    try note(links.count)
    for (index, link) in links.enumerated() {
      if link.listPosition + index == rank { return .absent(index) }
      if link.listPosition + index > rank { return .shown(rank - index) }
    }
    return .shown(rank - links.count)
  }

  /// The id of an element and the id of the place to which it was moved. The second is its own id if it was never
  /// moved.
  func ids(at rank: Int) throws(StorageError) -> (id: ElementID, place: ElementID) {
    if let opened {
      guard (0..<opened.elements.count).contains(rank) else {
        throw place.table.editor.store.corrupted(.structure, place.table.root.clusters)
      }
      let element = opened.elements.element(at: rank)
      let id = ElementID(stored: element.id)
      return (id, element.place == 0 ? id : ElementID(stored: element.place))
    }
    switch try standing(at: rank) {
    case .absent(let index):
      let link = try place.links()[index]
      let id = ElementID(stored: link.elementID)
      return (id, link.elementPlace == 0 ? id : ElementID(stored: link.elementPlace))
    case .shown(let index):
      let (id, moved) = try place.table.elementIDs(at: index, ofList: place.position, place.row)
      return (id, moved == .none ? id : moved)
    }
  }

  /// The id of the element before a rank; `.none` for rank 0.
  func id(before rank: Int) throws(StorageError) -> ElementID {
    rank == 0 ? .none : try ids(at: rank - 1).id
  }
}

extension AbsentLink {
  /// The key of a map as a link, for looking up the link that waits under it, whatever its target is.
  init(key: String) { self.init(table: 0, primaryKey: .null, place: .key(key)) }

  /// The link of a set to an object.
  init(memberOf table: UInt32, _ key: Value) { self.init(table: table, primaryKey: key, place: .member) }
}
