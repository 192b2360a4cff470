import CLMDB
import Foundation

/// LMDB with rows packed by hand. It shows what a store of keys and values can do if the program does the rest.
///
/// The rows are stored by id (MDB_INTEGERKEY), and a second database has the ids of each city. Commits sync in LMDB's
/// default way. LMDB has no encryption. It has relaxed commits only at the risk of an unsound file.
final class LMDBEngine: Engine {
  private var environment: OpaquePointer?
  private(set) var people: MDB_dbi = 0
  private(set) var cities: MDB_dbi = 0
  private(set) var tasks: MDB_dbi = 0
  private(set) var owners: MDB_dbi = 0
  private var pinned: OpaquePointer?

  init(folder: String, count: Int) throws {
    try check(mdb_env_create(&environment))
    try check(mdb_env_set_maxdbs(environment, 4))
    // This only reserves addresses. The file has only the pages that were written.
    try check(mdb_env_set_mapsize(environment, (8 << 30) + (count << 10)))
    try check(mdb_env_open(environment, folder, 0, 0o644))
    try writing { transaction in
      try check(mdb_dbi_open(transaction, "people", UInt32(MDB_CREATE | MDB_INTEGERKEY), &people))
      try check(
        mdb_dbi_open(
          transaction, "cities", UInt32(MDB_CREATE | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP), &cities))
    }
  }

  /// Opens the databases of Tasks, which few workloads need.
  func openTasks(_ transaction: OpaquePointer?, _ flags: UInt32) throws {
    try check(mdb_dbi_open(transaction, "tasks", flags | UInt32(MDB_INTEGERKEY), &tasks))
    try check(
      mdb_dbi_open(
        transaction, "owners",
        flags | UInt32(MDB_INTEGERKEY | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP), &owners))
  }

  static var version: String { "\(MDB_VERSION_MAJOR).\(MDB_VERSION_MINOR).\(MDB_VERSION_PATCH)" }

  // MARK: - Rows

  /// The layout of a row. It has 8 bytes each for score and created, one byte each for age, active, and the lengths of
  /// name, email, city and bio, where the length 255 stands for no bio, and then the texts.
  enum Layout {
    static let score = 0
    static let created = 8
    static let age = 16
    static let active = 17
    static let lengths = 18
    static let texts = 22
    static let noText: UInt8 = 255
  }

  private static func pack(_ person: Person, into row: inout [UInt8]) {
    row.removeAll(keepingCapacity: true)
    withUnsafeBytes(of: person.score.bitPattern) { row.append(contentsOf: $0) }
    withUnsafeBytes(of: person.created) { row.append(contentsOf: $0) }
    row.append(UInt8(person.age))
    row.append(person.active ? 1 : 0)
    row.append(UInt8(person.name.utf8.count))
    row.append(UInt8(person.email.utf8.count))
    row.append(UInt8(person.city.utf8.count))
    row.append(person.bio.map { UInt8($0.utf8.count) } ?? Layout.noText)
    row.append(contentsOf: person.name.utf8)
    row.append(contentsOf: person.email.utf8)
    row.append(contentsOf: person.city.utf8)
    if let bio = person.bio { row.append(contentsOf: bio.utf8) }
  }

  /// A row in the map, without a copy.
  struct Row {
    let bytes: UnsafeRawBufferPointer

    init(_ value: MDB_val) { bytes = UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size) }

    var score: Double {
      Double(bitPattern: bytes.loadUnaligned(fromByteOffset: Layout.score, as: UInt64.self))
    }
    var created: Int64 { bytes.loadUnaligned(fromByteOffset: Layout.created, as: Int64.self) }
    var age: Int64 { Int64(bytes[Layout.age]) }
    var active: Int64 { Int64(bytes[Layout.active]) }
    var name: UnsafeRawBufferPointer { text(at: Layout.texts, length: bytes[Layout.lengths]) }
    var email: UnsafeRawBufferPointer { text(1, after: 0) }
    var city: UnsafeRawBufferPointer { text(2, after: Int(bytes[Layout.lengths + 1])) }

    /// Calls `body` with name, email, city and bio.
    func forEachText(_ body: (UnsafeRawBufferPointer?) -> Void) {
      var start = Layout.texts
      for index in 0..<4 {
        let length = bytes[Layout.lengths + index]
        guard index < 3 || length != Layout.noText else { return body(nil) }
        body(text(at: start, length: length))
        start += Int(length)
      }
    }

    /// - Parameter between: the number of bytes between the name and the text.
    private func text(_ index: Int, after between: Int) -> UnsafeRawBufferPointer {
      text(at: Layout.texts + Int(bytes[Layout.lengths]) + between, length: bytes[Layout.lengths + index])
    }

    private func text(at start: Int, length: UInt8) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(length)])
    }
  }

  // MARK: - Writing

  func insertAll(_ source: inout PersonSource) throws {
    try writing { transaction in
      var row: [UInt8] = []
      while let people = source.next() {
        for person in people { try insert(person, transaction, &row) }
      }
    }
  }

  private func insert(_ person: Person, _ transaction: OpaquePointer?, _ row: inout [UInt8]) throws {
    Self.pack(person, into: &row)
    var id = person.id
    var city = person.city
    try withValue(&id) { id in
      try row.withUnsafeMutableBytes { row in
        var value = MDB_val(mv_size: row.count, mv_data: row.baseAddress)
        try check(mdb_put(transaction, people, &id, &value, UInt32(MDB_NOOVERWRITE)))
      }
      try city.withUTF8 { city in
        var key = MDB_val(mv_size: city.count, mv_data: UnsafeMutableRawPointer(mutating: city.baseAddress))
        try check(mdb_put(transaction, cities, &key, &id, 0))
      }
    }
  }

  var hasRelaxedCommits: Bool { false }
  var promise = Promise.durable

  func prepareSmallCommits() {}

  func setScores(_ changes: ArraySlice<ScoreChange>) throws {
    try writing { transaction in
      var row: [UInt8] = []
      for change in changes {
        var id = change.id
        try withValue(&id) { id in
          var value = MDB_val()
          try check(mdb_get(transaction, people, &id, &value))
          row.removeAll(keepingCapacity: true)
          row.append(contentsOf: Row(value).bytes)
          try row.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: change.score.bitPattern, toByteOffset: Layout.score, as: UInt64.self)
            value = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
            try check(mdb_put(transaction, people, &id, &value, 0))
          }
        }
      }
    }
  }

  func insert(_ person: Person) throws {
    try writing { transaction in
      var row: [UInt8] = []
      try insert(person, transaction, &row)
    }
  }

  // MARK: - Reading

  func lookUp(_ ids: [Int64]) throws -> Answer {
    try reading { transaction in
      var answer = Answer()
      for var id in ids {
        try withValue(&id) { id in
          var value = MDB_val()
          try check(mdb_get(transaction, people, &id, &value))
          let row = Row(value)
          answer.add(row.name)
          answer.add(row.age)
        }
      }
      return answer
    }
  }

  func iterate() throws -> Answer {
    try reading { transaction in
      var answer = Answer()
      try forEachRow(transaction) { _, row in
        answer.add(row.name)
        answer.add(row.age)
        answer.add(row.score)
      }
      return answer
    }
  }

  func count(age: Int64) throws -> Int {
    try reading { transaction in
      var count = 0
      try forEachRow(transaction) { _, row in if row.age == age { count += 1 } }
      return count
    }
  }

  func count(cities names: [String]) throws -> Int {
    try reading { transaction in
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, cities, &cursor))
      defer { mdb_cursor_close(cursor) }
      var count = 0
      for var name in names {
        try name.withUTF8 { name in
          var key = MDB_val(mv_size: name.count, mv_data: UnsafeMutableRawPointer(mutating: name.baseAddress))
          var value = MDB_val()
          let status = mdb_cursor_get(cursor, &key, &value, MDB_SET)
          if status == MDB_NOTFOUND { return }
          try check(status)
          var duplicates = 0
          try check(mdb_cursor_count(cursor, &duplicates))
          count += duplicates
        }
      }
      return count
    }
  }

  func readEverything() throws -> Answer {
    try reading { transaction in
      var answer = Answer()
      try forEachRow(transaction) { id, row in
        var hash = RowHash()
        var position = 0
        hash.add(id)
        row.forEachText { text in
          if let text { hash.add(text) } else { hash.addNull() }
          position += 1
          // The order is that of the columns, in which the numbers stand between email and city.
          guard position == 2 else { return }
          hash.add(row.age)
          hash.add(row.score)
          hash.add(row.active)
          hash.add(row.created)
        }
        answer.add(hash)
      }
      return answer
    }
  }

  func forEachRow(_ transaction: OpaquePointer?, _ body: (Int64, Row) -> Void) throws {
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(transaction, people, &cursor))
    defer { mdb_cursor_close(cursor) }
    var key = MDB_val()
    var value = MDB_val()
    var status = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
    while status == MDB_SUCCESS {
      body(key.mv_data.loadUnaligned(as: Int64.self), Row(value))
      status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    guard status == MDB_NOTFOUND else { return try check(status) }
  }

  // MARK: - A pinned reader

  func pin() throws { try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &pinned)) }

  func readPinned() throws -> Answer {
    var answer = Answer()
    try forEachRow(pinned) { _, row in answer.add(row.score) }
    return answer
  }

  func unpin() {
    mdb_txn_abort(pinned)
    pinned = nil
  }

  // MARK: - The file

  func compacted(at path: String) throws -> Bool {
    // LMDB copies into a folder, because its files are in a folder.
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try check(mdb_env_copy2(environment, path, UInt32(MDB_CP_COMPACT)))
    return true
  }

  func close() {
    mdb_env_close(environment)
    environment = nil
  }

  // MARK: - Transactions

  func writing(_ body: (OpaquePointer?) throws -> Void) throws { try writingIn(environment, body) }

  func reading<Result>(_ body: (OpaquePointer?) throws -> Result) throws -> Result {
    // A thread with a pinned reader can't have a second one.
    precondition(pinned == nil, "LMDB: one reader a thread")
    return try readingIn(environment, body)
  }
}

/// Calls `body` in a transaction, and commits it unless `body` throws.
func writingIn(_ environment: OpaquePointer?, _ body: (OpaquePointer?) throws -> Void) throws {
  var transaction: OpaquePointer?
  try check(mdb_txn_begin(environment, nil, 0, &transaction))
  do {
    try body(transaction)
  } catch {
    mdb_txn_abort(transaction)
    throw error
  }
  try check(mdb_txn_commit(transaction))
}

func readingIn<Result>(_ environment: OpaquePointer?, _ body: (OpaquePointer?) throws -> Result) throws
  -> Result
{
  var transaction: OpaquePointer?
  try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
  defer { mdb_txn_abort(transaction) }
  return try body(transaction)
}

func check(_ status: Int32) throws {
  guard status == MDB_SUCCESS else { throw BenchmarkError("LMDB: \(String(cString: mdb_strerror(status)))") }
}

/// Calls `body` with an 8-byte key, without a copy.
func withValue<Result>(_ number: inout Int64, _ body: (inout MDB_val) throws -> Result) rethrows
  -> Result
{
  try withUnsafeMutableBytes(of: &number) { bytes in
    var value = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
    return try body(&value)
  }
}
