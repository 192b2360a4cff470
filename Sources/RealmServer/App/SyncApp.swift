import RealmStorage
import RealmSync

/// The sync server of one app. It keeps the objects of the app and their history in one file, and serves the connections of its clients.
///
/// It knows no network, no clock and no chance: who uses it tells what has come and the time, and sends what it is given. A connection is a WebSocket of a user. It has
/// a channel for each file of the user (docs/sync-protocol.md, "Channels"). Used by one thread at a time.
public final class SyncApp {
  /// A connection of a user.
  public struct Connection: Hashable, Sendable {
    let number: UInt64
  }

  /// An action says what the caller does with a connection.
  public enum Action: Sendable, Equatable {
    /// A message is to be sent. When it has left the machine, `noteSent` is to be called.
    case send(Message, to: Connection)
    /// The caller closes the connection behind all messages that it was given before. The text says why.
    case close(Connection, String)
  }

  /// A message of a WebSocket.
  public struct Message: Sendable, Equatable {
    public let bytes: [UInt8]
    public let channel: UInt64
    /// The bytes without the number of the channel.
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

  /// Opens the server's file of an app, or makes it.
  ///
  /// - Parameters:
  ///   - path: of the file.
  ///   - encryptionKey: 64 bytes, or nil of a file that is not encrypted.
  ///   - time: milliseconds since 1970.
  ///   - draw: draws a random number, which nobody can guess.
  /// - Throws: `SyncAppProblem` for settings that can't be used, and for a file that a newer version of the server keeps; `StorageError`.
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
    // Last: a server that can't be started has not run.
    try server.noteStart(time: time)
  }

  /// The fields that filters may use are those that were let in before, and new ones behind them: the history has their values in this order.
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

  /// A user has connected.
  ///
  /// - Parameters:
  ///   - user: who has logged in, by the id.
  ///   - data: what rights may ask of the user, by the names `roles` and `custom_data.<name>`.
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

  /// A connection is lost, or was closed.
  public func disconnect(_ connection: Connection) {
    guard let client = clients.removeValue(forKey: connection) else { return }
    for id in client.channels.values {
      places[id] = nil
      server.disconnect(id)
    }
  }

  /// A message has come. It is taken in; `run` answers.
  ///
  /// - Parameter time: milliseconds since 1970.
  /// - Returns: what is to be done at once.
  /// - Throws: `StorageError` where the file can't be read.
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

  /// A channel more than a connection may have ends at once. Its file comes again later, and the others go on.
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

  /// Milliseconds.
  private static let waitForChannel: UInt32 = 30_000

  private func end(_ connection: Connection, _ text: String) -> [Action] {
    disconnect(connection)
    return [.close(connection, text)]
  }

  /// A message that was given to be sent has left the machine, or its connection is gone.
  public func noteSent(_ message: Message, to connection: Connection) {
    guard let id = clients[connection]?.channels[message.channel] else { return }
    server.noteSent(message.length, by: id)
  }

  // MARK: - Work

  /// Integrates what has come, and answers. What a client is told was made durable before.
  ///
  /// - Parameter time: milliseconds since 1970.
  /// - Throws: `StorageError` where the file can't be read or written: nothing that was told is lost then, and `run` may be called again.
  public func run(time: UInt64) throws(StorageError) -> [Action] {
    let made = actions(try server.run(time: time))
    // The actions are returned also where the system does not tell the size.
    if let bytes = try? database.fileBytes { server.isFull = bytes > settings.limits.fileBytes }
    return made
  }

  /// The files that were reset since this was asked last.
  public func takeResets() -> [ReplicaReset] {
    defer { server.resets = [] }
    return server.resets
  }

  /// `run` has something to do, though nothing comes: the steps of clients that get much are made in several turns.
  public var hasWork: Bool { server.hasWork }

  /// Something has come, or was asked for, that `run` integrates.
  public var hasWaiting: Bool { node.end > node.state.version }

  /// Forgets the history that no file needs whose client was connected within a time. Files that come back later are reset, and keep what they have not sent.
  ///
  /// The oldest part of the history is forgotten too if the history has more bytes than `SyncAppSettings.Limits.historyBytes`.
  ///
  /// - Parameters:
  ///   - offline: milliseconds. Nil where all files are waited for.
  ///   - time: milliseconds since 1970.
  /// - Returns: what was forgotten although files may need it; nil where that is nothing.
  /// - Throws: `StorageError`.
  @discardableResult
  public func trim(offline: UInt64?, time: UInt64) throws(StorageError) -> HistoryCut? {
    try server.trim(offline: offline, keeping: settings.limits.historyBytes, time: time)
  }

  /// The file of a client is not used any more. One that comes back all the same is reset.
  ///
  /// - Returns: false where there is no such file.
  /// - Throws: `StorageError`.
  public func retire(replica: UInt64, time: UInt64) throws(StorageError) -> Bool {
    guard node.state.knows(replica) else { return false }
    try node.append(.retire(replica: replica), tag: draw(), time: time)
    return true
  }

  /// The server stops: all clients come back after a while.
  ///
  /// - Parameter wait: milliseconds that a client waits at least; it waits twice as long at most. At most an hour.
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

  /// The properties that queries and rights may use, by class, in the order in which they were let in.
  public var fields: [String: [String]] { node.state.settings.fields }

  var counts: (connections: Int, channels: Int) { (clients.count, places.count) }
}
