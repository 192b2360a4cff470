import CSQLite

/// SQLite through its C API, with WAL, prepared statements, `synchronous=FULL`, and NORMAL for relaxed commits.
final class SQLiteEngine: Engine {
  private let path: String
  private let count: Int
  private(set) var connection: SQLiteConnection
  private var statements: Statements?
  private var reader: SQLiteConnection?

  /// The statements of small commits, prepared once.
  private struct Statements {
    let begin: SQLiteStatement
    let commit: SQLiteStatement
    let setScore: SQLiteStatement
    let insert: SQLiteStatement
  }

  init(folder: String, count: Int) throws {
    path = folder + "/people.sqlite"
    self.count = count
    connection = try SQLiteConnection(path: path, expecting: count)
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS Person(
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, age INTEGER NOT NULL, score REAL NOT NULL,
        active INTEGER NOT NULL, created INTEGER NOT NULL, city TEXT NOT NULL, bio TEXT);
      CREATE INDEX IF NOT EXISTS PersonCity ON Person(city);
      """)
    statements = try Statements(
      begin: connection.prepare("BEGIN IMMEDIATE"), commit: connection.prepare("COMMIT"),
      setScore: connection.prepare("UPDATE Person SET score = ?2 WHERE id = ?1"),
      insert: connection.prepare("INSERT INTO Person VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"))
  }

  static var version: String { String(cString: sqlite3_libversion()) }

  private func prepared() throws -> Statements {
    guard let statements else { throw BenchmarkError("the SQLite file is closed") }
    return statements
  }

  // MARK: - Writing

  func insertAll(_ source: inout PersonSource) throws {
    let statements = try prepared()
    try statements.begin.run()
    while let people = source.next() {
      for person in people { try Self.insert(person, statements.insert) }
    }
    try statements.commit.run()
  }

  private static func insert(_ person: Person, _ statement: SQLiteStatement) throws {
    statement.bind(1, person.id)
    statement.bind(4, person.age)
    statement.bind(5, person.score)
    statement.bind(6, Int64(person.active ? 1 : 0))
    statement.bind(7, person.created)
    var (name, email, city) = (person.name, person.email, person.city)
    // The texts are bound without a copy. Each of them outlives the step, so SQLite need not copy it first.
    try name.withUTF8 { name in
      try email.withUTF8 { email in
        try city.withUTF8 { city in
          statement.bind(2, name)
          statement.bind(3, email)
          statement.bind(8, city)
          guard var bio = person.bio else {
            statement.bindNull(9)
            return try statement.run()
          }
          try bio.withUTF8 { bio in
            statement.bind(9, bio)
            try statement.run()
          }
        }
      }
    }
  }

  var hasRelaxedCommits: Bool { true }

  var promise = Promise.durable {
    didSet { connection.setSynchronous(promise == .durable ? "FULL" : "NORMAL") }
  }

  /// Makes 2,100 commits, which take the log past its first checkpoint twice. Only then does SQLite overwrite the log
  /// instead of letting it grow, like in a program that has run for a while.
  ///
  /// Each commit changes a score, and the next one restores it exactly. SQLite writes nothing if nothing changes.
  func prepareSmallCommits() throws {
    let negate = try connection.prepare("UPDATE Person SET score = -score WHERE id = ?1")
    var random = SplitMix64(seed: 5)
    for _ in 0..<1_050 {
      negate.bind(1, Int64(random.next(below: count)))
      try negate.run()
      try negate.run()
    }
  }

  func setScores(_ changes: ArraySlice<ScoreChange>) throws {
    let statements = try prepared()
    // A single statement is a transaction by itself.
    if changes.count > 1 { try statements.begin.run() }
    for change in changes {
      statements.setScore.bind(1, change.id)
      statements.setScore.bind(2, change.score)
      try statements.setScore.run()
    }
    if changes.count > 1 { try statements.commit.run() }
  }

  func insert(_ person: Person) throws { try Self.insert(person, prepared().insert) }

  // MARK: - Reading

  func reading<Result>(_ body: () throws -> Result) throws -> Result {
    try connection.reading(body)
  }

  func lookUp(_ ids: [Int64]) throws -> Answer {
    try reading {
      let select = try connection.prepare("SELECT name, age FROM Person WHERE id = ?1")
      var answer = Answer()
      for id in ids {
        select.bind(1, id)
        guard try select.step() else { throw BenchmarkError("no Person \(id)") }
        answer.add(select.text(0))
        answer.add(select.integer(1))
        select.reset()
      }
      return answer
    }
  }

  /// Passes lists of ten thousand ids, which SQLite takes as JSON.
  func lookUpTogether(_ ids: [Int64]) throws -> Answer? {
    try reading {
      let select = try connection.prepare(
        "SELECT name, age FROM json_each(?1) JOIN Person ON Person.id = json_each.value")
      var (answer, found) = (Answer(), 0)
      for start in stride(from: 0, to: ids.count, by: 10_000) {
        let some = ids[start..<min(start + 10_000, ids.count)]
        var list = "[" + some.map { String($0) }.joined(separator: ",") + "]"
        try list.withUTF8 { list in
          select.bind(1, list)
          while try select.step() {
            answer.add(select.text(0))
            answer.add(select.integer(1))
            found += 1
          }
          select.reset()
        }
      }
      guard found == ids.count else { throw BenchmarkError("\(ids.count - found) Persons are not there") }
      return answer
    }
  }

  func iterate() throws -> Answer {
    try reading {
      let select = try connection.prepare("SELECT name, age, score FROM Person")
      var answer = Answer()
      while try select.step() {
        answer.add(select.text(0))
        answer.add(select.integer(1))
        answer.add(select.double(2))
      }
      return answer
    }
  }

  func count(age: Int64) throws -> Int {
    try reading {
      let select = try connection.prepare("SELECT count(*) FROM Person WHERE age = ?1")
      select.bind(1, age)
      guard try select.step() else { throw BenchmarkError("a count without a row") }
      return Int(select.integer(0))
    }
  }

  func count(cities: [String]) throws -> Int {
    try reading {
      let select = try connection.prepare("SELECT count(*) FROM Person WHERE city = ?1")
      var count = 0
      for var city in cities {
        try city.withUTF8 { city in
          select.bind(1, city)
          guard try select.step() else { throw BenchmarkError("a count without a row") }
          count += Int(select.integer(0))
          select.reset()
        }
      }
      return count
    }
  }

  func readEverything() throws -> Answer {
    try reading {
      let select = try connection.prepare(
        "SELECT id, name, email, age, score, active, created, city, bio FROM Person")
      var answer = Answer()
      while try select.step() {
        var hash = RowHash()
        hash.add(select.integer(0))
        hash.add(select.text(1))
        hash.add(select.text(2))
        hash.add(select.integer(3))
        hash.add(select.double(4))
        hash.add(select.integer(5))
        hash.add(select.integer(6))
        hash.add(select.text(7))
        if select.isNull(8) { hash.addNull() } else { hash.add(select.text(8)) }
        answer.add(hash)
      }
      return answer
    }
  }

  // MARK: - A pinned reader

  func pin() throws {
    let reader = try SQLiteConnection(path: path, expecting: count)
    // A transaction reads the version at the time of its first statement.
    try reader.execute("BEGIN; SELECT id FROM Person LIMIT 1;")
    self.reader = reader
  }

  func readPinned() throws -> Answer {
    guard let reader else { throw BenchmarkError("no reader is pinned") }
    let select = try reader.prepare("SELECT score FROM Person")
    var answer = Answer()
    while try select.step() { answer.add(select.double(0)) }
    return answer
  }

  func unpin() throws {
    try reader?.execute("COMMIT")
    reader = nil
  }

  // MARK: - The file

  func compacted(at path: String) throws -> Bool {
    try connection.execute("VACUUM INTO '\(path)'")
    return true
  }

  func close() throws {
    // Statements are finalized before their connection is closed. Closing it moves the log into the file.
    statements = nil
    reader = nil
    try connection.close()
  }
}
