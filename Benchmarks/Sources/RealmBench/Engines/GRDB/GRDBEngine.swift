import GRDB

/// SQLite through GRDB, with records, in the way its documentation recommends: a pool of connections in WAL mode.
final class GRDBEngine: Engine {
  let pool: DatabasePool
  private let count: Int
  private var snapshot: DatabaseSnapshot?

  /// A Person as a record. It encodes and decodes its columns itself, because records that leave this to Codable are
  /// slower.
  struct PersonRecord: FetchableRecord, PersistableRecord {
    static let databaseTableName = "Person"

    enum Columns {
      static let id = Column("id")
      static let name = Column("name")
      static let email = Column("email")
      static let age = Column("age")
      static let score = Column("score")
      static let active = Column("active")
      static let created = Column("created")
      static let city = Column("city")
      static let bio = Column("bio")
    }

    var person: Person

    init(_ person: Person) { self.person = person }

    init(row: Row) {
      person = Person(
        id: row[0], name: row[1], email: row[2], age: row[3], score: row[4], active: row[5], created: row[6],
        city: row[7], bio: row[8])
    }

    func encode(to container: inout PersistenceContainer) {
      container[Columns.id] = person.id
      container[Columns.name] = person.name
      container[Columns.email] = person.email
      container[Columns.age] = person.age
      container[Columns.score] = person.score
      container[Columns.active] = person.active
      container[Columns.created] = person.created
      container[Columns.city] = person.city
      container[Columns.bio] = person.bio
    }
  }

  init(folder: String, count: Int) throws {
    self.count = count
    var configuration = Configuration()
    // These settings are the same as for SQLite through its C API.
    configuration.prepareDatabase { database in
      try database.execute(
        sql: """
          PRAGMA synchronous = FULL;
          PRAGMA fullfsync = 1;
          PRAGMA cache_size = -\(max(1 << 20, count / 2));
          """)
    }
    pool = try DatabasePool(path: folder + "/people.sqlite", configuration: configuration)
    try pool.write { database in
      try database.create(table: "Person", options: .ifNotExists) { table in
        table.primaryKey("id", .integer)
        table.column("name", .text).notNull()
        table.column("email", .text).notNull()
        table.column("age", .integer).notNull()
        table.column("score", .double).notNull()
        table.column("active", .boolean).notNull()
        table.column("created", .integer).notNull()
        table.column("city", .text).notNull().indexed()
        table.column("bio", .text)
      }
    }
  }

  // MARK: - Writing

  func insertAll(_ source: inout PersonSource) throws {
    // A closure that may run on another thread can't borrow what it changes, so it returns the changed source.
    source = try pool.write { [source] database in
      var source = source
      while let people = source.next() {
        for person in people { try PersonRecord(person).insert(database) }
      }
      return source
    }
  }

  var hasRelaxedCommits: Bool { true }

  private(set) var isDurable = true
  var promise: Promise {
    get { isDurable ? .durable : .relaxed }
    set {
      isDurable = newValue == .durable
      let mode = isDurable ? "FULL" : "NORMAL"
      // If the mode can't be set, the next commit will fail.
      try? pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(mode)") }
    }
  }

  /// Does the same as the engine of SQLite's C API.
  func prepareSmallCommits() throws {
    var random = SplitMix64(seed: 5)
    for _ in 0..<1_050 {
      let id = Int64(random.next(below: count))
      for _ in 0..<2 {
        try pool.write { database in
          try database.cachedStatement(sql: "UPDATE Person SET score = -score WHERE id = ?")
            .execute(arguments: [id])
        }
      }
    }
  }

  func setScores(_ changes: ArraySlice<ScoreChange>) throws {
    try pool.write { database in
      let update = try database.cachedStatement(sql: "UPDATE Person SET score = ? WHERE id = ?")
      for change in changes { try update.execute(arguments: [change.score, change.id]) }
    }
  }

  func insert(_ person: Person) throws { try pool.write { try PersonRecord(person).insert($0) } }

  // MARK: - Reading

  func lookUp(_ ids: [Int64]) throws -> Answer {
    try pool.read { database in
      let select = try database.cachedStatement(sql: "SELECT name, age FROM Person WHERE id = ?")
      var answer = Answer()
      for id in ids {
        guard let row = try Row.fetchOne(select, arguments: [id]) else {
          throw BenchmarkError("no Person \(id)")
        }
        answer.add(row[0] as String)
        answer.add(row[1] as Int64)
      }
      return answer
    }
  }

  func iterateStrings() throws -> Answer? { try iterate() }

  func iterate() throws -> Answer {
    try pool.read { database in
      var answer = Answer()
      let rows = try Row.fetchCursor(database, sql: "SELECT name, age, score FROM Person")
      while let row = try rows.next() {
        answer.add(row[0] as String)
        answer.add(row[1] as Int64)
        answer.add(row[2] as Double)
      }
      return answer
    }
  }

  func count(age: Int64) throws -> Int {
    try pool.read { try PersonRecord.filter(PersonRecord.Columns.age == age).fetchCount($0) }
  }

  func count(cities: [String]) throws -> Int {
    try pool.read { database in
      let select = try database.cachedStatement(sql: "SELECT count(*) FROM Person WHERE city = ?")
      return try cities.reduce(0) { try $0 + (Int.fetchOne(select, arguments: [$1]) ?? 0) }
    }
  }

  func readEverything() throws -> Answer {
    try pool.read { database in
      var answer = Answer()
      let people = try PersonRecord.fetchCursor(database)
      while let person = try people.next()?.person {
        answer.add(RowHash(person))
      }
      return answer
    }
  }

  // MARK: - A pinned reader

  func pin() throws { snapshot = try pool.makeSnapshot() }
  func unpin() { snapshot = nil }

  func readPinned() throws -> Answer {
    guard let snapshot else { throw BenchmarkError("no reader is pinned") }
    return try snapshot.read { database in
      var answer = Answer()
      let scores = try Double.fetchCursor(database, sql: "SELECT score FROM Person")
      while let score = try scores.next() { answer.add(score) }
      return answer
    }
  }

  // MARK: - The file

  func compacted(at path: String) throws -> Bool {
    try pool.vacuum(into: path)
    return true
  }

  func close() throws {
    snapshot = nil
    try pool.close()
  }
}

extension GRDBEngine: Questions {
  private typealias Columns = PersonRecord.Columns

  func countAll() throws -> Int { try pool.read { try PersonRecord.fetchCount($0) } }

  func countActive(olderThan age: Int64) throws -> Int {
    try pool.read { try PersonRecord.filter(Columns.age > age && Columns.active).fetchCount($0) }
  }

  func count(email: String) throws -> Int {
    try pool.read { try PersonRecord.filter(Columns.email == email).fetchCount($0) }
  }

  /// LIKE makes no difference between A to Z and a to z.
  func count(nameContaining part: String, ignoringCase: Bool) throws -> Int {
    try pool.read { database in
      ignoringCase
        ? try PersonRecord.filter(Columns.name.like("%\(part)%")).fetchCount(database)
        : try PersonRecord.filter(sql: "instr(name, ?) > 0", arguments: [part]).fetchCount(database)
    }
  }

  func count(ids: [Int64]) throws -> Int {
    try pool.read { try PersonRecord.filter(ids.contains(Columns.id)).fetchCount($0) }
  }

  func count(ages: [Int64]) throws -> Int {
    try pool.read { try PersonRecord.filter(ages.contains(Columns.age)).fetchCount($0) }
  }

  func firstByAgeAndName(asksForAll: Bool) throws -> Answer {
    try pool.read { database in
      let all = PersonRecord.order(Columns.age, Columns.name)
      var first = FirstByAgeAndName()
      let people = try (asksForAll ? all : all.limit(FirstByAgeAndName.count)).fetchCursor(database)
      for _ in 0..<FirstByAgeAndName.count {
        guard let person = try people.next()?.person else { break }
        first.add(age: person.age, person.name)
      }
      return first.answer
    }
  }

  func sumAndAverage() throws -> (scores: Double, age: Double) {
    try pool.read { database in
      guard
        let row = try Row.fetchOne(
          database, PersonRecord.select(sum(Columns.score), average(Columns.age)))
      else { throw BenchmarkError("a sum without a row") }
      return (row[0], row[1])
    }
  }

  func raiseScores() throws {
    _ = try pool.write { try PersonRecord.updateAll($0, Columns.score += 1) }
  }

  func deleteInactive() throws {
    _ = try pool.write { try PersonRecord.filter(!Columns.active).deleteAll($0) }
  }
}
