import RealmTestSupport

@testable import RealmStorage

/// Objects in memory that name each other by their primary keys, and databases that hold them.
struct ObjectModel {
  typealias Object = [String: ComparedValue]

  /// The objects by primary key, which is a number for people and a text for pets.
  var people: [Value: Object] = [:]
  var pets: [Value: Object] = [:]

  // MARK: - Objects

  mutating func addRandom(_ count: Int, _ generator: inout SeededGenerator) {
    for _ in 0..<count {
      pets[.string("pet \(generator.below(4 * count))")] = ["age": .value(.int(Int64(generator.below(9))))]
      people[.int(Int64(generator.below(4 * count)))] = [:]
    }
    for id in people.keys.sorted(by: Value.isBefore) { people[id] = person(&generator) }
  }

  /// Makes some random changes.
  mutating func change(_ generator: inout SeededGenerator) {
    for id in people.keys.sorted(by: Value.isBefore) {
      switch generator.below(12) {
      case 0: removePerson(id)
      case 1, 2:
        let other = person(&generator)
        let names = other.keys.sorted()
        let name = names[generator.below(names.count)]
        people[id]?[name] = other[name]
      default: break
      }
    }
    for id in pets.keys.sorted(by: Value.isBefore) where generator.chance(10) {
      pets[id] = ["age": .value(.int(Int64(generator.below(9))))]
    }
    for number in 0..<generator.below(10) { people[.int(Int64(10_000 + number))] = person(&generator) }
  }

  private mutating func removePerson(_ id: Value) {
    people[id] = nil
    let gone = ComparedValue.object(table: "Person", key: id)
    for other in people.keys {
      if people[other]?["friend"] == gone { people[other]?["friend"] = .value(.null) }
      if people[other]?["any"] == gone { people[other]?["any"] = .value(.null) }
    }
  }

  private func person(_ generator: inout SeededGenerator) -> Object {
    func link(_ table: String, _ keys: [Value]) -> ComparedValue {
      .object(table: table, key: keys[generator.below(keys.count)])
    }
    let ids = (people.keys.sorted(by: Value.isBefore), pets.keys.sorted(by: Value.isBefore))
    let name = generator.chance(5) ? String(repeating: "long", count: 2000) : "name \(generator.below(30))"
    let homes: [ComparedValue] = (0..<3).map { _ in
      .embedded([
        .init("street", .value(.string("street \(generator.below(9))"))),
        .init("pet", generator.chance(50) ? link("Pet", ids.1) : .value(.null)),
      ])
    }
    let any: [ComparedValue] = [
      .value(.null), .value(.double(1)), .value(.int(1)), link("Person", ids.0),
      .list([link("Pet", ids.1), .value(.string("x"))]),
      .map([.init("a", link("Pet", ids.1)), .init("b", .value(.int(Int64(generator.below(3)))))]),
    ]
    return [
      "name": .value(generator.chance(20) ? .null : .string(name)),
      "score": .value(.double(Double(generator.below(5)))),
      "born": .value(.date(Timestamp(seconds: 5, nanoseconds: Int32(generator.below(2))))),
      "friend": generator.chance(50) ? link("Person", ids.0) : .value(.null),
      "pets": .list((0..<generator.below(4)).map { _ in link("Pet", ids.1) }),
      "petSet": .set(Set((0..<generator.below(4)).map { _ in link("Pet", ids.1) }).map { $0 }),
      "home": generator.chance(60) ? homes[0] : .value(.null),
      "homes": .list(Array(homes.prefix(generator.below(4)))),
      "tags": .set(Set((0..<3).map { _ in generator.below(6) }).sorted().map { .value(.string("\($0)")) }),
      "any": any[generator.below(any.count)],
    ]
  }

  // MARK: - Databases

  static func makeTables(_ transaction: WriteTransaction, _ generator: inout SeededGenerator) throws {
    let hasPetsFirst = generator.chance(50)
    func makePets() throws -> WritableTable {
      try transaction.createTable(
        TableSchema("Pet", columns: [Column("age", .int64), Column("id", .string, index: .unique)]))
    }
    if !hasPetsFirst { try transaction.createTable(TableSchema("Empty", columns: [Column("n", .int64)])) }
    let pets = try makePets().schema.id
    let homes = try transaction.createTable(
      TableSchema(
        "Home", isEmbedded: true, columns: [Column("street", .string), Column("pet", .link, target: pets)]
      )
    ).schema.id
    var columns = [
      Column("id", .int64, index: .unique), Column("name", .string, isOptional: true),
      Column("score", .double), Column("born", .date), Column("friend", .link),
      Column("pets", .link, collection: .list, target: pets),
      Column("petSet", .link, collection: .set, target: pets), Column("home", .link, target: homes),
      Column("homes", .link, collection: .list, target: homes), Column("tags", .string, collection: .set),
      Column("any", .mixed),
    ]
    if hasPetsFirst {
      columns.shuffle(using: &generator)
      try transaction.createTable(TableSchema("Empty", columns: [Column("n", .int64)]))
    }
    try transaction.createTable(TableSchema("Person", columns: columns))
  }

  /// Makes the tables hold the model. Existing objects are changed, or removed and made again.
  func store(in transaction: WriteTransaction, isOrdered: Bool, _ generator: inout SeededGenerator) throws {
    let store = try ObjectStore(transaction)
    for (table, objects) in [(store.people, people), (store.pets, pets)] {
      for key in try store.keys(of: table) where objects[key] == nil || generator.chance(10) {
        if let row = try table.row(withPrimaryKey: key) { try table.remove(row) }
      }
      var keys = objects.keys.sorted(by: Value.isBefore)
      if !isOrdered { keys.shuffle(using: &generator) }
      for key in keys where try table.row(withPrimaryKey: key) == nil { try table.insert(["id": key]) }
    }
    for (key, pet) in pets { try store.set(pet, of: key, in: store.pets, &generator) }
    for (key, person) in people { try store.set(person, of: key, in: store.people, &generator) }
  }
}

/// Writes objects of the model into the tables of a transaction.
private struct ObjectStore {
  let people: WritableTable
  let pets: WritableTable
  private let homes: WritableTable

  struct NoTable: Error {}

  init(_ transaction: WriteTransaction) throws {
    guard let people = try transaction.table("Person"), let pets = try transaction.table("Pet"),
      let homes = try transaction.table("Home")
    else { throw NoTable() }
    (self.people, self.pets, self.homes) = (people, pets, homes)
  }

  func keys(of table: WritableTable) throws -> [Value] {
    let reading = try table.reading()
    guard let column = table.schema.primaryKey else { return [] }
    return try (0..<reading.count).compactMap { try reading.value(column, ofRow: reading.key(at: $0)) }
  }

  func set(
    _ object: ObjectModel.Object, of key: Value, in table: WritableTable,
    _ generator: inout SeededGenerator
  ) throws {
    guard let row = try table.row(withPrimaryKey: key) else { return }
    for (name, value) in object.sorted(by: { $0.key < $1.key }) {
      guard let place = table.schema.columns.firstIndex(where: { $0.name == name }) else { continue }
      let column = table.schema.columns[place]
      if case .embedded(let entries) = value, case .link(let home)? = try table.value(place, ofRow: row),
        generator.chance(60)
      {
        // The row stays and gets the other values.
        for entry in entries {
          try homes.set(
            stored(entry.value, homes.schema.column(entry.name) ?? column), entry.name, ofRow: home)
        }
        continue
      }
      try table.set(stored(value, column), place, ofRow: row)
    }
  }

  private func stored(_ value: ComparedValue, _ column: Column) throws -> Value {
    switch value {
    case .value(let value): return value
    case .object(let name, let key):
      let table = name == "Pet" ? pets : people
      guard let row = try table.row(withPrimaryKey: key) else { return .null }
      return column.type == .mixed ? .typedLink(table: table.schema.id, row: row) : .link(row)
    case .row(_, let key): return .link(key)
    case .embedded(let entries):
      let row = try homes.insert([:])
      for entry in entries {
        try homes.set(stored(entry.value, homes.schema.column(entry.name) ?? column), entry.name, ofRow: row)
      }
      return .link(row)
    case .list(let elements): return .list(try elements.map { try stored($0, column) })
    case .set(let elements): return .set(try elements.map { try stored($0, column) })
    case .map(let entries):
      return .map(ValueMap(entries: try entries.map { ($0.name, try stored($0.value, column)) }))
    }
  }
}
