@testable import RealmStorage

/// Tables in memory to which changes are applied as `RowChange` defines them. A change that does not fit is an error.
struct RowReplay: Equatable {
  struct Contents: Equatable {
    var name: String
    var isEmbedded: Bool
    var columns: [Column]
    var rows: [UInt64: [Value]] = [:]

    static func == (left: Self, right: Self) -> Bool {
      left.name == right.name && left.isEmbedded == right.isEmbedded && left.rows == right.rows
        && left.columns.elementsEqual(right.columns) {
          $0.id == $1.id && $0.name == $1.name && $0.type == $1.type && $0.collection == $1.collection
            && $0.isOptional == $1.isOptional && $0.target == $1.target
        }
    }

    func place(_ id: UInt16) throws -> Int {
      guard let place = columns.firstIndex(where: { $0.id == id }) else { throw Misfit("no column \(id)") }
      return place
    }
  }

  struct Misfit: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  var tables: [UInt32: Contents] = [:]

  init(_ snapshot: Snapshot) throws {
    for schema in try snapshot.schemas() {
      var contents = Contents(name: schema.name, isEmbedded: schema.isEmbedded, columns: schema.columns)
      try snapshot.table(schema.name)?.forEach { key, values in
        contents.rows[key] = values
        return true
      }
      tables[schema.id] = contents
    }
  }

  /// Applies a change. Its `before` must equal the present content.
  mutating func apply(_ change: RecordedChange) throws {
    try expect(change.before, of: change.change)
    try apply(change.change)
  }

  mutating func apply(_ change: RowChange) throws {
    if case .createTable(let schema) = change.kind {
      guard tables[schema.id] == nil, schema.id == change.table else { throw Misfit("table is there") }
      try expectTargets(schema.columns, besides: schema.id)
      tables[schema.id] = Contents(
        name: schema.name, isEmbedded: schema.isEmbedded, columns: schema.columns)
      return
    }
    if case .addColumn(let column) = change.kind { try expectTargets([column]) }
    guard var contents = tables[change.table] else { throw Misfit("no table \(change.table)") }
    try contents.apply(change.kind)
    tables[change.table] = contents
  }

  private func expectTargets(_ columns: [Column], besides own: UInt32? = nil) throws {
    for column in columns where column.type == .link && column.target != own && tables[column.target] == nil {
      throw Misfit("\(column.name) links to a table that is not there yet")
    }
  }

  private func expect(_ before: RecordedChange.Before, of change: RowChange) throws {
    guard let contents = tables[change.table] else { return }
    let found: RecordedChange.Before
    switch change.kind {
    case .delete(let row): found = try .rows(contents.batch([row]))
    case .deleteMany(let rows): found = try .rows(contents.batch(rows))
    case .set(_, let cell): found = try .value(contents.value(cell))
    case .setElement(_, let position, let place):
      found = try .value(contents.elements(place.cell)[position])
    case .removeElements(let range, let place):
      found = try .values(Array(contents.elements(place.cell)[range]))
    case .removeFromSet(let elements, let cell):
      found = .values(try contents.elements(cell).filter { elements.contains($0) })
    case .removeValue(let key, let place):
      found = try contents.map(place.cell)[key].map { .value($0) } ?? .nothing
    case .setValue(_, let key, let place):
      found = try contents.map(place.cell)[key].map { .value($0) } ?? .nothing
    default: found = .nothing
    }
    guard found == before else { throw Misfit("\(change) has \(before) before it, not \(found)") }
  }
}

extension RowReplay.Contents {
  typealias Misfit = RowReplay.Misfit

  func value(_ cell: CellPlace) throws -> Value {
    guard let row = rows[cell.row] else { throw Misfit("no row \(cell.row)") }
    return try row[place(cell.column)]
  }

  func elements(_ cell: CellPlace) throws -> [Value] {
    guard case .list(let elements, _) = try value(cell) else { throw Misfit("no list and no set") }
    return elements
  }

  func map(_ cell: CellPlace) throws -> ValueMap {
    guard case .map(let map, _) = try value(cell) else { throw Misfit("no map") }
    return map
  }

  func batch(_ keys: [UInt64]) throws -> RowBatch {
    RowBatch(
      try keys.map { key in
        guard let values = rows[key] else { throw Misfit("no row \(key)") }
        return RowBatch.Row(key: key, values: values)
      })
  }

  mutating func apply(_ kind: RowChange.Kind) throws {
    switch kind {
    case .addColumn(let column):
      guard columns.allSatisfy({ $0.id < column.id && $0.name != column.name }) else {
        throw Misfit("column is there")
      }
      columns.append(column)
      for key in rows.keys { rows[key]?.append(column.absentValue) }
    case .create(let row, let values): try create(row, values)
    case .createMany(let batch): try batch.forEach { (row) throws in try create(row.key, row.values) }
    case .delete(let row): try delete(row)
    case .deleteMany(let rows): for row in rows { try delete(row) }
    case .set(let value, let cell): try set(value, cell)
    default: try applyToElements(kind)
    }
  }

  private mutating func applyToElements(_ kind: RowChange.Kind) throws {
    switch kind {
    case .insertElements(let added, let position, let place):
      try change(place.cell, .list) { $0.insert(contentsOf: added, at: position) }
    case .setElement(let value, let position, let place):
      try change(place.cell, .list) { $0[position] = value }
    case .removeElements(let range, let place): try change(place.cell, .list) { $0.removeSubrange(range) }
    case .insertIntoSet(let added, let cell):
      try change(cell, .set) { elements in
        guard Set(elements.map(SetElement.init)).isDisjoint(with: added.map(SetElement.init)) else {
          throw Misfit("element is there")
        }
        elements = Value.set(elements + added).elements ?? []
      }
    case .removeFromSet(let removed, let cell):
      try change(cell, .set) { elements in
        let count = elements.count
        elements.removeAll { removed.contains($0) }
        guard elements.count + removed.count == count else { throw Misfit("element is not there") }
      }
    case .setValue(let value, let key, let place):
      var map = try map(place.cell)
      map[key] = value
      try set(.map(map), place.cell)
    case .removeValue(let key, let place):
      var map = try map(place.cell)
      guard map[key] != nil else { throw Misfit("key is not there") }
      map[key] = nil
      try set(.map(map), place.cell)
    default: throw Misfit("a difference is not told by \(kind)")
    }
  }

  private mutating func create(_ row: UInt64, _ values: [Value]) throws {
    guard rows[row] == nil, values.count == columns.count else { throw Misfit("row \(row) can't be made") }
    for (column, value) in zip(columns, values) { try expectFree(value, column) }
    rows[row] = values
  }

  private mutating func delete(_ row: UInt64) throws {
    guard rows.removeValue(forKey: row) != nil else { throw Misfit("no row \(row)") }
  }

  private mutating func set(_ new: Value, _ cell: CellPlace) throws {
    let place = try place(cell.column)
    guard try value(cell) != new else { throw Misfit("\(new) is no change") }
    try expectFree(new, columns[place])
    rows[cell.row]?[place] = new
  }

  private mutating func change(
    _ cell: CellPlace, _ collection: ColumnCollection, _ body: (inout [Value]) throws -> Void
  ) throws {
    guard try columns[place(cell.column)].collection == collection else { throw Misfit("another collection") }
    var elements = try elements(cell)
    try body(&elements)
    try set(.list(elements), cell)
  }

  private func expectFree(_ value: Value, _ column: Column) throws {
    guard column.accepts(value) else { throw Misfit("\(column.name) can't hold \(value)") }
    guard column.index == .unique else { return }
    let place = try place(column.id)
    guard !rows.values.contains(where: { $0[place] == value }) else { throw Misfit("key \(value) is taken") }
  }
}
