/// Copies the objects of a version into another database, as a program would make them there: a synced database records them as changes of its own.
///
/// Tables are made first. Then all objects are made with what leads to no other object, and after that links, embedded objects and long collections
/// are filled in: so a link finds its object wherever that stands. Rows get keys of their own. Embedded objects that belong to no object are left out,
/// and so are links to objects that are not there.
package final class ObjectCopy {
  /// A transaction is committed when so many rows were made or filled in it, or so many bytes of values were written.
  package struct Limits {
    package var rows = 10_000
    package var bytes = 4 << 20

    package init() {}
  }

  /// A column that is copied.
  private struct Property {
    let source: Column
    let from: Int
    let target: Column
    let to: Int
    /// The rows that it links to belong to the row that links.
    let ownsRows: Bool
  }

  private struct CopiedTable {
    let source: Table
    /// In the target.
    let id: UInt32
    /// The primary key, as the source has it; nil of an embedded table.
    let key: Column?
    let properties: [Property]
    /// The places of the properties of which something is filled in when all objects are there.
    var later: Set<Int>
  }

  private let source: Snapshot
  private let target: Database
  private let limits: Limits
  private var tables: [CopiedTable] = []
  /// The positions in `tables`, by the ids of the tables in the source.
  private var places: [UInt32: Int] = [:]
  private var transaction: WriteTransaction
  /// The tables that the open transaction has used, by their positions in `tables`.
  private var open: [Int: WritableTable] = [:]
  /// What was done in the transaction.
  private var rows = 0
  private var bytes = 0
  /// The embedded rows of the object that is being filled. In a damaged file one may belong to several.
  private var owned: Set<LinkTarget> = []

  /// Collections of more elements are filled in a few at a time.
  private static let mostAtOnce = 1024
  /// Embedded objects stand in each other no deeper.
  private static let mostLevels = InstructionPath.mostSteps

  /// - Parameters:
  ///   - target: has no tables.
  ///   - columns: answers the columns of a table that are copied, its primary key among them; nil for a table that is left out.
  /// - Throws: `.notSyncable` where the target is synced, and a class or an object can't be; `.limitExceeded`; `.corrupted`, also where the
  ///   values of the source do not fit their columns; what committing throws.
  package static func run(
    _ source: Snapshot, to target: Database, limits: Limits = Limits(),
    columns: (TableSchema) -> [Column]?
  ) throws(StorageError) {
    let copy = try ObjectCopy(source, target, limits)
    defer { copy.transaction.cancel() }
    try copy.makeTables(columns)
    try copy.makeObjects()
    try copy.fillObjects()
    try copy.transaction.commit()
  }

  private init(_ source: Snapshot, _ target: Database, _ limits: Limits) throws(StorageError) {
    (self.source, self.target, self.limits) = (source, target, limits)
    transaction = try target.beginWrite()
  }

  private var damage: StorageError {
    let source = source
    let access = source.access()
    return access.corrupted(.structure, .null)
  }
  private var wrongLink: StorageError {
    let source = source
    let access = source.access()
    return access.corrupted(.link, .null)
  }

  /// Begins another transaction where this one is large.
  private func goOn() throws(StorageError) {
    guard rows >= limits.rows || bytes >= limits.bytes else { return }
    try transaction.commit()
    transaction = try target.beginWrite()
    open.removeAll()
    (rows, bytes) = (0, 0)
  }

  private func writable(_ place: Int) throws(StorageError) -> WritableTable {
    if let known = open[place] { return known }
    guard let table = try transaction.table(tables[place].source.schema.name) else { throw damage }
    open[place] = table
    return table
  }

  // MARK: - Tables

  private func makeTables(_ columns: (TableSchema) -> [Column]?) throws(StorageError) {
    var kept: [(table: Table, columns: [Column])] = []
    for schema in try source.schemas() {
      guard let columns = columns(schema), let table = try source.table(schema.name) else { continue }
      kept.append((table, columns.filter { !$0.isCompanion }))
    }
    let ids = Set(kept.map { $0.table.schema.id })
    let embedded = Set(kept.filter { $0.table.schema.isEmbedded }.map { $0.table.schema.id })
    var made: [UInt32: UInt32] = [:]
    var linking: [(table: String, column: Column)] = []
    for (table, columns) in kept {
      let schema = table.schema
      var (first, rest): ([Column], [Column]) = ([], [])
      for column in columns where column.type != .link || ids.contains(column.target) {
        // Links may lead to tables that are made later, and columns stay in their order.
        if column.index == .unique || (column.type != .link && rest.isEmpty) {
          first.append(column.copy())
        } else {
          rest.append(column)
        }
      }
      let keys = first.count { $0.index == .unique }
      guard try transaction.table(schema.name) == nil, keys < 2 else { throw damage }
      guard keys == 1 || schema.isEmbedded else {
        throw .notSyncable(.noPrimaryKey, table: schema.name, column: nil, path: source.database.path)
      }
      let new = TableSchema(schema.name, isEmbedded: schema.isEmbedded, columns: first)
      made[schema.id] = try transaction.createTable(new).schema.id
      linking += rest.map { (table: schema.name, column: $0) }
    }
    for (name, column) in linking {
      try transaction.table(name)?.addColumn(column.copy(target: made[column.target] ?? 0))
    }
    for (table, columns) in kept { try begin(table, columns, embedded) }
  }

  /// - Parameter embedded: the ids of embedded tables.
  private func begin(
    _ table: Table, _ columns: [Column], _ embedded: Set<UInt32>
  ) throws(StorageError) {
    guard let made = try transaction.table(table.schema.name)?.schema else { throw damage }
    let ids = Set(columns.map(\.id))
    var properties: [Property] = []
    for (from, column) in table.schema.columns.enumerated() where ids.contains(column.id) {
      let to = made.columns.firstIndex { new in
        !new.isCompanion && new.name.utf8.elementsEqual(column.name.utf8)
      }
      guard let to else { continue }
      properties.append(
        Property(
          source: column, from: from, target: made.columns[to], to: to,
          ownsRows: column.type == .link && embedded.contains(column.target)))
    }
    let links = properties.indices.filter { properties[$0].source.type == .link }
    places[table.schema.id] = tables.count
    tables.append(
      CopiedTable(
        source: table, id: made.id, key: table.schema.isEmbedded ? nil : table.schema.primaryKey,
        properties: properties, later: Set(links)))
  }

  // MARK: - Objects without links

  private func makeObjects() throws(StorageError) {
    for place in tables.indices where tables[place].key != nil {
      let table = tables[place]
      for position in 0..<table.source.count {
        try makeObject(table.source.key(at: position), table, place)
        try goOn()
      }
    }
  }

  private func makeObject(_ row: UInt64, _ table: CopiedTable, _ place: Int) throws(StorageError) {
    var values: [(property: Property, value: Value)] = []
    for (number, property) in table.properties.enumerated() where property.source.type != .link {
      guard let value = try simple(property, row, table.source) else {
        tables[place].later.insert(number)
        continue
      }
      values.append((property, value))
    }
    try insert(values, place)
  }

  /// A value that leads to no object and is no long collection; nil of another one.
  private func simple(
    _ property: Property, _ row: UInt64, _ table: Table
  ) throws(StorageError) -> Value? {
    switch property.source.collection {
    case .none: break
    case .list:
      if try table.list(property.from, ofRow: row)?.count ?? 0 > Self.mostAtOnce { return nil }
    case .set, .map:
      if try table.sorted(property.from, ofRow: row)?.count ?? 0 > Self.mostAtOnce { return nil }
    }
    guard let value = try table.value(property.source, ofRow: row) else { throw damage }
    return value.linkTargets(of: property.source).isEmpty ? value : nil
  }

  @discardableResult
  private func insert(
    _ values: [(property: Property, value: Value)], _ place: Int
  ) throws(StorageError) -> UInt64 {
    for (property, value) in values {
      guard property.target.accepts(value) else { throw damage }
      bytes += value.copiedBytes
    }
    rows += 1
    return try writable(place).insert { (row: inout NewRow) throws(StorageError) in
      for (property, value) in values { try row.set(property.to, value) }
    }
  }

  // MARK: - Links, embedded objects, long collections

  private func fillObjects() throws(StorageError) {
    for place in tables.indices {
      let table = tables[place]
      guard let key = table.key, !table.later.isEmpty else { continue }
      let later = table.later.sorted().map { table.properties[$0] }
      for position in 0..<table.source.count {
        let row = try table.source.key(at: position)
        guard let name = try table.source.value(key, ofRow: row),
          let new = try writable(place).row(withPrimaryKey: name)
        else { throw damage }
        owned.removeAll(keepingCapacity: true)
        for property in later {
          // It was made with the object.
          if property.source.type != .link, try simple(property, row, table.source) != nil { continue }
          try fill(property, row, table.source, new, place)
        }
        rows += 1
        try goOn()
      }
    }
  }

  /// - Parameter new: the row in the target.
  private func fill(
    _ property: Property, _ row: UInt64, _ table: Table, _ new: UInt64, _ place: Int
  ) throws(StorageError) {
    switch property.source.collection {
    case .none:
      guard let value = try table.value(property.source, ofRow: row) else { throw damage }
      guard value != .null else { return }
      let made = try elements([value], property)
      try writable(place).set(made[0], property.to, ofRow: new)
    case .list:
      guard let list = try table.list(property.from, ofRow: row) else { throw damage }
      var position = 0
      while position < list.count {
        let found = try list.elements(from: position)
        guard !found.isEmpty else { throw damage }
        position += found.count
        let made = try elements(found, property)
        try writable(place).append(made, toList: property.to, ofRow: new)
        try goOn()
      }
    case .set, .map:
      guard let sorted = try table.sorted(property.from, ofRow: row) else { throw damage }
      var position = 0
      while position < sorted.count {
        let found = try sorted.entries(from: position)
        guard !found.isEmpty else { throw damage }
        position += found.count
        try add(found.map { $0.key }, elements(found.map { $0.value }, property), property, new, place)
        try goOn()
      }
    }
  }

  /// - Parameter keys: those of a map; nil of the elements of a set.
  private func add(
    _ keys: [String?], _ values: [Value], _ property: Property, _ new: UInt64, _ place: Int
  ) throws(StorageError) {
    guard property.source.collection == .map else {
      guard !property.ownsRows, !values.contains(where: { $0.isNested }) else { throw damage }
      try writable(place).insert(values, intoSet: property.to, ofRow: new)
      return
    }
    for (key, value) in zip(keys, values) {
      guard let key else { throw damage }
      try writable(place).setValue(value, forKey: key, ofMap: property.to, ofRow: new)
    }
  }

  /// What stands in the target for values of a cell or elements of a collection.
  private func elements(_ found: [Value], _ property: Property) throws(StorageError) -> [Value] {
    var made: [Value] = []
    made.reserveCapacity(found.count)
    for value in found {
      let value = try copied(value, property.source, ownsRows: property.ownsRows, level: 0)
      guard property.target.acceptsElement(value) else { throw damage }
      bytes += value.copiedBytes
      made.append(value)
    }
    return made
  }

  /// - Parameter level: so many embedded objects stand around the value.
  private func copied(
    _ value: Value, _ column: Column, ownsRows: Bool, level: Int
  ) throws(StorageError) -> Value {
    switch value {
    case .link(let row) where ownsRows: return .link(try copyOwned(row, column.target, level))
    case .link(let row): return .link(try counterpart(of: row, column.target).row)
    case .typedLink(let table, let row):
      // The table was left out.
      guard places[table] != nil else { return .null }
      let found = try counterpart(of: row, table)
      return .typedLink(table: found.table, row: found.row)
    case .list(let elements, _):
      var made: [Value] = []
      for element in elements { made.append(try copied(element, column, ownsRows: ownsRows, level: level)) }
      return .list(made)
    case .map(let map, _):
      return .map(
        try map.mapped { (value) throws(StorageError) in
          try copied(value, column, ownsRows: ownsRows, level: level)
        })
    default: return value
    }
  }

  /// The row in the target of an object that was made.
  private func counterpart(
    of row: UInt64, _ id: UInt32
  ) throws(StorageError) -> (table: UInt32, row: UInt64) {
    guard let place = places[id], let key = tables[place].key,
      let name = try tables[place].source.value(key, ofRow: row),
      let found = try writable(place).row(withPrimaryKey: name)
    else { throw wrongLink }
    return (tables[place].id, found)
  }

  /// Makes an embedded row, with those that it owns. It gets its owner when that is set to link to it.
  private func copyOwned(_ row: UInt64, _ id: UInt32, _ level: Int) throws(StorageError) -> UInt64 {
    guard let place = places[id], owned.insert(LinkTarget(table: id, row: row)).inserted else {
      throw wrongLink
    }
    let table = tables[place]
    guard level < Self.mostLevels else {
      throw .notSyncable(.tooDeep, table: table.source.schema.name, column: nil, path: target.path)
    }
    var values: [(property: Property, value: Value)] = []
    for property in table.properties {
      guard let found = try table.source.value(property.source, ofRow: row) else { throw wrongLink }
      var value = try copied(found, property.source, ownsRows: property.ownsRows, level: level + 1)
      // The order of links in a set is that of their rows.
      if property.source.collection == .set, let elements = value.elements { value = .set(elements) }
      values.append((property, value))
    }
    return try insert(values, place)
  }
}

extension Column {
  /// The same column for another table.
  fileprivate func copy(target: UInt32 = 0) -> Column {
    Column(
      name, type, isOptional: isOptional, collection: collection, index: index, target: target,
      storedDefault: storedDefault)
  }
}

extension Value {
  /// Bytes that the value takes, about.
  fileprivate var copiedBytes: Int {
    switch self {
    case .list(let elements, _): elements.reduce(16) { $0 + $1.copiedBytes }
    case .map(let map, _):
      zip(map.keys, map.values).reduce(16) { $0 + $1.0.utf8.count + $1.1.copiedBytes }
    default: length
    }
  }
}
