import CSQLite

/// Lists in SQLite in the usual way of programs: a table of elements by owner and position. A position is a number with
/// a fraction, so that there is a position between any two. Elements that are items are indexed, because they are
/// looked up when an item is deleted.
final class SQLiteLists: ListFile {
  private let lists: Lists
  private let connection: SQLiteConnection
  private var statements: Statements?

  private static let gap = 1024.0

  private struct Statements {
    let setNumber: SQLiteStatement
    let addElement: SQLiteStatement
    let append: SQLiteStatement
    let insert: SQLiteStatement
    let remove: SQLiteStatement
  }

  init(_ lists: Lists, folder: String) throws {
    self.lists = lists
    connection = try SQLiteConnection(path: folder + "/lists.sqlite", expecting: 4 * lists.length)
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS Item(id INTEGER PRIMARY KEY, number INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS Owner(id INTEGER PRIMARY KEY, number INTEGER NOT NULL, name TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS Element(
        owner INTEGER NOT NULL REFERENCES Owner(id), position REAL NOT NULL, value, PRIMARY KEY(owner, position)
      ) WITHOUT ROWID;
      """)
    if lists.kind == .links {
      try connection.execute("CREATE INDEX IF NOT EXISTS ElementItem ON Element(value)")
    }
    statements = try Statements(
      setNumber: connection.prepare("UPDATE Owner SET number = ?2 WHERE id = ?1"),
      addElement: connection.prepare("INSERT INTO Element VALUES(?1, ?2, ?3)"),
      append: connection.prepare(
        "INSERT INTO Element SELECT ?1, max(position) + \(Self.gap), ?2 FROM Element WHERE owner = ?1"),
      insert: connection.prepare(
        """
        INSERT INTO Element SELECT ?1, avg(position), ?2 FROM (
          SELECT position FROM Element WHERE owner = ?1 ORDER BY position LIMIT 2 OFFSET ?3)
        """),
      remove: connection.prepare(
        """
        DELETE FROM Element WHERE owner = ?1 AND position = (
          SELECT position FROM Element WHERE owner = ?1 ORDER BY position LIMIT 1 OFFSET ?2)
        """))
  }

  private func prepared() throws -> Statements {
    guard let statements else { throw BenchmarkError("the SQLite file is closed") }
    return statements
  }

  private func writing(_ body: () throws -> Void) throws {
    try connection.execute("BEGIN IMMEDIATE")
    try body()
    try connection.execute("COMMIT")
  }

  // MARK: - Filling

  func fill() throws {
    let item = try connection.prepare("INSERT INTO Item VALUES(?1, ?1)")
    let owner = try connection.prepare("INSERT INTO Owner VALUES(?1, ?1, ?2)")
    let add = try prepared().addElement
    try writing {
      for id in 0..<lists.items {
        item.bind(1, Int64(id))
        try item.run()
      }
      for id in 0..<lists.owners {
        var name = lists.name(of: id)
        owner.bind(1, Int64(id))
        try name.withUTF8 { name in
          owner.bind(2, name)
          try owner.run()
        }
        guard lists.kind == .texts else {
          try append(lists.elements(of: id), to: id, behind: 0)
          continue
        }
        add.bind(1, Int64(id))
        for (place, var text) in lists.texts(of: id).enumerated() {
          add.bind(2, Double(place + 1) * Self.gap)
          try text.withUTF8 { text in
            add.bind(3, text)
            try add.run()
          }
        }
      }
    }
  }

  private func append(_ elements: [Int], to owner: Int, behind last: Double) throws {
    let add = try prepared().addElement
    add.bind(1, Int64(owner))
    var position = last
    for element in elements {
      position += Self.gap
      add.bind(2, position)
      add.bind(3, Int64(element))
      try add.run()
    }
  }

  func append(together elements: [Int], toListOf owner: Int) throws {
    try writing {
      let last = try connection.prepare("SELECT max(position) FROM Element WHERE owner = ?1")
      last.bind(1, Int64(owner))
      guard try last.step() else { throw BenchmarkError("a maximum without a row") }
      let position = last.double(0)
      last.reset()
      try append(elements, to: owner, behind: position)
    }
  }

  func append(oneByOne elements: [Int], toListOf owner: Int) throws {
    let append = try prepared().append
    append.bind(1, Int64(owner))
    try writing {
      for element in elements {
        append.bind(2, Int64(element))
        try append.run()
      }
    }
  }

  // MARK: - Small commits

  var hasRelaxedCommits: Bool { true }
  var written: WrittenBytes? { nil }

  var promise = Promise.durable {
    didSet { connection.setSynchronous(promise == .durable ? "FULL" : "NORMAL") }
  }

  /// Makes commits as `SQLiteEngine` does, so that the log overwrites itself afterwards.
  func prepareSmallCommits() throws {
    let negate = try connection.prepare("UPDATE Owner SET number = -1 - number WHERE id = ?1")
    var random = SplitMix64(seed: 5)
    for _ in 0..<1_050 {
      negate.bind(1, Int64(random.next(below: lists.owners)))
      try negate.run()
      try negate.run()
    }
  }

  func setNumber(_ number: Int64, of owner: Int) throws {
    let set = try prepared().setNumber
    set.bind(1, Int64(owner))
    set.bind(2, number)
    try set.run()
  }

  func append(_ element: Int) throws {
    let append = try prepared().append
    append.bind(1, Int64(lists.long))
    append.bind(2, Int64(element))
    try append.run()
  }

  func insert(_ element: Int, at place: Int) throws {
    let insert = try prepared().insert
    insert.bind(1, Int64(lists.long))
    insert.bind(2, Int64(element))
    insert.bind(3, Int64(place - 1))
    try insert.run()
  }

  func remove(at place: Int) throws {
    let remove = try prepared().remove
    remove.bind(1, Int64(lists.long))
    remove.bind(2, Int64(place))
    try remove.run()
  }

  // MARK: - Reading

  var findsPlaces: Bool { false }

  func read(at places: [Int]) throws -> Answer {
    try connection.reading {
      let select = try connection.prepare(
        "SELECT value FROM Element WHERE owner = ?1 ORDER BY position LIMIT 1 OFFSET ?2")
      select.bind(1, Int64(lists.long))
      var answer = Answer()
      for place in places {
        select.bind(2, Int64(place))
        guard try select.step() else { throw BenchmarkError("no element \(place)") }
        answer.add(select.integer(0))
        select.reset()
      }
      return answer
    }
  }

  private func forEachNumber(_ body: (Int64) -> Void) throws {
    try connection.reading {
      let select = try connection.prepare("SELECT value FROM Element WHERE owner = ?1 ORDER BY position")
      select.bind(1, Int64(lists.long))
      while try select.step() { body(select.integer(0)) }
    }
  }

  func iterate() throws -> Answer {
    var answer = Answer()
    try forEachNumber { answer.add($0) }
    return answer
  }

  func iterateAll() throws -> Answer {
    try connection.reading {
      let select = try connection.prepare("SELECT value FROM Element ORDER BY owner, position")
      var answer = Answer()
      while try select.step() { answer.add(select.text(0)) }
      return answer
    }
  }

  func content() throws -> Answer {
    var hash = RowHash()
    try forEachNumber { hash.add($0) }
    var answer = Answer()
    answer.add(hash)
    return answer
  }

  func countLinks() throws -> Int {
    try connection.reading {
      let select = try connection.prepare("SELECT count(*) FROM Element WHERE value = ?1")
      return try (0..<lists.items).reduce(0) { sum, item in
        select.bind(1, Int64(item))
        guard try select.step() else { throw BenchmarkError("a count without a row") }
        defer { select.reset() }
        return sum + Int(select.integer(0))
      }
    }
  }

  // MARK: - Removing many

  func removeFirst(times: Int) throws {
    try writing { for _ in 0..<times { try remove(at: 0) } }
  }

  func delete(items: [Int], isTogether: Bool) throws -> Double {
    let deleteElements = try connection.prepare("DELETE FROM Element WHERE value = ?1")
    let deleteItem = try connection.prepare("DELETE FROM Item WHERE id = ?1")
    return try Measure.seconds {
      try writing {
        for item in items {
          deleteElements.bind(1, Int64(item))
          try deleteElements.run()
          deleteItem.bind(1, Int64(item))
          try deleteItem.run()
        }
      }
    }
  }

  func close() throws {
    statements = nil
    try connection.close()
  }
}
