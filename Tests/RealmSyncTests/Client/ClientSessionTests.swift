import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Tests of the behaviour of a client's session in each state.
@Suite struct ClientSessionTests {
  enum StateName: String, CaseIterable, Sendable {
    /// A file that was never registered has said hello, or a file that was registered.
    case new, known
    /// The session has had only a welcome, or also a step.
    case started, running
    /// The server resets the file.
    case resetting
    case disconnected
  }

  enum MessageName: String, CaseIterable, Sendable {
    case otherVersion, known, registered, reset, step, oldStep, part, refusedSet, chunk, mark, retired, error
    case skipped
  }

  /// A file with a pending changeset, whose session is in a state.
  private static func file(in state: StateName) throws -> DrivenFile {
    let file = try DrivenFile()
    if state == .new {
      _ = try file.session.connected()
      return file
    }
    try file.begin()
    switch state {
    case .running: _ = try file.receive(.mark(request: 1, version: 1))
    case .resetting: _ = try file.receive(DrivenFile.welcome(.reset(DrivenFile.reset())))
    case .disconnected, .known: file.session.disconnected()
    default: break
    }
    if state == .known { _ = try file.session.connected() }
    return file
  }

  private static func message(_ name: MessageName, _ file: DrivenFile, _ state: StateName) throws
    -> ServerMessage
  {
    switch name {
    case .otherVersion:
      guard case .welcome(var welcome) = DrivenFile.welcome(.known(sessionNumber: 2)) else {
        return .skipped(number: 1)
      }
      welcome.version = 2
      return .welcome(welcome)
    case .known: return DrivenFile.welcome(.known(sessionNumber: 2))
    case .registered: return DrivenFile.welcome(.registered(DrivenFile.registered(9)))
    case .reset: return DrivenFile.welcome(.reset(DrivenFile.reset()))
    case .step: return .step(try state == .resetting ? file.resetStep() : file.step())
    case .oldStep: return .step(try file.step(from: 3))
    case .part:
      var step = try state == .resetting ? file.resetStep() : file.step()
      step.isLast = false
      return .step(step)
    case .refusedSet: return .querySetRefused(number: 1, code: 201, text: "no")
    case .chunk:
      let hash = [UInt8](repeating: 1, count: 32)
      return .chunk(ValueChunk(hash: hash, offset: 0, length: 2, bytes: [1, 2]))
    case .mark: return .mark(request: 3, version: 4)
    case .retired: return .retired(replica: 6)
    case .error: return .error(ProtocolError(code: 9, text: "", action: .tryLater, wait: 3))
    case .skipped: return .skipped(number: 41)
    }
  }

  /// The expected behaviour of a session in each state. A session fails after every message that is not listed here.
  private static let answers: [StateName: [MessageName: String]] = [
    .new: [.registered: "start, upload"],
    .known: [.known: "start, upload", .reset: "will reset, start"],
    .started: running.merging([.reset: "will reset, start"]) { $1 },
    .running: running,
    // A reset is allowed, because the server may have forgotten the new replica before that replica started.
    .resetting: running.merging([.step: "did reset, applied, shows, upload", .reset: "will reset, start"]) {
      $1
    },
    .disconnected: Dictionary(uniqueKeysWithValues: MessageName.allCases.map { ($0, "") }),
  ]

  private static let running: [MessageName: String] = [
    .step: "applied, call again", .oldStep: "disconnect", .part: "", .refusedSet: "set refused",
    .mark: "mark", .retired: "retired",
  ]

  @Test(arguments: StateName.allCases, MessageName.allCases)
  func `each message does what the protocol says in each state`(state: StateName, name: MessageName) throws {
    let file = try Self.file(in: state)
    let before = try (file.pending(), file.position(), file.texts())
    let actions = try file.receive(Self.message(name, file, state))
    var expected = Self.answers[state]?[name] ?? "failed, stop"
    if state != .disconnected, name == .error { expected = "ended, disconnect" }
    if name == .skipped { expected = "" }
    #expect(actions.text == expected)
    if expected == "failed, stop" { #expect(actions.problem == .wrongAnswer) }
    guard !expected.hasPrefix("did reset") else {
      #expect(try Set(file.pending().keys) == Set(before.0.keys))
      return
    }
    #expect(try file.pending() == before.0)
    if !expected.contains("applied"), expected != "start, upload" {
      #expect(try file.position() == before.1)
    }
    #expect(try file.texts() == before.2)
    #expect(IntegrityCheck.run(try file.database.snapshot()).isClean)
  }

  @Test func `bytes that are not a message end the session, and leave the file unchanged`() throws {
    let file = try DrivenFile()
    try file.begin()
    let version = try file.database.snapshot().version
    let damage = try #require(throws: MessageDamage.self) { try ServerMessage(bytes: [14, 0, 5]) }
    #expect(file.session.receive(damage) == [.failed(.damagedMessage(damage)), .disconnect(.never)])
    #expect(try file.database.snapshot().version == version)
  }

  // MARK: - What is sent

  private func isDurable(_ file: DrivenFile) throws -> Bool {
    file.database.isDurable(try file.database.snapshot().version)
  }

  @Test func `a change is not sent before it is durable`() throws {
    let file = try DrivenFile()
    #expect(try file.begin().uploads.map(\.sequence) == [1])
    #expect(file.upload().isEmpty)
    try file.write(.relaxed)
    #expect(try !isDurable(file))
    #expect(file.upload() == [.callAgain(after: 50)])
    file.time += 20
    try file.write(.relaxed)
    #expect(file.upload() == [.callAgain(after: 30)])
    file.time += 29
    #expect(file.upload() == [.callAgain(after: 1)])
    #expect(try !isDurable(file))
    file.time += 1
    #expect(file.upload().uploads.map(\.sequence) == [2, 3])
    #expect(try isDurable(file))
    // A commit that is durable is sent at once, and the wait for the next one starts from zero.
    try file.write()
    #expect(try isDurable(file))
    #expect(file.upload().uploads.map(\.sequence) == [4])
    file.time += 1000
    try file.write(.relaxed)
    #expect(file.upload() == [.callAgain(after: 50)])
    // A flush from outside the session makes the changeset durable.
    try file.database.flush()
    #expect(file.upload().uploads.map(\.sequence) == [5])
  }

  @Test func `the facts that a session tells about the file are durable when it connects`() throws {
    let file = try DrivenFile()
    try file.begin()
    try file.write(.relaxed)
    file.session.disconnected()
    #expect(try !isDurable(file))
    let actions = try file.session.connected()
    #expect(try isDurable(file))
    #expect(actions == [.send(.hello(Hello(versions: 1...1, replica: 7)))])
    let start = try #require(try file.receive(DrivenFile.welcome(.known(sessionNumber: 3))).start)
    #expect(start.pending.map(\.sequence) == [1, 2] && start.last == start.pending.last)
    #expect(start.leastBase == 5)
  }

  @Test func `uploads stop at the limit of bytes under way, and go on when a step decides some of them`()
    throws
  {
    let file = try DrivenFile(changes: 4)
    var sent = try file.begin(bytesUnderWay: 1).uploads
    #expect(sent.map(\.sequence) == [1])
    #expect(file.upload().isEmpty)
    // A step that decides nothing does not let another upload go.
    _ = try file.receive(.step(file.step()))
    file.time += 100
    #expect(file.upload().isEmpty)
    for sequence in 2...4 as ClosedRange<UInt64> {
      var actions = try file.receive(.step(file.step(deciding: sent)))
      #expect(actions.first == .applied(version: try file.position().version))
      file.time += 100
      actions += file.upload()
      sent = actions.uploads
      #expect(sent.map(\.sequence) == [sequence])
    }
    #expect(try file.pending().count == 1)
    // A larger limit lets several uploads go.
    let other = try DrivenFile(changes: 4)
    #expect(try other.begin().uploads.map(\.sequence) == [1, 2, 3, 4])
  }

  @Test func `uploads form a chain, and in the next session they continue after the decided ones`() throws {
    let file = try DrivenFile(changes: 3)
    let sent = try file.begin().uploads
    #expect(sent.map(\.previous) == [[]] + sent.dropLast().map(\.hash))
    _ = try file.receive(.step(file.step(deciding: Array(sent.prefix(2)))))
    file.session.disconnected()
    #expect(file.upload().isEmpty)
    #expect(try file.begin().uploads == sent.suffix(1))
  }

  @Test func `a query set is sent before the uploads that name it, and after the other uploads`() throws {
    let file = try DrivenFile()
    let number = try file.changing {
      try $0.setQueries([QuerySet.Query(table: ModelClass.name, predicate: "")])
    }
    try file.write()
    #expect(number == 1)
    #expect(try file.begin().text == "start, upload, set, upload")
    #expect(file.upload().isEmpty)
  }

  // MARK: - Errors

  private static let retries: [(ProtocolError.Action, ClientSession.Retry)] = [
    (.tryLater, .after(milliseconds: 77)), (.logIn, .whenLoggedIn), (.updateApp, .withNewerApp),
    (.reset, .after(milliseconds: 77)), (.stop, .never),
  ]

  @Test(arguments: 0..<5, StateName.allCases)
  func `an error tells when to come back, and changes nothing in the file`(
    index: Int, state: StateName
  ) throws {
    let (action, retry) = Self.retries[index]
    let file = try Self.file(in: state)
    let (version, pending) = (try file.database.snapshot().version, try file.pending())
    let error = ProtocolError(code: 9999, text: "x", action: action, wait: 77)
    let actions = try file.receive(.error(error))
    #expect(actions == (state == .disconnected ? [] : [.ended(error), .disconnect(retry)]))
    #expect(try file.database.snapshot().version == version)
    #expect(try file.pending() == pending)
  }

  // MARK: - Session numbers

  @Test func `a session number that was offered is used after the first step, and not before`() throws {
    let file = try DrivenFile()
    #expect(try file.begin().start?.sessionNumber == 1)
    for _ in 0..<2 {
      file.session.disconnected()
      _ = try file.session.connected()
      let start = try file.receive(DrivenFile.welcome(.known(sessionNumber: 77))).start
      #expect(start?.sessionNumber == 1)
      _ = try file.receive(.mark(request: 1, version: 1))
      #expect(try file.position().sessionNumber == 1)
    }
    _ = try file.receive(.step(file.step()))
    #expect(try file.position().sessionNumber == 77)
    file.session.disconnected()
    _ = try file.session.connected()
    let start = try file.receive(DrivenFile.welcome(.known(sessionNumber: 78))).start
    #expect(start?.sessionNumber == 77)
  }
}
