import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmTestSupport

/// A message between a client and a server, as its bytes.
package struct Frame {
  package let bytes: [UInt8]
  /// True if a client sent the message.
  package let isUpward: Bool
}

/// A server with its file, which a test drives as a network would. Every message is written to bytes and read from
/// them.
package final class ServerPeer {
  package let database: Database
  package let node: ServerNode
  package let server: SyncServer
  /// The time of all machines.
  package var time: UInt64
  private var waiting: [SyncServer.SessionID: [[UInt8]]] = [:]
  private var ended: Set<SyncServer.SessionID> = []

  /// - Parameter seed: The seed of the numbers that the server draws.
  package init(_ database: Database, seed: UInt64, time: UInt64) throws {
    (self.database, self.time) = (database, time)
    let log = try EmbeddedLog(after: database, settings: ModelClass.settings)
    node = try ServerNode(database, settings: ModelClass.settings, log: log)
    var limits = ServerLimits()
    (limits.registrations, limits.replicas) = (.max, .max)
    // Steps have several parts, and some changes are looked up in the index of the history.
    (limits.partBytes, limits.idleVersions, limits.wholeVersions) = (200, 1, 3)
    var drawn = SeededGenerator(seed: seed)
    // The shift keeps the numbers small, because the texts of objects join a replica's number and a counter into one
    // number.
    server = SyncServer(node, limits: limits) { drawn.next() >> 20 | 1 }
  }

  /// Takes a frame. A frame that is not a message ends the session.
  package func receive(_ frame: [UInt8], from id: SyncServer.SessionID) throws {
    let message: ClientMessage
    do throws(MessageDamage) {
      message = try ClientMessage(bytes: frame)
    } catch {
      return take(server.receive(error, from: id))
    }
    try server.receive(message, from: id, time: time)
  }

  package func run() throws { take(try server.run(time: time)) }

  private func take(_ actions: [SyncServer.Action]) {
    for action in actions {
      switch action {
      case .send(let frame, let id):
        server.noteSent(frame.count, by: id)
        waiting[id, default: []].append(frame)
      case .close(let id): ended.insert(id)
      }
    }
  }

  /// Returns the frames for a connection that were not taken yet, and removes them.
  package func answers(to id: SyncServer.SessionID) -> [[UInt8]] { waiting.removeValue(forKey: id) ?? [] }

  package func hasEnded(_ id: SyncServer.SessionID) -> Bool { ended.contains(id) }

  /// Appends an entry to the log, and integrates it.
  package func append(_ entry: LogEntry, tag: UInt64) throws {
    try run()
    try node.append(entry, tag: tag, time: time)
    try run()
  }

  /// The objects of the server, as texts.
  package func texts() throws -> [Int64: String] { try database.modelTexts(node.state.numbers) }
}

/// A client's file with its session, which a test drives as a network would.
package final class ClientPeer {
  package let database: Database
  private let session: ClientSession
  private let user: String
  private var id: SyncServer.SessionID?
  /// The messages that the client will send next.
  private var upward: [[UInt8]] = []
  /// All messages between the client and the server so far.
  package private(set) var frames: [Frame] = []
  /// The reason why the client does not connect again without the app; nil if it may.
  package private(set) var stop: String?
  package private(set) var resets = 0

  private static let mostRounds = 200

  /// - Parameter partition: The value that all objects of the file have in the field `q`.
  package init(_ database: Database, _ user: String, partition: Value? = nil) {
    (self.database, self.user) = (database, user)
    session = ClientSession(database, partition: partition)
  }

  // MARK: - The file

  package func write(_ peer: ServerPeer, _ body: (SyncedWriter) throws -> Void) throws {
    try database.write { transaction in try body(SyncedWriter(transaction, time: peer.time)) }
  }

  /// Gives the file another query set.
  package func ask(_ predicate: String) throws {
    try database.inClientFile(commits: true) { file in
      _ = try file.setQueries([QuerySet.Query(table: ModelClass.name, predicate: predicate)])
    }
  }

  package func number() throws -> UInt64 { try database.inClientFile { $0.number } }

  /// The objects that the file shows, as texts.
  package func texts() throws -> [Int64: String] {
    try database.modelTexts(try database.inClientFile { $0.position.replicas })
  }

  // MARK: - The session

  package func connect(to peer: ServerPeer) throws {
    id = peer.server.connect(user: user)
    perform(try session.connected(), peer)
  }

  package func disconnect(from peer: ServerPeer) {
    if let id { peer.server.disconnect(id) }
    session.disconnected()
    (id, upward) = (nil, [])
  }

  private func perform(_ actions: [ClientSession.Action], _ peer: ServerPeer) {
    for action in actions {
      switch action {
      case .send(let message): upward.append(message.bytes)
      case .failed(let problem): stop = "\(problem)"
      case .ended(let error): if error.action == .stop { stop = error.text }
      case .disconnect(let retry):
        if retry == .never { stop = stop ?? "it is told to stop" }
        disconnect(from: peer)
      case .didReset: resets += 1
      default: break
      }
    }
  }

  /// The actions of a session for a frame, which may hold any bytes.
  package static func receive(
    _ frame: [UInt8], _ session: ClientSession, time: UInt64
  ) -> [ClientSession.Action] {
    do throws(MessageDamage) {
      return session.receive(try ServerMessage(bytes: frame), time: time)
    } catch {
      return session.receive(error)
    }
  }

  /// Gives the server messages of the client, at most `most` of them.
  package func carryUp(_ peer: ServerPeer, most: Int = .max) throws {
    var left = most
    while left > 0, let id, !upward.isEmpty {
      left -= 1
      let frame = upward.removeFirst()
      frames.append(Frame(bytes: frame, isUpward: true))
      try peer.receive(frame, from: id)
    }
  }

  /// Gives the client all messages of the server except the last `kept` ones.
  ///
  /// - Returns: The number of messages that the client took.
  @discardableResult
  package func carryDown(_ peer: ServerPeer, keeping kept: Int = 0) -> Int {
    guard let connection = id else { return 0 }
    var count = 0
    for frame in peer.answers(to: connection).dropLast(kept) where id == connection {
      count += 1
      frames.append(Frame(bytes: frame, isUpward: false))
      perform(Self.receive(frame, session, time: peer.time), peer)
    }
    return count
  }

  /// Carries messages until both sides have nothing more to say.
  ///
  /// - Returns: False if they do not come to an end.
  package func exchange(with peer: ServerPeer) throws -> Bool {
    var silentRounds = 0
    for _ in 0..<Self.mostRounds {
      // A client that waits for a commit to become durable says nothing for one round.
      guard silentRounds < 2, stop == nil else { return true }
      let count = frames.count
      peer.time += 100
      if id == nil { try connect(to: peer) }
      perform(session.upload(time: peer.time), peer)
      try carryUp(peer)
      try peer.run()
      carryDown(peer)
      silentRounds = frames.count == count ? silentRounds + 1 : 0
    }
    return false
  }
}

extension Database {
  /// Calls `body` with a client's file. The changes are dropped, unless `commits` is true.
  package func inClientFile<Result>(
    commits: Bool = false, _ body: (inout ClientFile) throws -> Result
  ) throws -> Result {
    let transaction = try beginWrite()
    defer { transaction.cancel() }
    var file = try ClientFile(transaction)
    let result = try body(&file)
    if commits { try transaction.commit() }
    return result
  }

  /// The bytes of the pending changesets of a client's file, by their sequences.
  package func pendingChangesets() throws -> [UInt64: [UInt8]] {
    let snapshot = try snapshot()
    var found: [UInt64: [UInt8]] = [:]
    try snapshot.changelog()?.forEach(snapshot) { changeset in
      found[changeset.sequence] = changeset.bytes
      return true
    }
    return found
  }

  /// - Parameter numbers: The numbers of the replicas, by their numbers in the file.
  fileprivate func modelTexts(_ numbers: [UInt64]) throws -> [Int64: String] {
    let transaction = try beginWrite()
    defer { transaction.cancel() }
    // The texts have no room for greater numbers.
    return try ModelClass.texts(transaction) { replica in
      Int(replica) < numbers.count ? min(numbers[Int(replica)], 1 << 45) : 0
    }
  }
}
