import RealmTestSupport
import Testing

@testable import RealmStorage

/// Ids of the elements of lists, and links by primary key to rows that do not exist.
@Suite struct CompanionTests {
  private static let columns = [
    Column("id", .string, index: .unique), Column("friend", .link),
    Column("friends", .link, collection: .list), Column("numbers", .int64, collection: .list),
    Column("any", .mixed), Column("byName", .mixed, collection: .map),
  ]

  /// Makes persons "0" to "3", whose lists have ids. Their elements have ids from 1 on.
  private static func people(hasElementIDs: Bool = true) throws -> Database {
    let database = try Database(inMemory: "companions")
    try database.write { transaction in
      try transaction.record(into: ChangeList(elementIDsFrom: 1))
      let table = try transaction.createTable(
        TableSchema("Person", hasElementIDs: hasElementIDs, columns: columns))
      for id in 0..<4 { try table.insert(["id": .string("\(id)")]) }
      try table.append([.link(1), .link(2)], toList: column("friends", table), ofRow: 0)
      try table.append([.int(7), .int(8), .int(9)], toList: column("numbers", table), ofRow: 0)
    }
    return database
  }

  private static func column(_ name: String, _ table: WritableTable) -> Int {
    table.schema.columns.firstIndex { $0.name == name } ?? 0
  }

  private func column(_ name: String, _ table: Table) -> Int {
    table.schema.columns.firstIndex { $0.name == name } ?? 0
  }

  private func table(_ database: Database) throws -> Table {
    try #require(try database.snapshot().table("Person"))
  }

  /// Makes changes whose element ids start at 101.
  private func change(
    _ database: Database, _ body: (WritableTable) throws -> Void
  ) throws -> [RecordedChange] {
    let list = ChangeList(elementIDsFrom: 101)
    try database.write { transaction in
      try transaction.record(into: list)
      try body(try #require(try transaction.table("Person")))
    }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
    return list.changes
  }

  private func link(
    _ key: String, _ place: AbsentLink.Place, id: UInt64 = 0
  ) -> AbsentLink {
    AbsentLink(table: 1, primaryKey: .string(key), place: place, elementID: id)
  }

  // MARK: - Ids

  @Test func `elements keep their ids while other elements are inserted, removed and moved`() throws {
    let database = try Self.people()
    let list = column("numbers", try table(database))
    #expect(try table(database).elementIDs(ofList: list, ofRow: 0) == [3, 4, 5])
    _ = try change(database) { table in
      try table.insert([.int(1), .int(2)], at: 1, ofList: list, ofRow: 0)
      try table.removeElements(0..<1, ofList: list, ofRow: 0)
      try table.setElement(.int(80), at: 2, ofList: list, ofRow: 0)
      try table.moveElement(from: 3, to: 0, ofList: list, ofRow: 0)
    }
    let table = try table(database)
    #expect(try table.value(table.schema.columns[list], ofRow: 0) == .list([9, 1, 2, 80].map { .int($0) }))
    #expect(try table.elementIDs(ofList: list, ofRow: 0) == [5, 101, 102, 4])
    #expect(try table.elementPlaces(ofList: list, ofRow: 0) == [103, nil, nil, nil])
    #expect(try table.elementIDs(ofList: list, ofRow: 1) == [])
    #expect(try table.elementIDs(ofList: list, ofRow: 9) == nil)
    #expect(try table.elementIDs(ofList: column("byName", table), ofRow: 0) == nil)
  }

  @Test func `an embedded object that replaces another one in a list gets a new element id`() throws {
    let database = try Database(inMemory: "embedded elements")
    let list = ChangeList(elementIDsFrom: 1)
    try database.write { transaction in
      try transaction.record(into: list)
      let toys = try transaction.createTable(
        TableSchema("Toy", isEmbedded: true, columns: [Column("name", .string)]))
      let pets = try transaction.createTable(
        TableSchema(
          "Pet", hasElementIDs: true, columns: [Column("toys", .link, collection: .list, target: 1)]))
      let pet = try pets.insert([:])
      for name in ["ball", "bone"] {
        try pets.append([.link(try toys.insert(["name": .string(name)]))], toList: 0, ofRow: pet)
      }
      try pets.setElement(.link(try toys.insert(["name": .string("box")])), at: 0, ofList: 0, ofRow: pet)
      #expect(try pets.elementIDs(ofList: 0, ofRow: pet) == [3, 2])
    }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  @Test func `deleted embedded rows leave their list together with their element ids`() throws {
    for count in 1...4 {
      let database = try Database(inMemory: "toys")
      try database.write { transaction in
        try transaction.record(into: ChangeList(elementIDsFrom: 1))
        let toys = try transaction.createTable(
          TableSchema("Toy", isEmbedded: true, columns: [Column("name", .string)]))
        let pets = try transaction.createTable(
          TableSchema(
            "Pet", hasElementIDs: true, columns: [Column("toys", .link, collection: .list, target: 1)]))
        let pet = try pets.insert([:])
        let keys = try (0..<5).map { try toys.insert(["name": .string("\($0)")]) }
        try pets.append(keys.map { .link($0) }, toList: 0, ofRow: pet)
        if count == 1 {
          try toys.remove(keys[1])
        } else {
          #expect(try toys.remove(Array(keys[1...count])) == count)
        }
        let left = [1] + (UInt64(count) + 2..<6).map { $0 }
        #expect(try pets.elementIDs(ofList: 0, ofRow: pet) == left)
      }
      #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
    }
  }

  @Test func `a table that is made of the columns of another table gets its own companions`() throws {
    let database = try Self.people()
    try database.write { transaction in
      var columns = try #require(try transaction.table("Person")).schema.columns
      for place in columns.indices where columns[place].type == .link { columns[place].target = 0 }
      let copy = try transaction.createTable(TableSchema("Copy", hasElementIDs: true, columns: columns))
      #expect(copy.schema.columns.count == columns.count)
      #expect(copy.schema.columns.count { $0.isCompanion } == 2)
    }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
    #expect(try database.snapshot().schemas().count == 2)
  }

  @Test func `inserting or moving elements is refused without a recorder that gives ids`()
    throws
  {
    let database = try Self.people()
    let column = Self.columns[2].name
    for recorder in [nil, ChangeList()] {
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      if let recorder { try transaction.record(into: recorder) }
      let table = try #require(try transaction.table("Person"))
      let list = Self.column(column, table)
      let changes: [() throws -> Void] = [
        { try table.insert([.link(3)], at: 0, ofList: list, ofRow: 0) },
        { try table.insert([.link(3), .link(3)], at: 0, ofList: list, ofRow: 0) },
        { try table.moveElement(from: 0, to: 1, ofList: list, ofRow: 0) },
        { try table.swapElements(0, 1, ofList: list, ofRow: 0) },
        { try table.reorderElements([1, 0], ofList: list, ofRow: 0) },
        { try table.set(.list([.link(3)]), column, ofRow: 0) },
        { _ = try table.insert(["id": .string("9"), column: .list([.link(0)])]) },
      ]
      for change in changes {
        #expect(throws: StorageError.elementIDsMissing(table: "Person", column: column, path: database.path))
        {
          try change()
        }
      }
      // Changes without new ids are made, and the transaction can be committed.
      try table.removeElements(0..<1, ofList: list, ofRow: 0)
      #expect(try table.elementIDs(ofList: list, ofRow: 0) == [2])
      try table.set(.list([]), column, ofRow: 0)
      #expect(try table.elementIDs(ofList: list, ofRow: 0) == [])
      #expect(recorder?.changes.contains { $0.change.name == .insertElement } != true)
    }
  }

  @Test func `only a table without rows can start to use element ids`() throws {
    let database = try Database(inMemory: "asked late")
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Person", columns: Self.columns))
      try table.insert([:])
      #expect(throws: StorageError.tableNotEmpty(table: "Person", path: database.path)) {
        try table.useElementIDs()
      }
      try table.removeAll()
      try table.useElementIDs()
      try table.useElementIDs()
      try table.addColumn(Column("more", .double, collection: .list))
      let owners = table.schema.columns.compactMap(\.role.owner)
      #expect(owners.count == 3 && Set(owners).count == 3)
      #expect(table.schema.properties.map(\.name) == Self.columns.map(\.name) + ["more"])
    }
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let other = try transaction.createTable(TableSchema("Other", columns: []))
    try transaction.record(into: ChangeList())
    #expect(throws: StorageError.schemaChangeWhileRecording(table: "Other", path: database.path)) {
      try other.useElementIDs()
    }
  }

  @Test func `a dropped column takes its companions with it`() throws {
    let database = try Self.people()
    try database.write { transaction in
      try transaction.record(into: ChangeList(elementIDsFrom: 50))
      let table = try #require(try transaction.table("Person"))
      let list = Self.column("friends", table)
      try table.moveElement(from: 0, to: 1, ofList: list, ofRow: 0)
      try table.setAbsentLinks([link("x", .before(0), id: 9)], ofColumn: list, ofRow: 0)
    }
    try database.write { transaction in
      let table = try #require(try transaction.table("Person"))
      #expect(table.schema.columns.count { $0.role.owner == 3 } == 3)
      try table.dropColumn(Self.column("friends", table))
      #expect(table.schema.columns.count { $0.role.owner == 3 } == 0)
      // No link waits for this row any more.
      try table.insert(["id": .string("x")])
    }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  // MARK: - Links to rows that are not there

  @Test func `a waiting link takes its place when its row is made, which is an insertion`() throws {
    let database = try Self.people()
    let start = try database.snapshot()
    let before = try table(database)
    let (friend, friends, byName) = (
      column("friend", before), column("friends", before), column("byName", before)
    )
    _ = try change(database) { table in
      try table.setAbsentLinks([link("later", .value)], ofColumn: friend, ofRow: 0)
      try table.setAbsentLinks([link("later", .before(1), id: 30)], ofColumn: friends, ofRow: 0)
      try table.setAbsentLinks([link("later", .key("best"))], ofColumn: byName, ofRow: 0)
    }
    let absent = try database.snapshot()
    let old = try table(database)
    // A waiting link is not visible.
    #expect(try absent.changes(inTable: "Person", since: start).modifications.isEmpty)
    #expect(try old.value(old.schema.columns[friend], ofRow: 0) == .null)
    #expect(try old.value(old.schema.columns[friends], ofRow: 0) == .list([.link(1), .link(2)]))
    #expect(try old.value(old.schema.columns[byName], ofRow: 0) == .map(ValueMap()))
    #expect(try old.absentLinks(ofColumn: friends, ofRow: 0) == [link("later", .before(1), id: 30)])
    let recorded = try change(database) { try $0.insert(["id": .string("later")]) }
    let new = try table(database)
    #expect(try new.value(new.schema.columns[friend], ofRow: 0) == .link(4))
    #expect(try new.value(new.schema.columns[friends], ofRow: 0) == .list([.link(1), .link(4), .link(2)]))
    #expect(
      try new.value(new.schema.columns[byName], ofRow: 0)
        == .map(ValueMap(["best": .typedLink(table: 1, row: 4)])))
    #expect(try new.elementIDs(ofList: friends, ofRow: 0) == [1, 30, 2])
    #expect(try new.absentLinks(ofColumn: friends, ofRow: 0) == [])
    // The creation is recorded first. The changes that follow from it are marked as derived.
    #expect(recorded.first?.change.name == .create && recorded.first?.isDerived == false)
    #expect(recorded.dropFirst().filter { !$0.isDerived }.isEmpty)
    let list = ElementsPlace(cell: CellPlace(row: 0, column: new.schema.columns[friends].id))
    #expect(recorded.contains { $0.change.kind == .insertElement(.link(4), at: 1, list) })
    let told = try database.snapshot().rowChanges(since: absent).filter { $0.change.cell == list.cell }
    #expect(told.map(\.change.kind) == [.insertElements([.link(4)], at: 1, list)])
  }

  @Test func `two waiting links to one row take their places, even if no element was moved before`() throws {
    for places in [[UInt64(70), 0], [0, 71], [70, 71], [0, 0]] {
      let database = try Self.people()
      let friends = column("friends", try table(database))
      _ = try change(database) { table in
        var links = [
          link("x", .before(0), id: 60), link("x", .before(2), id: 61), link("y", .before(2), id: 62),
        ]
        for (index, place) in places.enumerated() { links[index].elementPlace = place }
        try table.setAbsentLinks(links, ofColumn: friends, ofRow: 0)
        try table.insert(["id": .string("x")])
        try table.insert(["id": .string("y")])
        #expect(try table.elementIDs(ofList: friends, ofRow: 0) == [60, 1, 2, 61, 62])
        try table.moveElement(from: 0, to: 4, ofList: friends, ofRow: 0)
      }
      let found = try table(database).elementPlaces(ofList: friends, ofRow: 0)
      #expect(found == [nil, nil, places[1] == 0 ? nil : places[1], nil, 101])
    }
  }

  @Test func `a row made while another row is being made is linked to when that other row exists`() throws {
    let database = try Self.people()
    let friend = column("friend", try table(database))
    try database.write { transaction in
      let people = try #require(try transaction.table("Person"))
      let towns = try transaction.createTable(
        TableSchema("Town", columns: [Column("name", .string, index: .unique)]))
      try people.addColumn(Column("town", .link, target: towns.schema.id))
      let town = people.schema.columns.count - 1
      try people.setAbsentLinks(
        [AbsentLink(table: towns.schema.id, primaryKey: .string("here"))], ofColumn: town, ofRow: 0)
      try people.setAbsentLinks([link("new", .value)], ofColumn: friend, ofRow: 1)
      let row = try people.insert { (row: inout NewRow) throws(StorageError) in
        let here = try towns.insert(["name": .string("here")])
        try row.set(0, .string("new"))
        try row.set(town, .link(here))
      }
      #expect(try people.value(town, ofRow: 0) == .link(0))
      #expect(try people.value(friend, ofRow: 1) == .link(row))
    }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  @Test func `a change recorded after a table lost its primary key can be undone`() throws {
    let database = try Self.people()
    let friend = column("friend", try table(database))
    _ = try change(database) { try $0.setAbsentLinks([link("x", .value)], ofColumn: friend, ofRow: 0) }
    try database.write { try $0.table("Person")?.setIndex(.none, ofColumn: 0) }
    let list = ChangeList()
    try database.write { transaction in
      try transaction.record(into: list)
      try transaction.table("Person")?.remove(0)
    }
    try database.write { try $0.apply(list.inverse) }
    let table = try table(database)
    #expect(try table.absentLinks(ofColumn: friend, ofRow: 0) == [link("x", .value)])
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  @Test
  func `a row that gets a new primary key resolves waiting links and keeps them later`()
    throws
  {
    let database = try Self.people()
    let friend = column("friend", try table(database))
    _ = try change(database) { table in
      try table.setAbsentLinks([link("renamed", .value)], ofColumn: friend, ofRow: 0)
      try table.set(.string("renamed"), "id", ofRow: 3)
    }
    _ = try change(database) { try $0.set(.string("again"), "id", ofRow: 3) }
    let table = try table(database)
    #expect(try table.value(table.schema.columns[friend], ofRow: 0) == .link(3))
  }

  @Test func `links are resolved when the primary key is set up again or its type changes`() throws {
    let database = try Self.people()
    let friend = column("friend", try table(database))
    _ = try change(database) { table in
      try table.setAbsentLinks([link("x", .value)], ofColumn: friend, ofRow: 0)
      try table.setAbsentLinks([link("3.", .value)], ofColumn: friend, ofRow: 1)
    }
    try database.write { transaction in
      let table = try #require(try transaction.table("Person"))
      try table.setIndex(.none, ofColumn: 0)
      try table.set(.string("x"), "id", ofRow: 2)
      #expect(try table.value(friend, ofRow: 0) == .null)
      try table.setIndex(.unique, ofColumn: 0)
      #expect(try table.value(friend, ofRow: 0) == .link(2))
      try table.changeType(ofColumn: 0, to: .string) { value in
        if case .string("3") = value { .string("3.") } else { value }
      }
      #expect(try table.value(friend, ofRow: 1) == .link(3))
    }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  @Test(arguments: ["i", "é", "\0"])
  func `long primary keys with the same beginning are distinguished`(letter: String) throws {
    let database = try Self.people()
    let friend = column("friend", try table(database))
    let long = String(repeating: letter, count: 300)
    _ = try change(database) { table in
      try table.setAbsentLinks([link(long + "a", .value)], ofColumn: friend, ofRow: 0)
      try table.setAbsentLinks([link(long + "b", .value)], ofColumn: friend, ofRow: 1)
      try table.insert(["id": .string(long + "c")])
      let row = try table.insert(["id": .string(long + "b")])
      #expect(try table.value(friend, ofRow: 1) == .link(row))
      #expect(try table.value(friend, ofRow: 0) == .null)
    }
    let table = try table(database)
    #expect(try table.absentLinks(ofColumn: friend, ofRow: 0).map(\.primaryKey) == [.string(long + "a")])
  }

  @Test func `setting a cell drops its waiting link`() throws {
    let database = try Self.people()
    let before = try table(database)
    let (friend, any, byName) = (column("friend", before), column("any", before), column("byName", before))
    _ = try change(database) { table in
      try table.setAbsentLinks([link("x", .value)], ofColumn: friend, ofRow: 0)
      try table.setAbsentLinks([link("x", .value)], ofColumn: friend, ofRow: 1)
      try table.setAbsentLinks([link("x", .value)], ofColumn: any, ofRow: 2)
      try table.setAbsentLinks([link("x", .key("a")), link("y", .key("b"))], ofColumn: byName, ofRow: 3)
      // The cell reads as null already.
      try table.set(.null, "friend", ofRow: 0)
      try table.set(.link(2), "friend", ofRow: 1)
      try table.set(.int(1), "any", ofRow: 2)
      #expect(try table.removeValue(forKey: "a", ofMap: byName, ofRow: 3) == false)
      try table.insert(["id": .string("x")])
    }
    let table = try table(database)
    let values = try (0..<4).map { try table.value(table.schema.columns[$0 < 2 ? friend : any], ofRow: $0) }
    #expect(values == [.null, .link(2), .int(1), .null])
    #expect(try table.absentLinks(ofColumn: byName, ofRow: 3) == [link("y", .key("b"))])
    #expect(try table.value(table.schema.columns[byName], ofRow: 3) == .map(ValueMap()))
  }

  @Test func `copies and compacted files keep element ids and waiting links`() throws {
    try withTemporaryPath { path in
      let original = try Database(path: path)
      var content = Content()
      var generator = SeededGenerator(seed: 7)
      for _ in 0..<6 { try original.write { try Workload.changeLinked($0, &content, &generator) } }
      try original.snapshot().copy(to: path + ".copy", encryptionKey: Keys.first)
      original.close()
      try Database.compact(path: path)
      for (path, key) in [(path, nil), (path + ".copy", Keys.first)] {
        let database = try Database(path: path, options: .init(encryptionKey: key))
        let snapshot = try database.snapshot()
        let table = try #require(try snapshot.table(CompanionModel.name))
        #expect(try content.linked?.model.difference(to: table) == nil)
        #expect(IntegrityCheck.run(snapshot).findings == [])
        let report = try SpaceReport(snapshot)
        #expect(report.parts.contains { $0.part.description == "links to rows that table Linked lacks" })
        // The next transactions find the waiting links.
        var next = content
        for _ in 0..<3 { try database.write { try Workload.changeLinked($0, &next, &generator) } }
        let changed = try #require(try database.snapshot().table(CompanionModel.name))
        #expect(try next.linked?.model.difference(to: changed) == nil)
        #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
      }
    }
  }

  // MARK: - Changes that do not fit

  @Test func `recorded changes that would damage companions are refused and change nothing`() throws {
    let database = try Self.people()
    let schema = try table(database).schema
    let position = { (name: String) in schema.columns.first { $0.name == name }?.id ?? 0 }
    let (friend, friends) = (position("friend"), position("friends"))
    let ids = schema.columns.first { $0.role == .elementIDs(of: friends) }?.id ?? 0
    let cell = { (column: UInt16) in CellPlace(row: 0, column: column) }
    let elements = { (column: UInt16) in ElementsPlace(cell: cell(column)) }
    var absent = Column(.absentLinks(of: friend))
    absent.id = 40
    let absentFriend = RowChange.Kind.addColumn(absent)
    func data(_ links: [AbsentLink]) -> Value { AbsentLink.encode(links, in: schema.columns[1]) }
    let wrong: [(String, [RowChange.Kind], ChangeMismatch.Reason)] = [
      ("an element without an id", [.insertElement(.link(3), at: 0, elements(friends))], .elementIDs),
      ("an id without an element", [.insertElement(.int(3), at: 0, elements(ids))], .elementIDs),
      (
        "an id that is there already",
        [
          .insertElement(.link(3), at: 0, elements(friends)), .insertElement(.int(2), at: 0, elements(ids)),
        ], .elementIDs
      ),
      ("an id of 0", [.setElement(.int(0), at: 0, elements(ids))], .wrongType),
      ("an id below 0", [.setElement(.int(-4), at: 0, elements(ids))], .wrongType),
      (
        "a row whose list has no ids", [.create(row: 9, values: [.string("9"), .null, .list([.link(0)])])],
        .elementIDs
      ),
      ("a row that is there", [absentFriend, .set(data([link("1", .value)]), cell(40))], .absentLinks),
      ("no links", [absentFriend, .set(.data([9, 9]), cell(40))], .wrongType),
      ("a table that is not there", [absentFriend, .set(.data([1, 9, 8, 1, 120]), cell(40))], .wrongType),
      (
        "a cell that is not null",
        [absentFriend, .set(data([link("x", .value)]), cell(40)), .set(.link(1), cell(friend))], .absentLinks
      ),
      (
        "a row that comes and is waited for",
        [absentFriend, .set(data([link("x", .value)]), cell(40)), .create(row: 9, values: [.string("x")])],
        .absentLinks
      ),
      (
        "a primary key that is waited for",
        [
          absentFriend, .set(data([link("x", .value)]), cell(40)),
          .set(.string("x"), CellPlace(row: 1, column: 1)),
        ],
        .absentLinks
      ),
      ("a second companion", [absentFriend, .addColumn(absent)], .columnExists),
      ("a companion of nothing", [.addColumn(Self.companion(.elementIDs(of: 77), id: 41))], .invalidSchema),
      (
        "ids of what is no list", [.addColumn(Self.companion(.elementIDs(of: friend), id: 41))],
        .invalidSchema
      ),
    ]
    for (name, kinds, reason) in wrong {
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      do throws(StorageError) {
        try transaction.apply(kinds.map { RowChange(table: 1, $0) })
        Issue.record("\(name) was applied")
      } catch {
        guard case .changeDoesNotFit(let mismatch, _) = error else {
          Issue.record("\(name): \(error)")
          continue
        }
        #expect(mismatch.reason == reason, "\(name): \(error)")
      }
    }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  private static func companion(_ role: ColumnRole, id: UInt16) -> Column {
    var column = Column(role)
    column.id = id
    return column
  }

  // MARK: - Damage

  /// Each kind of damage is put into a file by changes that the engine never makes.
  @Test func `the check finds damaged companions`() throws {
    let wrong: [(String, (TableWriter) throws(StorageError) -> Void)] = [
      ("an id that is missing", { (writer) throws(StorageError) in try writer.remove(idAt: 0) }),
      ("an id that is there twice", { (writer) throws(StorageError) in try writer.setID(2, at: 0) }),
      ("an index that lacks a link", { (writer) throws(StorageError) in try writer.removeFromIndex("x") }),
      ("an index with a link too many", { (writer) throws(StorageError) in try writer.addToIndex("y") }),
      ("a row that came unseen", { (writer) throws(StorageError) in try writer.setUnseen("x") }),
    ]
    for (name, change) in wrong {
      let database = try Self.people()
      _ = try self.change(database) { table in
        try table.setAbsentLinks(
          [link("x", .before(2), id: 60)], ofColumn: Self.column("friends", table), ofRow: 0)
      }
      try database.write { transaction in
        let writer = try #require(try transaction.tables().writer("Person"))
        writer.areCompanionsKept = true
        try change(writer)
      }
      #expect(!IntegrityCheck.run(try database.snapshot()).findings.isEmpty, "\(name)")
    }
  }
}

extension TableWriter {
  private var ids: Int { schema.position(of: .elementIDs(of: 3)) ?? 0 }

  fileprivate func remove(idAt index: Int) throws(StorageError) {
    _ = try removeElements(index..<index + 1, ofList: ids, ofRow: 0)
  }

  fileprivate func setID(_ id: Int64, at index: Int) throws(StorageError) {
    _ = try setElement(.int(id), at: index, ofList: ids, ofRow: 0)
  }

  private func key(_ name: String) -> [UInt8] {
    AbsentLinkIndex.key(.string(name), AbsentLinkIndex.Source(table: 1, column: 3, row: 0))
  }

  fileprivate func removeFromIndex(_ name: String) throws(StorageError) { try absentLinks.remove(key(name)) }
  fileprivate func addToIndex(_ name: String) throws(StorageError) { try absentLinks.add(key(name)) }

  /// Gives a row the primary key for which a link waits, without resolving the link.
  fileprivate func setUnseen(_ name: String) throws(StorageError) {
    try absentLinks.remove(key(name))
    _ = try setOne(.string(name), at: 0, ofRow: 1)
    try absentLinks.add(key(name))
  }
}
