import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport
import RealmTestSupport
import Testing

/// The steps that the server sends to running sessions, and their times.
@Suite struct SyncServerStepTests {
  // MARK: - Query sets

  private struct Refused: Sendable {
    let predicates: [String]
    let code: UInt32
  }

  private static let refused = [
    Refused(predicates: ["other == 1"], code: 203),
    Refused(predicates: ["q == 1", "q == 2", "q == 3"], code: 204),
    Refused(predicates: ["q =="], code: 201),
    Refused(predicates: ["q == 'text'"], code: 201),
    Refused(predicates: [String(repeating: " ", count: 9000)], code: 205),
  ]

  @Test(arguments: 0..<5)
  func `a query set that is refused leaves the set before it in force`(index: Int) throws {
    let refused = Self.refused[index]
    var limits = ServerLimits()
    limits.messages.querySets = 2
    let driven = try DrivenServer(limits)
    let client = try driven.running("anna", "q == 1")
    let other = try driven.running("ben")
    try client.ask(refused.predicates)
    let answers = try driven.run()
    guard case .querySetRefused(2, let code, let text)? = answers.messages[client.id]?.first else {
      Issue.record("not refused: \(answers.messages)")
      return
    }
    #expect(code == refused.code && !text.isEmpty)
    #expect(answers.messages[client.id]?.count == 1)
    // Objects of others still come for the set before.
    try other.upload(.creation(1, 1))
    try driven.run()
    #expect(client.querySet == 1 && client.steps.last?.told == ["whole 1"])
    // A changeset that names the refused set counts as written with the set before.
    try client.upload(.creation(2, 1), querySet: 2)
    try client.upload(.creation(3, 2), querySet: 2)
    try driven.run()
    let name = ObjectName(ModelClass.name, .int(3))
    #expect(client.own.map(\.sequence) == [1, 2] && !client.isClosed)
    #expect(client.own.first?.refusals == [])
    #expect(client.own.last?.refusals == [Refusal(subject: .object(name), reason: .outsideQuerySet)])
    // The next set that is correct is taken.
    try client.ask(["q == 2"])
    try driven.run()
    #expect(client.querySet == 3 && client.steps.last?.querySet == 3)
    #expect(client.steps.last?.told == ["left 1", "left 2"])
  }

  @Test func `an object that a client has made is sent back to it only when another client has changed it`()
    throws
  {
    let driven = try DrivenServer()
    let (client, other) = (try driven.running("anna"), try driven.running("ben"))
    try client.upload(.creation(1, 1))
    try client.upload(.one(1, [.set(InstructionPath("m"), .value(.string("mine")), isDefault: false)]))
    try driven.run()
    #expect(client.steps.last?.told == ["effects 1"] && other.steps.last?.told == ["whole 1"])
    guard case .effects(let effects)? = client.steps.last?.objects.first?.change else {
      Issue.record("no effects are told")
      return
    }
    #expect(effects == [.own(sequence: 1), .own(sequence: 2)])
    // The client has not been told of its object yet when the other one changes it.
    try client.upload(.creation(2, 1))
    try client.upload(.creation(3, 1))
    try other.upload(.one(2, [.set(InstructionPath("m"), .value(.string("other")), isDefault: false)]))
    try driven.run()
    #expect(client.steps.last?.told == ["effects 3", "whole 2"])
    // Another view shows an object that the client has made outside of the earlier view.
    try client.ask(["q == 2"])
    try driven.run()
    #expect(client.steps.last?.told == ["left 1", "left 2", "left 3"])
  }

  /// A predicate of about `count` times ten bytes.
  private static func long(_ count: Int) -> String {
    "q IN {\((0..<count).map { "\($0)" }.joined(separator: ", "))}"
  }

  @Test func `a query set with lists that are too long is refused, and too many long sets end the session`()
    throws
  {
    var limits = ServerLimits()
    (limits.querySetBytes, limits.querySetsBytes) = (3000, 8000)
    let driven = try DrivenServer(limits)
    let client = try driven.running("anna", "q == 1")
    try client.ask([Self.long(200), Self.long(200)])
    let answers = try driven.run()
    guard case .querySetRefused(2, let code, _)? = answers.messages[client.id]?.first else {
      Issue.record("not refused: \(answers.messages)")
      return
    }
    #expect(code == 205)
    // The server keeps the query sets of a session, because changesets may name them.
    for number in 3...5 as ClosedRange<UInt64> {
      try client.ask([Self.long(240)])
      try driven.run()
      #expect(client.querySet == number)
    }
    try client.ask([Self.long(240)])
    try driven.run()
    #expect(client.lastError == 9)
    // The next session begins with the newest set, and the others are forgotten.
    client.connect()
    try client.begin()
    try client.ask(["q == 2"])
    try driven.run()
    #expect(!client.isClosed && client.querySet == client.asked)
  }

  // MARK: - Who is told

  @Test func `a session that no change concerns is told its version from time to time`() throws {
    var limits = ServerLimits()
    limits.idleVersions = 5
    let driven = try DrivenServer(limits)
    let writer = try driven.running("writer")
    let (one, two) = (try driven.running("anna", "q == 1"), try driven.running("ben", "q == 2"))
    try writer.upload(.creation(10, 2))
    #expect(try driven.run().steps(two.id).map(\.told) == [["whole 10"]])
    let version = one.version
    for number in 11...20 as ClosedRange<Int64> {
      try writer.upload(.creation(number, 3))
      let answers = try driven.run()
      guard driven.state.version < version + 5 else {
        #expect(answers.steps(one.id).map(\.told) == [[]])
        break
      }
      #expect(answers.messages[one.id] == nil, "\(driven.state.version - version) versions later")
    }
    #expect(one.version == driven.state.version)
    // An object that enters or leaves the view concerns the session.
    try writer.upload(.one(10, [.set(InstructionPath("q"), .value(.int(1)), isDefault: false)]))
    #expect(try driven.run().steps(one.id).map(\.told) == [["whole 10"]])
    try writer.upload(.one(10, [.set(InstructionPath("q"), .value(.int(4)), isDefault: false)]))
    #expect(try driven.run().steps(one.id).map(\.told) == [["left 10"]])
  }

  @Test func `a session gets no further step while the bytes that it was sent have not left`() throws {
    var limits = ServerLimits()
    limits.unsentBytes = 1
    let driven = try DrivenServer(limits)
    let (writer, reader) = (try driven.running("writer"), try driven.running("anna"))
    driven.isSentAtOnce = false
    try writer.upload(.creation(1, 1))
    let first = try driven.run()
    let bytes = try #require(first.bytes[reader.id])
    #expect(first.steps(reader.id).map(\.told) == [["whole 1"]])
    let version = reader.version
    try writer.upload(.creation(2, 1))
    #expect(try driven.run().messages[reader.id] == nil)
    driven.server.noteSent(bytes - 1, by: reader.id)
    #expect(try driven.run().messages[reader.id] == nil)
    try writer.upload(.creation(3, 1))
    driven.server.noteSent(1, by: reader.id)
    let steps = try driven.run().steps(reader.id)
    #expect(steps.map(\.told) == [["whole 2", "whole 3"]])
    #expect(steps.first?.from == version)
  }

  @Test(arguments: [false, true])
  func `at most four sessions of a user may have many bytes that have not left`(isLost: Bool) throws {
    var limits = ServerLimits()
    limits.unsentBytes = 1000
    let driven = try DrivenServer(limits)
    let writer = try driven.running("writer")
    var random = SeededGenerator(seed: 1)
    for key in 1...30 as ClosedRange<Int64> {
      let text = (0..<50).map { _ in "\(random.below(1_000_000))" }.joined()
      try writer.upload(.creation(key, 1, text: text))
    }
    try driven.run()
    let reader = try driven.running("anna", "q == 2")
    let slow = (0..<4).map { _ in driven.client("anna") }
    let (last, other) = (driven.client("anna"), driven.client("ben"))
    for client in slow + [last, other] { try client.begin() }
    driven.isSentAtOnce = false
    for client in slow + [last, other] { try client.ask([""]) }
    var answers = try driven.run()
    for client in slow + [other] { #expect(answers.steps(client.id).map(\.objects.count) == [30]) }
    #expect(answers.messages[last.id] == nil)
    let first = slow[0]
    let bytes = try #require(answers.bytes[first.id])
    #expect(bytes > limits.unsentBytes)
    // A session whose view stays the same is told the changes.
    try writer.upload(.creation(100, 2))
    answers = try driven.run()
    #expect(answers.steps(reader.id).map(\.told) == [["whole 100"]])
    #expect(answers.messages[last.id] == nil)
    // It is not enough that most of the bytes have left.
    driven.server.noteSent(bytes - limits.unsentBytes, by: first.id)
    #expect(try driven.run().messages[last.id] == nil)
    let left = limits.unsentBytes
    if isLost { driven.server.disconnect(first.id) } else { driven.server.noteSent(left, by: first.id) }
    answers = try driven.run()
    #expect(answers.steps(last.id).map(\.objects.count) == [31])
  }

  // MARK: - Parts

  /// A step of many objects in parts of 200 bytes, with the largest objects at its end, and the same step in one part.
  private static func parts() throws -> (parts: [Step], whole: Step) {
    var limits = ServerLimits()
    limits.partBytes = 200
    let driven = try DrivenServer(limits)
    let writer = try driven.running("writer")
    for key in 1...30 as ClosedRange<Int64> {
      try writer.upload(
        .creation(key, key % 4, text: key > 18 ? String(repeating: "\(key)", count: 90) : nil))
    }
    try driven.run()
    let reader = driven.client("anna")
    try reader.begin()
    let from = reader.version
    try reader.ask([""])
    let parts = try driven.runToEnd().flatMap { $0.steps(reader.id) }
    let transaction = try driven.database.beginWrite()
    defer { transaction.cancel() }
    let replica = try #require(reader.replica)
    var request = StepRequest(
      replica: replica, from: from, old: driven.state.view(of: replica, querySet: 0, at: from),
      new: driven.state.view(of: replica, querySet: 1), querySet: 1)
    // The session has had the definitions in an earlier step.
    request.definitions = []
    var whole: [Step] = []
    #expect(try driven.state.step(request, transaction) { (step) throws(StorageError) in whole.append(step) })
    #expect(whole.count == 1)
    return (parts, try #require(whole.first))
  }

  @Test func `a large step comes in parts, which are the same step when they are joined`() throws {
    let (parts, whole) = try Self.parts()
    #expect(parts.count > 5 && whole.objects.count == 30)
    #expect(parts.map(\.isLast) == [Bool](repeating: false, count: parts.count - 1) + [true])
    for part in parts {
      #expect(part.from == whole.from && part.to == whole.to && part.tag == whole.tag)
      #expect(part.querySet == 1 && part.mark == whole.mark && !part.objects.isEmpty)
    }
    let names = parts.flatMap(\.objects).map(\.name)
    #expect(Set(names).count == names.count)
    #expect(try Step(joining: parts) == whole)
  }

  @Test func `the figure of what remains of a step never grows`() throws {
    let parts = try Self.parts().parts
    for (part, next) in zip(parts, parts.dropFirst()) {
      #expect(next.remainingObjects < part.remainingObjects)
      #expect(next.remainingBytes <= part.remainingBytes)
    }
    #expect(parts.last?.remainingObjects == 0 && parts.last?.remainingBytes == 0)
  }

  // MARK: - Rights

  @Test func `new data of a user changes the objects that the user sees`() throws {
    let driven = try DrivenServer()
    let writer = try driven.running("writer")
    for key in 1...3 as ClosedRange<Int64> { try writer.upload(.creation(key, key)) }
    let rule = try FieldFilter.parse("q IN $user.roles", of: ModelClass.name, fields: ["q"], purpose: .rule) {
      _ in .int64
    }
    let rules = AccessRules(read: ClassFilters([ModelClass.name: rule]), write: .everything)
    try driven.append(.rules(user: "anna", rules))
    try driven.append(.user("anna", ["roles": [.int(1), .int(2)]]))
    let reader = try driven.running("anna")
    #expect(reader.steps.last?.told == ["whole 1", "whole 2"])
    try driven.append(.user("anna", ["roles": [.int(2), .int(3)]]))
    let answers = try driven.run()
    #expect(answers.steps(reader.id).map(\.told) == [["left 1", "whole 3"]])
    #expect(answers.messages[writer.id] == nil)
    // A user who may not read an object may not write it.
    try reader.upload(.one(1, [.set(InstructionPath("m"), .value(.int(7)), isDefault: false)]))
    try driven.run()
    #expect(reader.own.last?.refusals.map(\.reason) == [.notPermitted])
    try driven.append(.user("anna", [:]))
    #expect(try driven.run().steps(reader.id).map(\.told) == [["left 2", "left 3"]])
    // No more changes of these objects come.
    try writer.upload(.one(2, [.set(InstructionPath("m"), .value(.int(7)), isDefault: false)]))
    #expect(try driven.run().messages[reader.id] == nil)
  }

  @Test func `an object is made, changed and deleted by different rights`() throws {
    let driven = try DrivenServer()
    func only(_ value: Int64) -> ClassFilters {
      ClassFilters([
        ModelClass.name: FieldFilter(terms: [[FieldFilter.Condition("q", .equal, [.value(.int(value))])]])
      ])
    }
    let rules = AccessRules(read: .everything, write: only(2), insert: only(1), delete: only(3))
    let other = try driven.running("other")
    for key in 1...3 as ClosedRange<Int64> { try other.upload(.creation(key, key)) }
    try driven.append(.rules(user: "anna", rules))
    let anna = try driven.running("anna")
    func refusals(_ changeset: Changeset) throws -> [Refusal.Reason] {
      try anna.upload(changeset)
      try driven.run()
      return anna.own.last?.refusals.map(\.reason) ?? []
    }
    let change = Instruction.set(InstructionPath("m"), .value(.int(7)), isDefault: false)
    #expect(try refusals(.creation(11, 1)) == [])
    #expect(try refusals(.creation(12, 2)) == [.notPermitted])
    #expect(try refusals(.one(1, [change])) == [.notPermitted])
    #expect(try refusals(.one(2, [change])) == [])
    #expect(try refusals(.one(2, [.delete])) == [.notPermitted])
    #expect(try refusals(.one(3, [change])) == [.notPermitted])
    #expect(try refusals(.one(3, [.delete])) == [])
    #expect(
      AccessRules(read: only(1), write: only(2))
        == AccessRules(
          read: only(1), write: only(2), insert: only(2), delete: only(2)))
  }

  // MARK: - Nodes that stop

  @Test func `a node stops at merge rules that it does not know`() throws {
    let log = MemoryLog()
    let driven = try DrivenServer(log: log)
    let client = try driven.running("anna")
    try driven.append(.semantics(1))
    try driven.run()
    #expect(driven.node.halt == nil && driven.state.semantics == 1)
    let version = driven.state.version
    try driven.append(.semantics(2))
    try driven.append(.time)
    let answers = try driven.run()
    #expect(driven.node.halt == .unknownSemantics(number: 2, version: version))
    #expect(driven.state.version == version && driven.node.end == version + 2)
    let error = try #require(answers.error(client.id))
    #expect(error.code == 11 && error.action == .tryLater)
    // Another node stops at the same entry.
    let database = try Database(inMemory: "other")
    try database.write { try ModelClass.make($0) }
    let other = try ServerNode(database, settings: ModelClass.settings, log: log)
    try other.follow()
    #expect(other.halt == driven.node.halt && other.state.version == version)
  }

  @Test func `a node that has stopped registers and starts no client`() throws {
    let driven = try DrivenServer(log: MemoryLog())
    let old = try driven.running("ben")
    old.connect()
    try driven.exchange(old.hello, old.id)
    // The entries of these clients are behind an entry that the node does not integrate.
    try driven.append(.semantics(2))
    let client = driven.client("anna")
    try driven.send(client.hello, client.id)
    old.tag ^= 1
    try driven.send(old.start, old.id)
    let answers = try driven.run()
    #expect(driven.node.halt != nil)
    #expect(answers.welcome(client.id) == nil, "a file is told a number that is not registered")
    #expect(answers.welcome(old.id) == nil, "a file is reset to a replica that is not registered")
  }

  @Test func `nodes compare the states that they made of the log, and a node that differs stops`() throws {
    let log = MemoryLog()
    let nodes = try (0..<3).map { number in
      let database = try Database(inMemory: "node \(number)")
      try database.write { try ModelClass.make($0) }
      return try ServerNode(database, settings: ModelClass.settings, log: log)
    }
    log.append([LogRecord(tag: 1, time: 1, .register(Registration(replica: 5, user: "anna")))])
    for number in 2...1005 as ClosedRange<UInt64> {
      log.append([LogRecord(tag: number, time: number, .time)])
      if number % 100 == 0 { try nodes[0].follow() }
      if number == 999 { try nodes[1].follow() }
    }
    for node in nodes { try node.follow() }
    let made = nodes[0].state.stateHash
    #expect(made.version == 1000 && made.hash.count == 32)
    for node in nodes {
      #expect(node.state.stateHash == made)
      #expect(node.state.agrees(1000, made.hash) == true)
      #expect(node.state.agrees(999, made.hash) == nil)
    }
    log.append([LogRecord(tag: 1, time: 2000, .stateHash(version: 1000, made.hash))])
    // A node can't compare a state that it does not know any more.
    log.append([LogRecord(tag: 1, time: 2000, .stateHash(version: 7, made.hash))])
    for node in nodes { try node.follow() }
    #expect(nodes.allSatisfy { $0.halt == nil && $0.state.version == 1007 })
    var other = made.hash
    other[0] ^= 1
    log.append([LogRecord(tag: 1, time: 2000, .stateHash(version: 1000, other))])
    log.append([LogRecord(tag: 1, time: 2000, .time)])
    for node in nodes { try node.follow() }
    #expect(nodes.allSatisfy { $0.halt == .otherState(version: 1000) && $0.state.version == 1007 })
  }
}
