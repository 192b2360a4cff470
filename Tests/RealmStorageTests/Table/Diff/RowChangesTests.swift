import RealmTestSupport
import Testing

@testable import RealmStorage

/// The differences between two versions, reported as changes of rows.
@Suite struct RowChangesTests {
  /// Expects that the changes, applied one by one to the older version, give the newer one, and that their inverses
  /// give the older one.
  private func expectLeads(
    from old: Snapshot, to new: Snapshot, _ context: String, tables: [String]? = nil
  ) throws -> [RecordedChange] {
    let changes = try new.rowChanges(since: old, tables: tables)
    var replay = try RowReplay(old)
    do {
      for change in changes { try replay.apply(change) }
      #expect(try replay == RowReplay(new), "\(context)")
      for change in changes.reversed() { if let inverse = change.inverse { try replay.apply(inverse) } }
    } catch {
      Issue.record("\(context): \(error)")
    }
    // Added tables and columns stay.
    for (id, contents) in try RowReplay(old).tables {
      let rows = replay.tables[id]?.rows.mapValues { Array($0.prefix(contents.columns.count)) }
      #expect(rows == contents.rows, "\(context), undone")
    }
    for (id, contents) in replay.tables where try old.schemas().allSatisfy({ $0.id != id }) {
      #expect(contents.rows.isEmpty, "\(context), undone")
    }
    #expect(changes.allSatisfy { !$0.isDerived })
    return changes
  }

  private func options(_ seed: UInt64, _ key: [UInt8]?) -> Database.Options {
    var options = Database.Options(encryptionKey: key)
    options.compaction = .eager
    options.spillBytes = 1 << 14
    options.clusterRows = [512, 8, 40][Int(seed % 3)]
    return options
  }

  // MARK: - Any changes

  /// Whether the newer version has all columns of the older one, in the same order and before all other columns.
  private func hasMoreOnly(_ new: Snapshot, than old: Snapshot) throws -> Bool {
    let after = try new.schemas()
    return try old.schemas().allSatisfy { before in
      guard let now = after.first(where: { $0.name == before.name }) else { return false }
      return now.columns.count >= before.columns.count
        && zip(before.columns, now.columns).allSatisfy {
          $0.name == $1.name && $0.type == $1.type && $0.isOptional == $1.isOptional
        }
    }
  }

  @Test(arguments: Slow.seeds(6, slow: 200), [nil, Keys.first])
  func `row changes lead from any version to any other version`(seed: UInt64, key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: seed)
    let database = try Database(creatingIn: SimulatedDisk(), options: options(seed, key))
    var model = TableModel(changesSchema: seed % 2 == 1)
    var held = [try database.snapshot()]
    try database.write { transaction in
      var columns = [TableModel.ofEachType, TableModel.few, TableModel.everything][Int(seed % 3)]
      // A map in a mixed cell can't grow as the map of a column does.
      if seed == 2 { columns.removeAll { $0.type == .mixed && !$0.isCollection } }
      _ = try transaction.createTable(TableSchema(TableModel.name, columns: columns))
    }
    for round in 0..<5 {
      try database.write(generator.chance(50) ? .full : .relaxed) { transaction in
        let table = try #require(try transaction.table(TableModel.name))
        for _ in 0..<generator.below(round == 0 ? 150 : 50) {
          #expect(try model.change(table, &generator) == nil)
        }
        if seed == 2, round % 2 == 0 { try model.growCollections(table, &generator) }
      }
      try held.append(database.snapshot())
    }
    for (first, old) in held.enumerated() {
      for (second, new) in held.enumerated() {
        let context = "seed \(seed), \(key == nil ? "plain" : "encrypted"), from \(first) to \(second)"
        if try hasMoreOnly(new, than: old) {
          let changes = try expectLeads(from: old, to: new, context)
          #expect(changes.isEmpty == (try RowReplay(old) == RowReplay(new)))
        } else {
          let error = #expect(throws: StorageError.self, "\(context)") { try new.rowChanges(since: old) }
          guard case .schemaChanged? = error else {
            Issue.record("\(context): \(String(describing: error))")
            continue
          }
        }
      }
    }
  }

  // MARK: - Tables that link to each other

  private enum Names {
    static let all = ["Person", "Address", "Pet", "Town"]
  }

  /// People own one embedded address and a list of addresses, and link to pets, which link back. A later transaction
  /// adds towns.
  private func makeTables(_ transaction: WriteTransaction) throws {
    let addresses = try transaction.createTable(
      TableSchema("Address", isEmbedded: true, columns: [Column("street", .string)]))
    let people = try transaction.createTable(
      TableSchema(
        "Person",
        columns: [
          Column("id", .int64, index: .unique), Column("home", .link, target: addresses.schema.id),
          Column("others", .link, collection: .list, target: addresses.schema.id), Column("any", .mixed),
        ]))
    let pets = try transaction.createTable(
      TableSchema(
        "Pet",
        columns: [
          Column("owner", .link, target: people.schema.id), Column("tags", .mixed, collection: .set),
        ]))
    try people.addColumn(Column("pets", .link, collection: .list, target: pets.schema.id))
  }

  private struct Rows {
    var people: [UInt64] = []
    var pets: [UInt64] = []
    var nextID: Int64 = 0
  }

  private func change(_ transaction: WriteTransaction, _ rows: inout Rows, _ generator: inout SeededGenerator)
    throws
  {
    let people = try #require(try transaction.table("Person"))
    let addresses = try #require(try transaction.table("Address"))
    let pets = try #require(try transaction.table("Pet"))
    func address() throws -> Value {
      .link(try addresses.insert(["street": .string("\(generator.below(99))")]))
    }
    let person = rows.people.randomElement(using: &generator)
    let pet = rows.pets.randomElement(using: &generator)
    switch (generator.below(9), person, pet) {
    case (0..<3, _, _):
      rows.nextID += 1
      rows.people.append(try people.insert(["id": .int(rows.nextID)]))
    case (3, let person?, _): try people.set(try address(), "home", ofRow: person)
    case (4, let person?, _):
      let count = try people.listCount(2, ofRow: person) ?? 0
      try people.insert([try address()], at: generator.below(count + 1), ofList: 2, ofRow: person)
    case (5, let person?, _):
      rows.pets.append(try pets.insert(["owner": .link(person), "tags": .set([.int(1), .string("x")])]))
    case (6, let person?, let pet?):
      try people.append([.link(pet), .link(pet)], toList: 4, ofRow: person)
      try pets.remove(.int(1), fromSet: 1, ofRow: pet)
      try pets.insert([.double(Double(generator.below(3)))], intoSet: 1, ofRow: pet)
      try people.set(.list([.typedLink(table: pets.schema.id, row: pet)]), "any", ofRow: person)
    case (7, let person?, _):
      try people.remove(person)
      rows.people.removeAll { $0 == person }
    case (8, _, let pet?):
      try pets.remove(pet)
      rows.pets.removeAll { $0 == pet }
    default: break
    }
  }

  @Test(arguments: Slow.seeds(8, slow: 300))
  func `row changes of several tables lead from any version to any other version`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let key = seed % 2 == 0 ? nil : Keys.first
    let database = try Database(creatingIn: SimulatedDisk(), options: options(seed, key))
    var held = [try database.snapshot()]
    try database.write { try makeTables($0) }
    var rows = Rows()
    for round in 0..<6 {
      try database.write { transaction in
        for _ in 0..<generator.below(60) { try change(transaction, &rows, &generator) }
        if round == 3 {
          let town = try transaction.createTable(TableSchema("Town", columns: [Column("mayor", .link)]))
          let people = try #require(try transaction.table("Person"))
          try people.addColumn(Column("town", .link, target: town.schema.id))
          let first = try town.insert([:])
          for person in rows.people { try people.set(.link(first), "town", ofRow: person) }
        }
      }
      held.append(try database.snapshot())
    }
    for (first, old) in held.enumerated() {
      for second in held.indices where try hasMoreOnly(held[second], than: old) {
        let context = "seed \(seed), from \(first) to \(second)"
        let changes = try expectLeads(from: old, to: held[second], context)
        let ofPets = try held[second].rowChanges(since: old, tables: ["Pet", "Nothing"])
        let pets = try held[second].table("Pet")?.schema.id
        #expect(ofPets == changes.filter { $0.change.table == pets }, "\(context)")
      }
    }
  }
}
