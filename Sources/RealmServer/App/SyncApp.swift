import RealmStorage
import RealmSync

/// The sync server of one app. It keeps the objects of the app and their history in one file, and serves the
/// connections of its clients.
///
/// It has no network, no clock and no source of random numbers of its own. The caller passes in messages, times and
/// random numbers, and sends the messages that it gets back. A connection is a WebSocket of a user. It has a channel
/// for each file of the user (docs/sync-protocol.md, "Channels"). One thread at a time may use a `SyncApp`.
public final class SyncApp {
  /// A connection of a user.
  public struct Connection: Hashable, Sendable {
    let number: UInt64
  }

  /// An action that the caller has to take on a connection.
  public enum Action: Sendable, Equatable {
    /// The caller sends a message. When the message has left the machine, the caller calls `noteSent`.
    case send(Message, to: Connection)
    /// The caller closes the connection, after it has sent all messages that it was given before. The text says why.
    case close(Connection, String)
  }

  /// A message of a WebSocket.
  public struct Message: Sendable, Equatable {
    public let bytes: [UInt8]
    public let channel: UInt64
    /// The number of bytes without the number of the channel.
    let length: Int
  }

  private struct Client {
    let user: String
    var channels: [UInt64: SyncServer.SessionID] = [:]
    /// The greatest number of a channel so far.
    var newest: UInt64 = 0
  }

  let database: Database
  let server: SyncServer
  private let settings: SyncAppSettings
  private var clients: [Connection: Client] = [:]
  private var places: [SyncServer.SessionID: (connection: Connection, channel: UInt64)] = [:]
  private var lastConnection: UInt64 = 0
  private let draw: () -> UInt64
  var node: ServerNode { server.node }

  /// Opens the server's file of an app, or creates it.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - encryptionKey: 64 bytes; nil for a file that is not encrypted.
  ///   - time: milliseconds since 1970.
  ///   - draw: returns a random number that nobody can guess.
  /// - Throws: `SyncAppProblem` for settings that can't be used, and for a file that follows rules of merging of a
  ///   newer version of the server; `StorageError`.
  public init(
    path: String, encryptionKey: [UInt8]? = nil, settings: SyncAppSettings, time: UInt64,
    draw: @escaping () -> UInt64
  ) throws {
    (self.settings, self.draw) = (settings, draw)
    var options = DatabaseOptions()
    options.encryptionKey = encryptionKey
    database = try Database(path: path, options: options)
    let known = try Self.settings(settings, database)
    let log = try EmbeddedLog(after: database, settings: known)
    let node = try Self.node(database, known, log)
    var limits = ServerLimits()
    limits.replicas = settings.limits.replicas
    limits.messages.querySets = settings.limits.queries
    limits.unsentBytes = settings.limits.unsentBytes
    server = SyncServer(node, limits: limits, draw: draw)
    server.acceptsClock = settings.limits.acceptsClock
    let rules = try settings.rules(database.snapshot().schemas(), known)
    if rules != node.state.rules(of: "", at: node.state.version) {
      try node.append(.rules(user: nil, rules), tag: draw(), time: time)
    }
    // This comes last, because a server that can't be started has not run.
    try server.noteStart(time: time)
  }

  /// Returns the settings with all fields that filters may use: those that were allowed before, and behind them the new
  /// ones, because the history has their values in this order.
  private static func settings(
    _ settings: SyncAppSettings, _ database: Database
  ) throws -> ServerState.Settings {
    try database.write { transaction in
      let store = try ServerStore(transaction, ServerState.Settings())
      let old = try store.storedSettings()
      guard old == nil || old?.partitionProperty == settings.partitionProperty else {
        let before = old?.partitionProperty.map { "'\($0)'" } ?? "none"
        throw SyncAppProblem(
          table: nil, right: nil,
          text: "The property that tells the partition of an object was \(before), and can't be changed: "
            + "set it as it was, or begin with a new file.")
      }
      var new = old ?? ServerState.Settings(partitionProperty: settings.partitionProperty)
      for (table, fields) in settings.fields {
        let known = new.fields[table] ?? []
        new.fields[table] = known + fields.filter { !known.contains($0) }
      }
      if new != old { try store.store(new) }
      return new
    }
  }

  private static func node(
    _ database: Database, _ settings: ServerState.Settings, _ log: any EventLog
  ) throws -> ServerNode {
    do throws(ServerNodeProblem) {
      return try ServerNode(database, settings: settings, log: log)
    } catch {
      if case .storage(let cause) = error { throw cause }
      throw SyncAppProblem(table: nil, right: nil, text: error.description)
    }
  }

  /// Ends all connections and closes the file.
  public func close() {
    for id in places.keys { server.disconnect(id) }
    (clients, places) = ([:], [:])
    database.close()
  }

  // MARK: - Connections

  /// Begins a connection of a user.
  ///
  /// - Parameters:
  ///   - user: the id of the user who has logged in.
  ///   - data: the data of the user that rights may refer to, by the names `roles` and `custom_data.<name>`.
  ///   - time: milliseconds since 1970.
  /// - Throws: `StorageError`.
  public func connect(user: String, data: [String: [Value]] = [:], time: UInt64) throws(StorageError)
    -> Connection
  {
    if data != node.state.users[user]?.last?.1 ?? [:] {
      try node.append(.user(user, data), tag: draw(), time: time)
    }
    lastConnection += 1
    let connection = Connection(number: lastConnection)
    clients[connection] = Client(user: user)
    return connection
  }

  /// Ends a connection that was lost or closed.
  public func disconnect(_ connection: Connection) {
    guard let client = clients.removeValue(forKey: connection) else { return }
    for id in client.channels.values {
      places[id] = nil
      server.disconnect(id)
    }
  }

  /// Takes in a message. `run` answers it.
  ///
  /// - Parameter time: milliseconds since 1970.
  /// - Returns: the actions to carry out at once.
  /// - Throws: `StorageError` if the file can't be read.
  public func receive(
    _ message: [UInt8], from connection: Connection, time: UInt64
  ) throws(StorageError) -> [Action] {
    guard let client = clients[connection] else { return [] }
    var reader = ByteReader(message)
    guard let channel = reader.varint(), channel > 0 else {
      return end(connection, "A message begins with the number of its channel.")
    }
    let frame = Array(message.suffix(reader.count))
    guard let id = client.channels[channel] else {
      // The server has closed the channel, and the client did not know that yet.
      if channel <= client.newest || frame.isEmpty { return [] }
      guard client.channels.count < settings.limits.channels else { return refuse(channel, of: connection) }
      let id = server.connect(user: client.user)
      clients[connection]?.channels[channel] = id
      clients[connection]?.newest = channel
      places[id] = (connection, channel)
      return try receive(frame, id, time)
    }
    if frame.isEmpty {
      clients[connection]?.channels[channel] = nil
      places[id] = nil
      server.disconnect(id)
      return []
    }
    return try receive(frame, id, time)
  }

  private func receive(
    _ frame: [UInt8], _ id: SyncServer.SessionID, _ time: UInt64
  ) throws(StorageError) -> [Action] {
    let message: ClientMessage
    do throws(MessageDamage) {
      message = try ClientMessage(bytes: frame, bodyLimit: Int(server.limits.messages.changesetBytes))
    } catch {
      return actions(server.receive(error, from: id))
    }
    try server.receive(message, from: id, time: time)
    return []
  }

  /// Closes a channel that exceeds the number that a connection may have. The client tries again later with its file,
  /// and the other channels go on.
  private func refuse(_ channel: UInt64, of connection: Connection) -> [Action] {
    clients[connection]?.newest = channel
    let text =
      "A connection has \(settings.limits.channels) files at most. This one is synced when another one is closed, or over another "
      + "connection."
    let error = ProtocolError(
      code: SessionError.tooMuch.code, text: text, action: .tryLater, wait: Self.waitForChannel)
    return [ServerMessage.error(error).bytes, []].map { frame -> Action in
      var bytes: [UInt8] = []
      bytes.appendVarint(channel)
      return .send(Message(bytes: bytes + frame, channel: channel, length: frame.count), to: connection)
    }
  }

  /// The time that the client of a refused channel waits, in milliseconds.
  private static let waitForChannel: UInt32 = 30_000

  private func end(_ connection: Connection, _ text: String) -> [Action] {
    disconnect(connection)
    return [.close(connection, text)]
  }

  /// Notes that a message which the caller had to send has left the machine, or that its connection is gone.
  public func noteSent(_ message: Message, to connection: Connection) {
    guard let id = clients[connection]?.channels[message.channel] else { return }
    server.noteSent(message.length, by: id)
  }

  // MARK: - Work

  /// Integrates what has come, and makes the answers. Everything that clients are told is durable before.
  ///
  /// - Parameter time: milliseconds since 1970.
  /// - Throws: `StorageError` if the file can't be read or written. Nothing that a client was told is lost then, and
  ///   `run` may be called again.
  public func run(time: UInt64) throws(StorageError) -> [Action] {
    let made = actions(try server.run(time: time))
    // The actions are returned even if the system does not tell the size of the file.
    if let bytes = try? database.fileBytes { server.isFull = bytes > settings.limits.fileBytes }
    return made
  }

  /// Returns the files that were reset since the last call.
  public func takeResets() -> [ReplicaReset] {
    defer { server.resets = [] }
    return server.resets
  }

  /// True if `run` has something to do although no message comes, because long steps of clients are made in several
  /// turns.
  public var hasWork: Bool { server.hasWork }

  /// True if the log has entries that `run` has not integrated yet.
  public var hasWaiting: Bool { node.end > node.state.version }

  /// Removes the history that no file needs. Files that did not connect within a time do not count. If such a file
  /// needs the removed history when it comes back, it is reset, and keeps the changes that it has not sent.
  ///
  /// The oldest part of the history is removed too if the history has more bytes than
  /// `SyncAppSettings.Limits.historyBytes`.
  ///
  /// - Parameters:
  ///   - offline: the time in milliseconds; nil if the history is kept for all files.
  ///   - time: milliseconds since 1970.
  /// - Returns: the history that was removed although files may need it; nil if there is none.
  /// - Throws: `StorageError`.
  @discardableResult
  public func trim(offline: UInt64?, time: UInt64) throws(StorageError) -> HistoryCut? {
    try server.trim(offline: offline, keeping: settings.limits.historyBytes, time: time)
  }

  /// Gives up the file of a client that is not used any more. If the file comes back all the same, it is reset.
  ///
  /// - Returns: false if there is no such file.
  /// - Throws: `StorageError`.
  public func retire(replica: UInt64, time: UInt64) throws(StorageError) -> Bool {
    guard node.state.knows(replica) else { return false }
    try node.append(.retire(replica: replica), tag: draw(), time: time)
    return true
  }

  /// Ends the sessions of all clients because the server stops, and tells each when to come back.
  ///
  /// - Parameter wait: the least time that a client waits, in milliseconds. It is at most an hour. A client waits at
  ///   most twice as long.
  public func stop(wait: UInt32) -> [Action] { actions(server.stop(wait: wait)) }

  private func actions(_ made: [SyncServer.Action]) -> [Action] {
    var actions: [Action] = []
    for action in made {
      switch action {
      case .send(let frame, let id):
        guard let place = places[id] else { continue }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frame.count + 4)
        bytes.appendVarint(place.channel)
        let message = Message(bytes: bytes + frame, channel: place.channel, length: frame.count)
        actions.append(.send(message, to: place.connection))
      case .close(let id):
        guard let place = places.removeValue(forKey: id) else { continue }
        clients[place.connection]?.channels[place.channel] = nil
        var bytes: [UInt8] = []
        bytes.appendVarint(place.channel)
        let message = Message(bytes: bytes, channel: place.channel, length: 0)
        actions.append(.send(message, to: place.connection))
      }
    }
    return actions
  }

  /// The properties that queries and rights may use, by class, in the order in which they were first allowed.
  public var fields: [String: [String]] { node.state.settings.fields }

  var counts: (connections: Int, channels: Int) { (clients.count, places.count) }
}
