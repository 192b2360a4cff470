import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Nodes that follow a log.
@Suite struct ServerNodeTests {
  private static func database() throws -> Database {
    let database = try Database(inMemory: "node")
    try database.write { try ModelClass.make($0) }
    return database
  }

  /// A log of two replicas with uploads of every kind.
  private static func records(seed: UInt64, count: Int) -> [LogRecord] {
    var maker = HostileMaker(seed: seed)
    var records = [
      LogRecord(tag: 1, time: 1000, .register(Registration(replica: 5, user: "anna"))),
      LogRecord(tag: 2, time: 1000, .register(Registration(replica: 6, user: "ben", partition: .int(1)))),
      LogRecord(tag: 3, time: 1000, .querySet(replica: 5, number: 1, .everything)),
      LogRecord(tag: 4, time: 1000, .querySet(replica: 6, number: 1, ModelClass.filters(6))),
      LogRecord(
        tag: 5, time: 1000, .rules(user: nil, AccessRules(read: .everything, write: ModelClass.filters(7)))),
    ]
    var last: [UInt64: (sequence: UInt64, hash: [UInt8])] = [:]
    while records.count < count {
      guard let changeset = try? Changeset(bytes: maker.changeset().bytes) else { continue }
      let replica: UInt64 = maker.generator.chance(70) ? 5 : 6
      let before = last[replica] ?? (0, [])
      let hash = "\(replica) \(before.sequence)".utf8.map(\.self).contentHash
      let stamp = Stamp(milliseconds: UInt64(1000 + maker.generator.below(5000)))
      let upload = Upload(
        replica: replica, user: replica == 5 ? "anna" : "ben", sequence: before.sequence + 1,
        previous: before.hash, hash: hash, base: 4, stamp: stamp, querySets: [1],
        replicas: [0, replica, 5, 9],
        changeset: changeset)
      last[replica] = (before.sequence + 1, hash)
      records.append(LogRecord(tag: maker.generator.next(), time: 2000, .upload(upload)))
    }
    records.append(LogRecord(tag: 9, time: 3000, .retire(replica: 6)))
    return records
  }

  /// The state that a node has made of its log.
  private static func content(_ database: Database) throws -> [String] {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    var found = try ModelClass.texts(transaction) { UInt64($0) }.map { "\($0.key) \($0.value)" }.sorted()
    for name in ["sync.records", "sync.server"] {
      try transaction.tree(name).forEach { key, value in
        found.append("\(name) \(key) \(value)")
        return true
      }
    }
    return found
  }

  @Test(arguments: Slow.seeds(4, slow: 200))
  func `nodes that follow one log in different ways get the same state`(seed: UInt64) throws {
    let records = Self.records(seed: seed, count: 150)
    let log = MemoryLog()
    let databases = try (0..<3).map { _ in try Self.database() }
    let slow = try ServerNode(databases[0], settings: ModelClass.settings, log: log)
    var restarted = try ServerNode(databases[1], settings: ModelClass.settings, log: log)
    for (number, record) in records.enumerated() {
      log.append([record])
      try slow.follow()
      guard number % 20 == 7 else { continue }
      try restarted.follow()
      restarted = try ServerNode(databases[1], settings: ModelClass.settings, log: log)
    }
    try restarted.follow()
    let late = try ServerNode(databases[2], settings: ModelClass.settings, log: log)
    let done = try late.follow()
    #expect(done.values.contains { !$0.objects.isEmpty } && done.values.contains { !$0.refusals.isEmpty })
    let contents = try databases.map { try Self.content($0) }
    #expect(contents[0] == contents[1], "seed \(seed)")
    #expect(contents[0] == contents[2], "seed \(seed)")
    #expect(late.skipped.isEmpty)
  }

  @Test func `the log of a node continues where the state in its file ends`() throws {
    let records = Self.records(seed: 3, count: 60)
    let database = try Self.database()
    func log() throws -> EmbeddedLog { try EmbeddedLog(after: database, settings: ModelClass.settings) }
    var node = try ServerNode(database, settings: ModelClass.settings, log: log())
    for record in records[..<40] { try node.append(record.entry, tag: record.tag, time: record.time) }
    try node.follow()
    // These records were never integrated. Their clients are not told that they are durable, and send them again.
    for record in records[40...] { try node.append(record.entry, tag: record.tag, time: record.time) }
    node = try ServerNode(database, settings: ModelClass.settings, log: log())
    #expect(node.end == 40 && node.state.version == 40)
    for record in records[40...] { try node.append(record.entry, tag: record.tag, time: record.time) }
    try node.follow()
    #expect(try log().end == UInt64(records.count))
    let memory = MemoryLog()
    memory.append(records)
    let other = try Self.database()
    try ServerNode(other, settings: ModelClass.settings, log: memory).follow()
    #expect(try Self.content(other) == Self.content(database))
  }

  @Test func `a file of a newer version of the merge rules is refused, and is not changed`() throws {
    let database = try Self.database()
    let (known, newer) = (ServerState.newestSemantics, ServerState.newestSemantics + 1)
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let state = try ServerState(transaction, settings: ModelClass.settings)
    // A newer server would leave the file in this state.
    try state.integrate(LogRecord(tag: 1, time: 1000, .semantics(newer)), in: transaction)
    try transaction.commit()
    let content = try Self.content(database)
    let log = MemoryLog()
    log.append([LogRecord(tag: 1, time: 1000, .semantics(newer))] + Self.records(seed: 3, count: 10))
    let problem = ServerNodeProblem.unknownSemantics(stored: newer, known: known)
    #expect(throws: problem) {
      try ServerNode(database, settings: ModelClass.settings, log: log).follow()
    }
    #expect("\(problem)".contains("\(newer)"))
    #expect(try Self.content(database) == content)
  }
}
