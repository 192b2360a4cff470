import RealmServer
import RealmStorage
import RealmSync
import RealmTestSupport

/// A server in this process, whose connections carry messages as their bytes.
///
/// It checks the messages: no changeset and no query set comes twice with different contents, and no file is reset
/// without a cause.
package final class LocalServer {
  /// A connection of a client.
  package final class Connection {
    let id: SyncServer.SessionID
    /// The messages that the server has sent and the client has not taken yet, oldest first.
    package var downward: [[UInt8]] = []
    /// The replica for which the client speaks.
    var replica: UInt64 = 0
    /// The replica for which the client speaks from its next start on.
    var next: UInt64?

    init(_ id: SyncServer.SessionID) { self.id = id }
  }

  package let database: Database
  package let node: ServerNode
  package let notes: ServerNotes
  /// The objects at the versions to which steps lead, as texts. It is empty if they are not kept.
  package private(set) var past: [UInt64: [Int64: String]] = [:]
  private let server: SyncServer
  private let keepsPast: Bool
  private var connections: [SyncServer.SessionID: Connection] = [:]
  private var generator: SeededGenerator

  package var state: ServerState { node.state }

  /// - Parameters:
  ///   - database: The database of the server's file, which already has the tables of the model.
  ///   - notes: The notes of the server that had the file before.
  ///   - log: The log; nil for a log that is lost with the server.
  package init(
    _ database: Database, notes: ServerNotes = ServerNotes(), log: (any EventLog)? = nil,
    keepsPast: Bool = false, seed: UInt64
  ) throws {
    let settings = ModelClass.settings
    let used: any EventLog
    if let log { used = log } else { used = try EmbeddedLog(after: database, settings: settings) }
    node = try ServerNode(database, settings: settings, log: used)
    (self.database, self.notes, self.keepsPast) = (database, notes, keepsPast)
    var limits = ServerLimits()
    (limits.registrations, limits.replicas) = (.max, .max)
    // Steps have several parts, and a client that no change concerns is soon told its version.
    (limits.partBytes, limits.idleVersions) = (200, 20)
    var drawn = SeededGenerator(seed: seed)
    // The shift keeps the numbers small, because the texts of objects join a replica's number and a counter into one
    // number.
    server = SyncServer(node, limits: limits) { drawn.next() >> 20 | 1 }
    generator = SeededGenerator(seed: ~seed)
  }

  // MARK: - Connections

  package func connect(user: String) -> Connection {
    let connection = Connection(server.connect(user: user))
    connections[connection.id] = connection
    return connection
  }

  /// Tells the server that a connection is lost.
  package func disconnect(_ connection: Connection) {
    guard connections.removeValue(forKey: connection.id) != nil else { return }
    server.disconnect(connection.id)
  }

  /// Gives the server a message of a client.
  package func receive(_ frame: [UInt8], from connection: Connection, time: UInt64) throws {
    guard connections[connection.id] != nil else { return }
    let message = try ClientMessage(bytes: frame)
    switch message {
    case .hello(let hello): connection.replica = hello.replica ?? 0
    case .start:
      connection.replica = connection.next ?? connection.replica
      connection.next = nil
    case .upload(let upload): try notes.note(upload, of: connection.replica)
    case .querySet(let set): try notes.note(set, of: connection.replica)
    default: break
    }
    try server.receive(message, from: connection.id, time: time)
  }

  /// Integrates the messages that have come, and answers them.
  package func run(time: UInt64) throws {
    repeat {
      for action in try server.run(time: time) {
        switch action {
        case .send(let frame, let id):
          server.noteSent(frame.count, by: id)
          guard let connection = connections[id] else { continue }
          try look(at: ServerMessage(bytes: frame), to: connection)
          connection.downward.append(frame)
        case .close(let id): connections[id] = nil
        }
      }
    } while server.hasWork
    guard keepsPast, past[state.version] == nil else { return }
    past[state.version] = try texts()
  }

  private func look(at message: ServerMessage, to connection: Connection) throws {
    switch message {
    case .welcome(let welcome):
      switch welcome.answer {
      case .known: break
      case .registered(let registered): connection.next = registered.replica
      case .reset(let reset):
        try notes.noteReset(of: connection.replica)
        connection.next = reset.registered.replica
      }
    case .error(let error): try notes.check(error, to: connection.replica)
    default: break
    }
  }

  // MARK: - Administration

  /// Retires a replica, so that its file is reset.
  package func retire(_ replica: UInt64, time: UInt64) throws {
    notes.retired.insert(replica)
    try node.append(.retire(replica: replica), tag: generator.next(), time: time)
  }

  /// Removes the history that no client needs.
  package func trim(time: UInt64) throws { try server.trim(offline: 1 << 50, time: time) }

  /// The objects as texts, in which elements are named by the numbers of replicas.
  package func texts() throws -> [Int64: String] {
    let numbers = state.numbers
    return try ModelClass.texts(database.snapshot()) { numbers[Int($0)] }
  }
}

/// Notes of what files told servers. They also cover the servers that had the file before.
package final class ServerNotes {
  /// The hashes of changesets, by replica and sequence.
  private var hashes: [UInt64: [UInt64: [UInt8]]] = [:]
  /// The query sets, by replica and number.
  private var sets: [UInt64: [UInt64: [QuerySet.Query]]] = [:]
  /// The replicas that were retired on purpose.
  package var retired: Set<UInt64> = []
  package private(set) var uploads = 0
  package private(set) var resets = 0

  package init() {}

  func note(_ upload: UploadMessage, of replica: UInt64) throws {
    uploads += 1
    let hash = upload.hash
    guard hashes[replica]?[upload.sequence] ?? hash == hash else {
      throw Violation("the changeset \(upload.sequence) of the file \(replica) is uploaded with two contents")
    }
    hashes[replica, default: [:]][upload.sequence] = hash
  }

  func note(_ set: QuerySet, of replica: UInt64) throws {
    guard sets[replica]?[set.number] ?? set.queries == set.queries else {
      throw Violation("the query set \(set.number) of the file \(replica) is sent with two contents")
    }
    sets[replica, default: [:]][set.number] = set.queries
  }

  func noteReset(of replica: UInt64) throws {
    resets += 1
    guard retired.contains(replica) else { throw Violation("the file \(replica) is reset without a cause") }
  }

  /// Checks that an error has a cause: a newer session of the same file ends the older one, a server whose disk fails
  /// ends all sessions, and a retired replica is reset.
  func check(_ error: ProtocolError, to replica: UInt64) throws {
    guard [8, 11].contains(error.code) || retired.contains(replica) else {
      throw Violation("the session of the file \(replica) is ended: \(error.code), \(error.text)")
    }
  }

  /// The hashes of the changesets that came from a file, by their sequences.
  func hashes(of replica: UInt64) -> [UInt64: [UInt8]] { hashes[replica] ?? [:] }

  /// The objects that a query set shows, as a mask over the values of the filter field; nil if the set never came.
  package func mask(_ querySet: UInt64, of replica: UInt64) -> Int? {
    guard querySet > 0 else { return 0 }
    guard let queries = sets[replica]?[querySet] else { return nil }
    return (1...15).first { queries == [ModelClass.query($0)] }
  }
}
