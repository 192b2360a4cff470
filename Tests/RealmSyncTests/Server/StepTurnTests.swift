import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Steps that take several turns of the server.
@Suite struct StepTurnTests {
  private static let queries = [PlainObjects.query(), DrivenClient.query("")]
  private static let count: Int64 = 700

  /// Limits of a hundred rows for each turn. Parts with many objects have enough bytes to be read as creations.
  private static var limits: ServerLimits {
    var limits = ServerLimits()
    (limits.rowsAtOnce, limits.partBytes) = (100, 20_000)
    return limits
  }

  /// A server with objects of a class without links and of one with links, and the client that wrote them.
  private static func server(
    _ limits: ServerLimits = StepTurnTests.limits
  ) throws -> (DrivenServer, DrivenClient) {
    let driven = try DrivenServer(limits)
    let writer = driven.client("writer")
    try writer.begin()
    try writer.ask(queries: queries)
    try driven.runToEnd()
    var changeset = PlainObjects.creations(1...count)
    changeset.schema = PlainObjects.definitions
    try writer.upload(changeset)
    var linked = Changeset()
    for key in 1...20 as ClosedRange<Int64> {
      let next = ObjectName(ModelClass.name, .int(key + 1))
      let id = ElementID(replica: 1, counter: UInt32(key))
      linked.objects.append(
        ObjectInstructions(
          ObjectName(ModelClass.name, .int(key)),
          [
            .create, .set(InstructionPath("q"), .value(.int(key % 4)), isDefault: false),
            .set(InstructionPath("n"), .link(next), isDefault: false),
            .insert(InstructionPath("l"), id, left: .none, right: .none, .value(.int(key))),
          ]))
    }
    try writer.upload(linked)
    // Some rows are deleted, so that clusters have holes.
    var deletions = Changeset()
    for key in stride(from: Int64(7), to: 600, by: 31) {
      deletions.objects.append(ObjectInstructions(PlainObjects.id(key), [.delete]))
    }
    try writer.upload(deletions)
    try driven.runToEnd()
    #expect(writer.own.map(\.sequence) == [1, 2, 3] && writer.own.allSatisfy { $0.refusals.isEmpty })
    return (driven, writer)
  }

  /// A client that has begun and asks for all objects. The server has told it none of them yet.
  private static func asking(_ driven: DrivenServer, _ user: String) throws -> DrivenClient {
    let client = driven.client(user)
    try client.begin()
    try client.ask(queries: queries)
    return client
  }

  /// A file of a real client for which the server is making a step.
  private static func file(_ driven: DrivenServer, _ queries: [QuerySet.Query]) throws -> ConnectedFile {
    let file = try ConnectedFile(driven, "anna")
    try file.ask(queries: queries)
    try file.connect()
    for _ in 0..<10 where !driven.server.hasWork { try file.talk() }
    #expect(driven.server.hasWork)
    #expect(try file.position().querySet == 0)
    return file
  }

  /// The changes of each object in a step, with the numbers of the replicas themselves.
  private static func told(_ step: Step) -> [ObjectName: ObjectStep] {
    var found: [ObjectName: ObjectStep] = [:]
    for object in step.objects {
      #expect(found[object.name] == nil, "\(object.name) is told twice")
      found[object.name] = object.mapReplicas { UInt32(truncatingIfNeeded: step.replicas[Int($0)]) }
    }
    return found
  }

  // MARK: - What is told

  @Test func `the parts of several turns together are the step that is made at once`() throws {
    let (driven, _) = try Self.server()
    let reader = driven.client("anna")
    try reader.begin()
    let from = reader.version
    try reader.ask(queries: Self.queries)
    let answers = try driven.runToEnd()
    #expect(answers.count > 4)
    let parts = answers.flatMap { $0.steps(reader.id) }
    #expect(parts.contains { $0.created != nil })
    #expect(parts.contains { $0.created == nil && !$0.objects.isEmpty })
    for (part, next) in zip(parts, parts.dropFirst()) {
      #expect(!part.isLast && next.remainingObjects <= part.remainingObjects)
      #expect(next.remainingBytes <= part.remainingBytes)
    }
    let joined = try Step(joining: parts.map(\.expanded))
    let transaction = try driven.database.beginWrite()
    defer { transaction.cancel() }
    let replica = try #require(reader.replica)
    var request = StepRequest(
      replica: replica, from: from, old: driven.state.view(of: replica, querySet: 0, at: from),
      new: driven.state.view(of: replica, querySet: 1), querySet: 1)
    // The session has had the definitions in an earlier step.
    request.definitions = []
    var made: [Step] = []
    #expect(try driven.state.step(request, transaction) { (step) throws(StorageError) in made.append(step) })
    let whole = try Step(joining: made.map(\.expanded))
    #expect(Self.told(joined) == Self.told(whole))
    let count = try PlainObjects.texts(driven.database).count
    #expect(joined.objects.count == count + 20)
    #expect(joined.to == whole.to && joined.tag == whole.tag && joined.mark == whole.mark)
    #expect(joined.own == whole.own && joined.schema == whole.schema && joined.querySet == 1)
  }

  @Test func `classes are told in the first part of a step, before their objects`() throws {
    let (driven, _) = try Self.server()
    let reader = driven.client("anna")
    try driven.exchange(reader.hello, reader.id)
    try reader.sendStart()
    // The first step of the session leads to this set.
    try reader.ask(queries: Self.queries)
    let parts = try driven.runToEnd().flatMap { $0.steps(reader.id) }
    let first = try #require(parts.first)
    #expect(first.created == nil && !first.isLast)
    #expect(PlainObjects.definitions.allSatisfy { first.schema.contains($0) })
    #expect(parts.dropFirst().allSatisfy { $0.schema.isEmpty })
    #expect(parts.dropFirst().contains { $0.created != nil })
    #expect(first.remainingBytes > 20_000 && first.remainingObjects >= 600)
    for (part, next) in zip(parts, parts.dropFirst()) {
      #expect(next.remainingObjects <= part.remainingObjects && next.remainingBytes <= part.remainingBytes)
    }
    #expect(reader.querySet == 1)
  }

  @Test func `a query that shows some of the objects shows no others`() throws {
    let (driven, _) = try Self.server()
    let file = try ConnectedFile(driven, "anna")
    try file.ask(queries: [PlainObjects.query("q == 1")])
    try file.connect()
    try file.exchange()
    let expected = try PlainObjects.texts(driven.database).filter { $0.key % 4 == 1 }
    #expect(try PlainObjects.texts(file.database) == expected && expected.count > 100)
    #expect(try file.keys().isEmpty)
  }

  @Test func `changes of objects between the turns of a step are told after the step`() throws {
    let (driven, writer) = try Self.server()
    let file = try Self.file(driven, Self.queries)
    var past: [UInt64: [Int64: String]] = [driven.state.version: try PlainObjects.texts(driven.database)]
    var turns: Int64 = 0
    while try file.position().querySet == 0, turns < 100 {
      turns += 1
      // The step has told some of these objects already, and others not yet.
      try writer.upload(PlainObjects.changes(turns, deleting: 660 - turns, making: 10_000 + turns))
      try writer.upload(PlainObjects.changes(700 - turns, deleting: 200 + turns, making: 20_000 + turns))
      try writer.upload(.creation(100 + turns, 1))
      try file.talk()
      past[driven.state.version] = try PlainObjects.texts(driven.database)
    }
    #expect(turns > 3 && turns < 100)
    let version = try file.position().version
    #expect(version < driven.state.version)
    #expect(try PlainObjects.texts(file.database) == past[version])
    try file.exchange()
    #expect(try PlainObjects.texts(file.database) == PlainObjects.texts(driven.database))
    #expect(try file.keys() == driven.database.modelKeys())
    #expect(try file.position().version == driven.state.version && file.errors.isEmpty)
    #expect(writer.own.allSatisfy { $0.refusals.isEmpty })
    #expect(IntegrityCheck.run(try file.database.snapshot()).isClean)
  }

  @Test func `pending changes of the file stay on top of the objects that come`() throws {
    let (driven, _) = try Self.server()
    let file = try Self.file(driven, Self.queries)
    // The file has none of the objects yet, and makes one with the same key.
    try file.database.write { transaction in
      try transaction.setTime(driven.time)
      let table = try PlainObjects.make(transaction)
      for key in [3, 9_000] as [Int64] { try table.insert(["id": .int(key), "text": .string("mine")]) }
    }
    for _ in 0..<100 where try file.position().querySet == 0 { try file.talk() }
    #expect(try file.position().querySet == 1 && file.pending() == 1)
    var expected = try PlainObjects.texts(driven.database)
    let shown = try PlainObjects.texts(file.database)
    #expect(shown[3]?.contains("mine") == true && shown[9_000]?.contains("mine") == true)
    expected[9_000] = shown[9_000]
    expected[3] = shown[3]
    #expect(shown == expected)
    try file.exchange()
    #expect(try file.pending() == 0 && file.refusals() == [])
    #expect(try PlainObjects.texts(file.database) == PlainObjects.texts(driven.database))
    #expect(IntegrityCheck.run(try file.database.snapshot()).isClean)
  }

  @Test func `a query set that comes while a step is made is answered after the step`() throws {
    let (driven, _) = try Self.server()
    let file = try Self.file(driven, Self.queries)
    #expect(try file.ask(queries: [PlainObjects.query("q == 1")]) == 2)
    try file.exchange()
    #expect(file.told.filter { $0 == "shows" }.count == 2)
    #expect(try file.position().querySet == 2 && file.errors.isEmpty)
    let expected = try PlainObjects.texts(driven.database).filter { $0.key % 4 == 1 }
    #expect(try PlainObjects.texts(file.database) == expected)
    #expect(try file.keys().isEmpty)
  }

  @Test func `objects with long values come in parts that are not longer than others`() throws {
    let (driven, writer) = try Self.server()
    // Each value is too long for a creation, and all objects of a cluster have one.
    var long = Changeset()
    for key in 20_000..<20_300 as Range<Int64> {
      let text = String(repeating: "long \(key) ", count: 300)
      long.objects.append(ObjectInstructions(PlainObjects.id(key), PlainObjects.content(key, text)))
    }
    try writer.upload(long)
    try driven.runToEnd()
    let reader = try Self.asking(driven, "anna")
    let answers = try driven.runToEnd()
    let parts = answers.flatMap { $0.steps(reader.id) }
    #expect(parts.count > 30 && parts.last?.isLast == true)
    for part in parts { #expect(part.plainBytes.count < 3 * Self.limits.partBytes) }
    #expect(answers.allSatisfy { $0.steps(reader.id).count < 10 })
    #expect(parts.map(\.objectCount).reduce(0, +) == (try PlainObjects.texts(driven.database).count) + 20)
  }

  // MARK: - Whose turn it is

  @Test func `other clients are answered between the turns of a step`() throws {
    let (driven, writer) = try Self.server()
    let other = try Self.asking(driven, "ben")
    try driven.runToEnd()
    let reader = try Self.asking(driven, "anna")
    try driven.run()
    for key in 1...2 as ClosedRange<Int64> {
      try writer.upload(PlainObjects.changes(key, deleting: 100 + key, making: 10_000 + key))
      let answers = try driven.run()
      #expect(answers.steps(other.id).map(\.isLast) == [true])
      #expect(other.version == driven.state.version && driven.server.hasWork)
    }
    try driven.runToEnd()
    #expect(reader.querySet == 1 && reader.version == driven.state.version)
  }

  /// The client that was sent a part of a step, for each turn of the server.
  private static func owners(
    _ answers: [DrivenServer.Answers], _ clients: [DrivenClient]
  ) -> [[SyncServer.SessionID]] {
    answers.map { answers in clients.map(\.id).filter { !answers.steps($0).isEmpty } }
  }

  /// Limits with which each turn ends with a part.
  private static var smallParts: ServerLimits {
    var limits = Self.limits
    limits.partBytes = 2_000
    return limits
  }

  @Test func `two sessions of one user get their steps one after the other`() throws {
    let (driven, _) = try Self.server(Self.smallParts)
    let clients = try ["first", "second"].map { _ in
      let client = driven.client("anna")
      try client.begin()
      return client
    }
    for client in clients { try client.ask(queries: Self.queries) }
    let answers = try driven.runToEnd()
    let owners = Self.owners(answers, clients).flatMap(\.self)
    #expect(owners == owners.sorted())
    for client in clients {
      #expect(owners.count { $0 == client.id } > 3)
      #expect(client.querySet == 1 && client.version == driven.state.version)
    }
  }

  @Test func `a session that waits for another session of its user continues when that one ends`() throws {
    let (driven, _) = try Self.server()
    let first = try Self.asking(driven, "anna")
    try driven.run()
    let second = try Self.asking(driven, "anna")
    try driven.run()
    #expect(second.querySet == 0 && driven.server.hasWork)
    driven.server.disconnect(first.id)
    try driven.runToEnd()
    #expect(second.querySet == 1 && second.version == driven.state.version)
  }

  @Test func `two users get the parts of their steps by turns`() throws {
    let (driven, _) = try Self.server(Self.smallParts)
    let clients = try ["anna", "ben"].map { user in
      let client = driven.client(user)
      try client.begin()
      return client
    }
    for client in clients { try client.ask(queries: Self.queries) }
    let owners = Self.owners(try driven.runToEnd(), clients)
    #expect(owners.first?.count == 2 && owners.count > 6)
    let later = owners.dropFirst()
    #expect(later.allSatisfy { $0.count == 1 })
    #expect(zip(later, later.dropFirst()).allSatisfy { $0 != $1 })
    #expect(clients.allSatisfy { $0.querySet == 1 })
  }

  // MARK: - Sessions that end, and bytes that do not leave

  @Test(arguments: [false, true])
  func `a session that ends while its step is made leaves nothing behind`(isRetired: Bool) throws {
    let (driven, writer) = try Self.server()
    let before = driven.database.activeVersions
    let reader = try Self.asking(driven, "anna")
    try driven.run()
    try writer.upload(PlainObjects.changes(1, deleting: 2, making: 10_000))
    try driven.run()
    #expect(driven.server.hasWork)
    #expect(driven.database.activeVersions == before + 1)
    if isRetired {
      try driven.append(.retire(replica: try #require(reader.replica)))
    } else {
      driven.server.disconnect(reader.id)
    }
    try driven.run()
    #expect(!driven.server.hasWork)
    #expect(driven.database.activeVersions == before)
    #expect(reader.isClosed == isRetired && reader.querySet == 0)
    guard !isRetired else { return }
    // The next session starts from the beginning.
    reader.connect()
    try reader.begin()
    let answers = try driven.runToEnd()
    #expect(reader.querySet == 1 && reader.version == driven.state.version)
    #expect(answers.last?.steps(reader.id).last?.isLast == true)
    #expect(driven.database.activeVersions == before)
  }

  @Test
  func `a session whose bytes do not leave gets no more parts until its step has taken too long`() throws {
    var limits = Self.smallParts
    limits.unsentBytes = 100
    let (driven, _) = try Self.server(limits)
    let reader = driven.client("anna")
    try reader.begin()
    driven.isSentAtOnce = false
    try reader.ask(queries: Self.queries)
    let first = try driven.run()
    let bytes = try #require(first.bytes[reader.id])
    #expect(bytes >= limits.unsentBytes && first.steps(reader.id).allSatisfy { !$0.isLast })
    #expect(!driven.server.hasWork)
    #expect(try driven.run().messages[reader.id] == nil)
    // The bytes that have left make room for the next turn.
    driven.server.noteSent(bytes, by: reader.id)
    let second = try driven.run()
    #expect(!second.steps(reader.id).isEmpty && second.steps(reader.id).allSatisfy { !$0.isLast })
    driven.time += limits.longestStep
    #expect(try driven.run().messages[reader.id] == nil)
    #expect(!driven.server.hasWork)
    // The server does not hold the version for ever.
    driven.time += 1
    let rest = try driven.runToEnd()
    #expect(rest.count > 2 && rest.last?.steps(reader.id).last?.isLast == true)
    #expect(reader.querySet == 1 && !driven.server.hasWork)
  }
}

extension DrivenServer {
  /// Runs the server until there is nothing left to do.
  ///
  /// - Returns: The answers of each turn.
  @discardableResult
  func runToEnd() throws -> [Answers] {
    var all = [try run()]
    while server.hasWork, all.count < 1000 { all.append(try run()) }
    return all
  }
}
