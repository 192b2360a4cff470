/// Checks whether recorded changes fit. A change that does not fit is a programmer's error if a program makes it, and
/// stops the program. A recorded change throws `.changeDoesNotFit` instead.
extension TableWriter {
  func mismatch(
    _ reason: ChangeMismatch.Reason, column: UInt16? = nil, row: UInt64? = nil
  ) -> StorageError {
    .changeDoesNotFit(
      ChangeMismatch(
        reason: reason, index: nil, table: schema.id, tableName: schema.name, column: column, row: row),
      path: editor.store.storage.path)
  }

  /// Makes a recorded change. Throws `.changeDoesNotFit` if it does not fit.
  func applyRecorded(_ change: RowChange.Kind) throws(StorageError) {
    try checkFit(change)
    // The ids that the change has are noted before other lists and maps get new ids.
    change.forEachValue { $0.forEachNested { (id, _) in if id > 0 { nestedIDs.keep(id) } } }
    let outcome = try apply(change)
    let row = change.rowOfChange
    if hasCompanions || !absentLinks.isEmpty { tables.replay?.note(change, of: self) }
    switch (change, outcome) {
    case (_, .missing): throw mismatch(.noRow, column: change.columnOfChange, row: row)
    case (.add, .addition(.sum)): break
    case (.add, .addition): throw mismatch(.noNumber, column: change.columnOfChange, row: row)
    case (.delete, .count(let count)) where count != 1: throw mismatch(.noRow, row: row)
    case (.deleteMany(let rows), .count(let count)) where count != rows.count: throw mismatch(.noRow)
    case (.insertIntoSet(let elements, _), .count(let count)) where count != elements.count:
      throw mismatch(.elementExists, column: change.columnOfChange, row: row)
    case (.removeFromSet(let elements, _), .count(let count)) where count != elements.count:
      throw mismatch(.noElement, column: change.columnOfChange, row: row)
    case (.removeValue, .count(0)): throw mismatch(.noElement, column: change.columnOfChange, row: row)
    default: break
    }
  }

  /// Throws `.changeDoesNotFit` if making the change would be a programmer's error.
  private func checkFit(_ change: RowChange.Kind) throws(StorageError) {
    switch change {
    case .set(let value, let cell):
      try check(value, fits: column(cell.column), row: cell.row)
      guard try contains(cell.row) else { throw mismatch(.noRow, column: cell.column, row: cell.row) }
    case .add(_, let cell):
      let column = try column(cell.column)
      guard column.type == .int64, !column.isCollection else {
        throw mismatch(.wrongType, column: column.id, row: cell.row)
      }
    case .create(let row, let values): try checkFit(values, row)
    case .createMany(let batch): for row in batch.rows { try checkFit(row.values, row.key) }
    case .setMany(let id, let rows, let values):
      let column = try column(id)
      guard rows.count == values.count else { throw mismatch(.wrongCount, column: id) }
      for (row, value) in zip(rows, values) { try check(value, fits: column, row: row) }
    case .insertElement(let value, let index, let place): try checkInsertion([value], index, place)
    case .insertElements(let values, let index, let place): try checkInsertion(values, index, place)
    case .setElement(let value, let index, let place):
      try checkIndex(index, place)
      try check(elements: [value], place, at: .position(index))
    case .removeElements(let range, let place): try checkRange(range, place)
    case .moveElement(let from, let to, let place), .swapElements(let from, let to, let place):
      try checkIndex(from, place)
      try checkIndex(to, place)
    case .reorderElements(let order, let place):
      guard order.count == (try count(ofList: place)), Set(order) == Set(order.indices) else {
        throw mismatch(.outOfBounds, column: place.cell.column, row: place.cell.row)
      }
    case .insertIntoSet(let elements, let cell), .removeFromSet(let elements, let cell):
      let column = try column(cell.column)
      guard column.collection == .set else {
        throw mismatch(.wrongCollection, column: column.id, row: cell.row)
      }
      guard elements.allSatisfy({ column.acceptsElement($0) && !$0.isNested }) else {
        throw mismatch(.wrongType, column: column.id, row: cell.row)
      }
    case .setValue(let value, let key, let place):
      try checkMap(place)
      try check(elements: [value], place, at: .key(key))
    case .removeValue(_, let place): try checkMap(place)
    case .delete, .deleteMany, .deleteAll, .createTable, .addColumn: break
    }
  }

  private func column(_ id: UInt16) throws(StorageError) -> Column {
    guard let column = schema.columns.first(where: { $0.id == id }) else {
      throw mismatch(.noColumn, column: id)
    }
    return column
  }

  /// Checks the key and the values of a new row. There may be fewer values than columns, because columns may have been
  /// added later.
  private func checkFit(_ values: [Value], _ row: UInt64) throws(StorageError) {
    guard values.count <= schema.columns.count else { throw mismatch(.wrongCount, row: row) }
    guard row < min(TableRoot.maximumKey, root.nextKey + Self.mostAhead) else {
      throw mismatch(.rowKey, row: row)
    }
    for (value, column) in zip(values, schema.columns) { try check(value, fits: column, row: row) }
  }

  private func check(_ value: Value, fits column: Column, row: UInt64) throws(StorageError) {
    guard column.accepts(value), try areAbsentLinks(value, column) else {
      throw mismatch(.wrongType, column: column.id, row: row)
    }
    try checkNestedIDs(of: value, column.id, row)
  }

  /// Whether a value is valid in its column, if the column is a companion for absent links. True for all other columns.
  private func areAbsentLinks(_ value: Value, _ column: Column) throws(StorageError) -> Bool {
    guard column.holdsAbsentLinks, let id = column.role.owner else { return true }
    guard let links = AbsentLink.decode(value, in: try self.column(id)) else { return false }
    for link in links where try tables.writer(id: link.table) == nil { return false }
    return true
  }

  /// The key of a new row, or the id of a list or map, must be less than the next one plus this number. Otherwise one
  /// change could leave none for others.
  static let mostAhead: UInt64 = 1 << 40

  /// Checks the ids of the lists and maps that a cell is to have: no id occurs twice or is too great.
  private func checkNestedIDs(
    of value: Value, _ column: UInt16, _ row: UInt64, besides others: Set<UInt64> = []
  ) throws(StorageError) {
    var (ids, isValid) = (others, true)
    let end = min(TableRoot.maximumNested, nestedIDs.next + Self.mostAhead)
    value.forEachNested { (id, _) in
      // A list or map without an id (0) gets one.
      isValid = isValid && id < end && (id == 0 || ids.insert(id).inserted)
    }
    guard isValid else { throw mismatch(.nestedID, column: column, row: row) }
  }

  // MARK: - Elements

  /// - Parameter replaced: the element that the value replaces, with all lists and maps in it.
  private func check(
    elements values: [Value], _ place: ElementsPlace, at replaced: NestedPlace.Step? = nil
  ) throws(StorageError) {
    let (column, row) = (try column(place.cell.column), place.cell.row)
    if place.isNested {
      let levels = Value.mostLevels - (try found(place).path.count) - 1
      guard values.allSatisfy({ $0.isMixed(levels: levels) }) else {
        throw mismatch(.wrongType, column: column.id, row: row)
      }
    } else if !values.allSatisfy({ column.acceptsElement($0) }) {
      throw mismatch(.wrongType, column: column.id, row: row)
    }
    guard values.contains(where: { $0.isNested }) else { return }
    let added = Value.list(values)
    var isOld = false
    added.forEachNested { (id, _) in isOld = isOld || (id > 0 && id < nestedIDs.next) }
    // An id that was not given yet is in no cell.
    let others = isOld ? try nestedIDs(in: place, column, without: replaced) : []
    try checkNestedIDs(of: added, column.id, row, besides: others)
  }

  /// The ids of the lists and maps in a cell, without those in the element that is replaced.
  private func nestedIDs(
    in place: ElementsPlace, _ column: Column, without replaced: NestedPlace.Step?
  ) throws(StorageError) -> Set<UInt64> {
    var ids: Set<UInt64> = []
    try value(column, ofRow: place.cell.row)?.forEachNested { (id, _) in ids.insert(id) }
    var old: Value?
    switch replaced {
    case .position(let index)? where place.isNested: old = try found(place).value.elements?[index]
    case .position(let index)?:
      old = try element(at: index, ofList: position(of: column.id), ofRow: place.cell.row)
    case .key(let key)? where place.isNested:
      if case .map(let map, _) = try found(place).value { old = map[key] }
    case .key(let key)?:
      old = try value(forKey: key, ofMap: position(of: column.id), ofRow: place.cell.row)
    case nil: break
    }
    old?.forEachNested { (id, _) in ids.remove(id) }
    return ids
  }

  private func checkInsertion(
    _ values: [Value], _ index: Int, _ place: ElementsPlace
  ) throws(StorageError) {
    guard index >= 0, index <= (try count(ofList: place)) else {
      throw mismatch(.outOfBounds, column: place.cell.column, row: place.cell.row)
    }
    try check(elements: values, place)
  }

  private func checkIndex(_ index: Int, _ place: ElementsPlace) throws(StorageError) {
    guard index >= 0, index < (try count(ofList: place)) else {
      throw mismatch(.outOfBounds, column: place.cell.column, row: place.cell.row)
    }
  }

  private func checkRange(_ range: Range<Int>, _ place: ElementsPlace) throws(StorageError) {
    guard range.lowerBound >= 0, range.upperBound <= (try count(ofList: place)) else {
      throw mismatch(.outOfBounds, column: place.cell.column, row: place.cell.row)
    }
  }

  private func count(ofList place: ElementsPlace) throws(StorageError) -> Int {
    let (column, row) = (try column(place.cell.column), place.cell.row)
    if place.isNested {
      guard case .list(let elements, _) = try found(place).value else {
        throw mismatch(.wrongCollection, column: column.id, row: row)
      }
      return elements.count
    }
    guard column.collection == .list else { throw mismatch(.wrongCollection, column: column.id, row: row) }
    guard let count = try listCount(position(of: column.id), ofRow: row) else {
      throw mismatch(.noRow, column: column.id, row: row)
    }
    return count
  }

  private func checkMap(_ place: ElementsPlace) throws(StorageError) {
    let column = try column(place.cell.column)
    if place.isNested {
      if case .map = try found(place).value { return }
    } else if column.collection == .map {
      return
    }
    throw mismatch(.wrongCollection, column: column.id, row: place.cell.row)
  }

  private func found(_ place: ElementsPlace) throws(StorageError) -> FoundNested {
    let column = try column(place.cell.column)
    guard column.type == .mixed, column.collection != .set else {
      throw mismatch(.wrongCollection, column: column.id, row: place.cell.row)
    }
    guard
      let found = try nested(
        at: NestedPlace(
          column: position(of: column.id), row: place.cell.row, id: place.nestedID, near: place.near))
    else { throw mismatch(.noCollection, column: column.id, row: place.cell.row) }
    return found
  }
}

extension RowChange.Kind {
  /// Calls `body` with each value that the change stores.
  fileprivate func forEachValue(_ body: (Value) -> Void) {
    switch self {
    case .set(let value, _), .insertElement(let value, _, _), .setElement(let value, _, _),
      .setValue(let value, _, _):
      body(value)
    case .create(_, let values), .setMany(_, _, let values), .insertElements(let values, _, _):
      values.forEach(body)
    case .createMany(let batch): for row in batch.rows { row.values.forEach(body) }
    default: break
    }
  }

  fileprivate var rowOfChange: UInt64? {
    switch self {
    case .create(let row, _), .delete(let row): row
    default: RowChange(table: 0, self).cell?.row
    }
  }

  fileprivate var columnOfChange: UInt16? { RowChange(table: 0, self).cell?.column }
}
