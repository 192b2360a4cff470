import RealmStorage

/// Persons with embedded addresses and pets and with links to each other. The pets have embedded toys.
package struct Family {
  package static let person = "Person"
  private let tables: [String: WritableTable]
  private let transaction: WriteTransaction
  /// True if changes keep primary keys as they are.
  private let keepsKeys: Bool

  package static func make(_ transaction: WriteTransaction) throws {
    let toy = try transaction.createTable(
      TableSchema("Toy", isEmbedded: true, columns: [Column("colour", .string)]))
    let address = try transaction.createTable(
      TableSchema("Address", isEmbedded: true, columns: [Column("street", .string)]))
    let pet = try transaction.createTable(
      TableSchema(
        "Pet", isEmbedded: true,
        columns: [
          Column("name", .string), Column("toy", .link, target: toy.schema.id),
          Column("toys", .link, collection: .list, target: toy.schema.id),
        ]))
    let person = try transaction.createTable(
      TableSchema(
        Self.person,
        columns: [
          Column("id", .int64, index: .unique), Column("name", .string, isOptional: true, index: .plain),
          Column("age", .int64, isOptional: true),
          Column("address", .link, target: address.schema.id),
          Column("pets", .link, collection: .list, target: pet.schema.id),
          Column("petsByName", .link, collection: .map, target: pet.schema.id),
          Column("friend", .link), Column("friends", .link, collection: .list),
          Column("group", .link, collection: .set), Column("roles", .link, collection: .map),
          Column("any", .mixed), Column("anything", .mixed, collection: .list),
          Column("anySet", .mixed, collection: .set), Column("anyMap", .mixed, collection: .map),
        ]))
    try address.addColumn(Column("resident", .link, target: person.schema.id))
  }

  package init(_ transaction: WriteTransaction, keepsKeys: Bool = false) throws {
    self.keepsKeys = keepsKeys
    self.transaction = transaction
    var tables: [String: WritableTable] = [:]
    for schema in try transaction.schemas() { tables[schema.name] = try transaction.table(schema.name) }
    self.tables = tables
  }

  private func table(_ name: String) -> WritableTable { tables[name]! }
  private var persons: WritableTable { table(Self.person) }

  private func column(_ name: String, of table: String = Self.person) -> Int {
    self.table(table).schema.columns.firstIndex { $0.name == name }!
  }

  private func someone(_ generator: inout SeededGenerator) throws -> UInt64? {
    let count = try persons.reading().count
    return count == 0 ? nil : try persons.reading().key(at: generator.below(count))
  }

  private func insert(_ generator: inout SeededGenerator) throws -> UInt64? {
    let friend = try someone(&generator)
    let id = Value.int(Int64(generator.below(60)))
    guard try persons.row(withPrimaryKey: id) == nil else { return nil }
    let values: [String: Value] = [
      "id": id, "name": generator.chance(20) ? .null : .string("name \(generator.below(9))"),
      "friend": friend.map { .link($0) } ?? .null,
      "friends": .list(friend.map { [.link($0), .link($0)] } ?? []),
    ]
    return try persons.insert(values)
  }

  private func pet(_ generator: inout SeededGenerator) throws -> Value {
    var values: [String: Value] = ["name": .string("pet \(generator.below(9))")]
    if generator.chance(50) {
      values["toy"] = .link(try table("Toy").insert(["colour": .string("red")]))
    }
    if generator.chance(30) {
      values["toys"] = .list([.link(try table("Toy").insert(["colour": .string("blue")]))])
    }
    return .link(try table("Pet").insert(values))
  }

  private func anything(_ generator: inout SeededGenerator, _ levels: Int = 3) throws -> Value {
    let choice = generator.below(levels > 0 ? 7 : 4)
    switch choice {
    case 0: return .null
    case 1: return .int(Int64(generator.below(5)))
    case 2, 3:
      guard let row = try someone(&generator) else { return .string("nobody") }
      return .typedLink(table: persons.schema.id, row: row)
    case 4: return .string("text \(generator.below(5))")
    case 5: return .list(try (0..<generator.below(4)).map { _ in try anything(&generator, levels - 1) })
    default:
      return .map(
        ValueMap(
          Dictionary(
            uniqueKeysWithValues: try (0..<generator.below(4)).map {
              ("key \($0)", try anything(&generator, levels - 1))
            })))
    }
  }

  package func change(_ generator: inout SeededGenerator) throws {
    guard let row = try someone(&generator), !generator.chance(25) else {
      _ = try insert(&generator)
      return
    }
    let target = Value.link(try someone(&generator) ?? row)
    switch generator.below(28) {
    case 0: try persons.remove(row)
    case 1:
      let some = try (0..<generator.below(6)).compactMap { _ in try someone(&generator) }
      try persons.remove(some)
    case 2 where generator.chance(10): try persons.removeAll()
    case 3 where generator.chance(10): try transaction.removeAllRows(of: Array(tables.keys))
    case 2, 3: try persons.add(Int64(generator.below(5)), to: column("age"), ofRow: row)
    case 4: try persons.set(.int(Int64(generator.below(9))), column("age"), ofRow: row)
    case 5 where !keepsKeys:
      let id = Value.int(Int64(generator.below(60)))
      if try persons.row(withPrimaryKey: id) == nil { try persons.set(id, column("id"), ofRow: row) }
    case 6, 7:
      let address = try table("Address").insert(["street": .string("street"), "resident": target])
      try persons.set(.link(address), column("address"), ofRow: row)
    case 8: try persons.set(.null, column("address"), ofRow: row)
    case 9: try persons.append([try pet(&generator)], toList: column("pets"), ofRow: row)
    case 10: try changeList("pets", row, generator.chance(50) ? try pet(&generator) : nil, &generator)
    case 11:
      try persons.setValue(
        try pet(&generator), forKey: "key \(generator.below(4))", ofMap: column("petsByName"), ofRow: row)
    case 12:
      try persons.removeValue(forKey: "key \(generator.below(4))", ofMap: column("petsByName"), ofRow: row)
    case 13: try persons.set(target, column("friend"), ofRow: row)
    case 14, 15: try changeList("friends", row, target, &generator)
    case 16: try persons.insert([target], intoSet: column("group"), ofRow: row)
    case 17: try persons.remove(target, fromSet: column("group"), ofRow: row)
    case 18:
      try persons.setValue(target, forKey: "key \(generator.below(3))", ofMap: column("roles"), ofRow: row)
    case 19: try persons.set(try anything(&generator), column("any"), ofRow: row)
    case 20: try changeList("anything", row, try anything(&generator), &generator)
    case 21:
      try persons.setValue(
        try anything(&generator), forKey: "key \(generator.below(3))", ofMap: column("anyMap"), ofRow: row)
    case 22: try persons.insert([try anything(&generator, 0)], intoSet: column("anySet"), ofRow: row)
    default: try changeNested(["any", "anything", "anyMap"][generator.below(3)], row, &generator)
    }
  }

  private func changeList(
    _ name: String, _ row: UInt64, _ value: Value?, _ generator: inout SeededGenerator
  ) throws {
    let list = column(name)
    let count = try persons.listCount(list, ofRow: row) ?? 0
    let isOwner = name == "pets"
    guard count > 0 else {
      if let value { try persons.append([value], toList: list, ofRow: row) }
      return
    }
    let place = generator.below(count)
    switch (generator.below(6), value) {
    case (0, let value?): try persons.insert([value], at: place, ofList: list, ofRow: row)
    case (1, let value?): try persons.setElement(value, at: place, ofList: list, ofRow: row)
    case (2, _), (0, _), (1, _):
      if let value, isOwner { try persons.append([value], toList: list, ofRow: row) }
      try persons.removeElements(place..<min(count, place + 2), ofList: list, ofRow: row)
    case (3, let value):
      if let value, isOwner { try persons.append([value], toList: list, ofRow: row) }
      try persons.moveElement(from: place, to: generator.below(count), ofList: list, ofRow: row)
    case (4, let value):
      if let value, isOwner { try persons.append([value], toList: list, ofRow: row) }
      try persons.swapElements(place, generator.below(count), ofList: list, ofRow: row)
    case (_, let value):
      if let value, isOwner { try persons.append([value], toList: list, ofRow: row) }
      let count = try persons.listCount(list, ofRow: row) ?? 0
      try persons.reorderElements(
        (0..<count).shuffled(using: &generator), ofList: list, ofRow: row)
    }
  }

  private func changeNested(_ name: String, _ row: UInt64, _ generator: inout SeededGenerator) throws {
    guard let value = try persons.value(column(name), ofRow: row) else { return }
    var found: [Value] = []
    collect(value, &found)
    guard let nested = found.randomElement(using: &generator) else { return }
    let place = NestedPlace(column: column(name), row: row, id: nested.nestedID)
    switch nested {
    case .list(let elements, _):
      let position = generator.below(max(1, elements.count))
      switch generator.below(elements.isEmpty ? 1 : 6) {
      case 0: try persons.insert([try anything(&generator, 1)], at: position, of: place)
      case 1: try persons.setElement(try anything(&generator, 1), at: position, of: place)
      case 2: try persons.removeElements(position..<position + 1, of: place)
      case 3: try persons.moveElement(from: position, to: generator.below(elements.count), of: place)
      case 4: try persons.swapElements(position, generator.below(elements.count), of: place)
      default: try persons.reorderElements(elements.indices.shuffled(using: &generator), of: place)
      }
    default:
      let key = "key \(generator.below(4))"
      if generator.chance(60) {
        try persons.setValue(try anything(&generator, 1), forKey: key, of: place)
      } else {
        try persons.removeValue(forKey: key, of: place)
      }
    }
  }

  private func collect(_ value: Value, _ found: inout [Value]) {
    if value.nestedID != 0 { found.append(value) }
    for element in value.elements ?? [] { collect(element, &found) }
  }
}
