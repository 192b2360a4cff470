import CSQLite

/// Queries of SQLite. Lists of texts are in a table of their own, by owner and position. Tags are not indexed, and
/// owners of dogs are.
final class SQLiteQueries: QueryFile {
  private let connection: SQLiteConnection

  init(folder: String, count: Int) throws {
    connection = try SQLiteConnection(path: folder + "/queries.sqlite", expecting: count)
    try connection.execute(
      """
      CREATE TABLE Member(
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, title TEXT NOT NULL, accented TEXT NOT NULL,
        age INTEGER NOT NULL, rank INTEGER NOT NULL, plainRank INTEGER NOT NULL, created INTEGER NOT NULL);
      CREATE TABLE Note(id INTEGER PRIMARY KEY, number INTEGER NOT NULL);
      CREATE TABLE Tag(
        note INTEGER NOT NULL REFERENCES Note(id), position INTEGER NOT NULL, tag TEXT NOT NULL,
        PRIMARY KEY(note, position)) WITHOUT ROWID;
      CREATE TABLE Human(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE Dog(
        id INTEGER PRIMARY KEY, owner INTEGER NOT NULL REFERENCES Human(id), age INTEGER NOT NULL);
      """)
  }

  // MARK: - Filling

  func fill(_ inputs: QueryInputs) throws {
    try connection.execute("BEGIN IMMEDIATE")
    try addMembers(inputs)
    try addNotes(inputs)
    try addHumans(inputs)
    try connection.execute(
      """
      CREATE INDEX MemberName ON Member(name);
      CREATE INDEX MemberAge ON Member(age);
      CREATE INDEX MemberRank ON Member(rank);
      CREATE INDEX MemberCreated ON Member(created);
      CREATE INDEX DogOwner ON Dog(owner);
      COMMIT;
      """)
    // After this the planner knows which of two indexes leaves fewer rows.
    try connection.execute("ANALYZE")
  }

  private func addMembers(_ inputs: QueryInputs) throws {
    let insert = try connection.prepare("INSERT INTO Member VALUES(?1, ?2, ?2, ?3, ?4, ?5, ?5, ?6)")
    try inputs.forEachMember { member in
      insert.bind(1, member.person.id)
      insert.bind(4, member.person.age)
      insert.bind(5, member.rank)
      insert.bind(6, member.person.created)
      var (name, accented) = (member.person.name, member.accented)
      try name.withUTF8 { name in
        try accented.withUTF8 { accented in
          insert.bind(2, name)
          insert.bind(3, accented)
          try insert.run()
        }
      }
    }
  }

  private func addNotes(_ inputs: QueryInputs) throws {
    let insert = try connection.prepare("INSERT INTO Note VALUES(?1, ?1)")
    let insertTag = try connection.prepare("INSERT INTO Tag VALUES(?1, ?2, ?3)")
    var number: Int64 = 0
    try inputs.forEachNote { tags in
      insert.bind(1, number)
      try insert.run()
      insertTag.bind(1, number)
      for (position, var tag) in tags.enumerated() {
        insertTag.bind(2, Int64(position))
        try tag.withUTF8 { tag in
          insertTag.bind(3, tag)
          try insertTag.run()
        }
      }
      number += 1
    }
  }

  private func addHumans(_ inputs: QueryInputs) throws {
    let insert = try connection.prepare("INSERT INTO Human VALUES(?1, ?2)")
    let insertDog = try connection.prepare("INSERT INTO Dog(owner, age) VALUES(?1, ?2)")
    var number: Int64 = 0
    try inputs.forEachHuman { human in
      var name = human.name
      insert.bind(1, number)
      try name.withUTF8 { name in
        insert.bind(2, name)
        try insert.run()
      }
      insertDog.bind(1, number)
      for age in human.dogs {
        insertDog.bind(2, age)
        try insertDog.run()
      }
      number += 1
    }
  }

  // MARK: - Asking

  /// Both forms of a range are the same for SQLite.
  func list(createdIn ranges: [ClosedRange<Int64>], asTwo: Bool) throws -> Answer {
    let condition = asTwo ? "created >= ?1 AND created <= ?2" : "created BETWEEN ?1 AND ?2"
    var answer = Answer()
    try connection.reading {
      let select = try connection.prepare("SELECT name FROM Member WHERE " + condition)
      for range in ranges {
        select.bind(1, range.lowerBound)
        select.bind(2, range.upperBound)
        while try select.step() { answer.add(select.text(0)) }
        select.reset()
      }
    }
    return answer
  }

  /// LIKE does not use an index that compares bytes. So the query asks for names between the prefix and the text that
  /// follows all names with this prefix.
  func list(namedFrom prefixes: [String]) throws -> Answer {
    var answer = Answer()
    try connection.reading {
      let select = try connection.prepare("SELECT age FROM Member WHERE name >= ?1 AND name < ?2")
      for var prefix in prefixes {
        var bytes = Array(prefix.utf8)
        bytes[bytes.count - 1] += 1
        var end = String(decoding: bytes, as: UTF8.self)
        try prefix.withUTF8 { prefix in
          try end.withUTF8 { end in
            select.bind(1, prefix)
            select.bind(2, end)
            while try select.step() { answer.add(select.integer(0)) }
            select.reset()
          }
        }
      }
    }
    return answer
  }

  func list(_ pairs: [(age: Int64, rank: Int64)], areBothIndexed: Bool) throws -> Answer {
    let rank = areBothIndexed ? "rank" : "plainRank"
    var answer = Answer()
    try connection.reading {
      let select = try connection.prepare("SELECT id FROM Member WHERE age = ?1 AND \(rank) = ?2")
      for pair in pairs {
        select.bind(1, pair.age)
        select.bind(2, pair.rank)
        while try select.step() { answer.add(select.integer(0)) }
        select.reset()
      }
    }
    return answer
  }

  func list(ages: [Int64]) throws -> Int? {
    var count = 0
    try connection.reading {
      let select = try connection.prepare("SELECT id FROM Member WHERE age = ?1")
      for age in ages {
        select.bind(1, age)
        while try select.step() { count += 1 }
        select.reset()
      }
    }
    return count
  }

  /// A tag may occur twice in a list, so the query counts distinct notes. An `EXISTS` for each note takes longer.
  func countNotes(tagged tag: String) throws -> Int {
    var tag = tag
    return try tag.withUTF8 { tag in
      try count("SELECT count(DISTINCT note) FROM Tag WHERE tag = ?1") { $0.bind(1, tag) }
    }
  }

  func countHumans(withDogs count: Int, olderThan age: Int64) throws -> Int {
    try self.count(
      """
      SELECT count(*) FROM (SELECT owner FROM Dog WHERE age > ?1 GROUP BY owner HAVING count(*) >= ?2)
      """
    ) {
      $0.bind(1, age)
      $0.bind(2, Int64(count))
    }
  }

  private func count(_ text: String, _ bind: (SQLiteStatement) -> Void) throws -> Int {
    try connection.reading {
      let select = try connection.prepare(text)
      bind(select)
      guard try select.step() else { throw BenchmarkError("a count without a row") }
      return Int(select.integer(0))
    }
  }

  func countTitles(containing part: String, isFolded: Bool, areAccented: Bool) throws -> Int? { nil }

  func prepareConditions() throws { _ = try connection.prepare(QueryInputs.statement, isKept: false) }

  func close() throws { try connection.close() }
}
