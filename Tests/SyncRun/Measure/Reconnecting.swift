import ArgumentParser
import Foundation
import RealmServer
import RealmStorage
import RealmSync

/// Many clients connect at once. Each of them asks for other objects and is far behind.
struct Reconnecting {
  /// The number of clients, and the number of versions that they are behind.
  let count: Int

  private static let writer: UInt64 = 8
  private static let sessionNumber: UInt64 = 77

  func run(_ folder: URL, _ figures: Figures) throws {
    let messages = try prepare(folder)
    var settings = SyncAppSettings()
    settings.fields = ServerState.measured.fields
    let path = folder.appending(path: "reconnecting.realm").path
    let app = try SyncApp(path: path, settings: settings, time: Person.time) {
      .random(in: 1...UInt64(Int64.max))
    }
    defer { app.close() }
    var connections = Connections(app, messages)
    let time = try seconds { try connections.run() }
    for message in connections.steps {
      guard case .step(let step) = try ServerMessage(bytes: Array(message.dropFirst())), step.isLast,
        step.objects.count == 1
      else {
        print("a client was told something else than the one change that concerns it")
        throw ExitCode(1)
      }
    }
    figures.add(
      "S13 10,000 clients come back 10,000 versions behind, each with a filter of its own", time, "s",
      .atMost(30))
  }

  private static func team(_ number: Int) -> String { "Team \(number)" }

  /// Makes a person for each client, registers the clients, and changes each person once.
  ///
  /// - Returns: the messages of each client.
  private func prepare(_ folder: URL) throws -> [ClientMessages] {
    let database = try Database.local(folder, "reconnecting")
    defer { database.close() }
    try database.write { transaction in
      let table = try Person.make(transaction)
      for number in 0..<count {
        var person = Person(number)
        person.city = Self.team(number)
        try person.insert(into: table)
      }
    }
    let transaction = try database.beginWrite()
    let state = try ServerState(transaction, settings: ServerState.measured)
    try register(Self.writer, "v", .everything, state, transaction)
    let messages = try (0..<count).map { number in
      let replica = UInt64(1000 + number)
      let condition = FieldFilter.Condition("city", .equal, [.value(.string(Self.team(number)))])
      let filters = ClassFilters([Person.name: FieldFilter(terms: [[condition]])])
      try register(replica, "user \(number)", filters, state, transaction)
      return ClientMessages(replica: replica, user: "user \(number)")
    }
    // All clients have the same version, the last one before the changes.
    for message in messages {
      try state.begin(message.replica, sessionNumber: Self.sessionNumber, time: Person.time, transaction)
    }
    try transaction.commit()
    let start = SessionStart(
      version: state.version, tag: state.tag, sessionNumber: Self.sessionNumber, querySet: 1, wanted: 1)
    try change(state, database)
    return messages.map { $0.starting(start) }
  }

  private func register(
    _ replica: UInt64, _ user: String, _ filters: ClassFilters, _ state: ServerState,
    _ transaction: WriteTransaction
  ) throws {
    let registration = Registration(replica: replica, user: user)
    try state.integrate(
      LogRecord(tag: replica, time: Person.time, .register(registration)), in: transaction)
    let set = LogEntry.querySet(replica: replica, number: 1, filters)
    try state.integrate(LogRecord(tag: replica, time: Person.time, set), in: transaction)
  }

  private func change(_ state: ServerState, _ database: Database) throws {
    let base = state.version
    var uploads = Behind.Uploads()
    for first in stride(from: 0, to: count, by: 1000) {
      let transaction = try database.beginWrite()
      for number in first..<min(count, first + 1000) {
        // This order is as good as random, because 7,919 and the count have no common divisor.
        let changeset = Person.changeset([number * 7919 % count]) { _ in
          [.set(InstructionPath("score"), .value(.double(Double(number))), isDefault: false)]
        }
        let entry = uploads.entry(changeset, base: base)
        try state.integrate(LogRecord(tag: 5, time: Person.time, entry), in: transaction)
      }
      try transaction.commit(.relaxed)
    }
    try database.flush()
  }
}

/// The messages of a client that comes back, in channel 1.
private struct ClientMessages {
  let replica: UInt64
  let user: String
  var hello: [UInt8] = []
  var start: [UInt8] = []

  init(replica: UInt64, user: String) { (self.replica, self.user) = (replica, user) }

  func starting(_ start: SessionStart) -> ClientMessages {
    let versions = ProtocolVersion.newest...ProtocolVersion.newest
    var messages = self
    messages.hello = [1] + ClientMessage.hello(Hello(versions: versions, replica: replica)).bytes
    messages.start = [1] + ClientMessage.start(start).bytes
    return messages
  }
}

/// The connections of a server's app as its thread sees them. Some messages come while it works on others.
private struct Connections {
  private let app: SyncApp
  private let messages: [ClientMessages]
  private var clients: [SyncApp.Connection: Int] = [:]
  private var welcomed: Set<SyncApp.Connection> = []
  /// The connections that were just welcomed and start next.
  private var due: [SyncApp.Connection] = []
  /// The steps that were sent, each with its channel before it.
  private(set) var steps: [[UInt8]] = []

  /// The number of clients that connect while the server works on earlier messages.
  private static let together = 100

  init(_ app: SyncApp, _ messages: [ClientMessages]) { (self.app, self.messages) = (app, messages) }

  /// Goes on until each client has got its step.
  mutating func run() throws {
    var next = 0
    while steps.count < messages.count {
      let end = min(messages.count, next + Self.together)
      for client in next..<end {
        let connection = try app.connect(user: messages[client].user, time: Person.time)
        clients[connection] = client
        try send(messages[client].hello, connection)
      }
      for connection in due {
        if let client = clients[connection] { try send(messages[client].start, connection) }
      }
      due = []
      let actions = try app.run(time: Person.time)
      guard next < end || !actions.isEmpty || app.hasWork else { throw lost("the server says nothing") }
      next = end
      for action in actions { try take(action) }
    }
  }

  private func send(_ message: [UInt8], _ connection: SyncApp.Connection) throws {
    guard try app.receive(message, from: connection, time: Person.time).isEmpty else {
      throw lost("the server refuses a message")
    }
  }

  private mutating func take(_ action: SyncApp.Action) throws {
    guard case .send(let message, let connection) = action else {
      throw lost("the server closes a connection")
    }
    app.noteSent(message, to: connection)
    if welcomed.insert(connection).inserted {
      due.append(connection)
    } else {
      steps.append(message.bytes)
    }
  }

  private func lost(_ text: String) -> ExitCode {
    print(text)
    return ExitCode(1)
  }
}
