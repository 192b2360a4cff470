import Foundation
import RealmStorage

/// The names of classes and properties in the program, for a feed.
struct FeedNames: Sendable {
  /// The names of the properties by the names of their columns, for the name of each table.
  private let classes: [String: [String: String]]

  init(_ bindings: [ClassBinding]) {
    var classes: [String: [String: String]] = [:]
    for binding in bindings {
      guard let table = binding.table?.name else { continue }
      var names: [String: String] = [:]
      for property in binding.model.properties { names[property.columnName] = property.name }
      classes[table] = names
    }
    self.classes = classes
  }

  var tables: [String] { classes.keys.sorted() }

  func property(_ column: String, ofTable table: String) -> String { classes[table]?[column] ?? column }
}

/// Converts values of a version to values of a feed.
struct FeedValues {
  private let snapshot: Snapshot
  private var schemas: [UInt32: TableSchema] = [:]
  private var tables: [UInt32: Table] = [:]

  init(_ snapshot: Snapshot) throws(StorageError) {
    self.snapshot = snapshot
    for schema in try snapshot.schemas() { schemas[schema.id] = schema }
  }

  func schema(_ table: UInt32) -> TableSchema? { schemas[table] }

  mutating func table(_ id: UInt32) throws(StorageError) -> Table? {
    if let found = tables[id] { return found }
    guard let name = schemas[id]?.name, let table = try snapshot.table(name) else { return nil }
    tables[id] = table
    return table
  }

  mutating func id(_ row: UInt64, of table: UInt32) throws(StorageError) -> ChangeFeed.ObjectID {
    guard let schema = schemas[table] else {
      return ChangeFeed.ObjectID(className: "table \(table)", primaryKey: nil, key: row)
    }
    var key: ChangeFeed.Value?
    if let column = schema.primaryKey, let value = try self.table(table)?.value(column, ofRow: row) {
      key = try self.value(value, of: column)
    }
    return ChangeFeed.ObjectID(className: schema.name, primaryKey: key, key: row)
  }

  mutating func value(_ value: Value, of column: Column) throws(StorageError) -> ChangeFeed.Value {
    switch value {
    case .null: return .none
    case .bool(let flag): return .bool(flag)
    case .int(let number): return .int(number)
    case .float(let number): return .float(number)
    case .double(let number): return .double(number)
    case .string(let text): return .string(text)
    case .data(let bytes): return .data(Data(bytes))
    case .date(let moment): return .date(Date(moment))
    case .objectID: return ObjectId._load(value).map { .objectId($0) } ?? .none
    case .decimal128: return Decimal128._load(value).map { .decimal128($0) } ?? .none
    case .uuid: return UUID._load(value).map { .uuid($0) } ?? .none
    case .link(let row): return .object(try id(row, of: column.target))
    case .typedLink(let table, let row): return .object(try id(row, of: table))
    case .list(let elements, _): return .list(try values(elements, of: column))
    case .map(let map, _):
      var values: [String: ChangeFeed.Value] = [:]
      for (key, element) in zip(map.keys, map.values) { values[key] = try self.value(element, of: column) }
      return .dictionary(values)
    }
  }

  mutating func values(_ values: [Value], of column: Column) throws(StorageError) -> [ChangeFeed.Value] {
    var made: [ChangeFeed.Value] = []
    made.reserveCapacity(values.count)
    for value in values { made.append(try self.value(value, of: column)) }
    return made
  }
}

/// Compares two versions, and tells the differences as objects and their properties.
struct FeedReading {
  private let names: FeedNames
  private let older: Snapshot
  private let newer: Snapshot
  private var old: FeedValues
  private var new: FeedValues
  private var told: [ChangeFeed.Change] = []
  /// The index in `told` of the change of each modified object, by the row of the object.
  private var places: [UInt64: Int] = [:]
  private var table: UInt32 = 0

  init(_ names: FeedNames, older: Snapshot, newer: Snapshot) throws(StorageError) {
    self.names = names
    self.older = older
    self.newer = newer
    old = try FeedValues(older)
    new = try FeedValues(newer)
  }

  /// The changes between the two versions. This takes the time of `Snapshot.forEachRowChange`, and O(log n) for each
  /// object and link that is told.
  mutating func changes() throws -> [ChangeFeed.Change] {
    let (older, newer) = (older, newer)
    try newer.forEachRowChange(since: older, tables: names.tables) {
      (recorded) throws(StorageError) in
      try add(recorded)
      return true
    }
    return told
  }

  private mutating func add(_ recorded: RecordedChange) throws(StorageError) {
    if recorded.change.table != table {
      table = recorded.change.table
      places = [:]
    }
    guard let schema = new.schema(table) else { return }
    switch (recorded.change.kind, recorded.before) {
    case (.create(let row, let values), _): try insert(row, values, schema)
    case (.createMany(let batch), _):
      for row in batch.rows { try insert(row.key, row.values, schema) }
    case (.delete, .rows(let batch)), (.deleteMany, .rows(let batch)), (.deleteAll, .rows(let batch)):
      for row in batch.rows { try delete(row.key, row.values) }
    case (.setMany(let id, let rows, let values), .values(let before)):
      guard let column = schema.columns.first(where: { $0.id == id }) else { return }
      for (row, (value, old)) in zip(rows, zip(values, before)) {
        try note(.value(old: self.old.value(old, of: column), new: new.value(value, of: column)), row, column)
      }
    default:
      guard let cell = recorded.change.cell,
        let column = schema.properties.first(where: { $0.id == cell.column })
      else { return }
      if case (.set(let value, _), .value(let old)) = (recorded.change.kind, recorded.before) {
        try note(
          .value(old: self.old.value(old, of: column), new: new.value(value, of: column)), cell.row, column)
      } else if let element = try element(recorded, column) {
        try note(.elements([element]), cell.row, column)
      }
    }
  }

  private mutating func insert(
    _ row: UInt64, _ values: [Value], _ schema: TableSchema
  ) throws(StorageError) {
    try note(.inserted, row, values, schema, \.new) { .value(old: nil, new: $0) }
  }

  private mutating func delete(_ row: UInt64, _ values: [Value]) throws(StorageError) {
    guard let schema = old.schema(table) else { return }
    try note(.deleted, row, values, schema, \.old) { .value(old: $0, new: nil) }
  }

  /// Adds the change of an object that only one of the versions has.
  private mutating func note(
    _ kind: ChangeFeed.Change.Kind, _ row: UInt64, _ values: [Value], _ schema: TableSchema,
    _ side: WritableKeyPath<Self, FeedValues>,
    _ difference: (ChangeFeed.Value?) -> ChangeFeed.Property.Difference
  ) throws(StorageError) {
    var properties: [ChangeFeed.Property] = []
    var key: ChangeFeed.Value?
    for (column, value) in zip(schema.columns, values) where !column.isCompanion {
      let value = try self[keyPath: side].value(value, of: column)
      if column.index == .unique { key = value }
      properties.append(
        ChangeFeed.Property(
          name: names.property(column.name, ofTable: schema.name), difference: difference(value)))
    }
    let id = ChangeFeed.ObjectID(className: schema.name, primaryKey: key, key: row)
    told.append(ChangeFeed.Change(kind: kind, object: id, properties: properties))
  }

  /// Adds the change of a property of an object that both versions have.
  private mutating func note(
    _ difference: ChangeFeed.Property.Difference, _ row: UInt64, _ column: Column
  ) throws(StorageError) {
    let place: Int
    if let known = places[row] {
      place = known
    } else {
      place = told.count
      places[row] = place
      let id = try new.id(row, of: table)
      told.append(ChangeFeed.Change(kind: .modified, object: id, properties: []))
    }
    let name = names.property(column.name, ofTable: told[place].object.className)
    guard let last = told[place].properties.firstIndex(where: { $0.name == name }) else {
      told[place].properties.append(ChangeFeed.Property(name: name, difference: difference))
      return
    }
    let joined: ChangeFeed.Property.Difference
    switch (told[place].properties[last].difference, difference) {
    case (.value(let old, _), .value(_, let new)): joined = .value(old: old, new: new)
    case (.elements(let before), .elements(let after)): joined = .elements(before + after)
    default: joined = difference
    }
    told[place].properties[last] = ChangeFeed.Property(name: name, difference: joined)
  }

  private mutating func element(
    _ recorded: RecordedChange, _ column: Column
  ) throws(StorageError) -> ChangeFeed.ElementChange? {
    switch (recorded.change.kind, recorded.before) {
    case (.insertElement(let value, let position, _), _):
      .inserted([try new.value(value, of: column)], at: position)
    case (.insertElements(let values, let position, _), _):
      .inserted(try new.values(values, of: column), at: position)
    case (.removeElements(let range, _), .values(let values)):
      .removed(try old.values(values, of: column), at: range.lowerBound)
    case (.setElement(let value, let position, _), .value(let before)):
      .replaced(
        old: try old.value(before, of: column), new: try new.value(value, of: column), at: position)
    case (.insertIntoSet(let values, _), _): .added(try new.values(values, of: column))
    case (.removeFromSet(_, _), .values(let values)): .subtracted(try old.values(values, of: column))
    case (.setValue(let value, let key, _), .value(let before)):
      .set(key: key, old: try old.value(before, of: column), new: try new.value(value, of: column))
    case (.setValue(let value, let key, _), _):
      .set(key: key, old: nil, new: try new.value(value, of: column))
    case (.removeValue(let key, _), .value(let before)):
      .removedKey(key, old: try old.value(before, of: column))
    default: nil
    }
  }
}

/// The objects that existed when a token was first used, in batches.
struct FirstContent {
  let snapshot: Snapshot
  private let feed: ChangeFeed
  private var values: FeedValues
  private var tables: [Table] = []
  private var position = 0

  init(_ feed: ChangeFeed, _ snapshot: Snapshot) throws(StorageError) {
    self.feed = feed
    self.snapshot = snapshot
    values = try FeedValues(snapshot)
    for name in feed.names.tables {
      if let table = try snapshot.table(name), table.count > 0 { tables.append(table) }
    }
  }

  private static let mostTogether = 4096

  var isAtEnd: Bool { tables.isEmpty }

  /// The next batch of objects. If there are none, the batch is empty, and moves the token to the version at which the
  /// feed begins.
  mutating func next() throws(StorageError) -> ChangeFeed.Batch {
    var changes: [ChangeFeed.Change] = []
    while let table = tables.first, changes.count < Self.mostTogether {
      while position < table.count, changes.count < Self.mostTogether {
        changes.append(try change(table.key(at: position), table))
        position += 1
      }
      guard position == table.count else { break }
      tables.removeFirst()
      position = 0
    }
    return ChangeFeed.Batch(feed, changes, snapshot, isFirst: true, isLast: isAtEnd)
  }

  private mutating func change(_ row: UInt64, _ table: Table) throws(StorageError) -> ChangeFeed.Change {
    var properties: [ChangeFeed.Property] = []
    for column in table.schema.properties {
      guard let value = try table.value(column, ofRow: row) else { continue }
      let name = feed.names.property(column.name, ofTable: table.schema.name)
      properties.append(
        ChangeFeed.Property(
          name: name, difference: .value(old: nil, new: try values.value(value, of: column))))
    }
    return ChangeFeed.Change(
      kind: .inserted, object: try values.id(row, of: table.schema.id), properties: properties)
  }
}
