import CLMDB
import Foundation

extension LMDBEngine: Questions {
  func countAll() throws -> Int {
    try reading { transaction in
      var statistics = MDB_stat()
      try check(mdb_stat(transaction, people, &statistics))
      return statistics.ms_entries
    }
  }

  func countActive(olderThan age: Int64) throws -> Int { try count { $0.age > age && $0.active != 0 } }

  func count(email: String) throws -> Int {
    var email = email
    return try email.withUTF8 { email in
      try count { row in
        let other = row.email
        return other.count == email.count && memcmp(other.baseAddress!, email.baseAddress!, email.count) == 0
      }
    }
  }

  func count(nameContaining part: String, ignoringCase: Bool) throws -> Int {
    var part = ignoringCase ? part.lowercased() : part
    return try part.withUTF8 { part in
      let part = UnsafeRawBufferPointer(part)
      guard ignoringCase else {
        return try count { row in
          memmem(row.name.baseAddress!, row.name.count, part.baseAddress!, part.count) != nil
        }
      }
      return try count { row in Self.contains(row.name, small: part) }
    }
  }

  /// - Parameter small: the part to find, in lower case.
  private static func contains(_ text: UnsafeRawBufferPointer, small part: UnsafeRawBufferPointer) -> Bool {
    guard text.count >= part.count else { return false }
    for start in 0...text.count - part.count {
      var length = 0
      while length < part.count {
        let byte = text[start + length]
        guard (byte &- 65 < 26 ? byte | 32 : byte) == part[length] else { break }
        length += 1
      }
      if length == part.count { return true }
    }
    return false
  }

  func count(ids: [Int64]) throws -> Int {
    try reading { transaction in
      var count = 0
      for var id in ids {
        try withValue(&id) { id in
          var value = MDB_val()
          let status = mdb_get(transaction, people, &id, &value)
          if status == MDB_NOTFOUND { return }
          try check(status)
          count += 1
        }
      }
      return count
    }
  }

  /// Counts with an array of flags for the ages, because the program knows that ages are small.
  func count(ages: [Int64]) throws -> Int {
    var isAmong = [Bool](repeating: false, count: 256)
    for age in ages where (0..<256).contains(age) { isAmong[Int(age)] = true }
    return try count { isAmong[Int($0.age)] }
  }

  private func count(where holds: (Row) -> Bool) throws -> Int {
    try reading { transaction in
      var count = 0
      try forEachRow(transaction) { _, row in if holds(row) { count += 1 } }
      return count
    }
  }

  // MARK: - Sorting

  /// The parts of a Person that are compared: the age and the first bytes of the name in one number, and the whole
  /// name.
  private struct Sortable {
    let head: UInt64
    let row: Row

    init(_ row: Row) {
      self.row = row
      var head = UInt64(row.age)
      for index in 0..<7 { head = head << 8 | UInt64(index < row.name.count ? row.name[index] : 0) }
      self.head = head
    }

    static func precedes(_ left: Sortable, _ right: Sortable) -> Bool {
      if left.head != right.head { return left.head < right.head }
      let (left, right) = (left.row.name, right.row.name)
      let order = memcmp(left.baseAddress!, right.baseAddress!, min(left.count, right.count))
      return order != 0 ? order < 0 : left.count < right.count
    }
  }

  func firstByAgeAndName(asksForAll: Bool) throws -> Answer {
    try reading { transaction in
      var rows: [Sortable] = []
      try forEachRow(transaction) { _, row in
        let row = Sortable(row)
        let number = FirstByAgeAndName.count
        guard !asksForAll, rows.count >= number else { return rows.append(row) }
        // The first rows are kept in order. A row that comes after all of them is not added.
        guard Sortable.precedes(row, rows[number - 1]) else { return }
        rows.append(row)
        if rows.count == 2 * number {
          rows.sort(by: Sortable.precedes)
          rows.removeLast(number)
        }
      }
      rows.sort(by: Sortable.precedes)
      var first = FirstByAgeAndName()
      for row in rows.prefix(FirstByAgeAndName.count) { first.add(age: row.row.age, row.row.name) }
      return first.answer
    }
  }

  func sumAndAverage() throws -> (scores: Double, age: Double) {
    try reading { transaction in
      var (scores, ages, count) = (0.0, Int64(0), 0)
      try forEachRow(transaction) { _, row in
        scores += row.score
        ages += row.age
        count += 1
      }
      return (scores, Double(ages) / Double(count))
    }
  }

  // MARK: - Changing many

  func raiseScores() throws {
    try writing { transaction in
      var bytes: [UInt8] = []
      try forEachEntry(transaction) { cursor, key, value in
        let row = Row(value)
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: row.bytes)
        let score = row.score + 1
        try bytes.withUnsafeMutableBytes { bytes in
          bytes.storeBytes(of: score.bitPattern, toByteOffset: Layout.score, as: UInt64.self)
          var new = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
          try check(mdb_cursor_put(cursor, &key, &new, UInt32(MDB_CURRENT)))
        }
      }
    }
  }

  func deleteInactive() throws {
    try writing { transaction in
      try forEachEntry(transaction) { cursor, key, value in
        let row = Row(value)
        guard row.active == 0 else { return }
        // A delete may move the page that both point into, so they are copied first.
        var id = key.mv_data.loadUnaligned(as: Int64.self)
        let city = [UInt8](row.city)
        try check(mdb_cursor_del(cursor, 0))
        try withValue(&id) { id in
          try city.withUnsafeBytes { city in
            var key = MDB_val(
              mv_size: city.count, mv_data: UnsafeMutableRawPointer(mutating: city.baseAddress))
            try check(mdb_del(transaction, cities, &key, &id))
          }
        }
      }
    }
  }

  private func forEachEntry(
    _ transaction: OpaquePointer?, _ body: (OpaquePointer?, inout MDB_val, MDB_val) throws -> Void
  ) throws {
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(transaction, people, &cursor))
    defer { mdb_cursor_close(cursor) }
    var (key, value) = (MDB_val(), MDB_val())
    var status = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
    while status == MDB_SUCCESS {
      try body(cursor, &key, value)
      status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    guard status == MDB_NOTFOUND else { return try check(status) }
  }
}
