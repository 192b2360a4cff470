/// Changes of elements of sets, and of entries of maps. Each costs O(log n) in their number.
///
/// - Precondition: of all, the column at the position of the schema is one of sets, or of maps.
extension TableWriter {
  /// The set or map of a row, to be read or changed; nil where there is no such row.
  func sorted(_ position: Int, ofRow row: UInt64) throws(StorageError) -> OpenSorted? {
    let place = CellPlace(row: row, column: forms[position].id)
    if nested.isAny { try closeNested(at: place) }
    return try sorted(position, at: place)
  }

  /// The set or map of a row, though the transaction may hold a newer form of one of its values as an open mixed value.
  private func sorted(_ position: Int, at place: CellPlace) throws(StorageError) -> OpenSorted? {
    if let open = sorted.find(place) { return open }
    return try openSorted(schema.columns[position], at: place)
  }

  /// How many elements a set has, or keys a map; nil where there is no such row.
  func sortedCount(_ position: Int, ofRow row: UInt64) throws(StorageError) -> Int? {
    let place = CellPlace(row: row, column: forms[position].id)
    return try sorted(position, at: place)?.count()
  }

  /// The value of a key of a map; nil where there is none, or no such row.
  func value(forKey key: String, ofMap position: Int, ofRow row: UInt64) throws(StorageError) -> Value? {
    let place = CellPlace(row: row, column: forms[position].id)
    if nested.isAny, let open = nested.find(place), open.part == .key(key) { return open.value }
    return try sorted(position, at: place)?.value(of: key)
  }

  private func openSorted(_ column: Column, at place: CellPlace) throws(StorageError) -> OpenSorted? {
    precondition(
      column.collection == .set || column.collection == .map,
      "\(schema.name).\(column.name) is no set and no map")
    if sorted.isFull { try forgetCollections() }
    let open: OpenSorted
    switch try collection(column, ofRow: place.row) {
    case .tree(let tree): open = OpenSorted(tree: tree, of: column, openChanges, editor)
    case .value(let value): open = OpenSorted(value, of: column, openChanges, editor)
    case nil: return nil
    }
    sorted.add(open, at: place)
    return open
  }

  /// Adds the elements that no element of a set is equal to; answers how many, or nil where there is no such row.
  func insert(
    _ elements: [Value], intoSet position: Int, ofRow row: UInt64
  ) throws(StorageError) -> Int? {
    guard let set = try sorted(position, ofRow: row) else { return nil }
    for element in elements { check(element, set.column, .set) }
    do throws(StorageError) {
      let added = try set.insert(elements)
      if set.column.canLink { for element in added { try addLinks(element, set.column, row: row) } }
      return added.count
    } catch {
      throw tables.fail(error)
    }
  }

  /// Removes an element of a set; answers whether one was equal, or nil where there is no such row.
  func remove(_ element: Value, fromSet position: Int, ofRow row: UInt64) throws(StorageError) -> Bool? {
    guard let set = try sorted(position, ofRow: row) else { return nil }
    check(element, set.column, .set)
    let removed: Value?
    do throws(StorageError) {
      removed = try set.remove(element)
      if let removed, set.column.canLink { try removeLinks(removed, set.column, row: row) }
    } catch {
      throw tables.fail(error)
    }
    try tables.removeOrphans()
    return removed != nil
  }

  /// Sets the value of a key of a map; false where there is no such row.
  func setValue(
    _ value: Value, forKey key: String, ofMap position: Int, ofRow row: UInt64
  ) throws(StorageError) -> Bool {
    guard let map = try sorted(position, ofRow: row) else { return false }
    check(value, map.column, .map)
    if let old = try map.value(of: key), old == value { return true }
    let value = value.isNested ? nestedIDs.identify(value) : value
    do throws(StorageError) {
      let old = try map.set(value, for: key)
      if map.column.canLink { try changeLinks(from: old ?? .null, to: value, map.column, row: row) }
    } catch {
      throw tables.fail(error)
    }
    try tables.removeOrphans()
    return true
  }

  /// Removes a key of a map; answers whether it was there, or nil where there is no such row.
  func removeValue(forKey key: String, ofMap position: Int, ofRow row: UInt64) throws(StorageError) -> Bool? {
    guard let map = try sorted(position, ofRow: row) else { return nil }
    precondition(map.column.collection == .map, "\(schema.name).\(map.column.name) is no map")
    let old: Value?
    do throws(StorageError) {
      old = try map.removeValue(for: key)
      if let old, map.column.canLink { try removeLinks(old, map.column, row: row) }
    } catch {
      throw tables.fail(error)
    }
    try tables.removeOrphans()
    return old != nil
  }

  /// Takes the links to some rows of a table out of a set or map of links, each as often as it is there; answers false where it
  /// has other links to them than `known`.
  func removeLinks(
    _ known: [LinkTarget: UInt64], fromSorted column: Column, ofRow row: UInt64
  ) throws(StorageError) -> Bool {
    guard let position = schema.columns.firstIndex(where: { $0.id == column.id }),
      let open = try sorted(position, ofRow: row)
    else { return false }
    let found = try open.unlink(Set(known.keys))
    guard found == known else { return false }
    for (target, count) in found {
      let targets = Array(repeating: Value.typedLink(table: target.table, row: target.row), count: Int(count))
      try removeLinks(.list(targets), column, row: row)
    }
    return true
  }

  private func check(_ value: Value, _ column: Column, _ collection: ColumnCollection) {
    precondition(
      column.collection == collection, "\(schema.name).\(column.name) is a \(column.collection)")
    precondition(
      column.acceptsElement(value) && !(collection == .set && value.isNested),
      "\(schema.name).\(column.name) holds elements of type \(column.type) and can't hold that value")
  }
}
