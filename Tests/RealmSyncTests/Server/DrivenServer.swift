import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport
import RealmTestSupport

/// A server that a test drives message by message. Every message is written to bytes and read from them.
final class DrivenServer {
  /// The messages that the server sent, by the connections.
  struct Answers {
    var messages: [SyncServer.SessionID: [ServerMessage]] = [:]
    var bytes: [SyncServer.SessionID: Int] = [:]
    var closed: Set<SyncServer.SessionID> = []

    /// The error by which the server ended a session.
    func error(_ id: SyncServer.SessionID) -> ProtocolError? {
      guard closed.contains(id), case .error(let error)? = messages[id]?.last else { return nil }
      return error
    }

    func steps(_ id: SyncServer.SessionID) -> [Step] {
      (messages[id] ?? []).compactMap { if case .step(let step) = $0 { step } else { nil } }
    }

    func welcome(_ id: SyncServer.SessionID) -> Welcome.Answer? {
      for case .welcome(let welcome) in messages[id] ?? [] { return welcome.answer }
      return nil
    }
  }

  let database: Database
  let node: ServerNode
  let server: SyncServer
  var time: UInt64 = 1_800_000_000_000
  /// True if all bytes that the server sends count at once as having left the machine.
  var isSentAtOnce = true
  private var clients: [DrivenClient] = []
  private var generator: SeededGenerator

  var state: ServerState { node.state }

  init(_ limits: ServerLimits = ServerLimits(), log: MemoryLog? = nil, seed: UInt64 = 1) throws {
    database = try Database(inMemory: "server")
    try database.write { try ModelClass.make($0) }
    let used: any EventLog
    if let log {
      used = log
    } else {
      used = try EmbeddedLog(after: database, settings: ModelClass.settings)
    }
    node = try ServerNode(database, settings: ModelClass.settings, log: used)
    var drawn = SeededGenerator(seed: seed)
    server = SyncServer(node, limits: limits) { drawn.next() >> 1 | 1 }
    generator = SeededGenerator(seed: ~seed)
  }

  /// A connected client that keeps to the protocol.
  func client(_ user: String, partition: Value? = nil) -> DrivenClient {
    let client = DrivenClient(self, user, partition)
    clients.append(client)
    return client
  }

  /// A client whose session has a query set, and that was told all objects that it sees.
  func running(_ user: String, _ predicate: String = "") throws -> DrivenClient {
    let client = client(user)
    try client.begin()
    try client.ask([predicate])
    try run()
    return client
  }

  func send(_ message: ClientMessage, _ id: SyncServer.SessionID) throws {
    try server.receive(ClientMessage(bytes: message.bytes), from: id, time: time)
  }

  /// Sends bytes that need not be a message.
  @discardableResult
  func send(bytes: [UInt8], _ id: SyncServer.SessionID) throws -> Answers {
    let message: ClientMessage
    do throws(MessageDamage) {
      message = try ClientMessage(bytes: bytes)
    } catch {
      return try take(server.receive(error, from: id))
    }
    try server.receive(message, from: id, time: time)
    return Answers()
  }

  @discardableResult
  func exchange(_ message: ClientMessage, _ id: SyncServer.SessionID) throws -> Answers {
    try send(message, id)
    return try run()
  }

  @discardableResult
  func run() throws -> Answers { try take(server.run(time: time)) }

  @discardableResult
  func take(_ actions: [SyncServer.Action]) throws -> Answers {
    var answers = Answers()
    for action in actions {
      switch action {
      case .send(let frame, let id):
        answers.messages[id, default: []].append(try ServerMessage(bytes: frame))
        answers.bytes[id, default: 0] += frame.count
        if isSentAtOnce { server.noteSent(frame.count, by: id) }
      case .close(let id): answers.closed.insert(id)
      }
    }
    for client in clients { client.note(answers) }
    return answers
  }

  func append(_ entry: LogEntry) throws {
    try node.append(entry, tag: generator.next(), time: time)
  }

  func history(_ version: UInt64) throws -> HistoryEntry? {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    return try state.history(of: version, transaction)
  }
}

/// A client without a file. It knows only what the protocol tells a client.
final class DrivenClient {
  private let driven: DrivenServer
  let user: String
  let partition: Value?
  private(set) var id: SyncServer.SessionID
  private(set) var replica: UInt64?
  var version: UInt64 = 0
  var tag: UInt64 = 0
  private(set) var sessionNumber: UInt64 = 0
  private var offered: UInt64?
  private(set) var querySet: UInt64 = 0
  private(set) var asked: UInt64 = 0
  private var last = NamedChangeset(sequence: 0, hash: [])
  /// The uploads that the client does not know to be decided. It sends them again in the next session.
  private var pending: [UploadMessage] = []
  private var lastSet: QuerySet?
  /// All steps that came. `own` are the own changesets whose decisions they told.
  private(set) var steps: [Step] = []
  private(set) var own: [OwnChangeset] = []
  private(set) var isWelcome = false
  private(set) var hasStarted = false
  private(set) var isClosed = false
  /// The code of the last error by which the server ended a session of the client.
  private(set) var lastError: UInt32?

  init(_ driven: DrivenServer, _ user: String, _ partition: Value?) {
    (self.driven, self.user, self.partition) = (driven, user, partition)
    id = driven.server.connect(user: user)
  }

  /// Connects again. The old connection is lost.
  func connect() {
    driven.server.disconnect(id)
    id = driven.server.connect(user: user)
    (isWelcome, hasStarted, isClosed, offered) = (false, false, false, nil)
  }

  var hello: ClientMessage { .hello(Hello(versions: 1...1, replica: replica, partition: partition)) }

  var start: ClientMessage {
    .start(
      SessionStart(
        version: version, tag: tag, sessionNumber: sessionNumber, querySet: querySet, wanted: asked,
        last: last.sequence == 0 ? nil : last,
        pending: pending.map { NamedChangeset(sequence: $0.sequence, hash: $0.hash) },
        leastBase: pending.map(\.base).min()))
  }

  /// Says hello and starts, so that the session runs.
  func begin() throws {
    try driven.exchange(hello, id)
    try sendStart()
    try driven.run()
  }

  /// Sends the start, and sends again the uploads that the server may not have.
  func sendStart() throws {
    try driven.send(start, id)
    hasStarted = true
    if let lastSet, lastSet.number > querySet { try driven.send(.querySet(lastSet), id) }
    for message in pending { try driven.send(.upload(message), id) }
  }

  static func query(_ predicate: String) -> QuerySet.Query {
    QuerySet.Query(table: ModelClass.name, predicate: predicate)
  }

  /// Sends another query set.
  func ask(_ predicates: [String]) throws { try ask(queries: predicates.map(Self.query)) }

  /// Sends another query set, with queries of any classes.
  func ask(queries: [QuerySet.Query]) throws {
    asked += 1
    let set = QuerySet(number: asked, queries: queries)
    lastSet = set
    try driven.send(.querySet(set), id)
  }

  /// The message that brings the next changeset.
  func message(
    _ changeset: Changeset, base: UInt64? = nil, querySet: UInt64? = nil, replicas: [UInt64]? = nil
  ) throws -> UploadMessage {
    let message = UploadMessage(
      sequence: last.sequence + 1, previous: last.hash, base: base ?? version,
      stamp: Stamp(milliseconds: driven.time), querySet: querySet ?? asked,
      replicas: replicas ?? [0, replica ?? 0], changeset: changeset)
    // The hash of the message is the hash of the message that is read from its bytes.
    guard case .upload(let read) = try ClientMessage(bytes: ClientMessage.upload(message).bytes) else {
      return message
    }
    return read
  }

  /// Sends the next changeset, and counts it as pending.
  func upload(_ changeset: Changeset, querySet: UInt64? = nil, replicas: [UInt64]? = nil) throws {
    let message = try message(changeset, querySet: querySet, replicas: replicas)
    try driven.send(.upload(message), id)
    last = NamedChangeset(sequence: message.sequence, hash: message.hash)
    pending.append(message)
  }

  func note(_ answers: DrivenServer.Answers) {
    for message in answers.messages[id] ?? [] {
      switch message {
      case .welcome(let welcome): note(welcome.answer)
      case .step(let step): note(step)
      default: break
      }
    }
    guard answers.closed.contains(id) else { return }
    isClosed = true
    lastError = answers.error(id)?.code
    // The number belongs to another user's file, so the client needs another number.
    if lastError == 7 { replica = nil }
  }

  private func note(_ answer: Welcome.Answer) {
    (isWelcome, hasStarted) = (true, false)
    switch answer {
    case .known(let number): offered = number
    case .registered(let registered): note(registered)
    case .reset(let reset): note(reset.registered)
    }
  }

  private func note(_ registered: Welcome.Registered) {
    (replica, version, tag) = (registered.replica, registered.version, registered.tag)
    (sessionNumber, querySet, offered) = (registered.sessionNumber, 0, nil)
    (last, pending) = (NamedChangeset(sequence: 0, hash: []), [])
    (asked, lastSet) = (0, nil)
  }

  private func note(_ step: Step) {
    steps.append(step)
    own += step.own
    guard step.isLast else { return }
    (version, tag, querySet) = (step.to, step.tag, step.querySet)
    pending.removeAll { $0.sequence <= step.lastSequence }
    if let offered { sessionNumber = offered }
    offered = nil
  }
}

extension Changeset {
  /// A changeset that makes an object of the model's class.
  static func creation(_ key: Int64, _ field: Int64, text: String? = nil) -> Changeset {
    var all: [Instruction] = [
      .create, .set(InstructionPath("q"), .value(.int(field)), isDefault: false),
    ]
    if let text {
      all.append(.set(InstructionPath("m"), .value(.string(text)), isDefault: false))
    }
    return one(key, all)
  }

  /// A changeset that changes an object of the model's class.
  static func one(_ key: Int64, _ instructions: [Instruction]) -> Changeset {
    var changeset = Changeset()
    changeset.objects = [ObjectInstructions(ObjectName(ModelClass.name, .int(key)), instructions)]
    return changeset
  }
}

extension Step {
  /// The keys of the objects in the step, each with the kind of its change.
  var told: [String] {
    objects.map { object in
      let kind =
        switch object.change {
        case .effects: "effects"
        case .whole: "whole"
        case .left: "left"
        case .deleted: "deleted"
        }
      guard case .int(let key) = object.name.key else { return kind }
      return "\(kind) \(key)"
    }.sorted()
  }
}
