import CSQLite

/// A set and a map in SQLite. Each of them is a table by owner and text.
final class SQLiteLookups: LookupFile {
  private let connection: SQLiteConnection
  private static let owner: Int64 = 1

  init(folder: String) throws {
    connection = try SQLiteConnection(path: folder + "/lookups.sqlite", expecting: 1 << 20)
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS Member(
        owner INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY(owner, text)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS Entry(
        owner INTEGER NOT NULL, text TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY(owner, text)
      ) WITHOUT ROWID;
      """)
  }

  func fill(_ texts: [String]) throws {
    let member = try connection.prepare("INSERT INTO Member VALUES(?1, ?2)")
    let entry = try connection.prepare("INSERT INTO Entry VALUES(?1, ?2, ?3)")
    try connection.execute("BEGIN IMMEDIATE")
    member.bind(1, Self.owner)
    entry.bind(1, Self.owner)
    for (place, var text) in texts.enumerated() {
      entry.bind(3, Int64(place))
      try text.withUTF8 { text in
        member.bind(2, text)
        try member.run()
        entry.bind(2, text)
        try entry.run()
      }
    }
    try connection.execute("COMMIT")
  }

  func count(of texts: [String]) throws -> Int {
    var count = 0
    try look(for: texts, "SELECT 1 FROM Member WHERE owner = ?1 AND text = ?2") { found in
      count += found == nil ? 0 : 1
    }
    return count
  }

  func numbers(of texts: [String]) throws -> Answer {
    var answer = Answer()
    try look(for: texts, "SELECT number FROM Entry WHERE owner = ?1 AND text = ?2") { found in
      guard let found else { throw BenchmarkError("the map lacks a text") }
      answer.add(found)
    }
    return answer
  }

  private func look(for texts: [String], _ statement: String, _ body: (Int64?) throws -> Void) throws {
    try connection.reading {
      let select = try connection.prepare(statement)
      select.bind(1, Self.owner)
      for var text in texts {
        try text.withUTF8 { text in
          select.bind(2, text)
          try body(try select.step() ? select.integer(0) : nil)
          select.reset()
        }
      }
    }
  }

  func close() throws { try connection.close() }
}
