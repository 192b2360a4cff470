import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// A real client's file, with its session with a driven server. Every message is written to bytes and read from them.
final class ConnectedFile {
  private let driven: DrivenServer
  private let user: String
  let database: Database
  let session: ClientSession
  private var id: SyncServer.SessionID?
  /// The messages that the client will send next.
  private var upward: [ClientMessage] = []
  /// The names of all actions that the session told.
  private(set) var told: [String] = []
  /// The codes of the errors by which the server ended sessions.
  private(set) var errors: [UInt32] = []

  /// - Parameter partition: The value that all objects have in the field `q`.
  init(_ driven: DrivenServer, _ user: String, partition: Value? = nil) throws {
    (self.driven, self.user) = (driven, user)
    var options = DatabaseOptions()
    options.history = .synced
    database = try Database(creatingIn: MemoryStorage(name: "file of \(user)"), options: options)
    session = ClientSession(database, partition: partition)
  }

  var isConnected: Bool { id != nil }

  /// Makes an object. The first call also makes the class.
  func write(_ key: Int64, _ field: Value = .null) throws {
    try database.write { transaction in
      try transaction.setTime(driven.time)
      if try transaction.table(ModelClass.name) == nil { try ModelClass.make(transaction) }
      _ = try transaction.table(ModelClass.name)?.insert(["id": .int(key), "q": field, "m": .string("mine")])
    }
  }

  @discardableResult
  func ask(_ predicate: String) throws -> UInt64 { try ask(queries: [DrivenClient.query(predicate)]) }

  /// Gives the file another query set, with queries of any classes.
  @discardableResult
  func ask(queries: [QuerySet.Query]) throws -> UInt64 {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    var file = try ClientFile(transaction)
    let number = try file.setQueries(queries)
    try transaction.commit()
    return number
  }

  func reading<Result>(_ body: (inout ClientFile) throws -> Result) throws -> Result {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    var file = try ClientFile(transaction)
    return try body(&file)
  }

  func number() throws -> UInt64 { try reading { $0.number } }
  func position() throws -> ClientPosition { try reading { $0.position } }
  func refusals() throws -> [Refusal] { try reading { try $0.refusals().map(\.refusal) } }
  func pending() throws -> Int { try reading { try $0.start(wanted: 0).pending.count } }

  /// The keys of the file's objects.
  func keys() throws -> [Int64] { try database.modelKeys() }

  // MARK: - The session

  func connect() throws {
    disconnect()
    id = driven.server.connect(user: user)
    take(try session.connected())
  }

  func disconnect() {
    if let id { driven.server.disconnect(id) }
    session.disconnected()
    (id, upward) = (nil, [])
  }

  private func take(_ actions: [ClientSession.Action]) {
    for action in actions {
      told.append([action].text)
      switch action {
      case .send(let message): upward.append(message)
      case .ended(let error): errors.append(error.code)
      case .disconnect: disconnect()
      case .failed(let problem): Issue.record("\(user) fails: \(problem)")
      default: break
      }
    }
  }

  /// Sends all messages that the client has for the server, and takes the server's answers.
  ///
  /// - Returns: True if there were messages to send.
  @discardableResult
  func talk() throws -> Bool {
    driven.time += 100
    take(session.upload(time: driven.time))
    let messages = upward
    upward = []
    if let id { for message in messages { try driven.send(message, id) } }
    let connection = id
    let answers = try driven.run()
    let answered = connection.flatMap { answers.messages[$0] } ?? []
    for message in answered where id == connection {
      take(session.receive(message, time: driven.time))
    }
    return !messages.isEmpty || !answered.isEmpty
  }

  /// Continues until both sides have nothing more to say.
  func exchange() throws {
    for _ in 0..<200 {
      guard try talk() || driven.server.hasWork else { return }
    }
    Issue.record("\(user) and the server talk without end")
  }
}

extension Database {
  /// The keys of the objects of the model's class.
  func modelKeys() throws -> [Int64] {
    let transaction = try beginWrite()
    defer { transaction.cancel() }
    return try ModelClass.texts(transaction) { UInt64($0) }.keys.sorted()
  }
}
