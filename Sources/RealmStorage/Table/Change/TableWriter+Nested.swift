/// Changes of lists and maps that are part of mixed values. Each list or map is found by its id. The mixed value that
/// has it is read once, and is written once, however often it changes.
///
/// - Precondition: for all functions, the column of a place is a column of mixed values, and added values may be part
///   of a mixed value.
extension TableWriter {
  /// A list or map in an open mixed value, to be read or changed there.
  struct FoundNested {
    let open: OpenNested
    let path: [Int]

    var value: Value { open.value.nested(at: path) ?? .null }
  }

  /// The list or map at a place; nil if there is no such row, or no such list or map in its cell.
  func nested(at place: NestedPlace) throws(StorageError) -> FoundNested? {
    let cell = CellPlace(row: place.row, column: forms[place.column].id)
    if let open = nested.find(cell), let path = open.path(to: place.id) {
      return FoundNested(open: open, path: path)
    }
    let column = schema.columns[place.column]
    precondition(column.type == .mixed, "\(schema.name).\(column.name) holds no mixed values")
    if nested.isFull { try forgetCollections() }
    try closeNested(at: cell)
    guard let open = try openNested(place, column), let path = open.path(to: place.id) else { return nil }
    nested.add(open, at: cell)
    return FoundNested(open: open, path: path)
  }

  private func openNested(_ place: NestedPlace, _ column: Column) throws(StorageError) -> OpenNested? {
    switch column.collection {
    case .none:
      try putIntoTree(place.row)
      return try value(column, ofRow: place.row).map { OpenNested($0, nil, of: column) }
    case .list:
      guard let list = try list(place.column, ofRow: place.row) else { return nil }
      for index in place.positionsToLook(in: list.count) {
        let value = try list.value(at: index)
        if value.nestedPath(to: place.id) != nil { return OpenNested(value, .position(index), of: column) }
      }
      var index = 0
      while index < list.count {
        let values = try list.values(from: index)
        if let found = values.firstIndex(where: { $0.nestedPath(to: place.id) != nil }) {
          return OpenNested(values[found], .position(index + found), of: column)
        }
        index += values.count
      }
    case .map:
      guard let map = try sorted(place.column, ofRow: place.row) else { return nil }
      if case .key(let key)? = place.near {
        guard let value = try map.value(of: key), value.nestedPath(to: place.id) != nil else { return nil }
        return OpenNested(value, .key(key), of: column)
      }
      for position in 0..<(try map.count()) {
        let entry = try map.entry(at: position)
        if entry.value.nestedPath(to: place.id) != nil, let key = entry.key {
          return OpenNested(entry.value, .key(key), of: column)
        }
      }
    case .set: break
    }
    return nil
  }

  /// Stores the open mixed value of a cell and closes it, because what is around it is about to change.
  func closeNested(at place: CellPlace) throws(StorageError) {
    guard let open = nested.find(place) else { return }
    if open.isChanged { try store(open, at: place) }
    nested.remove(at: place)
  }

  /// Stores a mixed value in its cell. The link indexes were changed when its links changed.
  func store(_ open: OpenNested, at place: CellPlace) throws(StorageError) {
    open.isChanged = false
    do throws(StorageError) {
      switch open.part {
      case nil:
        clusters = try clusterChange.set(open.value, open.column, ofRow: place.row, in: root.clusters)
      case .position(let index)?:
        // The list or the map stays open as long as the mixed value in it.
        guard let list = lists.find(place) else { preconditionFailure("an element of a closed list is open") }
        try list.set(open.value, at: index)
      case .key(let key)?:
        guard let map = sorted.find(place) else { preconditionFailure("a value of a closed map is open") }
        _ = try map.set(open.value, for: key)
      }
    } catch {
      throw tables.fail(error)
    }
  }

  // MARK: - Lists

  /// Inserts values one after another before an element, or after the last one. Returns false if there is no such list.
  func insert(_ values: [Value], at index: Int, of place: NestedPlace) throws(StorageError) -> Bool {
    guard let (found, count) = try nestedList(place) else { return false }
    precondition(
      index >= 0 && index <= count, "\(name(place)): there is no place \(index) in a list of \(count)")
    if values.isEmpty { return true }
    let values = values.map { add($0, found, place) }
    try change(found, adding: values, removing: [], place) { elements in
      elements.insert(contentsOf: values, at: index)
    }
    for (offset, value) in values.enumerated() { found.open.note(value, at: found.path + [index + offset]) }
    if isRecorded { try note(.insertElements(values, at: index, told(place))) }
    return true
  }

  /// Replaces an element. Returns false if there is no such list.
  func setElement(_ value: Value, at index: Int, of place: NestedPlace) throws(StorageError) -> Bool {
    guard let (found, count) = try nestedList(place) else { return false }
    check(index, count, place)
    let old = found.value.elements?[index] ?? .null
    guard old != value else { return true }
    let value = add(value, found, place)
    try change(found, adding: [value], removing: [old], place) { $0[index] = value }
    found.open.note(value, at: found.path + [index])
    if isRecorded { try note(.setElement(value, at: index, told(place)), before: .value(old)) }
    try tables.removeOrphans()
    return true
  }

  /// Removes the elements in a range of positions. Returns false if there is no such list.
  func removeElements(_ range: Range<Int>, of place: NestedPlace) throws(StorageError) -> Bool {
    guard let (found, count) = try nestedList(place) else { return false }
    precondition(
      range.lowerBound >= 0 && range.upperBound <= count,
      "\(name(place)): there are no elements \(range) in a list of \(count)")
    if range.isEmpty { return true }
    let old = Array((found.value.elements ?? [])[range])
    try change(found, adding: [], removing: old, place) { $0.removeSubrange(range) }
    if isRecorded { try note(.removeElements(range, told(place)), before: .values(old)) }
    try tables.removeOrphans()
    return true
  }

  /// Moves an element. The new position is counted without the element. Returns false if there is no such list.
  func moveElement(from old: Int, to new: Int, of place: NestedPlace) throws(StorageError) -> Bool {
    guard let (found, count) = try nestedList(place) else { return false }
    check(old, count, place)
    check(new, count, place)
    if old == new { return true }
    try change(found, adding: [], removing: [], place) { $0.insert($0.remove(at: old), at: new) }
    if isRecorded { try note(.moveElement(from: old, to: new, told(place))) }
    return true
  }

  /// Swaps two elements. Returns false if there is no such list.
  func swapElements(_ first: Int, _ second: Int, of place: NestedPlace) throws(StorageError) -> Bool {
    guard let (found, count) = try nestedList(place) else { return false }
    check(first, count, place)
    check(second, count, place)
    if first == second { return true }
    try change(found, adding: [], removing: [], place) { $0.swapAt(first, second) }
    if isRecorded { try note(.swapElements(first, second, told(place))) }
    return true
  }

  /// Puts the elements into another order: for each new position, `order` has the old position of its element. Returns
  /// false if there is no such list.
  func reorderElements(_ order: [Int], of place: NestedPlace) throws(StorageError) -> Bool {
    guard let (found, count) = try nestedList(place) else { return false }
    checkOrder(order, of: count, schema.columns[place.column])
    try change(found, adding: [], removing: [], place) { elements in elements = order.map { elements[$0] } }
    if isRecorded { try note(.reorderElements(order, told(place))) }
    return true
  }

  private func nestedList(_ place: NestedPlace) throws(StorageError) -> (found: FoundNested, count: Int)? {
    guard let found = try nested(at: place) else { return nil }
    guard case .list(let elements, _) = found.value else {
      preconditionFailure("\(name(place)): that is a map, and no list")
    }
    return (found, elements.count)
  }

  // MARK: - Maps

  /// Sets the value of a key. Returns false if there is no such map.
  func setValue(_ value: Value, forKey key: String, of place: NestedPlace) throws(StorageError) -> Bool {
    guard let (found, old) = try nestedMap(place, key) else { return false }
    if old == value { return true }
    let value = add(value, found, place)
    try change(found, adding: [value], removing: old.map { [$0] } ?? [], key, value, place)
    if value.isNested, case .map(let map, _) = found.value {
      found.open.note(value, at: found.path + [map.place(of: key).0])
    }
    if isRecorded {
      try note(.setValue(value, key: key, told(place)), before: old.map { .value($0) } ?? .nothing)
    }
    try tables.removeOrphans()
    return true
  }

  /// Removes a key. Returns whether the map had it; nil if there is no such map.
  func removeValue(forKey key: String, of place: NestedPlace) throws(StorageError) -> Bool? {
    guard let (found, old) = try nestedMap(place, key) else { return nil }
    guard let old else { return false }
    try change(found, adding: [], removing: [old], key, nil, place)
    if isRecorded { try note(.removeValue(key: key, told(place)), before: .value(old)) }
    try tables.removeOrphans()
    return true
  }

  private func nestedMap(
    _ place: NestedPlace, _ key: String
  ) throws(StorageError) -> (found: FoundNested, old: Value?)? {
    guard let found = try nested(at: place) else { return nil }
    guard case .map(let map, _) = found.value else {
      preconditionFailure("\(name(place)): that is a list, and no map")
    }
    return (found, map[key])
  }

  // MARK: - Changing

  /// The form in which a value is added to a list or map: the lists and maps in it get ids.
  private func add(_ value: Value, _ found: FoundNested, _ place: NestedPlace) -> Value {
    // The list or map to which the value is added is a level, too.
    let levels = Value.mostLevels - found.path.count - 1
    precondition(value.isMixed(levels: levels), "\(name(place)) can't hold that value so deep")
    return value.isNested ? nestedIDs.identify(value) : value
  }

  private func change(
    _ found: FoundNested, adding added: [Value], removing removed: [Value], _ place: NestedPlace,
    _ body: (inout [Value]) -> Void
  ) throws(StorageError) {
    try change(found, adding: added, removing: removed, place) { (value: inout Value) in
      guard case .list(var elements, let id) = value else { return }
      // This releases the value's reference to the elements, so that they are changed in place.
      value = .null
      body(&elements)
      value = .list(elements, id: id)
    }
  }

  private func change(
    _ found: FoundNested, adding added: [Value], removing removed: [Value], _ key: String, _ new: Value?,
    _ place: NestedPlace
  ) throws(StorageError) {
    try change(found, adding: added, removing: removed, place) { (value: inout Value) in
      guard case .map(var map, let id) = value else { return }
      value = .null
      map[key] = new
      value = .map(map, id: id)
    }
  }

  private func change(
    _ found: FoundNested, adding added: [Value], removing removed: [Value], _ place: NestedPlace,
    _ body: (inout Value) -> Void
  ) throws(StorageError) {
    let column = found.open.column
    do throws(StorageError) {
      for value in added { try addLinks(value, column, row: place.row) }
      found.open.change(at: found.path, body)
      openChanges.isAny = true
      for value in removed { try removeLinks(value, column, row: place.row) }
    } catch {
      throw tables.fail(error)
    }
  }

  /// The place in the form that is reported to the recorder.
  private func told(_ place: NestedPlace) -> ElementsPlace {
    ElementsPlace(
      cell: CellPlace(row: place.row, column: forms[place.column].id), nestedID: place.id, near: place.near)
  }

  private func check(_ index: Int, _ count: Int, _ place: NestedPlace) {
    precondition(
      index >= 0 && index < count, "\(name(place)): there is no element \(index) in a list of \(count)")
  }

  private func name(_ place: NestedPlace) -> String { "\(schema.name).\(schema.columns[place.column].name)" }
}
