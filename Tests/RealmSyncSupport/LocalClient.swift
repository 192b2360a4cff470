import RealmStorage
import RealmSync
import RealmSyncClient
import RealmTestSupport

/// A client with a file in memory, which no accident happens to.
package final class LocalClient {
  package let database: Database
  private let user: String
  private let session: ClientSession
  private var server: LocalServer?
  private var connection: LocalServer.Connection?
  /// The messages that the client will send next.
  private var upward: [[UInt8]] = []

  /// Makes a client that asks for all objects.
  package init(_ user: String) throws {
    var options = DatabaseOptions()
    options.history = .synced
    database = try Database(creatingIn: MemoryStorage(name: user), options: options)
    self.user = user
    session = ClientSession(database)
    try ModelClass.ask(15, database, .full)
  }

  /// Connects to a server with the next message. The connection to another server is lost.
  package func use(_ server: LocalServer) {
    lose()
    self.server = server
  }

  private func lose() {
    if let connection { server?.disconnect(connection) }
    session.disconnected()
    (connection, upward) = (nil, [])
  }

  /// Makes random changes.
  ///
  /// - Parameter time: The time of the commit; nil for the machine's time.
  package func write(_ changes: Int, keys: Int, time: UInt64?, _ generator: inout SeededGenerator) throws {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    if let time { try transaction.setTime(time) }
    try ModelClass.change(transaction, keys: keys, changes: changes, &generator)
    try transaction.commit()
  }

  /// Sends all messages that the client has for the server.
  ///
  /// - Returns: True if there were messages to send.
  @discardableResult
  package func send(time: UInt64) throws -> Bool {
    guard let server else { return false }
    if connection == nil {
      connection = server.connect(user: user)
      try take(session.connected())
    }
    try take(session.upload(time: time))
    let frames = upward
    upward = []
    guard let connection else { return true }
    for frame in frames { try server.receive(frame, from: connection, time: time) }
    return !frames.isEmpty
  }

  /// Takes all messages that the server has sent.
  ///
  /// - Returns: True if there were messages to take.
  @discardableResult
  package func receive(time: UInt64) throws -> Bool {
    guard let connection else { return false }
    let frames = connection.downward
    connection.downward = []
    for frame in frames where self.connection === connection {
      try take(session.receive(try ServerMessage(bytes: frame), time: time))
    }
    return !frames.isEmpty
  }

  /// Continues until both sides have nothing more to say.
  package func exchange(time: inout UInt64) throws {
    for _ in 0..<1000 {
      time += 100
      let hasSaid = try send(time: time)
      try server?.run(time: time)
      let hasHeard = try receive(time: time)
      guard hasSaid || hasHeard else { return }
    }
    throw Violation("\(user) and the server talk without end")
  }

  private func take(_ actions: [ClientSession.Action]) throws {
    for action in actions {
      switch action {
      case .send(let message): upward.append(message.bytes)
      case .disconnect: lose()
      case .failed(let problem): throw Violation("\(user) fails: \(problem)")
      case .querySetRefused(_, _, let text): throw Violation("a query set of \(user) is refused: \(text)")
      default: break
      }
    }
  }

  /// The position of the file in the log, with the last changeset that it knows to be decided.
  package func position() throws -> ClientPosition {
    try ClientPosition(database.snapshot().tree(ClientPosition.tree))
  }

  /// The number of the file. The number of a file that was never registered is the greatest of all.
  package func number() throws -> UInt64 { try database.replicaNumber() }
}

extension Database {
  /// The number of a client's file. The number of a file that was never registered is the greatest of all.
  package func replicaNumber() throws -> UInt64 {
    let snapshot = try snapshot()
    let position = try ClientPosition(snapshot.tree(ClientPosition.tree))
    guard let changelog = try snapshot.changelog() else { throw Violation("the file is not synced") }
    return position.replicas[Int(changelog.state.replica)]
  }
}

extension ServerNotes {
  /// Checks that each changeset that came from a file is either decided in it or pending with the same content.
  package func check(_ file: ClientFile) throws {
    let (replica, decided) = (file.number, file.position.decided.sequence)
    var pending: [UInt64: [UInt8]] = [:]
    for changeset in try file.start(wanted: 0).pending { pending[changeset.sequence] = changeset.hash }
    for (sequence, hash) in hashes(of: replica) where sequence > decided && pending[sequence] != hash {
      throw Violation(
        "lost: the server has the changeset \(sequence) of the file \(replica), which knows \(decided) to be "
          + "decided and \(pending[sequence] == nil ? "lacks it" : "has another one")")
    }
  }
}
