/// Tells how an instruction that is carried out next is taken back.
struct InverseInstructions {
  let editor: ObjectEditor
  let object: ChangesetMaker.SyncedObject
  private let teller = ObjectTeller()

  init(editor: ObjectEditor, object: ChangesetMaker.SyncedObject) {
    (self.editor, self.object) = (editor, object)
  }

  /// The instructions in the order in which they are to be carried out.
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

  /// The instructions that put back what stands in a place for one value.
  private func restore(
    _ place: ObjectEditor.Place, _ path: InstructionPath
  ) throws(StorageError) -> [Instruction] {
    let value = try editor.value(place)
    if case .link(let row)? = value, try place.table.linksToEmbedded(place.column) {
      try editor.flush(place, row)
      // What stands there now goes first.
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

  /// The link to an object that is not there, which stands in the place and is not shown.
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
      // The object may have come, and the link may not have found it yet.
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
  /// How many elements there are, with those that are not shown.
  func countOfAll() throws(StorageError) -> Int {
    if let opened { return opened.elements.count }
    return try (place.table.listCount(place.position, ofRow: place.row) ?? 0) + place.links().count
  }

  /// Where an element stands among all.
  func rank(of id: ElementID) throws(StorageError) -> Int? {
    if let opened { return opened.elements.rank(of: id.stored) }
    guard let found = try find(id) else { return nil }
    let links = try place.links()
    switch found {
    case .absent(let index): return links[index].listPosition + index
    case .shown(let index): return index + links.count { $0.listPosition <= index }
    }
  }

  /// Where the element stands that was moved to a place, among all. Takes time in proportion to a list that is not in memory, where any element of it was moved.
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

  /// The id of an element and that of the place that it was moved to, or its own.
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

  /// The id of the element that stands before a rank; none before the first.
  func id(before rank: Int) throws(StorageError) -> ElementID {
    rank == 0 ? .none : try ids(at: rank - 1).id
  }
}

extension AbsentLink {
  /// Stands for the link that waits for a key of a map, whatever it links to.
  init(key: String) { self.init(table: 0, primaryKey: .null, place: .key(key)) }

  /// The link of a set to an object.
  init(memberOf table: UInt32, _ key: Value) { self.init(table: table, primaryKey: key, place: .member) }
}
