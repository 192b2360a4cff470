import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Resets and refusals as a client's session carries them out, and random messages.
@Suite struct ClientSessionResetTests {
  /// A file with two pending changesets that its server resets.
  private static func reset(
    _ recovery: ClientSession.Recovery, _ schema: [SchemaInstruction] = [], mayRepeat: Bool = true
  ) throws -> (file: DrivenFile, actions: [ClientSession.Action]) {
    let file = try DrivenFile(changes: 2, recovery: recovery, mayRepeatResets: mayRepeat)
    try file.begin()
    let welcome = try file.receive(DrivenFile.welcome(.reset(DrivenFile.reset())))
    #expect(welcome.text == "will reset, start" && welcome.first == .willReset(isInDoubt: true))
    #expect(welcome.start?.version == 9 && welcome.start?.querySet == 0 && welcome.start?.pending == [])
    // The file does not change before the whole step has come.
    #expect(try file.position().version == 5 && file.texts().keys.sorted() == [1, 2])
    #expect(file.upload().isEmpty)
    var step = try file.resetStep(schema)
    step.isLast = false
    let object = step.objects.removeFirst()
    #expect(try file.receive(.step(step)).isEmpty)
    (step.objects, step.schema, step.isLast) = ([object], [], true)
    return (file, try file.receive(.step(step)))
  }

  @Test func `a reset by hand leaves the file to the app`() throws {
    let file = try DrivenFile(changes: 2, recovery: .manual)
    try file.begin()
    let version = try file.database.snapshot().version
    let actions = try file.receive(DrivenFile.welcome(.reset(DrivenFile.reset())))
    #expect(actions == [.failed(.resetNeeded(isInDoubt: true)), .disconnect(.never)])
    #expect(try file.database.snapshot().version == version)
    #expect(try file.pending().count == 2)
  }

  @Test(arguments: [ClientSession.Recovery.recover, .recoverOrDiscard])
  func `changes that no server has decided are written again`(recovery: ClientSession.Recovery) throws {
    let (file, actions) = try Self.reset(recovery)
    #expect(actions.first == .didReset(isRecovered: true))
    #expect(actions.contains(.applied(version: 10)))
    #expect(try file.texts().keys.sorted() == [1, 2, 100])
    let position = try file.position()
    #expect(position.version == 10 && position.decided.sequence == 0 && position.sessionNumber == 1)
    #expect(try file.reading { $0.number } == 8)
    file.time += 100
    let uploads = actions.uploads + file.upload().uploads
    #expect(uploads.map(\.sequence) == [1, 2] && uploads.first?.previous == [])
    #expect(uploads.allSatisfy { $0.base == 10 && $0.stamp > Stamp(milliseconds: DrivenFile.start) })
    #expect(IntegrityCheck.run(try file.database.snapshot()).isClean)
  }

  @Test func `changes that no server has decided are dropped if the app wants that`() throws {
    let (file, actions) = try Self.reset(.discard)
    #expect(actions.first == .didReset(isRecovered: false))
    #expect(try file.texts().keys.sorted() == [100])
    file.time += 100
    // The file tells the server only the definitions that the server does not have.
    let uploads = actions.uploads + file.upload().uploads
    #expect(uploads.map(\.sequence) == [1] && uploads.allSatisfy { $0.changeset.objects.isEmpty })
    try file.write()
    #expect(file.upload().uploads.map(\.sequence) == [2])
    #expect(IntegrityCheck.run(try file.database.snapshot()).isClean)
  }

  @Test func `a property that the server requires again is told as optional again`() throws {
    let required = SchemaInstruction.addProperty(table: ModelClass.name, PropertyDefinition("c", .int64))
    let (file, actions) = try Self.reset(.discard, [required])
    file.time += 100
    let told = (actions.uploads + file.upload().uploads).flatMap(\.changeset.schema)
    let optional = PropertyDefinition("c", .int64, isOptional: true)
    #expect(told.contains(.addProperty(table: ModelClass.name, optional)))
  }

  /// The schema of a server that has another type for a property of the file.
  private static let otherSchema = [
    SchemaInstruction.addProperty(table: ModelClass.name, PropertyDefinition("c", .string))
  ]

  @Test func `a reset that fails leaves the file, and the app is told`() throws {
    let (file, actions) = try Self.reset(.recover, Self.otherSchema)
    let cause = ClientProblem.otherSchema(table: ModelClass.name, property: "c")
    #expect(actions == [.failed(.resetFailed(cause)), .disconnect(.never)])
    #expect(try file.position().version == 5 && file.pending().count == 2)
    #expect(try file.texts().keys.sorted() == [1, 2])
  }

  @Test func `a file of another schema is not reset in any mode, and keeps its changes`() throws {
    for recovery in [ClientSession.Recovery.recover, .discard, .recoverOrDiscard] {
      let (file, actions) = try Self.reset(recovery, Self.otherSchema)
      let cause = ClientProblem.otherSchema(table: ModelClass.name, property: "c")
      #expect(actions.problem == .resetFailed(cause), "\(actions)")
      #expect(try !file.pending().isEmpty)
    }
  }

  // MARK: - Resets behind resets

  /// The server resets the file a second time, as the replica 9 at version 20.
  private static func again(_ file: DrivenFile) throws -> [ClientSession.Action] {
    file.session.disconnected()
    try file.begin()
    let reset = Welcome.Reset(registered: DrivenFile.registered(9, version: 20), isInDoubt: true)
    return try file.receive(DrivenFile.welcome(.reset(reset)))
  }

  private static let cycle: [ClientSession.Action] = [
    .failed(.resetFailed(.repeatedReset)), .disconnect(.never),
  ]

  @Test(arguments: [ClientSession.Recovery.recover, .discard])
  func `a reset fails if it follows a reset whose kept changes the server has not taken yet`(
    recovery: ClientSession.Recovery
  ) throws {
    let (file, _) = try Self.reset(recovery, mayRepeat: false)
    let before = try (file.position(), file.texts())
    for _ in 0..<2 {
      let actions = try Self.again(file)
      #expect(actions == Self.cycle)
    }
    #expect(try file.position() == before.0 && file.texts() == before.1)
  }

  @Test func `a reset may follow another once the server has taken the changes that the first one kept`()
    throws
  {
    let (file, actions) = try Self.reset(.recover, mayRepeat: false)
    file.time += 100
    let uploads = actions.uploads + file.upload().uploads
    #expect(uploads.count == 2)
    for (place, upload) in uploads.enumerated() {
      let isOver = try file.reading { try $0.resetMark == nil }
      #expect(!isOver, "\(place)")
      _ = try file.receive(.step(file.step(deciding: [upload])))
    }
    let isOver = try file.reading { try $0.resetMark == nil }
    #expect(isOver)
    let again = try Self.again(file)
    #expect(again.text == "will reset, start")
  }

  @Test func `changes that one reset kept are dropped at the next reset if the app allows both`() throws {
    let (file, first) = try Self.reset(.recoverOrDiscard, mayRepeat: false)
    #expect(first.first == .didReset(isRecovered: true))
    let again = try Self.again(file)
    #expect(again.text == "will reset, start")
    var step = try file.resetStep()
    (step.from, step.to) = (20, 21)
    let second = try file.receive(.step(step))
    #expect(second.first == .didReset(isRecovered: false))
    #expect(try file.texts().keys.sorted() == [100])
    let third = try Self.again(file)
    #expect(third == Self.cycle)
  }

  @Test func `changes that the server has integrated are not written again`() throws {
    let file = try DrivenFile(changes: 3)
    let sent = try file.begin().uploads
    var reset = DrivenFile.reset()
    reset.integrated = [NamedChangeset(sequence: 1, hash: sent[0].hash)]
    _ = try file.receive(DrivenFile.welcome(.reset(reset)))
    let actions = try file.receive(.step(file.resetStep()))
    #expect(actions.first == .didReset(isRecovered: true))
    #expect(try file.pending().count == 2)
    #expect(try file.texts().keys.sorted() == [2, 3, 100])
  }

  // MARK: - Refusals

  private static func refusals(_ range: Range<Int64>) -> [Refusal] {
    range.map { Refusal(subject: .object(ObjectName(ModelClass.name, .int($0))), reason: .notPermitted) }
  }

  @Test func `the newest refusals are kept until they are forgotten`() throws {
    let file = try DrivenFile(changes: 3)
    let sent = try file.begin().uploads
    let all = Self.refusals(0..<1400)
    func kept() throws -> [Refusal] { try file.reading { try $0.refusals().map(\.refusal) } }
    func decide(_ index: Int, _ refusals: [Refusal]) throws -> [ClientSession.Action] {
      try file.receive(.step(file.step(deciding: [sent[index]], refusing: refusals)))
    }
    #expect(try decide(0, Array(all[..<700])).contains(.refused))
    #expect(try kept() == Array(all[..<700]))
    file.session.disconnected()
    try file.begin()
    #expect(try kept().count == 700)
    #expect(try decide(1, Array(all[700...])).contains(.refused))
    #expect(try kept() == Array(all[400...]))
    let numbers = try file.reading { try $0.refusals().map(\.number) }
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
    try file.changing { try $0.forgetRefusals(upTo: numbers[299]) }
    #expect(try kept() == Array(all[700...]))
    #expect(try !decide(2, []).contains(.refused))
    #expect(try kept() == Array(all[700...]))
  }

  // MARK: - Anything

  /// The stage that a session has reached.
  private enum Stage {
    case hello, started, running
    case resetting(Welcome.Reset)
  }

  /// Makes random messages. Some of them fit the state of a file, most do not.
  private struct Server {
    var messages: MessageMaker
    var hostile: HostileMaker
    var generator: SeededGenerator

    init(seed: UInt64) {
      messages = MessageMaker(seed: seed)
      hostile = HostileMaker(seed: seed &+ 1000)
      generator = SeededGenerator(seed: seed &+ 2000)
    }

    mutating func message(_ file: DrivenFile, _ stage: Stage) throws -> ServerMessage {
      if generator.chance(20) { return messages.serverMessage() }
      let number = 20 + generator.next() >> 8
      switch stage {
      case .hello:
        guard try file.reading({ $0.number }) == .max else {
          return DrivenFile.welcome(.known(sessionNumber: number))
        }
        return DrivenFile.welcome(.registered(DrivenFile.registered(number)))
      case .started where generator.chance(30):
        let registered = DrivenFile.registered(number, version: 40)
        let isInDoubt = generator.chance(50)
        return DrivenFile.welcome(.reset(Welcome.Reset(registered: registered, isInDoubt: isInDoubt)))
      case .started, .running: return .step(try step(file, nil))
      case .resetting(let reset): return .step(try step(file, reset))
      }
    }

    /// A step that begins at the file's version, with random changes of objects.
    private mutating func step(_ file: DrivenFile, _ reset: Welcome.Reset?) throws -> Step {
      var step = try file.step(from: reset?.registered.version)
      if reset != nil { (step.querySet, step.lastSequence) = (0, 0) }
      step.isLast = generator.chance(80)
      step.replicas = [0, 7, 90]
      if generator.chance(30) { return step }
      let changeset = hostile.changeset()
      step.schema = generator.chance(20) ? changeset.schema : []
      var seen: Set<ObjectName> = []
      for object in changeset.objects where seen.insert(object.id).inserted {
        step.objects.append(ObjectStep(object.id, change(object.instructions, isWhole: reset != nil)))
      }
      return step
    }

    private mutating func change(_ all: [Instruction], isWhole: Bool) -> ObjectStep.Change {
      let decided = DecidedBy(
        version: 6, stamp: Stamp(milliseconds: DrivenFile.start), replica: UInt32(generator.below(3)))
      switch generator.below(isWhole ? 1 : 8) {
      case 0, 1: return .whole(all)
      case 2: return .left
      case 3: return .deleted(decided)
      case 4: return .effects([.own(sequence: UInt64(generator.below(4)))])
      default: return .effects([.others(decided, all.map { Effect($0) })])
      }
    }
  }

  /// Sends a message, or bytes that are nearly a message.
  private static func send(
    _ message: ServerMessage, _ file: DrivenFile, _ server: inout Server
  ) -> [ClientSession.Action] {
    let frame = server.generator.chance(10) ? server.messages.damaged(message.bytes) : message.bytes
    do throws(MessageDamage) {
      return file.session.receive(try ServerMessage(bytes: frame), time: file.time)
    } catch {
      return file.session.receive(error)
    }
  }

  /// The stage of the session after a message.
  private static func stage(_ message: ServerMessage, _ actions: [ClientSession.Action], _ old: Stage)
    -> Stage
  {
    if actions.text.contains("disconnect") || actions.text.contains("stop") { return .hello }
    if actions.start == nil {
      if case .started = old { return .running }
      return actions.text.contains("did reset") ? .running : old
    }
    guard case .welcome(let welcome) = message, case .reset(let reset) = welcome.answer else {
      return .started
    }
    return .resetting(reset)
  }

  @Test func `pending changes are never lost, whatever a server sends`() throws {
    var (applied, failed, resets) = (0, 0, 0)
    for seed in Slow.seeds(20, slow: 1000) {
      let file = try DrivenFile(changes: 3)
      var server = Server(seed: seed)
      var stage = Stage.hello
      for _ in 0..<80 {
        if !file.session.isConnected { _ = try file.session.connected() }
        if server.generator.chance(10) { try file.write(server.generator.chance(50) ? .relaxed : .full) }
        file.time += UInt64(server.generator.below(100))
        let before = try file.pending()
        let message = try server.message(file, stage)
        let actions = Self.send(message, file, &server)
        let after = try file.pending()
        if actions.text.hasPrefix("did reset") {
          // The reset wrote the pending changes again, with the same sequences.
          resets += 1
          #expect(Set(after.keys) == Set(before.keys), "seed \(seed)")
        } else {
          #expect(after == before, "seed \(seed): \("\(message)".prefix(2000))")
        }
        if actions.text.contains("applied") { applied += 1 }
        if actions.problem != nil { failed += 1 }
        stage = Self.stage(message, actions, stage)
        if case .hello = stage { file.session.disconnected() }
      }
      let check = IntegrityCheck.run(try file.database.snapshot())
      #expect(check.isClean, "seed \(seed): \(check.findings)")
    }
    let counts: Comment = "\(applied) applied, \(failed) failed, \(resets) resets"
    #expect(applied > 50 && failed > 50 && resets > 3, counts)
  }
}
