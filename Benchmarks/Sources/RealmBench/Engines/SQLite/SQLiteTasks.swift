/// Tasks in a table, with their tags in another one. Owners are indexed, because Tasks are looked up by their owners.
enum TaskTables {
  static let definition = """
    CREATE TABLE Task(
      id INTEGER PRIMARY KEY, title TEXT NOT NULL, priority INTEGER NOT NULL,
      owner INTEGER REFERENCES Person(id));
    CREATE INDEX TaskOwner ON Task(owner);
    CREATE TABLE Tag(
      task INTEGER NOT NULL REFERENCES Task(id), position INTEGER NOT NULL, tag TEXT NOT NULL,
      PRIMARY KEY(task, position)) WITHOUT ROWID;
    """
  static let insert = "INSERT INTO Task VALUES(?1, ?2, ?3, ?4)"
  static let insertTag = "INSERT INTO Tag VALUES(?1, ?2, ?3)"
  static let ownerNames = "SELECT Person.name FROM Task JOIN Person ON Person.id = Task.owner"
  static let countOfOwner = "SELECT count(*) FROM Task WHERE owner = ?1"
  static let countByAge =
    "SELECT count(*) FROM Task JOIN Person ON Person.id = Task.owner WHERE Person.age > ?1"
}

extension SQLiteEngine: TaskQuestions {
  func insertTasks(_ tasks: TaskSource) throws {
    try connection.execute(TaskTables.definition)
    let insert = try connection.prepare(TaskTables.insert)
    let insertTag = try connection.prepare(TaskTables.insertTag)
    try connection.execute("BEGIN IMMEDIATE")
    for task in tasks {
      var title = task.title
      insert.bind(1, task.id)
      insert.bind(3, task.priority)
      insert.bind(4, task.owner)
      try title.withUTF8 { title in
        insert.bind(2, title)
        try insert.run()
      }
      for (position, var tag) in task.tags.enumerated() {
        insertTag.bind(1, task.id)
        insertTag.bind(2, Int64(position))
        try tag.withUTF8 { tag in
          insertTag.bind(3, tag)
          try insertTag.run()
        }
      }
    }
    try connection.execute("COMMIT")
  }

  func readOwnerNames() throws -> Answer {
    try reading {
      let select = try connection.prepare(TaskTables.ownerNames)
      var answer = Answer()
      while try select.step() { answer.add(select.text(0)) }
      return answer
    }
  }

  func countTasks(of owners: [Int64]) throws -> Int {
    try reading {
      let select = try connection.prepare(TaskTables.countOfOwner)
      return try owners.reduce(0) { sum, owner in
        select.bind(1, owner)
        defer { select.reset() }
        guard try select.step() else { throw BenchmarkError("a count without a row") }
        return sum + Int(select.integer(0))
      }
    }
  }

  func countTasks(ofOwnersOlderThan age: Int64) throws -> Int {
    try reading {
      let select = try connection.prepare(TaskTables.countByAge)
      select.bind(1, age)
      guard try select.step() else { throw BenchmarkError("a count without a row") }
      return Int(select.integer(0))
    }
  }
}
