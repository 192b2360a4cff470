import RealmStorage

extension StorageEngine: TaskQuestions {
  private static let tasks = "Task"

  private enum TaskPosition {
    static let id = 0
    static let title = 1
    static let priority = 2
    static let owner = 3
    static let tags = 4
  }

  func insertTasks(_ tasks: TaskSource) throws {
    try database.write { transaction in
      let people = try Self.people(in: transaction)
      let table = try transaction.createTable(
        TableSchema(
          Self.tasks,
          columns: [
            Column("id", .int64, index: .unique), Column("title", .string), Column("priority", .int64),
            Column("owner", .link, target: people.schema.id), Column("tags", .string, collection: .list),
          ]))
      let owners = try people.reading()
      for task in tasks {
        let owner = try Self.row(of: task.owner, in: owners)
        try table.insert { (row: inout NewRow) throws(StorageError) in
          try row.set(TaskPosition.id, task.id)
          try row.set(TaskPosition.title, task.title)
          try row.set(TaskPosition.priority, task.priority)
          try row.set(TaskPosition.owner, .link(owner))
          try row.set(TaskPosition.tags, .list(task.tags.map { .string($0) }))
        }
      }
    }
  }

  private static func tasks(in snapshot: Snapshot) throws -> Table {
    guard let table = try snapshot.table(tasks) else { throw BenchmarkError("there is no table of Tasks") }
    return table
  }

  func readOwnerNames() throws -> Answer {
    let snapshot = try database.snapshot()
    let people = try Self.people(in: snapshot)
    var answer = Answer()
    var rows: [UInt64] = []
    try Self.tasks(in: snapshot).forEachGroup { (group) throws(StorageError) in
      let owners = try group.integers(TaskPosition.owner)
      rows.removeAll(keepingCapacity: true)
      for task in 0..<group.count { rows.append(UInt64(bitPattern: owners[task])) }
      try people.forEachRow(rows) { (_, group, row) throws(StorageError) in
        try group.texts(Position.name, from: row).bytes(row).withUnsafeBytes { answer.add($0) }
      }
      return true
    }
    return answer
  }

  func countTasks(of owners: [Int64]) throws -> Int {
    let snapshot = try database.snapshot()
    let people = try Self.people(in: snapshot)
    let tasks = try Self.tasks(in: snapshot).schema
    let owner = tasks.columns[TaskPosition.owner]
    return try owners.reduce(0) { sum, id in
      try sum + people.linkCount(of: Self.row(of: id, in: people), column: owner, of: tasks)
    }
  }

  func countTasks(ofOwnersOlderThan age: Int64) throws -> Int {
    try Self.tasks(in: database.snapshot()).count(
      where: .compare(
        ColumnPath(links: [TaskPosition.owner], column: Position.age), .greater, .int(age)))
  }
}
