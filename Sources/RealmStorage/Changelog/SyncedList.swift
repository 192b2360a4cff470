/// A list whose elements are found by their ids, with those that are not shown: links to objects that are not there.
///
/// - Precondition: the companions of the table are kept by who calls.
struct SyncedList {
  let place: ObjectEditor.Place

  /// - Throws: `.corrupted` where what goes with the list does not fit it.
  init(place: ObjectEditor.Place) throws(StorageError) {
    self.place = place
    let count = try table.listCount(place.position, ofRow: place.row) ?? 0
    let places = try usedPlaces().flatMap { (places) throws(StorageError) in
      try table.listCount(places, ofRow: place.row)
    }
    guard try self.count() == count, places == nil || places == count,
      try place.links().allSatisfy({ (0...count).contains($0.listPosition) })
    else { throw table.editor.store.corrupted(.structure, table.root.clusters) }
  }

  private var table: TableWriter { place.table }
  private var row: UInt64 { place.row }

  /// Where an element stands.
  enum Standing: Equatable {
    /// At a position in the list.
    case shown(Int)
    /// At a position among the links to objects that are not there.
    case absent(Int)
  }

  /// Between two elements: before the one at a position that is shown, and before one of the links that are not.
  private struct Gap {
    var shown: Int
    var absent: Int
  }

  // MARK: - Finding

  private func ids() throws(StorageError) -> Int {
    guard let ids = table.schema.position(of: .elementIDs(of: place.column.id)) else {
      throw table.doesNotFit(.wrongKind, place.column)
    }
    return ids
  }

  private func count() throws(StorageError) -> Int { try table.listCount(ids(), ofRow: row) ?? 0 }

  /// So many elements are looked at first, from each end.
  private static let firstBlock = 32

  /// The element of an id; nil where there is none. Takes time in proportion to the elements between it and the nearer end: most of what is looked for was appended, or stands before all.
  func find(_ id: ElementID) throws(StorageError) -> Standing? {
    let value = Value.int(Int64(bitPattern: id.stored))
    if let link = try place.links().firstIndex(where: { $0.elementID == id.stored }) { return .absent(link) }
    guard let list = try table.list(ids(), ofRow: row) else { return nil }
    var (low, high, block) = (0, list.count, Self.firstBlock)
    while low < high {
      let start = max(low, high - block)
      if let found = try Self.find(value, start..<high, list) { return .shown(found) }
      high = start
      let end = min(high, low + block)
      if let found = try Self.find(value, low..<end, list) { return .shown(found) }
      low = end
      block *= 2
    }
    return nil
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

  private func check(_ id: ElementID) throws(StorageError) {
    guard AbsentLink.elementIDs.contains(id.stored) else {
      throw table.doesNotFit(.wrongValue, place.column)
    }
  }

  private func required(_ id: ElementID) throws(StorageError) -> Standing {
    guard let found = try find(id) else { throw table.doesNotFit(.noElement, place.column) }
    return found
  }

  /// Directly behind an element, or before all.
  private func gap(behind left: ElementID) throws(StorageError) -> Gap {
    guard left != .none else { return Gap(shown: 0, absent: 0) }
    let links = try place.links()
    switch try required(left) {
    case .shown(let index):
      let first = links.firstIndex { $0.listPosition > index }
      return Gap(shown: index + 1, absent: first ?? links.count)
    case .absent(let index): return Gap(shown: links[index].listPosition, absent: index + 1)
    }
  }

  // MARK: - Changing

  /// - Parameter isNew: no list has an element or a place of the id; else that is looked for, which takes time in proportion to the list.
  func insert(
    _ content: ObjectEditor.Content, id: ElementID, behind left: ElementID, isNew: Bool
  ) throws(StorageError) {
    try check(id)
    if !isNew { try checkIsFree(id) }
    try insert(content, id, place: 0, at: gap(behind: left))
  }

  /// - Parameter moved: the id of the place that the element was moved to, or 0.
  private func insert(
    _ content: ObjectEditor.Content, _ id: ElementID, place moved: UInt64, at gap: Gap
  ) throws(StorageError) {
    switch content {
    case .value(let value):
      _ = try table.insert(value, at: gap.shown, ofList: place.position, ofRow: row)
      _ = try table.insert(
        .int(Int64(bitPattern: id.stored)), at: gap.shown, ofList: ids(), ofRow: row)
      if let places = try usedPlaces() {
        _ = try table.insert(.null, at: gap.shown, ofList: places, ofRow: row)
      }
      try place.changeLinks { links in for index in gap.absent..<links.count { links[index].shift(by: 1) } }
      if moved != 0 { try setPlace(moved, at: gap.shown) }
    case .absent(let target, let key):
      let link = AbsentLink(
        table: target, primaryKey: key, place: .before(gap.shown), elementID: id.stored, elementPlace: moved)
      try place.changeLinks { $0.insert(link, at: gap.absent) }
    }
  }

  func remove(_ id: ElementID) throws(StorageError) {
    switch try required(id) {
    case .absent(let index): try place.changeLinks { $0.remove(at: index) }
    case .shown(let index): try removeShown(index)
    }
  }

  private func removeShown(_ index: Int) throws(StorageError) {
    let range = index..<index + 1
    try place.changeLinks { links in
      for link in links.indices where links[link].listPosition > index { links[link].shift(by: -1) }
    }
    _ = try table.removeElements(range, ofList: ids(), ofRow: row)
    if let places = try usedPlaces() { _ = try table.removeElements(range, ofList: places, ofRow: row) }
    _ = try table.removeElements(range, ofList: place.position, ofRow: row)
  }

  /// Gives an element another value, which may be a link to an object that is not there: then it is shown no more.
  func set(_ content: ObjectEditor.Content, id: ElementID) throws(StorageError) {
    let links = try place.links()
    switch (try required(id), content) {
    case (.shown(let index), .value(let value)):
      _ = try table.setElement(value, at: index, ofList: place.position, ofRow: row)
    case (.absent(let index), .absent(let target, let key)):
      try place.changeLinks { ($0[index].table, $0[index].primaryKey) = (target, key) }
    case (.shown(let index), .absent(let target, let key)): try hide(index, target, key)
    case (.absent(let index), .value):
      try place.changeLinks { $0.remove(at: index) }
      try insert(
        content, id, place: links[index].elementPlace,
        at: Gap(shown: links[index].listPosition, absent: index))
    }
  }

  /// An element is shown no more: it links to an object that is not there.
  func hide(_ index: Int, _ target: UInt32, _ key: Value) throws(StorageError) {
    let (id, moved) = try table.elementIDs(at: index, ofList: place.position, row)
    let links = try place.links()
    let absent = links.firstIndex { $0.listPosition > index } ?? links.count
    try removeShown(index)
    try insert(
      .absent(table: target, key: key), id, place: moved.stored, at: Gap(shown: index, absent: absent))
  }

  private func checkIsFree(_ id: ElementID) throws(StorageError) {
    if try find(id) != nil { throw table.doesNotFit(.elementExists, place.column) }
    if try rank(ofPlace: id) != nil { throw table.doesNotFit(.elementExists, place.column) }
  }

  /// - Parameters:
  ///   - moved: the id of its new place; its own id for one that counts as never moved.
  ///   - isNew: no list has an element or a place of that id; else that is looked for, which takes time in proportion to the list.
  func move(
    _ id: ElementID, place moved: ElementID, behind left: ElementID, isNew: Bool
  ) throws(StorageError) {
    try check(moved)
    if !isNew, moved != id { try checkIsFree(moved) }
    guard left != id else { throw table.doesNotFit(.noElement, place.column) }
    let stored = moved == id ? 0 : moved.stored
    switch try required(id) {
    case .absent(let index):
      let link = try place.links()[index]
      try place.changeLinks { $0.remove(at: index) }
      try insert(
        .absent(table: link.table, key: link.primaryKey), id, place: stored, at: gap(behind: left))
    case .shown(let old):
      // As without the element.
      try place.changeLinks { links in
        for link in links.indices where links[link].listPosition > old { links[link].shift(by: -1) }
      }
      var gap = Gap(shown: 0, absent: 0)
      if left != .none {
        let links = try place.links()
        switch try required(left) {
        case .shown(let found):
          let index = found > old ? found - 1 : found
          gap = Gap(shown: index + 1, absent: links.firstIndex { $0.listPosition > index } ?? links.count)
        case .absent(let index): gap = Gap(shown: links[index].listPosition, absent: index + 1)
        }
      }
      try setPlace(stored, at: old)
      for position in [place.position, try ids(), try usedPlaces()].compactMap(\.self) {
        _ = try table.moveElement(from: old, to: gap.shown, ofList: position, ofRow: row)
      }
      try place.changeLinks { links in for index in gap.absent..<links.count { links[index].shift(by: 1) } }
    }
  }

  // MARK: - Places

  /// The column of the places, where the list has some.
  func usedPlaces() throws(StorageError) -> Int? {
    guard let places = table.schema.position(of: .elementPlaces(of: place.column.id)),
      try table.listCount(places, ofRow: row) ?? 0 > 0
    else { return nil }
    return places
  }

  /// - Parameter id: 0 for an element that was never moved.
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
  /// The position of the element which the link stands before, of a link that waits in a list.
  var listPosition: Int { if case .before(let position) = place { position } else { 0 } }

  fileprivate mutating func shift(by count: Int) { place = .before(listPosition + count) }
}

extension TableWriter {
  /// Removes an object. Links to it wait for another one of its primary key, where they stood; those within lists and maps that stand in a value become null.
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
      for key in keys {
        _ = try removeValue(forKey: key, ofMap: place.position, ofRow: place.row)
        link.place = .key(key)
        try place.changeLinks { $0.append(link) }
      }
    case .list:
      var index = try listCount(place.position, ofRow: place.row) ?? 0
      while index > 0 {
        index -= 1
        guard try element(at: index, ofList: place.position, ofRow: place.row) == value else { continue }
        try SyncedList(place: place).hide(index, target.table, key)
      }
    }
  }
}
