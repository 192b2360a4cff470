/// The large collections of one object that is being edited, in memory.
///
/// To find an element of a list in the file takes time in proportion to the list, but near its ends; and all links of a cell to objects that are not there stand in one value. That is right for few changes, and
/// many of one collection would take the square of their number. So a list is read once where more elements were looked at than it has, and so are the links of a set or a map where they are many. What
/// waits for objects is put into the file once, before anybody else reads it.
final class EditedCollections: OpenCells {
  private struct Cell: Hashable {
    var table: UInt32
    var column: UInt16
    var row: UInt64

    init(_ place: ObjectEditor.Place) {
      (table, column, row) = (place.table.schema.id, place.column.id, place.row)
    }
  }

  /// A list in memory.
  final class OpenedList {
    let elements: ElementSequence
    /// The links to objects that are not there are others than those in the file.
    fileprivate(set) var areLinksChanged = false

    init(_ elements: ElementSequence) { self.elements = elements }
  }

  private enum Content {
    case list(OpenedList)
    case links(WaitingLinks)

    /// The links to objects that are not there are others than those in the file.
    var isChanged: Bool {
      switch self {
      case .list(let list): list.areLinksChanged
      case .links(let links): links.isChanged
      }
    }

    /// These links, which go into the file.
    func takeLinks() -> [AbsentLink] {
      switch self {
      case .list(let list):
        list.areLinksChanged = false
        return list.elements.absentLinks()
      case .links(let links):
        links.isChanged = false
        return links.all
      }
    }
  }

  private struct Opened {
    var place: ObjectEditor.Place
    var content: Content
  }

  /// In the order in which they were opened: what the file gets is the same each time. Nil of those that were emptied.
  private var opened: [Opened?] = []
  private var places: [Cell: Int] = [:]
  /// How many elements were looked at of lists that are not in memory.
  private var looked: [Cell: Int] = [:]

  /// So many collections of an object are in memory at a time.
  private static let most = 256
  /// So few links are read and written each time.
  private static let fewLinks = 64

  /// Nothing is in memory.
  var areEmpty: Bool { opened.isEmpty }

  private func find(_ place: ObjectEditor.Place) -> Content? {
    if opened.isEmpty { return nil }
    return places[Cell(place)].flatMap { opened[$0]?.content }
  }

  private func open(_ place: ObjectEditor.Place, _ content: Content) throws(StorageError) {
    let tables = place.table.tables
    if opened.count >= Self.most || tables.openCells !== self { try tables.closeCells() }
    tables.openCells = self
    var whole = place
    whole.part = nil
    places[Cell(place)] = opened.count
    opened.append(Opened(place: whole, content: content))
  }

  // MARK: - Lists

  func list(_ place: ObjectEditor.Place) -> OpenedList? {
    if case .list(let list)? = find(place) { list } else { nil }
  }

  func open(_ place: ObjectEditor.Place, _ elements: ElementSequence) throws(StorageError) {
    try open(place, .list(OpenedList(elements)))
  }

  /// Notes that elements of a list were looked at.
  ///
  /// - Returns: how many were so far.
  func note(_ count: Int, of place: ObjectEditor.Place) -> Int {
    let all = looked[Cell(place), default: 0] + count
    looked[Cell(place)] = all
    return all
  }

  // MARK: - Links that wait in sets and maps

  /// Those of a set or a map; nil where they are few, and are read and written each time.
  func links(_ place: ObjectEditor.Place) throws(StorageError) -> WaitingLinks? {
    if case .links(let links)? = find(place) { return links }
    let stored = try place.links()
    place.table.tables.elementSteps += stored.count
    guard stored.count > Self.fewLinks else { return nil }
    let links = WaitingLinks(stored)
    try open(place, .links(links))
    return links
  }

  // MARK: - Closing

  /// Puts into the file what waits in a cell, or in embedded objects that it owns.
  ///
  /// - Parameter embedded: the one that is meant, with those in it; nil for all.
  func flush(_ cell: ObjectEditor.Place, _ embedded: UInt64?) throws(StorageError) {
    for case let one? in opened where one.content.isChanged {
      if try one.place.lies(in: cell, embedded) { try flush(one) }
    }
  }

  private func flush(_ one: Opened) throws(StorageError) {
    // An embedded object may have gone since.
    guard one.content.isChanged, try one.place.table.contains(one.place.row) else { return }
    let links = one.content.takeLinks()
    one.place.table.tables.elementSteps += links.count
    try one.place.changeLinks { $0 = links }
  }

  func close() throws(StorageError) {
    for case let one? in opened {
      try flush(one)
      if case .list(let list) = one.content {
        one.place.table.tables.elementSteps += list.elements.steps
      }
    }
    opened.removeAll()
    places.removeAll()
    looked.removeAll()
  }

  /// A collection is emptied: what is in memory of it counts no more.
  func forget(_ place: ObjectEditor.Place) {
    looked[Cell(place)] = nil
    if let index = places.removeValue(forKey: Cell(place)) { opened[index] = nil }
  }
}

/// Changes of a list in memory.
extension EditedCollections.OpenedList {
  func insert(_ element: ElementSequence.Element, at rank: Int) {
    elements.insert(element, at: rank)
    noteChange()
  }

  @discardableResult
  func remove(_ id: ElementID) -> ElementSequence.Element? {
    noteChange()
    return elements.remove(id.stored)
  }

  func set(_ id: ElementID, _ target: ElementSequence.Target) {
    elements.set(id.stored, absent: target)
    noteChange()
  }

  /// A link that is not shown tells before which element it stands: it changes with each element before it.
  private func noteChange() {
    if elements.hasAbsent { areLinksChanged = true }
  }
}

extension ElementSequence {
  func standing(of id: UInt64) -> SyncedList.Standing? {
    rank(of: id).map { standing(at: $0, isShown: isShown(id)) }
  }

  func standing(at rank: Int) -> SyncedList.Standing {
    standing(at: rank, isShown: element(at: rank).absent == nil)
  }

  private func standing(at rank: Int, isShown: Bool) -> SyncedList.Standing {
    let shown = shown(amongFirst: rank)
    return isShown ? .shown(shown) : .absent(rank - shown)
  }
}

extension ObjectEditor.Place {
  /// Whether it is a cell, or in an embedded object that this owns.
  fileprivate func lies(in cell: ObjectEditor.Place, _ embedded: UInt64?) throws(StorageError) -> Bool {
    var (here, row, column) = (table, self.row, self.column.id)
    var below: UInt64?
    for _ in 0...InstructionPath.mostSteps {
      if here === cell.table, row == cell.row, column == cell.column.id {
        return embedded == nil || embedded == below
      }
      guard here.schema.isEmbedded, let link = try here.links.links(to: row).first,
        let owner = try here.tables.writer(id: link.table)
      else { return false }
      below = row
      (here, row, column) = (owner, link.source, link.column)
    }
    return false
  }
}

extension ElementSequence.Element {
  init(_ link: AbsentLink) {
    self.init(
      id: link.elementID, place: link.elementPlace,
      absent: ElementSequence.Target(table: link.table, primaryKey: link.primaryKey))
  }
}
