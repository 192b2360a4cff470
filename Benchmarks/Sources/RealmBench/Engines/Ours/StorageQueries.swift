import RealmQuery
import RealmStorage

/// Queries of this project's storage engine.
final class StorageQueries: QueryFile {
  private let database: Database
  private var language: (names: QueryNames, table: UInt32)?

  private static let members = "Member"
  private static let notes = "Note"
  private static let humans = "Human"

  private enum Position {
    static let id = 0
    static let name = 1
    static let title = 2
    static let accented = 3
    static let age = 4
    static let rank = 5
    static let plainRank = 6
    static let created = 7
  }

  private enum NotePosition {
    static let number = 0
    static let tags = 1
  }

  private enum HumanPosition {
    static let name = 0
    static let dogs = 1
  }

  init(folder: String, isEncrypted: Bool) throws {
    let key = isEncrypted ? (0..<64).map { UInt8($0) } : nil
    database = try Database(path: folder + "/queries.realm", options: .init(encryptionKey: key))
  }

  // MARK: - Filling

  func fill(_ inputs: QueryInputs) throws {
    try database.write { transaction in
      try Self.addMembers(inputs, transaction)
      try Self.addNotes(inputs, transaction)
      try Self.addHumans(inputs, transaction)
    }
    let snapshot = try database.snapshot()
    language = (QueryNames(tables: try snapshot.schemas()), try table(Self.members, snapshot).schema.id)
  }

  private static func addMembers(_ inputs: QueryInputs, _ transaction: WriteTransaction) throws {
    let table = try transaction.createTable(
      TableSchema(
        members,
        columns: [
          Column("id", .int64, index: .unique), Column("name", .string, index: .plain),
          Column("title", .string),
          Column("accented", .string), Column("age", .int64, index: .plain),
          Column("rank", .int64, index: .plain), Column("plainRank", .int64),
          Column("created", .date, index: .plain),
        ]))
    try inputs.forEachMember { member in
      try table.insert { (row: inout NewRow) throws(StorageError) in
        try row.set(Position.id, member.person.id)
        try row.set(Position.name, member.person.name)
        try row.set(Position.title, member.person.name)
        try row.set(Position.accented, member.accented)
        try row.set(Position.age, member.person.age)
        try row.set(Position.rank, member.rank)
        try row.set(Position.plainRank, member.rank)
        try row.set(Position.created, Timestamp(seconds: member.person.created))
      }
    }
  }

  private static func addNotes(_ inputs: QueryInputs, _ transaction: WriteTransaction) throws {
    let table = try transaction.createTable(
      TableSchema(
        notes, columns: [Column("number", .int64), Column("tags", .string, collection: .list)]))
    var number: Int64 = 0
    try inputs.forEachNote { tags in
      try table.insert { (row: inout NewRow) throws(StorageError) in
        try row.set(NotePosition.number, number)
        try row.set(NotePosition.tags, .list(tags.map { .string($0) }))
      }
      number += 1
    }
  }

  private static func addHumans(_ inputs: QueryInputs, _ transaction: WriteTransaction) throws {
    let dogs = try transaction.createTable(TableSchema("Dog", columns: [Column("age", .int64)]))
    let table = try transaction.createTable(
      TableSchema(
        humans,
        columns: [
          Column("name", .string), Column("dogs", .link, collection: .list, target: dogs.schema.id),
        ]))
    try inputs.forEachHuman { human in
      let links = try human.dogs.map { age in
        Value.link(
          try dogs.insert { (row: inout NewRow) throws(StorageError) in try row.set(0, age) })
      }
      try table.insert { (row: inout NewRow) throws(StorageError) in
        try row.set(HumanPosition.name, human.name)
        try row.set(HumanPosition.dogs, .list(links))
      }
    }
  }

  private func table(_ name: String, _ snapshot: Snapshot) throws -> Table {
    guard let table = try snapshot.table(name) else { throw BenchmarkError("there is no table \(name)") }
    return table
  }

  // MARK: - Asking

  func list(createdIn ranges: [ClosedRange<Int64>], asTwo: Bool) throws -> Answer {
    let table = try table(Self.members, database.snapshot())
    let created = ColumnPath(Position.created)
    var answer = Answer()
    for range in ranges {
      let first = Value.date(Timestamp(seconds: range.lowerBound))
      let last = Value.date(Timestamp(seconds: range.upperBound))
      let rows = try table.rows(
        where: asTwo
          ? .and([.compare(created, .greaterOrEqual, first), .compare(created, .lessOrEqual, last)])
          : .between(created, first, last))
      try table.forEachRow(rows) { (_, group, row) throws(StorageError) in
        try group.texts(Position.name, from: row).bytes(row).withUnsafeBytes { answer.add($0) }
      }
    }
    return answer
  }

  func list(namedFrom prefixes: [String]) throws -> Answer {
    let table = try table(Self.members, database.snapshot())
    var answer = Answer()
    for prefix in prefixes {
      let rows = try table.rows(
        where: .text(ColumnPath(Position.name), .begins, .string(prefix), options: []))
      try table.forEachRow(rows) { (_, group, row) throws(StorageError) in
        answer.add(try group.integers(Position.age)[row])
      }
    }
    return answer
  }

  func list(_ pairs: [(age: Int64, rank: Int64)], areBothIndexed: Bool) throws -> Answer {
    let table = try table(Self.members, database.snapshot())
    let rank = ColumnPath(areBothIndexed ? Position.rank : Position.plainRank)
    var answer = Answer()
    for pair in pairs {
      let rows = try table.rows(
        where: .and([
          .compare(ColumnPath(Position.age), .equal, .int(pair.age)), .compare(rank, .equal, .int(pair.rank)),
        ]))
      try table.forEachRow(rows) { (_, group, row) throws(StorageError) in
        answer.add(try group.integers(Position.id)[row])
      }
    }
    return answer
  }

  func list(ages: [Int64]) throws -> Int? {
    let table = try table(Self.members, database.snapshot())
    return try ages.reduce(0) { sum, age in
      try sum + table.rows(where: .compare(ColumnPath(Position.age), .equal, .int(age))).count
    }
  }

  func countNotes(tagged tag: String) throws -> Int {
    try table(Self.notes, database.snapshot()).count(
      where: .compare(ColumnPath(NotePosition.tags), .equal, .string(tag)))
  }

  func countHumans(withDogs count: Int, olderThan age: Int64) throws -> Int {
    let old = ValuePath(
      [], .subquery([.links(HumanPosition.dogs)], .compare(ColumnPath(0), .greater, .int(age))))
    return try table(Self.humans, database.snapshot()).count(
      where: .test(
        Relation.Side(.path(old)), .compare(.greaterOrEqual), Relation.Side(.constant(.int(Int64(count))))))
  }

  func countTitles(containing part: String, isFolded: Bool, areAccented: Bool) throws -> Int? {
    try table(Self.members, database.snapshot()).count(
      where: .text(
        ColumnPath(areAccented ? Position.accented : Position.title), .contains, .string(part),
        options: isFolded ? [.ignoringCase, .ignoringDiacritics] : []))
  }

  func prepareConditions() throws {
    guard let language else { throw BenchmarkError("the file has no tables") }
    let syntax = try QueryParser.rql(QueryInputs.conditions)
    _ = try QueryBinder(language.names, table: language.table, language: .rql).plan(syntax)
  }

  func close() { database.close() }
}
