/// Changes of elements of sets, and of entries of maps. Each costs O(log n) in their number.
///
/// - Precondition: for all functions, the column at the position in the schema is a column of sets, or of maps.
extension TableWriter {
  /// The set or map of a row, to be read or changed; nil if there is no such row.
  func sorted(_ position: Int, ofRow row: UInt64) throws(StorageError) -> OpenSorted? {
    let place = CellPlace(row: row, column: forms[position].id)
    if nested.isAny { try closeNested(at: place) }
    return try sorted(position, at: place)
  }

  /// The set or map of a row. It may lack the newest form of one value, if the transaction has that as an open mixed
  /// value.
  private func sorted(_ position: Int, at place: CellPlace) throws(StorageError) -> OpenSorted? {
    if let open = sorted.find(place) { return open }
    return try openSorted(schema.columns[position], at: place)
  }

  /// The number of elements of a set, or of keys of a map; nil if there is no such row.
  func sortedCount(_ position: Int, ofRow row: UInt64) throws(StorageError) -> Int? {
    let place = CellPlace(row: row, column: forms[position].id)
    return try sorted(position, at: place)?.count()
  }

  /// The value of a key of a map; nil if there is no such key, or no such row.
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

  /// Adds those elements to a set to which no element of the set is equal. Returns their number; nil if there is no
  /// such row.
  func insert(
    _ elements: [Value], intoSet position: Int, ofRow row: UInt64
  ) throws(StorageError) -> Int? {
    guard let set = try sorted(position, ofRow: row) else { return nil }
    for element in elements { check(element, set.column, .set) }
    do throws(StorageError) {
      let added = try set.insert(elements)
      if set.column.canLink { for element in added { try addLinks(element, set.column, row: row) } }
      if isRecorded, !added.isEmpty { try note(.insertIntoSet(added, cell(set, row))) }
      return added.count
    } catch {
      throw tables.fail(error)
    }
  }

  private func cell(_ open: OpenSorted, _ row: UInt64) -> CellPlace {
    CellPlace(row: row, column: open.column.id)
  }

  /// Removes elements of a set. Returns how many of them the set had; nil if there is no such row.
  func remove(_ elements: [Value], fromSet position: Int, ofRow row: UInt64) throws(StorageError) -> Int? {
    guard let set = try sorted(position, ofRow: row) else { return nil }
    var removed: [Value] = []
    do throws(StorageError) {
      for element in elements {
        check(element, set.column, .set)
        guard let found = try set.remove(element) else { continue }
        if set.column.canLink { try removeLinks(found, set.column, row: row) }
        removed.append(found)
      }
      if isRecorded, !removed.isEmpty {
        try note(.removeFromSet(removed, cell(set, row)), before: .values(removed))
      }
    } catch {
      throw tables.fail(error)
    }
    try tables.removeOrphans()
    return removed.count
  }

  /// Sets the value of a key of a map. Returns false if there is no such row.
  func setValue(
    _ value: Value, forKey key: String, ofMap position: Int, ofRow row: UInt64
  ) throws(StorageError) -> Bool {
    // This may close the map, so the map is opened afterwards.
    if let companions = companions(of: position) { try forgetAbsentLink(key, companions, row) }
    guard let map = try sorted(position, ofRow: row) else { return false }
    check(value, map.column, .map)
    if let old = try map.value(of: key), old == value { return true }
    let value = value.isNested ? nestedIDs.identify(value) : value
    do throws(StorageError) {
      let old = try map.set(value, for: key)
      if map.column.canLink { try changeLinks(from: old ?? .null, to: value, map.column, row: row) }
      if isRecorded {
        let place = ElementsPlace(cell: cell(map, row))
        try note(.setValue(value, key: key, place), before: old.map { .value($0) } ?? .nothing)
      }
    } catch {
      throw tables.fail(error)
    }
    try tables.removeOrphans()
    return true
  }

  /// Removes a key of a map. Returns whether the map had it; nil if there is no such row.
  func removeValue(forKey key: String, ofMap position: Int, ofRow row: UInt64) throws(StorageError) -> Bool? {
    // This may close the map, so the map is opened afterwards.
    if let companions = companions(of: position) { try forgetAbsentLink(key, companions, row) }
    guard let map = try sorted(position, ofRow: row) else { return nil }
    precondition(map.column.collection == .map, "\(schema.name).\(map.column.name) is no map")
    let old: Value?
    do throws(StorageError) {
      old = try map.removeValue(for: key)
      if let old, map.column.canLink { try removeLinks(old, map.column, row: row) }
      if let old, isRecorded {
        try note(.removeValue(key: key, ElementsPlace(cell: cell(map, row))), before: .value(old))
      }
    } catch {
      throw tables.fail(error)
    }
    try tables.removeOrphans()
    return old != nil
  }

  /// Removes the links to some rows of a table from a set or map of links.
  ///
  /// - Parameter known: the number of links that the set or map has to each of the rows.
  /// - Returns: false if it has other numbers of links to these rows, or if there is no such row.
  func removeLinks(
    _ known: [LinkTarget: UInt64], fromSorted column: Column, ofRow row: UInt64
  ) throws(StorageError) -> Bool {
    guard let position = schema.columns.firstIndex(where: { $0.id == column.id }),
      let open = try sorted(position, ofRow: row)
    else { return false }
    let told = isRecorded ? try unlinks(open, Set(known.keys), row) : []
    let found = try open.unlink(Set(known.keys))
    guard found == known else { return false }
    for change in told { try note(change.kind, before: change.before) }
    for (target, count) in found {
      let targets = Array(repeating: Value.typedLink(table: target.table, row: target.row), count: Int(count))
      try removeLinks(.list(targets), column, row: row)
    }
    return true
  }

  /// The changes to report, with what was there before, if links are removed from a set or a map.
  private func unlinks(
    _ open: OpenSorted, _ targets: Set<LinkTarget>, _ row: UInt64
  ) throws(StorageError) -> [(kind: RowChange.Kind, before: RecordedChange.Before)] {
    var told: [(kind: RowChange.Kind, before: RecordedChange.Before)] = []
    var elements: [Value] = []
    for position in 0..<(try open.count()) {
      let entry = try open.entry(at: position)
      guard !targets.isDisjoint(with: entry.value.linkTargets(of: open.column)) else { continue }
      guard let key = entry.key else {
        elements.append(entry.value)
        continue
      }
      let value = entry.value.unlinked(targets, of: open.column)
      told.append((.setValue(value, key: key, ElementsPlace(cell: cell(open, row))), .value(entry.value)))
    }
    if !elements.isEmpty { told.append((.removeFromSet(elements, cell(open, row)), .values(elements))) }
    return told
  }

  private func check(_ value: Value, _ column: Column, _ collection: ColumnCollection) {
    precondition(
      column.collection == collection, "\(schema.name).\(column.name) is a \(column.collection)")
    precondition(
      column.acceptsElement(value) && !(collection == .set && value.isNested),
      "\(schema.name).\(column.name) holds elements of type \(column.type) and can't hold that value")
  }
}
