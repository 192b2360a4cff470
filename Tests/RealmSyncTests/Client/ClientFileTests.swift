import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

@Suite struct ClientFileTests {
  private static let now: UInt64 = 1_800_000_000_000

  private static func database() throws -> Database {
    var options = DatabaseOptions()
    options.history = .synced
    let database = try Database(creatingIn: MemoryStorage(name: "client"), options: options)
    try database.write { transaction in
      try transaction.setTime(now)
      try transaction.changeChangelogState { $0.querySet = 1 }
      try ModelClass.make(transaction)
      _ = try transaction.table(ModelClass.name)?.insert(["id": .int(1), "m": .string("mine")])
    }
    return database
  }

  private static func registered(
    _ replica: UInt64 = 7, mark: Stamp = Stamp(milliseconds: now)
  ) -> Welcome.Registered {
    Welcome.Registered(replica: replica, version: 5, tag: 55, mark: mark, sessionNumber: 1)
  }

  private static func step(from: UInt64 = 5, mark: Stamp = Stamp(milliseconds: now)) -> Step {
    Step(from: from, to: 6, tag: 66, querySet: 1, partition: nil, mark: mark, lastSequence: 0)
  }

  /// Calls `body` in a transaction, and cancels the transaction if `body` throws.
  ///
  /// - Returns: The error that `body` threw.
  private static func problem(
    _ database: Database, _ body: (inout ClientFile) throws(ClientProblem) -> Void
  ) throws -> ClientProblem? {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    var file = try ClientFile(transaction)
    do throws(ClientProblem) { try body(&file) } catch { return error }
    try transaction.commit()
    return nil
  }

  @Test func `the changes of a file count as written at its registration, later than all before`() throws {
    let database = try Self.database()
    let mark = Stamp(milliseconds: Self.now + 50_000)
    let problem = try Self.problem(database) { (file) throws(ClientProblem) in
      try file.register(Self.registered(mark: mark), partition: nil, time: Self.now)
    }
    #expect(problem == nil)
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let file = try ClientFile(transaction)
    let upload = try #require(try file.upload(after: file.position.decided))
    #expect(upload.base == 5 && upload.stamp > mark && upload.sequence == 1)
    #expect(file.number == 7 && file.position.version == 5 && file.position.tag == 55)
    let start = try file.start(wanted: 1)
    #expect(
      start.pending == [NamedChangeset(sequence: 1, hash: upload.hash)] && start.last == start.pending.last)
  }

  @Test func `a step that no server sends is refused by name, and changes nothing`() throws {
    let database = try Self.database()
    let tooLate = Stamp(milliseconds: Self.now + 2 * 86_400_000)
    func refuses(
      _ expected: ClientProblem, _ body: (inout ClientFile) throws(ClientProblem) -> Void
    ) throws {
      let before = try database.snapshot().version
      #expect(try Self.problem(database, body) == expected)
      #expect(try database.snapshot().version == before)
    }
    for number in [0, UInt64.max] {
      try refuses(.wrongAnswer) { (file) throws(ClientProblem) in
        try file.register(Self.registered(number), partition: nil, time: Self.now)
      }
    }
    try refuses(.markAhead(milliseconds: tooLate.milliseconds)) { (file) throws(ClientProblem) in
      try file.register(Self.registered(mark: tooLate), partition: nil, time: Self.now)
    }
    #expect(
      try Self.problem(database) { (file) throws(ClientProblem) in
        try file.register(Self.registered(), partition: nil, time: Self.now)
      } == nil)
    func refusesStep(_ expected: ClientProblem, _ parts: [Step]) throws {
      try refuses(expected) { (file) throws(ClientProblem) in
        _ = try file.apply(StepParts(parts), time: Self.now)
      }
    }
    try refusesStep(.otherVersion(file: 5, step: 4), [Self.step(from: 4)])
    try refusesStep(.markAhead(milliseconds: tooLate.milliseconds), [Self.step(mark: tooLate)])
    try refusesStep(.incompleteStep, [])
    var part = Self.step()
    part.isLast = false
    try refusesStep(.incompleteStep, [part])
    try refusesStep(.incompleteStep, [Self.step(), Self.step()])
    part.querySet = 2
    try refusesStep(.incompleteStep, [part, Self.step()])
    var own = Self.step()
    own.lastSequence = 1
    own.own = [
      OwnChangeset(sequence: 1, version: 6, stamp: own.mark, hash: [UInt8](repeating: 1, count: 32))
    ]
    try refusesStep(.otherChangeset(sequence: 1), [own])
    own.own = []
    try refusesStep(.otherChangeset(sequence: 1), [own])
    var unknownSet = Self.step()
    unknownSet.querySet = 9
    var backwards = Self.step()
    backwards.to = 4
    var endless = Self.step()
    endless.to = .max
    for step in [unknownSet, backwards, endless] { try refusesStep(.wrongAnswer, [step]) }
    var schema = Self.step()
    schema.schema = [.addProperty(table: ModelClass.name, PropertyDefinition("c", .string))]
    try refusesStep(.otherSchema(table: ModelClass.name, property: "c"), [schema])
    let reset = Welcome.Reset(registered: Self.registered(7), isInDoubt: false)
    try refuses(.wrongAnswer) { (file) throws(ClientProblem) in
      try file.reset(reset, StepParts([Self.step()]), time: Self.now)
    }
    let named = [NamedChangeset(sequence: 1, hash: [UInt8](repeating: 1, count: 32))]
    let other = Welcome.Reset(registered: Self.registered(8), integrated: named, isInDoubt: false)
    try refuses(.wrongAnswer) { (file) throws(ClientProblem) in
      try file.reset(other, StepParts([Self.step()]), time: Self.now)
    }
  }

  @Test func `a step that names more replicas than a file may know is refused, and changes nothing`() throws {
    let database = try Self.database()
    #expect(
      try Self.problem(database) { (file) throws(ClientProblem) in
        try file.register(Self.registered(), partition: nil, time: Self.now)
      } == nil)
    func apply(from version: UInt64, naming numbers: Range<UInt64>) throws -> ClientProblem? {
      var step = Self.step(from: version)
      (step.to, step.replicas) = (version + 1, [0] + Array(numbers))
      return try Self.problem(database) { (file) throws(ClientProblem) in
        _ = try file.apply(StepParts([step]), time: Self.now)
      }
    }
    func position() throws -> ClientPosition {
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      return try ClientFile(transaction).position
    }
    // The file knows two replicas before: the number 0, which names no replica, and its own number.
    let others = UInt64(MessageLimit.stepReplicas) - 2
    #expect(try apply(from: 5, naming: 100..<100 + others) == nil)
    #expect(try position().replicas.count == MessageLimit.stepReplicas)
    // A step may name replicas again that the file knows.
    #expect(try apply(from: 6, naming: 100..<1000) == nil)
    let known = try position()
    #expect(known.replicas.count == MessageLimit.stepReplicas && known.replicas.last == 99 + others)
    #expect(try apply(from: 7, naming: 20..<21) == .tooManyReplicas)
    #expect(try position() == known)
    let reset = Welcome.Reset(registered: Self.registered(8), isInDoubt: false)
    let problem = try Self.problem(database) { (file) throws(ClientProblem) in
      try file.reset(reset, StepParts([Self.step()]), time: Self.now)
    }
    #expect(problem == .tooManyReplicas)
    #expect(try position() == known)
  }

  @Test func `long values are in the messages that are sent, and in changesets that are written again`()
    throws
  {
    let database = try Self.database()
    let long = String(repeating: "x", count: 700_000)
    try database.write { transaction in
      try transaction.setTime(Self.now)
      let table = try #require(try transaction.table(ModelClass.name))
      try table.set(.string(long), "m", ofRow: try #require(try table.row(withPrimaryKey: .int(1))))
    }
    #expect(
      try Self.problem(database) { (file) throws(ClientProblem) in
        try file.register(Self.registered(), partition: nil, time: Self.now)
      } == nil)
    func sent() throws -> InstructionValue? {
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      let file = try ClientFile(transaction)
      var last = file.position.decided
      var found: InstructionValue?
      while let upload = try file.upload(after: last) {
        last = NamedChangeset(sequence: upload.sequence, hash: upload.hash)
        for case .set(InstructionPath("m"), let value, _) in upload.changeset.objects.flatMap(\.instructions)
        {
          found = value
        }
      }
      return found
    }
    #expect(try sent() == .value(.string(long)))
    let reset = Welcome.Reset(registered: Self.registered(8), isInDoubt: true)
    #expect(
      try Self.problem(database) { (file) throws(ClientProblem) in
        try file.reset(reset, StepParts([Self.step()]), time: Self.now)
      } == nil)
    #expect(try sent() == .value(.string(long)))
    let transaction = try database.beginWrite()
    let texts = try ModelClass.texts(transaction) { UInt64($0) }
    transaction.cancel()
    #expect(texts[1] == "(2:\"\(long)\";)")
    #expect(IntegrityCheck.run(try database.snapshot()).isClean)
  }
}
