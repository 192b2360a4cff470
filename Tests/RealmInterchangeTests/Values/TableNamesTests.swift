import RealmInterchange
import RealmStorage
import Testing

@Suite struct TableNamesTests {
  @Test func `the line of a table has its existing features, and names targets by their names`() throws {
    let database = try Database(inMemory: "names")
    try database.write { transaction in
      let embedded = try transaction.createTable(TableSchema("E", isEmbedded: true, columns: []))
      try transaction.createTable(
        TableSchema(
          "T", hasElementIDs: true,
          columns: [
            Column("id", .string, index: .unique),
            Column("e", .link, collection: .list, target: embedded.schema.id),
            Column("n", .int64, isOptional: true, index: .plain, storedDefault: .int(7)),
          ]))
    }
    let schemas = try database.snapshot().schemas()
    let names = TableNames(schemas)
    #expect(
      schemas.map { names.json($0, rows: $0.name == "T" ? 3 : nil) } == [
        #"{"table":"E","embedded":true,"columns":[]}"#,
        #"{"table":"T","embedded":false,"rows":3,"elementIDs":true,"columns":[{"name":"id","type":"string","optional":false,"collection":"none","index":"primary key"},{"name":"e","type":"link","optional":false,"collection":"list","index":"none","target":"E"},{"name":"n","type":"int64","optional":true,"collection":"none","index":"indexed","default":7}]}"#,
      ])
    #expect(TableNames([])[1] == nil)
    let link = Column("l", .link, target: 9)
    #expect(TableNames([]).json(link).hasSuffix(#""target":null}"#))
  }
}
