import RealmStorage
import RealmTestSupport
import Testing

/// The changes that a recorder receives, and the changes that can't be applied.
@Suite struct ChangeRecorderTests {
  private static let columns = [
    Column("id", .int64, index: .unique), Column("age", .int64, isOptional: true),
    Column("friend", .link), Column("friends", .link, collection: .list),
    Column("group", .link, collection: .set), Column("any", .mixed),
    Column("names", .string, collection: .list), Column("scores", .int64, collection: .map),
  ]

  private func withTable(_ body: (Database) throws -> Void) throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try database.write { transaction in
        let table = try transaction.createTable(TableSchema("Person", columns: Self.columns))
        for id in 0..<4 { try table.insert(["id": .int(Int64(id))]) }
        try table.append([.link(2), .link(1), .link(2)], toList: 3, ofRow: 0)
        try table.insert([.link(2)], intoSet: 4, ofRow: 1)
        try table.set(.list([.string("a"), .typedLink(table: 1, row: 2)]), "any", ofRow: 3)
        try table.set(.list([.string("a"), .string("b")]), "names", ofRow: 0)
      }
      try body(database)
    }
  }

  private func record(
    _ database: Database, apart: Bool = false, _ body: (WritableTable) throws -> Void
  ) throws -> [RecordedChange] {
    let list = ChangeList(takesRowsApart: apart)
    try database.write { transaction in
      try transaction.record(into: list)
      try body(try #require(try transaction.table("Person")))
    }
    return list.changes
  }

  @Test func `a deletion is recorded after the links that go with it, with their places`() throws {
    try withTable { database in
      let changes = try record(database) { try $0.remove(2) }
      let place = ElementsPlace(cell: CellPlace(row: 0, column: 4))
      let derived = changes.filter(\.isDerived)
      #expect(
        derived.map(\.change.kind) == [
          .removeElements(2..<3, place), .removeElements(0..<1, place),
          .removeFromSet([.link(2)], CellPlace(row: 1, column: 5)),
          .set(.list([.string("a"), .null]), CellPlace(row: 3, column: 6)),
        ])
      #expect(derived[0].before == .values([.link(2)]))
      #expect(changes.count == 5)
      guard case .rows(let rows) = changes.last?.before else {
        Issue.record("the deletion does not tell the row")
        return
      }
      #expect(changes.last?.change.kind == .delete(row: 2))
      #expect(rows.first?.key == 2 && rows.first?.values.first == .int(2))
    }
  }

  @Test func `a call that changes nothing is not recorded`() throws {
    try withTable { database in
      let changes = try record(database) { table in
        try table.set(.int(1), "id", ofRow: 1)
        try table.set(.null, "age", ofRow: 1)
        #expect(try table.set(.int(1), "age", ofRow: 99) == false)
        #expect(try table.remove(99) == false)
        try table.insert([.link(2)], intoSet: 4, ofRow: 1)
        try table.remove(.link(3), fromSet: 4, ofRow: 1)
        try table.moveElement(from: 1, to: 1, ofList: 3, ofRow: 0)
        try table.setElement(.string("b"), at: 1, ofList: 6, ofRow: 0)
        try table.removeValue(forKey: "none", ofMap: 7, ofRow: 0)
        try table.changeIntegers(1) { $0 }
        #expect(try table.add(0, to: 0, ofRow: 1) == .sum(1))
      }
      #expect(changes == [])
    }
  }

  @Test func `changes of many rows are recorded as one change, or row by row if the recorder wants`() throws {
    try withTable { database in
      let work: (WritableTable) throws -> Void = { table in
        for id in 100..<2000 { try table.insert(["id": .int(Int64(id)), "age": .int(1)]) }
        try table.changeIntegers(1) { $0 + 1 }
        try table.remove(Array(10..<20))
        try table.removeAll()
      }
      let together = try record(database, work)
      #expect(together.count < 25)
      let names = Set(together.map(\.change.name))
      #expect(names.isSuperset(of: [.createMany, .setMany, .deleteMany]))
      let apart = try record(database, apart: true, work)
      #expect(Set(apart.map(\.change.name)) == [.create, .set, .delete])
      #expect(apart.count { $0.change.name == .create } == 1900)
    }
  }

  @Test func `a new row is recorded with its first values, before later changes of the row`() throws {
    try withTable { database in
      let changes = try record(database) { table in
        let row = try table.insert(["id": .int(7)])
        try table.set(.int(3), "age", ofRow: row)
      }
      #expect(changes.map(\.change.name) == [.create, .set])
      guard case .create(_, let values) = changes[0].change.kind else { return }
      #expect(values[1] == .null)
    }
  }

  @Test func `new columns are recorded, and other changes of columns are refused during recording`() throws {
    try withTable { database in
      let changes = try record(database) { table in
        try table.addColumn(Column("city", .string, index: .plain))
        #expect(throws: StorageError.self) { try table.dropColumn(1) }
        #expect(throws: StorageError.self) { try table.setIndex(.plain, ofColumn: 1) }
        #expect(throws: StorageError.self) { try table.setOptional(false, ofColumn: 1) }
        #expect(throws: StorageError.self) { try table.changeType(ofColumn: 1, to: .string) { _ in .null } }
      }
      #expect(changes.map(\.change.name) == [.addColumn])
      let schema = try #require(try database.snapshot().table("Person")).schema
      #expect(schema.columns.count == Self.columns.count + 1)
    }
  }

  @Test func `a recorder that throws ends the transaction`() throws {
    final class Refusing: ChangeRecorder {
      func record(_ change: RecordedChange) throws(StorageError) { throw .readOnly(path: "nowhere") }
    }
    try withTable { database in
      let version = database.version
      #expect(throws: StorageError.readOnly(path: "nowhere")) {
        try database.write { transaction in
          try transaction.record(into: Refusing())
          let table = try #require(try transaction.table("Person"))
          _ = try? table.set(.int(9), "age", ofRow: 0)
        }
      }
      #expect(database.version == version)
    }
  }

  @Test func `a recorder receives no changes of the next transaction`() throws {
    try withTable { database in
      let list = ChangeList()
      try database.write { transaction in
        try transaction.record(into: list)
        try transaction.table("Person")?.set(.int(9), "age", ofRow: 0)
      }
      _ = try database.write { try $0.table("Person")?.set(.int(8), "age", ofRow: 0) }
      #expect(list.changes.count == 1)
    }
  }

  // MARK: - Changes that do not fit

  private static let cell = CellPlace(row: 0, column: 2)
  private static let friends = ElementsPlace(cell: CellPlace(row: 0, column: 4))
  private static let names = ElementsPlace(cell: CellPlace(row: 0, column: 7))
  private static let scores = ElementsPlace(cell: CellPlace(row: 0, column: 8))
  private static let any = CellPlace(row: 3, column: 6)

  private static let unfit: [(RowChange.Kind, ChangeMismatch.Reason)] = [
    (.set(.int(1), CellPlace(row: 9, column: 2)), .noRow),
    (.set(.int(1), CellPlace(row: 0, column: 99)), .noColumn),
    (.set(.string("x"), cell), .wrongType),
    (.set(.null, CellPlace(row: 0, column: 1)), .wrongType),
    (.set(.link(77), CellPlace(row: 0, column: 3)), .noTarget),
    (.set(.typedLink(table: 1, row: 77), any), .noTarget),
    (.set(.typedLink(table: 9, row: 0), any), .noTarget),
    (.set(.list([.list([], id: .max)], id: 1), any), .nestedID),
    (.set(.list([.list([], id: 9), .map(ValueMap(), id: 9)]), any), .nestedID),
    (.set(.list([], id: 1 << 60), any), .nestedID),
    (.insertElement(.list([], id: 1), at: 0, ElementsPlace(cell: any, nestedID: 1)), .nestedID),
    (
      .insertElements([.list([], id: 9), .list([], id: 9)], at: 0, ElementsPlace(cell: any, nestedID: 1)),
      .nestedID
    ),
    (.setElement(.string("c"), at: .max, names), .outOfBounds),
    (.moveElement(from: .max, to: 0, names), .outOfBounds),
    (.swapElements(0, .max, names), .outOfBounds),
    (.add(1, cell), .noNumber),
    (.add(1, CellPlace(row: 0, column: 3)), .wrongType),
    (.add(1, CellPlace(row: 9, column: 2)), .noNumber),
    (.create(row: 2, values: [.int(50)]), .rowExists),
    (.create(row: 50, values: [.string("x")]), .wrongType),
    (.create(row: .max, values: [.int(50)]), .rowKey),
    (.create(row: 1 << 50, values: [.int(50)]), .rowKey),
    (.create(row: 50, values: [Value](repeating: .null, count: 9)), .wrongCount),
    (
      .createMany(RowBatch([.init(key: 1, values: [.int(50)]), .init(key: 60, values: [.int(51)])])),
      .rowExists
    ),
    (.delete(row: 9), .noRow),
    (.delete(row: 2), .isLinked),
    (.deleteMany([0, 9]), .noRow),
    (.deleteMany([2]), .isLinked),
    (.setMany(column: 2, rows: [0, 9], values: [.int(1), .int(2)]), .noRow),
    (.setMany(column: 2, rows: [0, 1], values: [.int(1)]), .wrongCount),
    (.insertElement(.string("c"), at: 3, names), .outOfBounds),
    (.insertElement(.string("c"), at: -1, names), .outOfBounds),
    (.insertElement(.int(1), at: 0, names), .wrongType),
    (.insertElement(.null, at: 0, friends), .wrongType),
    (.insertElements([.link(1), .link(77)], at: 0, friends), .noTarget),
    (.insertElement(.int(1), at: 0, scores), .wrongCollection),
    (.setElement(.string("c"), at: 2, names), .outOfBounds),
    (.removeElements(1..<3, names), .outOfBounds),
    (.moveElement(from: 0, to: 2, names), .outOfBounds),
    (.swapElements(-1, 0, names), .outOfBounds),
    (.reorderElements([0, 0], names), .outOfBounds),
    (.reorderElements([0], names), .outOfBounds),
    (.insertIntoSet([.link(2)], CellPlace(row: 1, column: 5)), .elementExists),
    (.insertIntoSet([.int(2)], CellPlace(row: 1, column: 5)), .wrongType),
    (.insertIntoSet([.link(2)], CellPlace(row: 1, column: 4)), .wrongCollection),
    (.removeFromSet([.link(3)], CellPlace(row: 1, column: 5)), .noElement),
    (.removeValue(key: "none", scores), .noElement),
    (.setValue(.string("x"), key: "a", scores), .wrongType),
    (.setValue(.int(1), key: "a", names), .wrongCollection),
    (.insertElement(.int(1), at: 0, ElementsPlace(cell: any, nestedID: 77)), .noCollection),
    (.insertElement(.int(1), at: 3, ElementsPlace(cell: any, nestedID: 1)), .outOfBounds),
    (.setValue(.int(1), key: "a", ElementsPlace(cell: any, nestedID: 1)), .wrongCollection),
    (.insertElement(.link(1), at: 0, ElementsPlace(cell: any, nestedID: 1)), .wrongType),
    (.insertElement(.int(1), at: 0, ElementsPlace(cell: cell, nestedID: 1)), .wrongCollection),
    (.addColumn(Column("age", .string)), .columnExists),
    (.addColumn(Column("", .string)), .invalidSchema),
    (.addColumn(Column("key", .string, index: .unique)), .invalidSchema),
    (.addColumn(forged { $0.index = .plain }), .invalidSchema),
    (.addColumn(forged { $0.isOptional = false }), .invalidSchema),
    (.addColumn(Column("team", .link, target: 9)), .noTable),
    (.createTable(TableSchema("Other", columns: [])), .tableExists),
  ]

  private static func forged(_ change: (inout Column) -> Void) -> Column {
    var column = Column("forged", .double, isOptional: true)
    change(&column)
    return column
  }

  @Test
  func `ids of collections in an applied change are noted, even if an earlier transaction was cancelled`()
    throws
  {
    try withTable { database in
      let value = Value.list([.list([], id: 8)], id: 7)
      let change = RowChange(table: 1, .set(value, CellPlace(row: 0, column: 6)))
      let transaction = try database.beginWrite()
      try transaction.apply([change])
      transaction.cancel()
      try database.write { try $0.apply([change]) }
      let check = IntegrityCheck.run(try database.snapshot())
      #expect(check.isClean, "\(check.findings)")
    }
  }

  @Test func `a change of another table while a row is made is recorded before the new row`() throws {
    try withTable { database in
      let list = ChangeList()
      try database.write { transaction in
        let other = try transaction.createTable(TableSchema("Other", columns: [Column("n", .int64)]))
        try other.insert(["n": .int(1)])
        try transaction.record(into: list)
        let table = try #require(try transaction.table("Person"))
        try table.insert(["id": .int(10)])
        try table.insert { (row: inout NewRow) throws(StorageError) in
          try other.set(.int(2), 0, ofRow: 0)
          try row.set(0, .int(11))
        }
      }
      #expect(list.changes.map(\.change.name) == [.create, .set, .create])
    }
  }

  @Test func `a recorded change that does not fit is refused with the reason, and nothing is changed`() throws
  {
    try withTable { database in
      let version = database.version
      for (kind, reason) in Self.unfit {
        let transaction = try database.beginWrite()
        defer { transaction.cancel() }
        let fits = RowChange(table: 1, .set(.int(5), CellPlace(row: 1, column: 2)))
        do throws(StorageError) {
          try transaction.apply([fits, RowChange(table: 1, kind)])
          Issue.record("\(kind) was applied")
        } catch {
          guard case .changeDoesNotFit(let mismatch, _) = error else {
            Issue.record("\(kind): \(error)")
            continue
          }
          #expect(mismatch.reason == reason, "\(kind): \(error)")
          #expect(mismatch.index == nil || mismatch.index == 1)
          #expect(!error.description.isEmpty)
        }
        #expect(throws: StorageError.self) { try transaction.commit() }
      }
      let other = try database.beginWrite()
      defer { other.cancel() }
      #expect(throws: StorageError.self) { try other.apply([RowChange(table: 7, .deleteAll)]) }
      #expect(database.version == version)
      #expect(try database.snapshot().table("Person")?.value(Self.columns[1], ofRow: 1) == .null)
    }
  }

  @Test func `a change that gives a row the primary key of another row is refused`() throws {
    try withTable { database in
      for kind: RowChange.Kind in [
        .create(row: 50, values: [.int(1)]), .set(.int(1), CellPlace(row: 0, column: 1)),
      ] {
        let transaction = try database.beginWrite()
        defer { transaction.cancel() }
        #expect {
          try transaction.apply([RowChange(table: 1, kind)])
        } throws: {
          if case .duplicateKey? = $0 as? StorageError { true } else { false }
        }
      }
    }
  }
}
