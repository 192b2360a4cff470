import Foundation
import RealmStorage
import TestSupport
import Testing

/// Transactions are recorded on one database and applied to another one, undone there and made again.
@Suite struct RecordedChangesTests {
  /// A value, with the ids of the lists and maps in it, which equality passes over.
  private struct Cell: Equatable {
    let value: Value
    var ids: [UInt64] = []

    init(_ value: Value) {
      self.value = value
      collect(value)
    }

    private mutating func collect(_ value: Value) {
      guard let elements = value.elements else { return }
      ids.append(value.nestedID)
      for element in elements { collect(element) }
    }
  }

  private typealias Tables = [String: [UInt64: [Cell]]]

  /// The rows of all tables.
  private static func content(_ snapshot: Snapshot) throws -> Tables {
    var content: Tables = [:]
    for schema in try snapshot.schemas() {
      guard let table = try snapshot.table(schema.name) else { continue }
      var rows: [UInt64: [Cell]] = [:]
      try table.forEach { key, values in
        rows[key] = values.map { Cell($0) }
        return true
      }
      content[schema.name] = rows
    }
    return content
  }

  private static func differences(_ left: Tables, _ right: Tables) -> String? {
    for name in Set(left.keys).union(right.keys).sorted() {
      let (before, after) = (left[name] ?? [:], right[name] ?? [:])
      for key in Set(before.keys).union(after.keys).sorted() where before[key] != after[key] {
        guard let old = before[key], let new = after[key] else {
          return "\(name) \(key) is \(before[key] == nil ? "there" : "missing")"
        }
        let cells = zip(old, new).enumerated().filter { $0.element.0 != $0.element.1 }
        return "\(name) \(key): "
          + cells.map { "\($0.offset): \("\($0.element.0)".prefix(300)) / \("\($0.element.1)".prefix(300))" }
          .joined(separator: "; ")
      }
    }
    return nil
  }

  /// What the tests saw, for the figures that are printed.
  private struct Figures {
    var transactions = 0
    var kinds: [RowChange.Name: Int] = [:]
    var derived = 0

    mutating func add(_ changes: [RecordedChange]) {
      transactions += 1
      for change in changes {
        kinds[change.change.name, default: 0] += 1
        if change.isDerived { derived += 1 }
      }
    }

    var description: String {
      let kinds = kinds.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue) \($0.value)" }
      return "\(transactions) transactions, \(derived) derived changes; " + kinds.joined(separator: ", ")
    }
  }

  /// Applies what was recorded to a database that is as the first one was, undoes it and makes it again.
  private static func follow(
    _ list: ChangeList, from before: Snapshot, to after: Snapshot, in other: Database, checks: Bool
  ) throws -> String? {
    let (old, new) = (try content(before), try content(after))
    let changes = list.changes.map(\.change)
    for round in 0..<2 {
      try other.write { try $0.apply(changes) }
      if let wrong = differences(new, try content(other.snapshot())) {
        return "applied, round \(round): \(wrong)"
      }
      if checks {
        let check = IntegrityCheck.run(try other.snapshot())
        guard check.isClean else { return "applied: \(check.findings)" }
      }
      guard round == 0 else { return nil }
      try other.write { try $0.apply(list.inverse) }
      var undone = try content(other.snapshot())
      // Tables and columns that were added stay.
      for name in undone.keys where old[name] == nil && undone[name]?.isEmpty == true { undone[name] = nil }
      for (name, rows) in old {
        guard let columns = rows.first?.value.count else { continue }
        undone[name] = undone[name]?.mapValues { Array($0.prefix(columns)) }
      }
      if let wrong = differences(old, undone) { return "undone: \(wrong)" }
      if checks {
        let check = IntegrityCheck.run(try other.snapshot())
        guard check.isClean else { return "undone: \(check.findings)" }
      }
      // A table that was made is there: to make it again would not fit.
      if changes.contains(where: { $0.name == .createTable || $0.name == .addColumn }) {
        let rows = changes.filter { $0.name != .createTable && $0.name != .addColumn }
        try other.write { try $0.apply(rows) }
        return differences(new, try content(other.snapshot())).map { "made again: \($0)" }
      }
    }
    return nil
  }

  private static func pair(
    _ key: [UInt8]?, clusterRows: Int, _ body: (Database, Database) throws -> Void
  ) throws {
    try withTemporaryPath { path in
      var options = DatabaseOptions(encryptionKey: key)
      options.clusterRows = clusterRows
      try body(
        try Database(path: path, options: options), try Database(path: path + "2", options: options))
    }
  }

  @Test(arguments: [nil, Keys.first], [false, true])
  func `changes of every kind of column are applied and undone`(key: [UInt8]?, isTakenApart: Bool) throws {
    var figures = Figures()
    for seed in Slow.seeds(4, slow: 60) {
      try Self.pair(key, clusterRows: seed % 3 == 0 ? 8 : 512) { database, other in
        var generator = SeededGenerator(seed: seed)
        var model = TableModel()
        for round in 0..<14 {
          let before = try database.snapshot()
          let list = ChangeList(takesRowsApart: isTakenApart)
          try database.write { transaction in
            try transaction.record(into: list)
            let table: WritableTable
            if round == 0 {
              table = try transaction.createTable(
                TableSchema(TableModel.name, columns: TableModel.everything))
            } else {
              table = try #require(try transaction.table(TableModel.name))
            }
            for _ in 0..<generator.below(round % 3 == 0 ? 60 : 12) {
              #expect(try model.change(table, &generator) == nil, "seed \(seed)")
              if generator.chance(10) {
                _ = try table.changeIntegers(column("int64", table)) { $0 &+ 3 }
              }
            }
          }
          // What the model does not know is read from the table.
          try read(&model, database)
          let wrong = try Self.follow(
            list, from: before, to: database.snapshot(), in: other, checks: round % 5 == 4)
          #expect(wrong == nil, "seed \(seed), transaction \(round)")
          guard wrong == nil else { return }
          let table = try #require(try other.snapshot().table(TableModel.name))
          #expect(try model.difference(to: table, &generator) == nil, "seed \(seed), transaction \(round)")
          figures.add(list.changes)
        }
      }
    }
    print("recorded changes of one table: \(figures.description)")
  }

  private func column(_ name: String, _ table: WritableTable) -> Int {
    table.schema.columns.firstIndex { $0.name == name } ?? 0
  }

  private func read(_ model: inout TableModel, _ database: Database) throws {
    guard let table = try database.snapshot().table(TableModel.name) else { return }
    for column in table.schema.columns where column.name == "int64" {
      for key in model.rows.keys { model.rows[key]?["int64"] = try table.value(column, ofRow: key) }
    }
  }

  @Test(arguments: [nil, Keys.first], [false, true])
  func `objects that link to and own others are applied and undone`(key: [UInt8]?, isTakenApart: Bool) throws
  {
    var figures = Figures()
    for seed in Slow.seeds(6, slow: 200) {
      try Self.pair(key, clusterRows: seed % 3 == 0 ? 8 : 512) { database, other in
        var generator = SeededGenerator(seed: seed)
        for round in 0..<20 {
          let before = try database.snapshot()
          let list = ChangeList(takesRowsApart: isTakenApart)
          try database.write { transaction in
            try transaction.record(into: list)
            if round == 0 { try Family.make(transaction) }
            if round == 9 {
              try transaction.table(Family.person)?.addColumn(Column("motto", .string, index: .plain))
              try transaction.createTable(TableSchema("Later", columns: [Column("person", .link, target: 1)]))
            }
            let family = try Family(transaction)
            for _ in 0..<generator.below(25) { try family.change(&generator) }
          }
          let wrong = try Self.follow(
            list, from: before, to: database.snapshot(), in: other, checks: round % 4 == 3)
          #expect(wrong == nil, "seed \(seed), transaction \(round)")
          guard wrong == nil else { return }
          figures.add(list.changes)
        }
      }
    }
    print("recorded changes of linked objects: \(figures.description)")
  }

  @Test(arguments: [nil, Keys.first], [false, true])
  func `ids of elements and links to rows that are not there are applied and undone`(
    key: [UInt8]?, isTakenApart: Bool
  ) throws {
    var figures = Figures()
    for seed in Slow.seeds(8, slow: 400) {
      try Self.pair(key, clusterRows: seed % 3 == 0 ? 8 : 512) { database, other in
        var generator = SeededGenerator(seed: seed)
        var model = CompanionModel()
        for round in 0..<20 {
          let before = try database.snapshot()
          let list = model.recorder(takesRowsApart: isTakenApart)
          try database.write { transaction in
            try transaction.record(into: list)
            if round == 0 { try transaction.createTable(CompanionModel.schema) }
            let table = try #require(try transaction.table(CompanionModel.name))
            for _ in 0..<(round == 0 ? 12 : generator.below(20)) { try model.change(table, &generator) }
          }
          let after = try database.snapshot()
          let table = try #require(try after.table(CompanionModel.name))
          let context = "seed \(seed), transaction \(round)"
          let difference = try model.difference(to: table)
          #expect(difference == nil, "\(context)")
          let check = IntegrityCheck.run(after)
          #expect(check.isClean, "\(context): \(check.findings)")
          let wrong = try Self.follow(list, from: before, to: after, in: other, checks: true)
          #expect(wrong == nil, "\(context)")
          guard wrong == nil, check.isClean, difference == nil else { return }
          figures.add(list.changes)
        }
      }
    }
    print("recorded changes of lists with ids: \(figures.description)")
  }
}

/// Persons with embedded addresses and pets, which have embedded toys, and with links to one another.
private struct Family {
  static let person = "Person"
  let tables: [String: WritableTable]
  let transaction: WriteTransaction

  static func make(_ transaction: WriteTransaction) throws {
    let toy = try transaction.createTable(
      TableSchema("Toy", isEmbedded: true, columns: [Column("colour", .string)]))
    // The tables' ids are given in order: that of the persons is 2.
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

  init(_ transaction: WriteTransaction) throws {
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

  func change(_ generator: inout SeededGenerator) throws {
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
    case 5:
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
