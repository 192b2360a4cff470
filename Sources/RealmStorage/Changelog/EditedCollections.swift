/// The large collections of the object that is being edited, in memory.
///
/// To find an element of a list in the file takes time in proportion to the list, except near its ends. All links of a
/// cell to absent objects stand in one value. That is good enough for few changes, but many changes of one collection
/// would take time in proportion to the square of their number. So a list is read into memory when more than 32 times
/// as many elements were looked at as it has, and so are the waiting links of a set or a map if there are many. The
/// waiting links are written to the file once, before anything else reads them.
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
    /// True if the waiting links differ from those in the file.
    fileprivate(set) var areLinksChanged = false

    init(_ elements: ElementSequence) { self.elements = elements }
  }

  private enum Content {
    case list(OpenedList)
    case links(WaitingLinks)

    /// True if the waiting links differ from those in the file.
    var isChanged: Bool {
      switch self {
      case .list(let list): list.areLinksChanged
      case .links(let links): links.isChanged
      }
    }

    /// Returns the waiting links, to be written to the file, and marks them as unchanged.
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

  /// The collections in the order in which they were opened, so that each run writes the same to the file. An entry is
  /// nil if its collection was emptied.
  private var opened: [Opened?] = []
  private var places: [Cell: Int] = [:]
  /// The number of elements that were looked at, for each list that is not in memory.
  private var looked: [Cell: Int] = [:]

  /// The greatest number of collections of an object that are in memory at a time.
  private static let most = 256
  /// Up to this many links are read and written each time.
  private static let fewLinks = 64

  /// True if nothing is in memory.
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
  /// - Returns: the number of elements that were looked at so far.
  func note(_ count: Int, of place: ObjectEditor.Place) -> Int {
    let all = looked[Cell(place), default: 0] + count
    looked[Cell(place)] = all
    return all
  }

  // MARK: - Links that wait in sets and maps

  /// The waiting links of a set or a map; nil if they are few, and are read and written each time.
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

  /// Writes to the file the waiting links of a cell, or of collections in the embedded objects that the cell owns.
  ///
  /// - Parameter embedded: the embedded object to which this is limited, with those in it; nil for all.
  func flush(_ cell: ObjectEditor.Place, _ embedded: UInt64?) throws(StorageError) {
    for case let one? in opened where one.content.isChanged {
      if try one.place.lies(in: cell, embedded) { try flush(one) }
    }
  }

  private func flush(_ one: Opened) throws(StorageError) {
    // The embedded object may have been removed since.
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

  /// Drops what is in memory of a collection, because the collection is emptied.
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

  /// Marks the waiting links as changed. Each stores the position of the element before which it stands, and that
  /// changes with each element before it.
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
  /// True if the place is in a cell, or in an embedded object that the cell owns.
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
