/// A list whose elements are found by their ids. It includes the hidden elements, which are links to objects that are
/// not in the file.
///
/// - Precondition: the caller keeps the companions of the table (`areCompanionsKept`).
struct SyncedList {
  let place: ObjectEditor.Place
  /// The long lists that are held in memory; nil if none may be held.
  private let collections: EditedCollections?

  /// - Throws: `.corrupted` if the companions of the list do not fit it.
  init(place: ObjectEditor.Place, _ collections: EditedCollections? = nil) throws(StorageError) {
    (self.place, self.collections) = (place, collections)
    // The companions were checked when the list was read into memory.
    if opened != nil { return }
    let count = try table.listCount(place.position, ofRow: place.row) ?? 0
    let places = try usedPlaces().flatMap { (places) throws(StorageError) in
      try table.listCount(places, ofRow: place.row)
    }
    let links = try place.links()
    guard try self.count() == count, places == nil || places == count,
      links.allSatisfy({ (0...count).contains($0.listPosition) })
    else { throw table.editor.store.corrupted(.structure, table.root.clusters) }
    try note(links.count)
  }

  private var table: TableWriter { place.table }
  private var row: UInt64 { place.row }
  /// The list in memory; nil if it is not held there.
  var opened: EditedCollections.OpenedList? { collections?.list(place) }

  /// Where an element stands.
  enum Standing: Equatable {
    /// At a position in the list.
    case shown(Int)
    /// At a position among the links to objects that are not in the file.
    case absent(Int)
  }

  /// A gap between two elements: before the shown element at position `shown`, and before the hidden link at position
  /// `absent`.
  private struct Gap {
    var shown: Int
    var absent: Int

    /// The number of elements of both kinds before the gap.
    var rank: Int { shown + absent }
  }

  // MARK: - Finding

  private func ids() throws(StorageError) -> Int {
    guard let ids = table.schema.position(of: .elementIDs(of: place.column.id)) else {
      throw table.doesNotFit(.wrongKind, place.column)
    }
    return ids
  }

  private func count() throws(StorageError) -> Int { try table.listCount(ids(), ofRow: row) ?? 0 }

  /// The number of elements that are looked at first, from each end.
  private static let firstBlock = 32
  /// A list is read into memory when more elements were looked at than this many times its length. To look at an
  /// element takes a fraction of the time that it takes to put it into a sequence.
  private static let looksBeforeReading = 32

  /// The element with an id; nil if there is none. In a list that is not in memory, this takes time in proportion to
  /// the number of elements between the element and the nearer end. Most elements that are looked for were appended, or
  /// stand before all others.
  func find(_ id: ElementID) throws(StorageError) -> Standing? {
    if let opened { return opened.elements.standing(of: id.stored) }
    let (found, looked) = try search(id)
    try note(looked)
    return found
  }

  /// - Returns: the element, and the number of elements that were looked at.
  private func search(_ id: ElementID) throws(StorageError) -> (found: Standing?, looked: Int) {
    let value = Value.int(Int64(bitPattern: id.stored))
    let links = try place.links()
    if let link = links.firstIndex(where: { $0.elementID == id.stored }) {
      return (.absent(link), links.count)
    }
    guard let list = try table.list(ids(), ofRow: row) else { return (nil, links.count) }
    var (low, high, block, looked) = (0, list.count, Self.firstBlock, links.count)
    while low < high {
      let start = max(low, high - block)
      looked += high - start
      if let found = try Self.find(value, start..<high, list) { return (.shown(found), looked) }
      high = start
      let end = min(high, low + block)
      looked += end - low
      if let found = try Self.find(value, low..<end, list) { return (.shown(found), looked) }
      low = end
      block *= 2
    }
    return (nil, looked)
  }

  private static func find(
    _ value: Value, _ range: Range<Int>, _ list: OpenList
  ) throws(StorageError) -> Int? {
    var start = range.lowerBound
    while start < range.upperBound {
      let values = try list.values(from: start)
      if let found = values.prefix(range.upperBound - start).firstIndex(of: value) { return start + found }
      start += max(1, values.count)
    }
    return nil
  }

  /// Notes how many elements were looked at. If the sum is much greater than the length of the list, the list is read
  /// into memory.
  func note(_ looked: Int) throws(StorageError) {
    table.tables.elementSteps += looked
    // Near the ends a sequence is not faster.
    guard let collections, looked > 2 * Self.firstBlock else { return }
    let all = collections.note(looked, of: place)
    let count = try countOfAll()
    guard all > Self.looksBeforeReading * count, let read = try sequence() else { return }
    try collections.open(place, read)
  }

  /// All elements; nil if ids repeat, which happens only in a damaged file.
  private func sequence() throws(StorageError) -> ElementSequence? {
    let all = try values(of: ids())
    var places: [UInt64] = []
    if let used = try usedPlaces() { places = try values(of: used) }
    var links = try place.links()[...]
    var elements: [ElementSequence.Element] = []
    elements.reserveCapacity(all.count + links.count)
    for (index, id) in all.enumerated() {
      while let link = links.first, link.listPosition <= index {
        elements.append(ElementSequence.Element(link))
        links = links.dropFirst()
      }
      let place = index < places.count ? places[index] : 0
      elements.append(ElementSequence.Element(id: id, place: place))
    }
    for link in links { elements.append(ElementSequence.Element(link)) }
    table.tables.elementSteps += elements.count
    return ElementSequence(elements)
  }

  /// The numbers in a companion column, with 0 for null.
  private func values(of position: Int) throws(StorageError) -> [UInt64] {
    guard let list = try table.list(position, ofRow: row) else { return [] }
    var found: [UInt64] = []
    found.reserveCapacity(list.count)
    while found.count < list.count {
      let values = try list.values(from: found.count)
      guard !values.isEmpty else { break }
      for value in values {
        if case .int(let number) = value { found.append(UInt64(bitPattern: number)) } else { found.append(0) }
      }
    }
    return found
  }

  private func check(_ id: ElementID) throws(StorageError) {
    guard AbsentLink.elementIDs.contains(id.stored) else {
      throw table.doesNotFit(.wrongValue, place.column)
    }
  }

  private func required(_ id: ElementID) throws(StorageError) -> Standing {
    guard let found = try find(id) else { throw table.doesNotFit(.noElement, place.column) }
    return found
  }

  /// The gap directly behind an element, or before all elements for `.none`.
  private func gap(behind left: ElementID) throws(StorageError) -> Gap {
    guard left != .none else { return Gap(shown: 0, absent: 0) }
    if let opened {
      guard let rank = opened.elements.rank(of: left.stored) else {
        throw table.doesNotFit(.noElement, place.column)
      }
      let shown = opened.elements.shown(amongFirst: rank + 1)
      return Gap(shown: shown, absent: rank + 1 - shown)
    }
    let standing = try required(left)
    let links = try place.links()
    switch standing {
    case .shown(let index):
      let first = links.firstIndex { $0.listPosition > index }
      return Gap(shown: index + 1, absent: first ?? links.count)
    case .absent(let index): return Gap(shown: links[index].listPosition, absent: index + 1)
    }
  }

  /// The target of an element that links to an object that is not in the file; nil for other elements.
  func link(of id: ElementID) throws(StorageError) -> AbsentLink? {
    if let opened {
      let target = opened.elements.target(of: id.stored)
      return target.map { AbsentLink(table: $0.table, primaryKey: $0.primaryKey) }
    }
    return try place.links().first { $0.elementID == id.stored }
  }

  // MARK: - Changing

  /// - Parameter isNew: true if no list has an element or a place with this id. Otherwise this method checks that,
  ///   which takes time in proportion to a list that is not in memory.
  func insert(
    _ content: ObjectEditor.Content, id: ElementID, behind left: ElementID, isNew: Bool
  ) throws(StorageError) {
    try check(id)
    if !isNew { try checkIsFree(id) }
    try insert(content, id, place: 0, at: gap(behind: left))
  }

  /// - Parameter moved: the id of the place to which the element was moved, or 0.
  private func insert(
    _ content: ObjectEditor.Content, _ id: ElementID, place moved: UInt64, at gap: Gap
  ) throws(StorageError) {
    var element = ElementSequence.Element(id: id.stored, place: moved)
    switch content {
    case .value(let value):
      _ = try table.insert(value, at: gap.shown, ofList: place.position, ofRow: row)
      _ = try table.insert(
        .int(Int64(bitPattern: id.stored)), at: gap.shown, ofList: ids(), ofRow: row)
      if let places = try usedPlaces() {
        _ = try table.insert(.null, at: gap.shown, ofList: places, ofRow: row)
      }
      if let opened {
        opened.insert(element, at: gap.rank)
      } else {
        try place.changeLinks { links in for index in gap.absent..<links.count { links[index].shift(by: 1) } }
      }
      if moved != 0 { try setPlace(moved, at: gap.shown) }
    case .absent(let target, let key):
      if let opened {
        element.absent = ElementSequence.Target(table: target, primaryKey: key)
        return opened.insert(element, at: gap.rank)
      }
      let link = AbsentLink(
        table: target, primaryKey: key, place: .before(gap.shown), elementID: id.stored, elementPlace: moved)
      try place.changeLinks { $0.insert(link, at: gap.absent) }
    }
  }

  func remove(_ id: ElementID) throws(StorageError) {
    switch try required(id) {
    case .absent(let index):
      if let opened {
        opened.remove(id)
      } else {
        try place.changeLinks { $0.remove(at: index) }
      }
    case .shown(let index): try removeShown(index, id)
    }
  }

  private func removeShown(_ index: Int, _ id: ElementID) throws(StorageError) {
    let range = index..<index + 1
    if let opened {
      opened.remove(id)
    } else {
      try place.changeLinks { links in
        for link in links.indices where links[link].listPosition > index { links[link].shift(by: -1) }
      }
    }
    _ = try table.removeElements(range, ofList: ids(), ofRow: row)
    if let places = try usedPlaces() { _ = try table.removeElements(range, ofList: places, ofRow: row) }
    _ = try table.removeElements(range, ofList: place.position, ofRow: row)
  }

  /// Gives an element another value. If this is a link to an object that is not in the file, the element becomes
  /// hidden.
  func set(_ content: ObjectEditor.Content, id: ElementID) throws(StorageError) {
    switch (try required(id), content) {
    case (.shown(let index), .value(let value)):
      _ = try table.setElement(value, at: index, ofList: place.position, ofRow: row)
    case (.absent(let index), .absent(let target, let key)):
      if let opened {
        opened.set(id, ElementSequence.Target(table: target, primaryKey: key))
      } else {
        try place.changeLinks { ($0[index].table, $0[index].primaryKey) = (target, key) }
      }
    case (.shown(let index), .absent(let target, let key)): try hide(index, target, key)
    case (.absent(let index), .value):
      if let opened {
        let shown = (opened.elements.rank(of: id.stored) ?? index) - index
        let moved = opened.remove(id)?.place ?? 0
        return try insert(content, id, place: moved, at: Gap(shown: shown, absent: index))
      }
      let links = try place.links()
      try place.changeLinks { $0.remove(at: index) }
      try insert(
        content, id, place: links[index].elementPlace,
        at: Gap(shown: links[index].listPosition, absent: index))
    }
  }

  /// Hides an element, which becomes a link to an object that is not in the file.
  func hide(_ index: Int, _ target: UInt32, _ key: Value) throws(StorageError) {
    let (id, moved) = try table.elementIDs(at: index, ofList: place.position, row)
    let absent: Int
    if let opened {
      absent = (opened.elements.rank(of: id.stored) ?? index) - index
    } else {
      let links = try place.links()
      absent = links.firstIndex { $0.listPosition > index } ?? links.count
    }
    try removeShown(index, id)
    try insert(
      .absent(table: target, key: key), id, place: moved.stored, at: Gap(shown: index, absent: absent))
  }

  private func checkIsFree(_ id: ElementID) throws(StorageError) {
    if try find(id) != nil { throw table.doesNotFit(.elementExists, place.column) }
    if try rank(ofPlace: id) != nil { throw table.doesNotFit(.elementExists, place.column) }
  }

  /// - Parameters:
  ///   - moved: the id of its new place; its own id for an element that counts as never moved.
  ///   - isNew: true if no list has an element or a place with the id `moved`. Otherwise this method checks that, which
  ///     takes time in proportion to a list that is not in memory.
  func move(
    _ id: ElementID, place moved: ElementID, behind left: ElementID, isNew: Bool
  ) throws(StorageError) {
    try check(moved)
    if !isNew, moved != id { try checkIsFree(moved) }
    guard left != id else { throw table.doesNotFit(.noElement, place.column) }
    let stored = moved == id ? 0 : moved.stored
    let standing = try required(id)
    if let opened { return try move(id, place: stored, behind: left, opened) }
    switch standing {
    case .absent(let index):
      let link = try place.links()[index]
      try place.changeLinks { $0.remove(at: index) }
      try insert(
        .absent(table: link.table, key: link.primaryKey), id, place: stored, at: gap(behind: left))
    case .shown(let old):
      // The positions are counted as if the element were not in the list.
      try place.changeLinks { links in
        for link in links.indices where links[link].listPosition > old { links[link].shift(by: -1) }
      }
      var gap = Gap(shown: 0, absent: 0)
      if left != .none {
        let found = try search(left).found
        let links = try place.links()
        switch found {
        case .shown(let found)?:
          let index = found > old ? found - 1 : found
          gap = Gap(shown: index + 1, absent: links.firstIndex { $0.listPosition > index } ?? links.count)
        case .absent(let index)?: gap = Gap(shown: links[index].listPosition, absent: index + 1)
        case nil: throw table.doesNotFit(.noElement, place.column)
        }
      }
      try move(from: old, to: gap.shown, place: stored)
      try place.changeLinks { links in for index in gap.absent..<links.count { links[index].shift(by: 1) } }
    }
  }

  private func move(from old: Int, to new: Int, place moved: UInt64) throws(StorageError) {
    try setPlace(moved, at: old)
    for position in [place.position, try ids(), try usedPlaces()].compactMap(\.self) {
      _ = try table.moveElement(from: old, to: new, ofList: position, ofRow: row)
    }
  }

  /// Moves an element of a list in memory.
  private func move(
    _ id: ElementID, place moved: UInt64, behind left: ElementID, _ opened: EditedCollections.OpenedList
  ) throws(StorageError) {
    guard let rank = opened.elements.rank(of: id.stored) else {
      throw table.doesNotFit(.noElement, place.column)
    }
    var target = 0
    if left != .none {
      guard let found = opened.elements.rank(of: left.stored) else {
        throw table.doesNotFit(.noElement, place.column)
      }
      // The rank is counted as if the element were not in the list.
      target = found < rank ? found + 1 : found
    }
    let old = opened.elements.shown(amongFirst: rank)
    guard var element = opened.remove(id) else { return }
    element.place = moved
    let new = opened.elements.shown(amongFirst: target)
    opened.insert(element, at: target)
    if element.absent == nil { try move(from: old, to: new, place: moved) }
  }

  // MARK: - Places

  /// The column of the places; nil if the list has no places.
  func usedPlaces() throws(StorageError) -> Int? {
    guard let places = table.schema.position(of: .elementPlaces(of: place.column.id)),
      try table.listCount(places, ofRow: row) ?? 0 > 0
    else { return nil }
    return places
  }

  /// - Parameter id: the id of the place; 0 for an element that was never moved.
  private func setPlace(_ id: UInt64, at index: Int) throws(StorageError) {
    var places = try usedPlaces()
    if places == nil, id != 0 {
      let made = try table.companion(.elementPlaces(of: place.column.id))
      _ = try table.insert(
        Array(repeating: .null, count: count()), at: 0, ofList: made, ofRow: row)
      places = made
    }
    guard let places else { return }
    _ = try table.setElement(
      id == 0 ? .null : .int(Int64(bitPattern: id)), at: index, ofList: places, ofRow: row)
  }
}

extension AbsentLink {
  /// The position of the element before which a waiting link of a list stands.
  var listPosition: Int { if case .before(let position) = place { position } else { 0 } }

  fileprivate mutating func shift(by count: Int) { place = .before(listPosition + count) }
}

extension TableWriter {
  /// Removes an object. Links to it wait, where they stood, for another object with its primary key. Links in lists and
  /// maps that stand in a value become null.
  func removeLeavingLinks(_ row: UInt64) throws(StorageError) {
    guard let column = schema.primaryKey, let key = try value(column, ofRow: row) else { return }
    for link in try links.links(to: row) where link.table != schema.id || link.source != row {
      guard let source = try tables.writer(id: link.table),
        let position = source.schema.columns.firstIndex(where: { $0.id == link.column })
      else { throw editor.store.corrupted(.link, root.clusters) }
      let were = source.areCompanionsKept
      source.areCompanionsKept = true
      defer { source.areCompanionsKept = were }
      try source.hideLinks(
        to: LinkTarget(table: schema.id, row: row), key,
        ObjectEditor.Place(table: source, position: position, row: link.source))
    }
    _ = try remove(row)
  }

  private func hideLinks(
    to target: LinkTarget, _ key: Value, _ place: ObjectEditor.Place
  ) throws(StorageError) {
    let column = place.column
    let value: Value =
      column.type == .link ? .link(target.row) : .typedLink(table: target.table, row: target.row)
    var link = AbsentLink(table: target.table, primaryKey: key)
    switch column.collection {
    case .none:
      guard try self.value(column, ofRow: place.row) == value else { return }
      _ = try setOne(.null, at: place.position, ofRow: place.row)
      try place.changeLinks { $0 = [link] }
    case .set:
      guard try remove([value], fromSet: place.position, ofRow: place.row) ?? 0 > 0 else { return }
      link.place = .member
      try place.changeLinks { $0.append(link) }
    case .map:
      var keys: [String] = []
      guard let map = try sorted(place.position, ofRow: place.row) else { return }
      for index in 0..<(try map.count()) {
        let entry = try map.entry(at: index)
        if entry.value == value, let key = entry.key { keys.append(key) }
      }
      for key in keys { _ = try removeValue(forKey: key, ofMap: place.position, ofRow: place.row) }
      let waiting = keys.map { AbsentLink(table: link.table, primaryKey: link.primaryKey, place: .key($0)) }
      try place.changeLinks { $0 += waiting }
    case .list:
      // The list may have many links to the row.
      let collections = EditedCollections()
      var index = try listCount(place.position, ofRow: place.row) ?? 0
      while index > 0 {
        index -= 1
        guard try element(at: index, ofList: place.position, ofRow: place.row) == value else { continue }
        try SyncedList(place: place, collections).hide(index, target.table, key)
      }
      try tables.closeCells()
    }
  }
}
