import GRDB

extension GRDBEngine: TaskQuestions {
  func insertTasks(_ tasks: TaskSource) throws {
    try pool.write { database in
      try database.execute(sql: TaskTables.definition)
      let insert = try database.cachedStatement(sql: TaskTables.insert)
      let insertTag = try database.cachedStatement(sql: TaskTables.insertTag)
      for task in tasks {
        try insert.execute(arguments: [task.id, task.title, task.priority, task.owner])
        for (position, tag) in task.tags.enumerated() {
          try insertTag.execute(arguments: [task.id, position, tag])
        }
      }
    }
  }

  func readOwnerNames() throws -> Answer {
    try pool.read { database in
      var answer = Answer()
      let names = try String.fetchCursor(database, sql: TaskTables.ownerNames)
      while let name = try names.next() { answer.add(name) }
      return answer
    }
  }

  func countTasks(of owners: [Int64]) throws -> Int {
    try pool.read { database in
      let select = try database.cachedStatement(sql: TaskTables.countOfOwner)
      return try owners.reduce(0) { try $0 + (Int.fetchOne(select, arguments: [$1]) ?? 0) }
    }
  }

  func countTasks(ofOwnersOlderThan age: Int64) throws -> Int {
    try pool.read { try Int.fetchOne($0, sql: TaskTables.countByAge, arguments: [age]) ?? 0 }
  }
}
