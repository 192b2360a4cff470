import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import Testing

/// Resets whose step has several parts. The file stores the parts until all have come, so that a reset takes no more
/// memory than one part.
@Suite struct StagedResetTests {
  private static func whole(_ key: Int64, _ text: String, friend: Int64? = nil) -> ObjectStep {
    var content: [Instruction] = [
      .create, .set(InstructionPath("m"), .value(.string(text)), isDefault: false),
    ]
    if let friend {
      let link = InstructionValue.link(ObjectName(ModelClass.name, .int(friend)))
      content.append(.set(InstructionPath("n"), link, isDefault: false))
    }
    return ObjectStep(ObjectName(ModelClass.name, .int(key)), .whole(content))
  }

  /// A file with the objects 1 and 2 that the server resets. The changeset of the first object is decided, and the one
  /// of the second is pending.
  private static func file(_ recovery: ClientSession.Recovery = .recover) throws -> DrivenFile {
    let file = try DrivenFile(changes: 1, recovery: recovery)
    let sent = try file.begin().uploads
    _ = try file.receive(.step(file.step(deciding: sent)))
    try file.write()
    #expect(try file.pending().keys.sorted() == [2])
    try beginReset(file)
    return file
  }

  private static func beginReset(_ file: DrivenFile) throws {
    file.session.disconnected()
    try file.begin()
    let welcome = try file.receive(DrivenFile.welcome(.reset(DrivenFile.reset())))
    #expect(welcome.text == "will reset, start")
  }

  /// The parts of the step that resets the file.
  private static func parts(_ file: DrivenFile, _ objects: [[ObjectStep]]) throws -> [ServerMessage] {
    var parts: [ServerMessage] = []
    for (place, objects) in objects.enumerated() {
      var step = try file.resetStep()
      (step.objects, step.isLast) = (objects, place == 2)
      parts.append(.step(step))
    }
    return parts
  }

  private static func hasParts(_ file: DrivenFile) throws -> Bool {
    try file.reading { try $0.hasStagedParts }
  }

  @Test(arguments: [ClientSession.Recovery.recover, .discard, .recoverOrDiscard])
  func `the parts of a reset are stored in the file, and are carried out together`(
    recovery: ClientSession.Recovery
  ) throws {
    let file = try Self.file(recovery)
    let text = try file.texts()
    let parts = try Self.parts(
      file, [[Self.whole(100, "a", friend: 102)], [Self.whole(101, "b")], [Self.whole(102, "c")]])
    for part in parts.dropLast() {
      #expect(try file.receive(part).isEmpty)
      #expect(try Self.hasParts(file))
      #expect(try file.texts() == text && file.position().version == 6)
    }
    let actions = try file.receive(try #require(parts.last))
    #expect(actions.first == .didReset(isRecovered: recovery != .discard))
    #expect(try !Self.hasParts(file))
    var expected = [100: "(2:\"a\";10:>102;)", 101: "(2:\"b\";)", 102: "(2:\"c\";)"] as [Int64: String]
    // The server no longer has the object 1, and has not decided the changeset that made the object 2.
    if recovery != .discard { expected[2] = "(2:\"mine\";)" }
    #expect(try file.texts() == expected)
    #expect(IntegrityCheck.run(try file.database.snapshot()).isClean)
  }

  @Test func `a connection that is lost in a reset leaves the file unchanged, and the reset begins again`()
    throws
  {
    let file = try Self.file()
    let text = try file.texts()
    let objects = [[Self.whole(100, "a")], [Self.whole(101, "b")], [Self.whole(102, "c")]]
    for part in try Self.parts(file, objects).dropLast() { _ = try file.receive(part) }
    try Self.beginReset(file)
    #expect(try !Self.hasParts(file) && file.texts() == text)
    for part in try Self.parts(file, [[Self.whole(103, "d")], [], []]) { _ = try file.receive(part) }
    #expect(try file.texts().keys.sorted() == [2, 103])
    #expect(IntegrityCheck.run(try file.database.snapshot()).isClean)
  }

  @Test func `a reset whose parts bring no whole objects, or a pending one twice, is refused`() throws {
    let left = ObjectStep(ObjectName(ModelClass.name, .int(1)), .left)
    let twice = Self.whole(2, "theirs")
    for objects in [[[left], [], []], [[], [], [left]], [[twice], [], [twice]]] {
      let file = try Self.file()
      let before = try (file.pending(), file.position(), file.texts())
      var actions: [ClientSession.Action] = []
      for part in try Self.parts(file, objects) { actions += try file.receive(part) }
      #expect(actions == [.failed(.wrongAnswer), .disconnect(.never)])
      #expect(try file.pending() == before.0)
      #expect(try file.position() == before.1)
      #expect(try file.texts() == before.2)
    }
  }

  @Test func `an object of the server is merged with its pending changes, in whatever part it comes`() throws
  {
    for place in 0..<3 {
      let file = try Self.file()
      var objects: [[ObjectStep]] = [[], [], []]
      objects[place] = [Self.whole(2, "theirs"), Self.whole(1, "theirs")]
      for part in try Self.parts(file, objects) { _ = try file.receive(part) }
      // The change of the file counts as the later one.
      #expect(try file.texts() == [1: "(2:\"theirs\";)", 2: "(2:\"mine\";)"])
      #expect(try file.pending().keys.sorted() == [2])
      #expect(IntegrityCheck.run(try file.database.snapshot()).isClean)
    }
  }

  // MARK: - Query sets

  @Test(arguments: [ClientSession.Recovery.recover, .discard, .recoverOrDiscard])
  func `the newest subscriptions are kept and asked for again, whatever happens to pending changes`(
    recovery: ClientSession.Recovery
  ) throws {
    let file = try DrivenFile(changes: 1, recovery: recovery)
    try file.begin()
    let subscriptions = ["q == 1", "q == 2"].enumerated().map { place, predicate in
      StoredSubscription(
        id: SixteenBytes(high: 7, low: UInt64(place)), name: nil, table: ModelClass.name,
        predicate: predicate, createdAt: 1, updatedAt: 1)
    }
    func ask(_ count: Int) throws -> UInt64 {
      try file.changing { try $0.setSubscriptions(Array(subscriptions.prefix(count))) }
    }
    func sets(_ actions: [ClientSession.Action]) -> [UInt64] {
      actions.compactMap { if case .send(.querySet(let set)) = $0 { set.number } else { nil } }
    }
    _ = try ask(1)
    let newest = try ask(2)
    // The server has answered none of the query sets when it resets the file.
    let welcome = try file.receive(DrivenFile.welcome(.reset(DrivenFile.reset())))
    #expect(welcome.start?.wanted == newest && sets(welcome) == [newest])
    #expect(try file.receive(.step(file.resetStep())).first == .didReset(isRecovered: recovery != .discard))
    #expect(try file.reading { $0.newestQuerySet } == newest)
    #expect(try file.reading { try $0.subscriptions().subscriptions } == subscriptions)
    // The query set has not been answered with the reset, so the next session asks for it again.
    file.session.disconnected()
    let actions = try file.begin()
    #expect(actions.start?.wanted == newest && actions.start?.querySet == 0)
    #expect(sets(actions).last == newest)
    var step = try file.step()
    step.querySet = newest
    #expect(try file.receive(.step(step)).contains(.showsQuerySet(newest)))
  }
}
