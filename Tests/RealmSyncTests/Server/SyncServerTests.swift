import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Sessions as the server has them: its answers in each state.
@Suite struct SyncServerTests {
  enum StateName: String, CaseIterable, Sendable {
    case hello, registering, start, starting, reset, running
  }

  enum MessageName: String, CaseIterable, Sendable {
    case hello, start, querySet, upload, chunk, mark, retire, skipped
  }

  /// A client whose session is in a state.
  private static func client(_ driven: DrivenServer, in state: StateName) throws -> DrivenClient {
    let client = driven.client("anna")
    if state == .hello { return client }
    try driven.send(client.hello, client.id)
    if state == .registering { return client }
    try driven.run()
    if state == .start { return client }
    if state == .reset { client.tag ^= 1 }
    try client.sendStart()
    if state == .starting { return client }
    try driven.run()
    return client
  }

  private static func message(_ name: MessageName, _ client: DrivenClient) throws -> ClientMessage {
    switch name {
    case .hello: client.hello
    case .start: client.start
    case .querySet: .querySet(QuerySet(number: 1, queries: [DrivenClient.query("")]))
    case .upload: .upload(try client.message(.creation(1, 1)))
    case .chunk:
      .chunk(ValueChunk(hash: [UInt8](repeating: 1, count: 32), offset: 0, length: 3, bytes: [1, 2, 3]))
    case .mark: .mark(request: 5)
    case .retire: .retire(replica: 77)
    case .skipped: .skipped(number: 41)
    }
  }

  /// The answers of the server in each state. Every message that is not listed ends the session with the error 4.
  private static let answers: [StateName: [MessageName: String]] = [
    .hello: [.hello: "registered"],
    .registering: [.skipped: "registered"],
    .start: [.start: "step", .skipped: "nothing"],
    .starting: [
      .querySet: "step", .upload: "step", .mark: "mark, step", .retire: "retired, step", .skipped: "step",
    ],
    // Messages that were sent before the client knew of the reset do not count.
    .reset: Dictionary(
      uniqueKeysWithValues: MessageName.allCases.map { ($0, $0 == .start ? "step" : "nothing") }),
    .running: [.querySet: "step", .upload: "step", .mark: "mark", .retire: "retired", .skipped: "nothing"],
  ]

  private static func text(_ answers: DrivenServer.Answers, _ id: SyncServer.SessionID) -> String {
    let texts = (answers.messages[id] ?? []).map { message in
      switch message {
      case .welcome(let welcome):
        switch welcome.answer {
        case .known: "known"
        case .registered: "registered"
        case .reset: "reset"
        }
      case .step: "step"
      case .querySetRefused: "refused"
      case .chunk: "chunk"
      case .mark: "mark"
      case .retired: "retired"
      case .error(let error): "error \(error.code)"
      case .skipped: "skipped"
      }
    }
    let all = texts + (answers.closed.contains(id) ? ["close"] : [])
    return all.isEmpty ? "nothing" : all.joined(separator: ", ")
  }

  @Test(arguments: StateName.allCases, MessageName.allCases)
  func `each message is answered in each state as the protocol says`(
    state: StateName, name: MessageName
  ) throws {
    let driven = try DrivenServer()
    let client = try Self.client(driven, in: state)
    let answers = try driven.exchange(Self.message(name, client), client.id)
    let expected = Self.answers[state]?[name] ?? "error 4, close"
    #expect(Self.text(answers, client.id) == expected)
    // After an error the server ignores all messages.
    guard answers.closed.contains(client.id) else { return }
    #expect(try driven.exchange(.mark(request: 1), client.id).messages.isEmpty)
    #expect(try driven.exchange(client.hello, client.id).messages.isEmpty)
  }

  @Test func `a file that continues is known, and a file with another tag is reset`() throws {
    let driven = try DrivenServer()
    let client = try driven.running("anna")
    client.connect()
    #expect(Self.text(try driven.exchange(client.hello, client.id), client.id) == "known")
    let old = client.replica
    client.tag ^= 1
    let answers = try driven.exchange(client.start, client.id)
    #expect(Self.text(answers, client.id) == "reset")
    #expect(client.replica != old)
    try client.sendStart()
    try client.ask([""])
    #expect(Self.text(try driven.run(), client.id) == "step")
  }

  @Test func `a client gives up files of its user, and no files of another user`() throws {
    let driven = try DrivenServer()
    let (gone, other) = (try driven.running("anna"), try driven.running("anna"))
    let stranger = try driven.running("ben")
    for client in [stranger, gone] {
      let replica = try #require(client.replica)
      let answers = try driven.exchange(.retire(replica: replica), other.id)
      let told = (answers.messages[other.id] ?? []).filter { $0 == .retired(replica: replica) }
      #expect(told.count == 1)
    }
    #expect(gone.isClosed && gone.lastError == 12)
    #expect(!stranger.isClosed && !other.isClosed)
    // The file was given up already.
    let replica = try #require(gone.replica)
    let answers = try driven.exchange(.retire(replica: replica), other.id)
    #expect(Self.text(answers, other.id) == "retired")
  }

  // MARK: - Why sessions end

  /// Ends the session of a client by a message.
  ///
  /// - Returns: The error that ended the session.
  private static func error(
    _ message: ClientMessage, _ client: DrivenClient, _ driven: DrivenServer
  ) throws -> ProtocolError? {
    try driven.exchange(message, client.id).error(client.id)
  }

  @Test func `a base that the session was not told of ends the session, and so does an old base`() throws {
    let driven = try DrivenServer()
    let client = try driven.running("anna")
    let above = try client.message(.creation(1, 1), base: client.version + 1)
    let error = try #require(try Self.error(.upload(above), client, driven))
    #expect(error.code == 4 && error.action == .stop)
    let other = try driven.running("anna")
    try driven.append(.trim(horizon: other.version))
    try driven.run()
    #expect(driven.state.horizon == other.version)
    let below = try other.message(.creation(1, 1), base: other.version - 1)
    let old = try #require(try Self.error(.upload(below), other, driven))
    #expect(old.code == 12 && old.action == .reset)
    #expect(driven.state.lastSequence(of: try #require(other.replica)) == 0)
  }

  @Test func `an upload with content that it may not have ends the session`() throws {
    let driven = try DrivenServer()
    var client = try driven.running("anna")
    let unknownSet = try client.message(.creation(1, 1), querySet: 2)
    #expect(try Self.error(.upload(unknownSet), client, driven)?.code == 4)
    client = try driven.running("anna")
    var whole = try client.message(.creation(1, 1))
    whole.isAllOrNothing = true
    let error = try Self.error(.upload(whole), client, driven)
    #expect(error?.code == 5 && error?.action == .stop)
  }

  @Test func `an upload with ids of another replica has no effect`() throws {
    let driven = try DrivenServer()
    let (one, two) = (try driven.running("anna"), try driven.running("ben"))
    let own = try #require(two.replica)
    let numbers: [UInt64] = [0, own, try #require(one.replica)]
    func insertion(_ replica: UInt32) -> Changeset {
      let id = ElementID(replica: replica, counter: 1)
      return .one(
        1,
        [
          .create, .set(InstructionPath("q"), .value(.int(1)), isDefault: false),
          .insert(InstructionPath("l"), id, left: .none, right: .none, .value(.int(1))),
        ])
    }
    let before = driven.state.version
    let answers = try driven.exchange(.upload(two.message(insertion(2), replicas: numbers)), two.id)
    #expect(answers.error(two.id)?.code == 12)
    #expect(driven.state.version == before + 1)
    #expect(try driven.history(before + 1) == nil)
    #expect(driven.state.lastSequence(of: numbers[1]) == 0)
    // The same upload with its own ids counts.
    two.connect()
    try two.begin()
    #expect(two.replica == own)
    try driven.exchange(.upload(two.message(insertion(1), replicas: numbers)), two.id)
    #expect(try driven.history(before + 2)?.objects.count == 1)
    #expect(driven.state.lastSequence(of: numbers[1]) == 1)
  }

  @Test func `an upload that does not follow the last one ends the session, and so does a retired file`()
    throws
  {
    let driven = try DrivenServer()
    let client = try driven.running("anna")
    try client.upload(.creation(1, 1))
    try driven.run()
    var gap = try client.message(.creation(2, 1))
    gap.sequence += 1
    let error = try #require(try Self.error(.upload(gap), client, driven))
    #expect(error.code == 4 && error.action == .stop)
    #expect(driven.state.lastSequence(of: try #require(client.replica)) == 1)
    // An upload that the server has already is skipped.
    let other = try driven.running("ben")
    let first = try other.message(.creation(3, 1))
    #expect(Self.text(try driven.exchange(.upload(first), other.id), other.id) == "step")
    #expect(try driven.exchange(.upload(first), other.id).error(other.id) == nil)
    try driven.append(.retire(replica: try #require(other.replica)))
    #expect(try driven.run().error(other.id)?.code == 12)
    other.connect()
    try driven.exchange(other.hello, other.id)
    #expect(Self.text(try driven.exchange(other.start, other.id), other.id) == "reset")
  }

  @Test func `a hello that may not come in this state ends the session`() throws {
    let driven = try DrivenServer()
    let owner = driven.client("anna", partition: .int(1))
    try owner.begin()
    let replica = try #require(owner.replica)
    func error(_ user: String, _ hello: Hello) throws -> ProtocolError? {
      let id = driven.server.connect(user: user)
      return try driven.exchange(.hello(hello), id).error(id)
    }
    let stranger = try error("ben", Hello(versions: 1...1, replica: replica, partition: .int(1)))
    #expect(stranger?.code == 7 && stranger?.action == .stop)
    #expect(try error("anna", Hello(versions: 1...1, replica: replica, partition: .int(2)))?.code == 7)
    #expect(try error("anna", Hello(versions: 1...1, replica: replica))?.code == 7)
    let version = try error("anna", Hello(versions: 2...3))
    #expect(version?.code == 1 && version?.action == .updateApp)
    // These messages have not disturbed the owner of the file.
    #expect(Self.text(try driven.exchange(.mark(request: 1), owner.id), owner.id) == "mark")
    #expect(try error("anna", Hello(versions: 1...3, replica: replica, partition: .int(1))) == nil)
  }

  @Test func `bytes that are not a message end the session`() throws {
    let driven = try DrivenServer()
    for (bytes, code) in [([40], 3), ([2, 1], 2), ([], 2), ([8, 1, 200], 2)] as [([UInt8], UInt32)] {
      let client = try driven.running("user \(bytes)")
      let error = try driven.send(bytes: bytes, client.id).error(client.id)
      #expect(error?.code == code && error?.action == .stop, "\(bytes)")
      #expect(try driven.exchange(.mark(request: 1), client.id).messages.isEmpty)
    }
  }

  @Test func `a limited number of messages may wait for the answer to a start`() throws {
    var limits = ServerLimits()
    limits.waiting = 2
    let driven = try DrivenServer(limits)
    for count in [2, 3] {
      let client = driven.client("anna")
      try driven.exchange(client.hello, client.id)
      try client.sendStart()
      for request in 0..<count { try driven.send(.mark(request: UInt64(request)), client.id) }
      let expected = count == 2 ? "mark, mark, step" : "error 9, close"
      #expect(Self.text(try driven.run(), client.id) == expected)
    }
  }

  @Test func `a second session of a file ends the first`() throws {
    let driven = try DrivenServer()
    let client = try driven.running("anna")
    let second = driven.server.connect(user: "anna")
    let answers = try driven.exchange(client.hello, second)
    let error = try #require(answers.error(client.id))
    #expect(error.code == 8 && error.action == .tryLater && error.wait > 0)
    #expect(Self.text(answers, second) == "known")
    #expect(Self.text(try driven.exchange(client.start, second), second) == "step")
    #expect(Self.text(try driven.exchange(.mark(request: 1), second), second) == "mark")
    // The late end of the first session's connection does not end the second session.
    driven.server.disconnect(client.id)
    let third = driven.server.connect(user: "anna")
    #expect(try driven.exchange(client.hello, third).error(second)?.code == 8)
  }

  @Test func `a user may register a limited number of files in a minute`() throws {
    var limits = ServerLimits()
    limits.registrations = 2
    let driven = try DrivenServer(limits)
    func register(_ user: String) throws -> ProtocolError? {
      let client = driven.client(user)
      return try driven.exchange(client.hello, client.id).error(client.id)
    }
    #expect(try register("anna") == nil)
    driven.time += 30_000
    #expect(try register("anna") == nil)
    let error = try #require(try register("anna"))
    #expect(error.code == 9 && error.action == .tryLater && error.wait == 60_000)
    #expect(try register("ben") == nil)
    driven.time += 29_999
    #expect(try register("anna")?.code == 9)
    driven.time += 1
    #expect(try register("anna") == nil)
    #expect(try register("anna")?.code == 9)
  }

  @Test func `a server that stops tells all clients when to come back`() throws {
    let driven = try DrivenServer()
    let (one, two) = (try driven.running("anna"), driven.client("ben"))
    let answers = try driven.take(driven.server.stop(wait: 700))
    for id in [one.id, two.id] {
      #expect(answers.error(id)?.code == 10 && (700...1400).contains(answers.error(id)?.wait ?? 0))
    }
    #expect(try driven.exchange(two.hello, two.id).messages.isEmpty)
  }

  // MARK: - Clocks

  private static let day: UInt64 = 86_400_000

  @Test func `a server refuses all while its clock is a day ahead, unless the clock is said to be right`()
    throws
  {
    let driven = try DrivenServer()
    let client = try driven.running("anna")
    let rightTime = driven.time
    driven.time += Self.day + 1
    try driven.send(.mark(request: 1), client.id)
    driven.time = rightTime
    let error = try #require(try driven.run().error(client.id))
    #expect(error.code == 11 && error.action == .tryLater)
    driven.time += Self.day
    client.connect()
    #expect(Self.text(try driven.exchange(client.hello, client.id), client.id) == "known")
    driven.time += 2 * Self.day
    driven.server.acceptsClock = true
    client.connect()
    #expect(Self.text(try driven.exchange(client.hello, client.id), client.id) == "known")
  }

  @Test func `a server with a wrong clock does not start to trust it without confirmation`() throws {
    let driven = try DrivenServer()
    let client = try driven.running("anna")
    let known = driven.state.time
    driven.time += 3 * Self.day
    #expect(try driven.exchange(.mark(request: 1), client.id).error(client.id)?.code == 11)
    #expect(driven.state.time == known)
    client.connect()
    #expect(try driven.exchange(client.hello, client.id).error(client.id)?.code == 11)
  }

  @Test func `an idle server notes the time, so that its clock counts as right later`() throws {
    let driven = try DrivenServer()
    let client = try driven.running("anna")
    for _ in 0..<60 {
      driven.time += Self.day / 20
      try driven.run()
    }
    #expect(driven.state.time == driven.time)
    #expect(try driven.exchange(.mark(request: 1), client.id).error(client.id) == nil)
  }
}
