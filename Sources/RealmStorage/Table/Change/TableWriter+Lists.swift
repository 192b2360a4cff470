/// Changes of elements of lists. Each costs O(log n) in the length of the list, and less if the changes lie near each
/// other.
///
/// - Precondition: for all functions, the column at the position in the schema is a column of lists.
extension TableWriter {
  /// The list of a row, to be read or changed; nil if there is no such row.
  func list(_ position: Int, ofRow row: UInt64) throws(StorageError) -> OpenList? {
    let place = CellPlace(row: row, column: forms[position].id)
    if nested.isAny { try closeNested(at: place) }
    return try list(position, at: place)
  }

  func list(_ column: Column, ofRow row: UInt64) throws(StorageError) -> OpenList? {
    let place = CellPlace(row: row, column: column.id)
    if nested.isAny { try closeNested(at: place) }
    if let open = lists.find(place) { return open }
    return try openList(column, at: place)
  }

  /// The list of a row. It may lack the newest form of one element, if the transaction has that as an open mixed value.
  @inline(__always)
  private func list(_ position: Int, at place: CellPlace) throws(StorageError) -> OpenList? {
    if let open = lists.find(place) { return open }
    return try openList(schema.columns[position], at: place)
  }

  /// The number of elements of a list; nil if there is no such row.
  func listCount(_ position: Int, ofRow row: UInt64) throws(StorageError) -> Int? {
    let place = CellPlace(row: row, column: forms[position].id)
    return try list(position, at: place)?.count
  }

  /// An element of a list; nil if there is no such row.
  func element(at index: Int, ofList position: Int, ofRow row: UInt64) throws(StorageError) -> Value? {
    let place = CellPlace(row: row, column: forms[position].id)
    if nested.isAny, let open = nested.find(place), open.part == .position(index) { return open.value }
    guard let list = try list(position, at: place) else { return nil }
    checkIndex(index, list)
    return try list.value(at: index)
  }

  private func openList(_ column: Column, at place: CellPlace) throws(StorageError) -> OpenList? {
    precondition(column.collection == .list, "\(schema.name).\(column.name) is no list")
    if lists.isFull { try forgetCollections() }
    let list: OpenList
    switch try collection(column, ofRow: place.row) {
    case .tree(let tree): list = try OpenList(tree: tree, of: column, openChanges, editor)
    case .value(let value): list = try OpenList(value.elements ?? [], of: column, openChanges, editor)
    case nil: return nil
    }
    lists.add(list, at: place)
    return list
  }

  // MARK: - Elements

  /// Inserts a value before an element, or after the last one. Returns false if there is no such row.
  ///
  /// - Precondition: `index` is at most the count, and the value fits the column.
  func insert(
    _ value: Value, at index: Int, ofList position: Int, ofRow row: UInt64
  ) throws(StorageError) -> Bool {
    guard let list = try list(position, ofRow: row) else { return false }
    let companions = try companions(of: position, row)
    let id = try newElementIDs(1, companions)
    let value = value.isNested ? nestedIDs.identify(value) : value
    try insert(value, at: index, of: list, row)
    if isRecorded { try note(.insertElement(value, at: index, place(list, row))) }
    if let companions { try follow(companions, insertionOf: 1, at: index, ids: id, ofRow: row) }
    return true
  }

  private func place(_ list: OpenList, _ row: UInt64) -> ElementsPlace {
    ElementsPlace(cell: CellPlace(row: row, column: list.column.id))
  }

  /// Inserts values one after another before an element, or after the last one. Returns false if there is no such row.
  ///
  /// - Precondition: `index` is at most the count, and the values fit the column.
  func insert(
    _ values: [Value], at index: Int, ofList position: Int, ofRow row: UInt64
  ) throws(StorageError) -> Bool {
    guard let list = try list(position, ofRow: row) else { return false }
    let companions = try companions(of: position, row)
    let first = try newElementIDs(values.count, companions)
    let values = list.column.type == .mixed ? values.map(nestedIDs.identify) : values
    var place = index
    for value in values {
      try insert(value, at: place, of: list, row)
      place += 1
    }
    if isRecorded, !values.isEmpty {
      try note(.insertElements(values, at: index, self.place(list, row)))
    }
    if let companions {
      try follow(companions, insertionOf: values.count, at: index, ids: first, ofRow: row)
    }
    return true
  }

  @inline(__always)
  private func insert(
    _ value: Value, at index: Int, of list: OpenList, _ row: UInt64
  ) throws(StorageError) {
    precondition(
      index >= 0 && index <= list.count,
      "\(schema.name).\(list.column.name): there is no place \(index) in a list of \(list.count)")
    checkElement(value, list.column)
    do throws(StorageError) {
      if list.column.canLink { try addLinks(value, list.column, row: row) }
      try list.insert(value, at: index)
    } catch {
      throw tables.fail(error)
    }
  }

  /// Replaces an element. Returns false if there is no such row.
  func setElement(
    _ value: Value, at index: Int, ofList position: Int, ofRow row: UInt64
  ) throws(StorageError) -> Bool {
    guard let list = try list(position, ofRow: row) else { return false }
    checkIndex(index, list)
    checkElement(value, list.column)
    let old = try list.value(at: index)
    guard old != value else { return true }
    let companions = try companions(of: position, row)
    let isOther = companions == nil ? false : try linksToEmbedded(list.column)
    let id = isOther ? try newElementIDs(1, companions) : nil
    do throws(StorageError) {
      let value = value.isNested ? nestedIDs.identify(value) : value
      if list.column.canLink { try addLinks(value, list.column, row: row) }
      try list.set(value, at: index)
      if list.column.canLink { try removeLinks(old, list.column, row: row) }
      if isRecorded { try note(.setElement(value, at: index, place(list, row)), before: .value(old)) }
      if let companions { try follow(companions, replacementAt: index, id: id, ofRow: row) }
    } catch {
      throw tables.fail(error)
    }
    // No row is owned by way of a companion, so none can become an orphan.
    if !list.column.isCompanion { try tables.removeOrphans() }
    return true
  }

  /// Removes the elements in a range of positions. Returns false if there is no such row.
  func removeElements(
    _ range: Range<Int>, ofList position: Int, ofRow row: UInt64
  ) throws(StorageError) -> Bool {
    guard let list = try list(position, ofRow: row) else { return false }
    precondition(
      range.lowerBound >= 0 && range.upperBound <= list.count,
      "\(schema.name).\(list.column.name): there are no elements \(range) in a list of \(list.count)")
    let companions = try companions(of: position, row)
    do throws(StorageError) {
      if list.column.canLink || isRecorded {
        var removed: [Value] = []
        removed.reserveCapacity(min(range.count, 1 << 16))
        for index in range { removed.append(try list.value(at: index)) }
        try list.remove(range)
        if list.column.canLink {
          for value in removed { try removeLinks(value, list.column, row: row) }
        }
        if isRecorded, !range.isEmpty {
          try note(.removeElements(range, place(list, row)), before: .values(removed))
        }
      } else {
        try list.remove(range)
      }
      if let companions { try follow(companions, removalOf: range, ofRow: row) }
    } catch {
      throw tables.fail(error)
    }
    // No row is owned by way of a companion, so none can become an orphan.
    if !list.column.isCompanion { try tables.removeOrphans() }
    return true
  }

  /// Moves an element. The new position is counted without the element. Returns false if there is no such row.
  func moveElement(
    from old: Int, to new: Int, ofList position: Int, ofRow row: UInt64
  ) throws(StorageError) -> Bool {
    guard let list = try list(position, ofRow: row) else { return false }
    checkIndex(old, list)
    checkIndex(new, list)
    guard old != new else { return true }
    var companions = try companions(of: position, row)
    let id = try newElementPlaces(1, &companions, row)
    do throws(StorageError) {
      // If a companion was added, the list was closed, so it is opened again.
      try self.list(position, ofRow: row)?.move(from: old, to: new)
      if isRecorded { try note(.moveElement(from: old, to: new, place(list, row))) }
      if let companions { try follow(companions, moveFrom: old, to: new, place: id, ofRow: row) }
    } catch {
      throw tables.fail(error)
    }
    return true
  }

  /// Swaps two elements. Returns false if there is no such row.
  func swapElements(
    _ first: Int, _ second: Int, ofList position: Int, ofRow row: UInt64
  ) throws(StorageError) -> Bool {
    guard let list = try list(position, ofRow: row) else { return false }
    checkIndex(first, list)
    checkIndex(second, list)
    guard first != second else { return true }
    let (left, right) = (try list.value(at: first), try list.value(at: second))
    // Lists and maps in mixed values have ids, so equal ones are swapped, too.
    guard left != right || left.isNested else { return true }
    var companions = try companions(of: position, row)
    let id = try newElementPlaces(2, &companions, row)
    do throws(StorageError) {
      // If a companion was added, the list was closed, so it is opened again.
      let list = try self.list(position, ofRow: row) ?? list
      try list.set(right, at: first)
      try list.set(left, at: second)
      if isRecorded { try note(.swapElements(first, second, place(list, row))) }
      if let companions {
        var order = Array(0..<list.count)
        order.swapAt(first, second)
        let moved = [min(first, second), max(first, second)]
        try follow(companions, order: order, moved: moved, place: id, ofRow: row)
      }
    } catch {
      throw tables.fail(error)
    }
    return true
  }

  /// Puts the elements into another order: for each new position, `order` has the old position of its element. Returns
  /// false if there is no such row.
  func reorderElements(_ order: [Int], ofList position: Int, ofRow row: UInt64) throws(StorageError) -> Bool {
    let column = schema.columns[position]
    guard let elements = try value(column, ofRow: row)?.elements else { return false }
    checkOrder(order, of: elements.count, column)
    guard order != Array(order.indices) else { return true }
    var companions = try companions(of: position, row)
    let moved = companions == nil ? [] : Self.moved(by: order)
    let first = try newElementPlaces(moved.count, &companions, row)
    let isDone = try setUntold(.list(order.map { elements[$0] }), column, ofRow: row)
    if isRecorded {
      let place = ElementsPlace(cell: CellPlace(row: row, column: column.id))
      try note(.reorderElements(order, place))
    }
    if let companions { try follow(companions, order: order, moved: moved, place: first, ofRow: row) }
    return isDone
  }

  func checkOrder(_ order: [Int], of count: Int, _ column: Column) {
    precondition(
      order.count == count && Set(order) == Set(0..<count),
      "\(schema.name).\(column.name): an order of \(count) elements names each place once")
  }

  /// Removes the links to some rows of a table from a list of links.
  ///
  /// - Parameter known: the number of links that the list has to each of the rows.
  /// - Returns: false if the list has other numbers of links to these rows.
  func removeLinks(
    _ known: [LinkTarget: UInt64], fromList column: Column, ofRow row: UInt64
  ) throws(StorageError) -> Bool {
    guard let list = try list(column, ofRow: row) else { return false }
    let total = known.values.reduce(0, &+)
    let rows = Set(known.keys.map { $0.row })
    let companions = try companions(of: position(of: column.id), row)
    let places = isRecorded || companions != nil ? try positions(ofLinksTo: rows, in: list) : []
    let found = try list.remove(linksTo: Set(known.keys.map { $0.row }), atMost: Int(clamping: total))
    guard found.count == known.count, known.allSatisfy({ UInt64(found[$0.key.row] ?? 0) == $0.value }) else {
      return false
    }
    for (target, count) in found {
      let targets = Array(repeating: Value.link(target), count: count)
      try removeLinks(.list(targets), column, row: row)
    }
    // The changes are reported from the end of the list, so that the positions of the later ones stay right.
    for (position, value) in places.reversed() {
      if isRecorded {
        try note(.removeElements(position..<position + 1, place(list, row)), before: .values([value]))
      }
      if let companions { try follow(companions, removalOf: position..<position + 1, ofRow: row) }
    }
    return true
  }

  private func positions(
    ofLinksTo rows: Set<UInt64>, in list: OpenList
  ) throws(StorageError) -> [(position: Int, value: Value)] {
    var found: [(position: Int, value: Value)] = []
    var start = 0
    while start < list.count {
      let values = try list.values(from: start)
      for (offset, value) in values.enumerated() {
        if case .link(let row) = value, rows.contains(row) { found.append((start + offset, value)) }
      }
      start += values.count
    }
    return found
  }

  private func checkIndex(_ index: Int, _ list: OpenList) {
    precondition(
      index >= 0 && index < list.count,
      "\(schema.name).\(list.column.name): there is no element \(index) in a list of \(list.count)")
  }

  private func checkElement(_ value: Value, _ column: Column) {
    precondition(
      column.acceptsElement(value),
      "\(schema.name).\(column.name) holds elements of type \(column.type) and can't hold that value")
  }
}
