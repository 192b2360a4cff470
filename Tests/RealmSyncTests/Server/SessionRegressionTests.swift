import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Sessions as the server has them: marks, copies, trims and messages that are sent twice.
@Suite struct SessionRegressionTests {
  private static let day: UInt64 = 86_400_000

  /// Lets a number of days pass, in which the server runs from time to time.
  private static func pass(_ days: Int, _ driven: DrivenServer) throws {
    for _ in 0..<2 * days {
      driven.time += day / 2
      try driven.run()
    }
  }

  /// True if the server resets a client that connects again.
  private static func isReset(_ client: DrivenClient, _ driven: DrivenServer) throws -> Bool {
    client.connect()
    try driven.exchange(client.hello, client.id)
    let answers = try driven.exchange(client.start, client.id)
    guard case .reset? = answers.welcome(client.id) else {
      #expect(answers.steps(client.id).count == 1 && !client.isClosed)
      return false
    }
    return true
  }

  // MARK: - Marks

  @Test func `a mark in a session that no change concerns is followed by a step up to its version`() throws {
    let driven = try DrivenServer()
    let writer = try driven.running("writer")
    let reader = try driven.running("anna", "q == 1")
    try writer.upload(.creation(1, 3))
    #expect(try driven.run().messages[reader.id] == nil)
    // This changeset is not integrated yet when the client asks for the mark.
    try writer.upload(.creation(2, 3))
    let end = driven.node.end
    #expect(reader.version < end && driven.state.version < end)
    let answers = try driven.exchange(.mark(request: 5), reader.id)
    #expect(answers.messages[reader.id]?.first == .mark(request: 5, version: end))
    #expect(answers.steps(reader.id).map(\.told) == [[]])
    #expect(reader.version == end)
    // The step is sent only once.
    try writer.upload(.creation(3, 3))
    #expect(try driven.run().messages[reader.id] == nil)
  }

  // MARK: - Copies

  @Test func `a copy that asks for another query set under the same number is found`() throws {
    let driven = try DrivenServer()
    let client = try driven.running("anna", "q == 1")
    let replica = try #require(client.replica)
    // The same query set again is not a new one.
    func send(_ predicate: String, _ number: UInt64) throws -> DrivenServer.Answers {
      try driven.exchange(
        .querySet(QuerySet(number: number, queries: [DrivenClient.query(predicate)])), client.id)
    }
    #expect(try send("q == 1", client.asked).error(client.id) == nil)
    #expect(try send("q == 2", client.asked).error(client.id)?.action == .reset)
    try driven.run()
    let id = driven.server.connect(user: "anna")
    try driven.exchange(client.hello, id)
    let answers = try driven.exchange(client.start, id)
    guard case .reset(let reset)? = answers.welcome(id) else {
      Issue.record("not reset: \(answers.messages[id] ?? [])")
      return
    }
    #expect(reset.isInDoubt && reset.registered.replica != replica)
  }

  @Test func `a file that is older than the decisions it has confirmed is reset in doubt`() throws {
    let driven = try DrivenServer()
    let client = try driven.running("anna")
    for key in 1...3 as ClosedRange<Int64> { try client.upload(.creation(key, key)) }
    let copied = client.start
    try driven.run()
    #expect(client.own.map(\.sequence) == [1, 2, 3])
    // The file confirms that all changesets are decided, and the server forgets the decisions.
    client.connect()
    try client.begin()
    let id = driven.server.connect(user: "anna")
    try driven.exchange(client.hello, id)
    let answers = try driven.exchange(copied, id)
    guard case .reset(let reset)? = answers.welcome(id) else {
      Issue.record("not reset: \(answers.messages[id] ?? [])")
      return
    }
    #expect(reset.isInDoubt && answers.steps(id).isEmpty)
  }

  @Test func `a file that knows more decisions than the server has is reset in doubt`() throws {
    let driven = try DrivenServer()
    let client = try driven.running("anna")
    for key in 1...3 as ClosedRange<Int64> { try client.upload(.creation(key, key)) }
    try driven.run()
    client.connect()
    try driven.exchange(client.hello, client.id)
    guard case .start(var start) = client.start else { return }
    #expect(start.pending.isEmpty && start.last?.sequence == 3)
    start.last = NamedChangeset(sequence: 9, hash: [UInt8](repeating: 9, count: 32))
    let answers = try driven.exchange(.start(start), client.id)
    guard case .reset(let reset)? = answers.welcome(client.id) else {
      Issue.record("not reset: \(answers.messages[client.id] ?? [])")
      return
    }
    #expect(reset.isInDoubt)
  }

  // MARK: - Trims

  @Test func `a trim does not pass a connected client, however long ago its session began`() throws {
    let driven = try DrivenServer()
    let client = try driven.running("anna")
    let version = client.version
    try Self.pass(30, driven)
    #expect(client.version == version && driven.state.version > version)
    try driven.server.trim(offline: Self.day, time: driven.time)
    try driven.run()
    #expect(driven.state.horizon <= version && !client.isClosed)
    try client.upload(.creation(1, 1))
    try driven.run()
    #expect(client.own.map(\.refusals) == [[]] && !client.isClosed)
  }

  @Test func `a file that was away too long is retired by a trim, and reset at its next start`() throws {
    let driven = try DrivenServer()
    let ben = try driven.running("ben")
    let (writer, cleo) = (try driven.running("writer"), try driven.running("cleo"))
    for client in [ben, cleo] { driven.server.disconnect(client.id) }
    try writer.upload(.creation(1, 1))
    try Self.pass(30, driven)
    cleo.connect()
    try cleo.begin()
    driven.server.disconnect(cleo.id)
    driven.time += 1000
    let end = driven.node.end
    try driven.server.trim(offline: Self.day, time: driven.time)
    // The trim retires one file.
    #expect(driven.node.end == end + 2)
    try driven.run()
    #expect(driven.state.horizon > ben.version)
    #expect(!writer.isClosed)
    #expect(try !Self.isReset(cleo, driven))
    #expect(try Self.isReset(ben, driven))
  }

  @Test func `a client that was connected when the server was killed is not retired at its restart`() throws {
    let driven = try DrivenServer()
    let (ben, writer) = (try driven.running("ben"), try driven.running("writer"))
    try writer.upload(.creation(1, 1))
    // The time is longer than a client may be away, and no client connects again.
    for _ in 0..<30 {
      try Self.pass(1, driven)
      try driven.server.trim(offline: Self.day, time: driven.time)
      try driven.run()
    }
    // The connections are lost with the server, which can't note their end.
    for client in [ben, writer] { driven.server.disconnect(client.id) }
    driven.time += 1000
    try driven.server.noteStart(time: driven.time)
    try driven.server.trim(offline: Self.day, time: driven.time)
    try driven.run()
    for client in [ben, writer] { #expect(try !Self.isReset(client, driven)) }
  }

  @Test func `the time in which a server did not run does not count as the clients' absence`() throws {
    let driven = try DrivenServer()
    let (ben, writer) = (try driven.running("ben"), try driven.running("writer"))
    try writer.upload(.creation(1, 1))
    try driven.run()
    for client in [ben, writer] { driven.server.disconnect(client.id) }
    driven.time += 2 * Self.day
    driven.server.acceptsClock = true
    try driven.server.noteStart(time: driven.time)
    try driven.server.trim(offline: Self.day, time: driven.time)
    try driven.run()
    #expect(try !Self.isReset(writer, driven))
    // A client that does not connect then is away.
    try Self.pass(2, driven)
    try driven.server.trim(offline: Self.day, time: driven.time)
    try driven.run()
    #expect(try Self.isReset(ben, driven))
  }

  @Test func `a server that restarts several times leaves out each of its pauses once`() throws {
    let driven = try DrivenServer()
    let (ben, writer) = (try driven.running("ben"), try driven.running("writer"))
    driven.server.disconnect(ben.id)
    driven.time += Self.day / 2
    try writer.upload(.creation(1, 1))
    try driven.run()
    driven.server.disconnect(writer.id)
    for _ in 0..<3 {
      driven.time += Self.day / 3
      try driven.server.noteStart(time: driven.time)
    }
    writer.connect()
    try writer.begin()
    for _ in 0..<3 {
      driven.time += Self.day / 4
      try driven.run()
    }
    // The server ran for half a day and for three quarters of a day.
    try driven.server.trim(offline: Self.day, time: driven.time)
    try driven.run()
    #expect(try Self.isReset(ben, driven))
  }

  @Test func `a trim with a clock that is a month ahead does nothing`() throws {
    let driven = try DrivenServer()
    let ben = try driven.running("ben")
    let writer = try driven.running("writer")
    driven.server.disconnect(ben.id)
    try writer.upload(.creation(1, 1))
    try driven.run()
    let (end, horizon) = (driven.node.end, driven.state.horizon)
    try driven.server.trim(offline: Self.day, time: driven.time + 30 * Self.day)
    #expect(driven.node.end == end)
    try driven.run()
    #expect(driven.state.horizon == horizon)
    #expect(try !Self.isReset(ben, driven))
  }

  @Test func `a trim without a limit of absence retires no file`() throws {
    let driven = try DrivenServer()
    let ben = try driven.running("ben")
    let writer = try driven.running("writer")
    driven.server.disconnect(ben.id)
    try writer.upload(.creation(1, 1))
    try Self.pass(2, driven)
    try driven.server.trim(offline: .max, time: driven.time)
    try driven.run()
    #expect(driven.state.horizon <= ben.version)
    #expect(try !Self.isReset(ben, driven))
  }

  // MARK: - What a session may take

  @Test func `resets count as registrations`() throws {
    var limits = ServerLimits()
    limits.registrations = 2
    let driven = try DrivenServer(limits)
    let client = try driven.running("anna")
    client.tag ^= 1
    #expect(try Self.isReset(client, driven))
    // The next reset comes within the same minute.
    client.connect()
    try driven.exchange(client.hello, client.id)
    client.tag ^= 1
    let end = driven.node.end
    let answers = try driven.exchange(client.start, client.id)
    let error = try #require(answers.error(client.id))
    #expect(error.code == 9 && error.action == .tryLater && error.wait == 60_000)
    #expect(driven.node.end == end)
    driven.time += 60_000
    #expect(try Self.isReset(client, driven))
  }

  @Test func `a changeset that the server has already is skipped`() throws {
    let driven = try DrivenServer()
    let client = try driven.running("anna")
    let message = try client.message(.creation(1, 1))
    let end = driven.node.end
    // The changeset comes again before it is integrated, and once more after that.
    try driven.send(.upload(message), client.id)
    try driven.send(.upload(message), client.id)
    #expect(driven.node.end == end + 1)
    try driven.run()
    #expect(try driven.exchange(.upload(message), client.id).messages[client.id] == nil)
    #expect(driven.node.end == end + 1 && !client.isClosed)
    #expect(driven.state.lastSequence(of: try #require(client.replica)) == 1)
  }

  @Test func `a changeset whose answer was lost makes only one version`() throws {
    let driven = try DrivenServer()
    let client = try driven.running("anna")
    try client.upload(.creation(1, 1))
    let end = driven.node.end
    client.connect()
    try driven.run()
    #expect(driven.state.version == end)
    try client.begin()
    #expect(driven.node.end == end && !client.isClosed)
    #expect(client.own.map(\.sequence) == [1] && client.version == end)
  }

  // MARK: - Nodes that stop

  @Test func `a node that stops ends all sessions, and does not note the time`() throws {
    let driven = try DrivenServer(log: MemoryLog())
    let (running, welcome) = (try driven.running("anna"), driven.client("ben"))
    try driven.exchange(welcome.hello, welcome.id)
    let silent = driven.server.connect(user: "cleo")
    let registering = driven.client("dora")
    try driven.append(.semantics(2))
    try driven.send(registering.hello, registering.id)
    let answers = try driven.run()
    #expect(driven.node.halt != nil)
    for id in [running.id, welcome.id, silent, registering.id] {
      let error = answers.error(id)
      #expect(error?.code == 11 && error?.action == .tryLater, "\(id)")
    }
    let end = driven.node.end
    try Self.pass(2, driven)
    #expect(driven.node.end == end)
    running.connect()
    #expect(try driven.exchange(running.hello, running.id).error(running.id)?.code == 11)
    try driven.server.trim(offline: 0, time: driven.time)
    #expect(driven.node.end == end)
  }
}
