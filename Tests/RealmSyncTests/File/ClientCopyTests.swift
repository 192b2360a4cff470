import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// A client's file that began as a copy of another one, with its session with a driven server.
private final class CopiedFile {
  private let driven: DrivenServer
  private let user: String
  let database: Database
  let session: ClientSession
  private var id: SyncServer.SessionID?
  private var upward: [ClientMessage] = []
  /// The names of all actions that the session told.
  private(set) var told: [String] = []
  private(set) var problem: ClientProblem?
  /// The result of each step.
  private(set) var steps: [String] = []

  init(
    _ path: String, _ driven: DrivenServer, _ user: String, partition: Value? = nil,
    recovery: ClientSession.Recovery = .recover
  ) throws {
    (self.driven, self.user) = (driven, user)
    var options = DatabaseOptions()
    options.history = .synced
    database = try Database(path: path, options: options)
    session = ClientSession(database, partition: partition, recovery: recovery)
  }

  var position: ClientPosition {
    get throws { try ClientPosition(database.snapshot().tree(ClientPosition.tree)) }
  }
  var time: UInt64 { driven.time }
  var hasPending: Bool { get throws { try ClientCopy.hasPending(database.snapshot()) } }

  func number() throws -> UInt64 {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    return try ClientFile(transaction).number
  }

  /// Connects, exchanges messages until both sides have nothing more to say, and disconnects.
  func sync() throws {
    upward = []
    id = driven.server.connect(user: user)
    take(try session.connected())
    try exchange()
    disconnect()
  }

  private func disconnect() {
    if let id { driven.server.disconnect(id) }
    session.disconnected()
    (id, upward) = (nil, [])
  }

  private func take(_ actions: [ClientSession.Action]) {
    for action in actions {
      told.append([action].text)
      switch action {
      case .send(let message): upward.append(message)
      case .failed(let found): problem = found
      case .disconnect: disconnect()
      default: break
      }
    }
  }

  private func exchange() throws {
    for _ in 0..<200 {
      driven.time += 100
      take(session.upload(time: driven.time))
      let messages = upward
      upward = []
      if let id { for message in messages { try driven.send(message, id) } }
      let connection = id
      let answers = try driven.run()
      let answered = connection.flatMap { answers.messages[$0] } ?? []
      for message in answered where id == connection {
        if case .step(let step) = message { steps += step.told }
        take(session.receive(message, time: driven.time))
      }
      if messages.isEmpty, answered.isEmpty { return }
    }
    Issue.record("\(user) and the server talk without end")
  }
}

extension ConnectedFile {
  /// Connects, exchanges messages until both sides have nothing more to say, and disconnects. A message that the server
  /// sends while the test drives another file would be lost.
  fileprivate func sync() throws {
    try connect()
    try exchange()
    disconnect()
  }
}

/// Copies of clients' files for other users and devices.
@Suite struct ClientCopyTests {
  private static func write(_ file: CopiedFile, _ key: Int64) throws {
    try file.database.write { transaction in
      try transaction.setTime(file.time)
      _ = try transaction.table(ModelClass.name)?.insert([
        "id": .int(key), "q": .int(1), "m": .string("mine"),
      ])
    }
  }

  /// A file of the user anna that has objects and no pending changes.
  private static func file(_ driven: DrivenServer, partition: Value? = nil) throws -> ConnectedFile {
    let file = try ConnectedFile(driven, "anna", partition: partition)
    if partition == nil { try file.ask("") }
    for key in 1...3 as ClosedRange<Int64> { try file.write(key, .int(1)) }
    #expect(try ClientCopy.hasPending(file.database.snapshot()))
    try file.sync()
    #expect(try !ClientCopy.hasPending(file.database.snapshot()))
    return file
  }

  private static func copy(_ file: ConnectedFile, to path: String) throws {
    try ClientCopy.write(file.database.snapshot(), to: path, like: path, encryptionKey: nil)
  }

  /// Deletes an object through another client.
  private static func delete(_ key: Int64, _ driven: DrivenServer) throws {
    let writer = try driven.running("writer")
    try writer.upload(.one(key, [.delete]))
    try driven.run()
  }

  // MARK: - Partitions

  @Test func `a copy continues from the copied state, as a client with a number of its own`() throws {
    let driven = try DrivenServer()
    let anna = try Self.file(driven, partition: .int(1))
    try withTemporaryPath { path in
      try Self.copy(anna, to: path)
      let ben = try CopiedFile(path, driven, "ben", partition: .int(1))
      #expect(try ben.number() == .max && ben.position.isCopy && !ben.hasPending)
      #expect(try ben.database.modelKeys() == [1, 2, 3])
      try Self.write(ben, 4)
      try Self.delete(2, driven)
      try anna.write(5, .int(1))
      try anna.sync()
      try ben.sync()
      try anna.sync()
      #expect(!ben.told.contains("will reset") && ben.problem == nil)
      // The copied objects are not sent again.
      #expect(!ben.steps.contains { $0.hasSuffix(" 1") || $0.hasSuffix(" 3") }, "\(ben.steps)")
      for database in [ben.database, anna.database, driven.database] {
        #expect(try database.modelKeys() == [1, 3, 4, 5])
      }
      #expect(try ben.number() != anna.number() && !ben.position.isCopy && !ben.hasPending)
      let check = IntegrityCheck.run(try ben.database.snapshot())
      #expect(check.isClean, "\(check.findings)")
      #expect(try driven.state.lastSequence(of: ben.number()) == 1)
      try ben.sync()
      #expect(!ben.told.contains("will reset") && ben.problem == nil)
    }
  }

  @Test func `one file may be copied several times, even if it has never connected`() throws {
    let driven = try DrivenServer()
    let anna = try Self.file(driven, partition: .int(1))
    try withTemporaryPath { path in
      try Self.copy(anna, to: path)
      let first = try CopiedFile(path, driven, "ben", partition: .int(1))
      try ClientCopy.write(first.database.snapshot(), to: path + "2", like: path, encryptionKey: nil)
      let second = try CopiedFile(path + "2", driven, "cleo", partition: .int(1))
      for (key, file) in [(10, first), (11, second)] as [(Int64, CopiedFile)] {
        try Self.write(file, key)
        try file.sync()
      }
      for file in [first, second] {
        try file.sync()
        #expect(try file.database.modelKeys() == [1, 2, 3, 10, 11])
        #expect(!file.told.contains("will reset") && file.problem == nil)
      }
      #expect(try first.number() != second.number())
    }
  }

  /// Changes lists. The ids of their elements name the replicas that inserted them.
  private static func changeLists(
    _ database: Database, _ time: UInt64, _ generator: inout SeededGenerator
  ) throws {
    try database.write { transaction in
      try transaction.setTime(time)
      guard let table = try transaction.table(ModelClass.name),
        let list = table.schema.columns.firstIndex(where: { $0.name == "l" })
      else { return }
      for _ in 0..<6 {
        let key = Value.int(Int64(1 + generator.below(3)))
        guard let row = try table.row(withPrimaryKey: key) else { continue }
        let count = try table.listCount(list, ofRow: row) ?? 0
        switch count == 0 ? 0 : generator.below(4) {
        case 0, 1:
          let value = Value.int(Int64(generator.below(1000)))
          _ = try table.insert([value], at: generator.below(count + 1), ofList: list, ofRow: row)
        case 2:
          let place = generator.below(count)
          _ = try table.removeElements(place..<place + 1, ofList: list, ofRow: row)
        default:
          let (old, new) = (generator.below(count), generator.below(count))
          _ = try table.moveElement(from: old, to: new, ofList: list, ofRow: row)
        }
      }
    }
  }

  @Test func `changes that a copy writes meet the changes that others write meanwhile`() throws {
    for seed in Slow.seeds(10, slow: 500) {
      let driven = try DrivenServer(seed: seed)
      var generator = SeededGenerator(seed: seed)
      let anna = try Self.file(driven, partition: .int(1))
      try Self.changeLists(anna.database, driven.time, &generator)
      try anna.sync()
      try withTemporaryPath { path in
        try Self.copy(anna, to: path)
        let ben = try CopiedFile(path, driven, "ben", partition: .int(1))
        for _ in 0..<3 {
          try Self.changeLists(anna.database, driven.time, &generator)
          try anna.sync()
          try Self.changeLists(ben.database, driven.time, &generator)
        }
        try ben.sync()
        for _ in 0..<3 {
          try Self.changeLists(anna.database, driven.time, &generator)
          try Self.changeLists(ben.database, driven.time, &generator)
          try anna.sync()
          try ben.sync()
        }
        try anna.sync()
        let numbers = driven.state.numbers
        let expected = try ModelClass.texts(driven.database.snapshot()) { min(numbers[Int($0)], 1 << 48) }
        for database in [anna.database, ben.database] {
          let found = try ModelClass.texts(ofFile: database.snapshot())
          #expect(ModelClass.difference(found, expected) == nil, "seed \(seed)")
        }
        #expect(!ben.told.contains("will reset") && ben.problem == nil, "seed \(seed)")
      }
    }
  }

  @Test func `a copy that is opened for another partition gets the objects of that one`() throws {
    let driven = try DrivenServer()
    let anna = try Self.file(driven, partition: .int(1))
    let writer = try driven.running("writer")
    try writer.upload(.creation(7, 2))
    try driven.run()
    try withTemporaryPath { path in
      try Self.copy(anna, to: path)
      let ben = try CopiedFile(path, driven, "ben", partition: .int(2))
      try ben.sync()
      #expect(try ben.database.modelKeys() == [7] && ben.problem == nil)
    }
  }

  // MARK: - Rights

  enum Rights: CaseIterable, Sendable {
    case same, ofUsers, ofOneUser

    var areAlike: Bool { self == .same }
  }

  @Test(arguments: Rights.allCases)
  func `a copy downloads all objects if users may read different objects`(rights: Rights) throws {
    let driven = try DrivenServer()
    var read = ClassFilters.everything
    if rights == .ofUsers {
      let condition = FieldFilter.Condition(.user("id"), .notEqual, [.value(.string("zoe"))])
      read = ClassFilters(others: FieldFilter(terms: [[condition]]))
    }
    try driven.append(.rules(user: nil, AccessRules(read: read, write: .everything)))
    if rights == .ofOneUser { try driven.append(.rules(user: "ben", .everything)) }
    let anna = try Self.file(driven, partition: .int(1))
    try withTemporaryPath { path in
      try Self.copy(anna, to: path)
      try Self.delete(2, driven)
      let ben = try CopiedFile(path, driven, "ben", partition: .int(1), recovery: .manual)
      try Self.write(ben, 4)
      try ben.sync()
      #expect(ben.told.contains("will reset") == !rights.areAlike && ben.problem == nil)
      #expect(ben.steps.contains("whole 1") == !rights.areAlike)
      #expect(try ben.database.modelKeys() == [1, 3, 4] && driven.database.modelKeys() == [1, 3, 4])
      #expect(try !ben.position.isCopy)
    }
  }

  // MARK: - Query sets

  @Test func `a copy with a query set is reset when it connects, and the app does not see a reset`() throws {
    let driven = try DrivenServer()
    let anna = try Self.file(driven)
    try withTemporaryPath { path in
      try Self.copy(anna, to: path)
      let ben = try CopiedFile(path, driven, "ben", recovery: .manual)
      ben.session.beforeReset = { Issue.record("the app is asked") }
      #expect(try ben.position.querySet == 1 && ben.database.modelKeys() == [1, 2, 3])
      try Self.delete(2, driven)
      try Self.write(ben, 4)
      try ben.sync()
      #expect(ben.told.contains("did reset") && ben.session.isResetOfCopy && ben.problem == nil)
      #expect(try ben.database.modelKeys() == [1, 3, 4] && driven.database.modelKeys() == [1, 3, 4])
      #expect(try ben.position.querySet == 1 && !ben.position.isCopy && !ben.hasPending)
      try anna.sync()
      #expect(try anna.keys() == [1, 3, 4])
      // From now on the copy is like any other file.
      try driven.append(.retire(replica: ben.number()))
      try driven.run()
      try ben.sync()
      #expect(ben.problem == .resetNeeded(isInDoubt: true))
    }
  }

  @Test func `a copy of a file that was never connected has never been connected either`() throws {
    let driven = try DrivenServer()
    let anna = try ConnectedFile(driven, "anna")
    try withTemporaryPath { path in
      try Self.copy(anna, to: path)
      let ben = try CopiedFile(path, driven, "ben")
      #expect(try !ben.position.isCopy && ben.number() == .max)
      try ben.sync()
      #expect(ben.problem == nil && !ben.told.contains("will reset"))
    }
  }
}
