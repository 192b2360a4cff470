import CLMDB

/// Tasks by id: the owner's id in 8 bytes, the priority in one, and then each text with its length before it. A second
/// database has the ids of each owner's Tasks.
extension LMDBEngine: TaskQuestions {
  func insertTasks(_ source: TaskSource) throws {
    try writing { transaction in
      try openTasks(transaction, UInt32(MDB_CREATE))
      var row: [UInt8] = []
      for task in source {
        row.removeAll(keepingCapacity: true)
        withUnsafeBytes(of: task.owner) { row.append(contentsOf: $0) }
        row.append(UInt8(task.priority))
        for text in [task.title] + task.tags {
          row.append(UInt8(text.utf8.count))
          row.append(contentsOf: text.utf8)
        }
        var (id, owner) = (task.id, task.owner)
        try withValue(&id) { id in
          try row.withUnsafeMutableBytes { row in
            var value = MDB_val(mv_size: row.count, mv_data: row.baseAddress)
            try check(mdb_put(transaction, tasks, &id, &value, UInt32(MDB_NOOVERWRITE)))
          }
          try withValue(&owner) { owner in try check(mdb_put(transaction, owners, &owner, &id, 0)) }
        }
      }
    }
  }

  func readOwnerNames() throws -> Answer {
    try reading { transaction in
      var answer = Answer()
      try forEachTask(transaction) { owner in answer.add(try person(owner, transaction).name) }
      return answer
    }
  }

  func countTasks(of ids: [Int64]) throws -> Int {
    try reading { transaction in
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, owners, &cursor))
      defer { mdb_cursor_close(cursor) }
      var count = 0
      for var id in ids {
        try withValue(&id) { owner in
          var value = MDB_val()
          let status = mdb_cursor_get(cursor, &owner, &value, MDB_SET)
          if status == MDB_NOTFOUND { return }
          try check(status)
          var tasks = 0
          try check(mdb_cursor_count(cursor, &tasks))
          count += tasks
        }
      }
      return count
    }
  }

  func countTasks(ofOwnersOlderThan age: Int64) throws -> Int {
    try reading { transaction in
      var count = 0
      try forEachTask(transaction) { owner in
        if try person(owner, transaction).age > age { count += 1 }
      }
      return count
    }
  }

  private func person(_ id: Int64, _ transaction: OpaquePointer?) throws -> Row {
    var id = id
    return try withValue(&id) { id in
      var value = MDB_val()
      try check(mdb_get(transaction, people, &id, &value))
      return Row(value)
    }
  }

  private func forEachTask(_ transaction: OpaquePointer?, _ body: (_ owner: Int64) throws -> Void) throws {
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(transaction, tasks, &cursor))
    defer { mdb_cursor_close(cursor) }
    var (key, value) = (MDB_val(), MDB_val())
    var status = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
    while status == MDB_SUCCESS {
      try body(value.mv_data.loadUnaligned(as: Int64.self))
      status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    guard status == MDB_NOTFOUND else { return try check(status) }
  }
}
