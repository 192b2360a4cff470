import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport
import Synchronization
import RealmTestSupport
import Testing

/// Uploads that pass a limit, files that can't be written, and settings that grow.
@Suite struct NodeRegressionTests {
  /// Makes the entries of one replica.
  private struct Writer {
    let replica: UInt64 = 6
    private var sequence: UInt64 = 0
    private var hash: [UInt8] = []

    static let beginning: [LogEntry] = [
      .register(Registration(replica: 6, user: "writer")),
      .querySet(replica: 6, number: 1, .everything),
    ]

    mutating func upload(_ changeset: Changeset, base: UInt64) -> LogEntry {
      let previous = hash
      sequence += 1
      hash = Array("changeset \(sequence)".utf8).contentHash
      return .upload(
        Upload(
          replica: replica, user: "writer", sequence: sequence, previous: previous, hash: hash, base: base,
          stamp: Stamp(milliseconds: 1000 + sequence), querySets: [1], replicas: [0, replica],
          changeset: changeset))
    }
  }

  private static let time: UInt64 = 5000

  private static func append(_ entries: [LogEntry], _ node: ServerNode) throws {
    for entry in entries { try node.append(entry, tag: node.end + 77, time: time) }
  }

  private static func database() throws -> Database {
    let database = try Database(inMemory: "node")
    try database.write { try ModelClass.make($0) }
    return database
  }

  // MARK: - Limits

  /// Two objects whose history takes more bytes than a frame may have, because their texts are in a field that filters
  /// may use.
  private static let large: Changeset = {
    let text = String(repeating: "long text ", count: 1_300_000)
    var changeset = Changeset.creation(1, 1, text: text)
    changeset.objects += Changeset.creation(2, 1, text: text).objects
    return changeset
  }()

  @Test func `an upload that passes a limit is refused as a whole, and the file's next upload counts`() throws
  {
    let settings = ServerState.Settings(partitionProperty: "q", fields: [ModelClass.name: ["q", "m"]])
    let log = MemoryLog()
    let node = try ServerNode(Self.database(), settings: settings, log: log)
    var writer = Writer()
    try Self.append(Writer.beginning, node)
    try Self.append([writer.upload(.creation(3, 1), base: 2), writer.upload(Self.large, base: 2)], node)
    try Self.append([writer.upload(.creation(4, 1), base: 2), .time], node)
    let made = try node.follow()
    #expect(node.state.version == node.end && node.skipped == [4])
    #expect(made.keys.sorted() == [3, 4, 5])
    let names = [1, 2].map { Refusal.Subject.object(ObjectName(ModelClass.name, .int($0))) }
    #expect(made[4]?.refusals == names.map { Refusal(subject: $0, reason: .tooLarge) })
    #expect(made[4]?.objects == [])
    #expect(made[3]?.objects.count == 1 && made[5]?.objects.count == 1 && made[5]?.refusals == [])
    #expect(node.state.lastSequence(of: writer.replica) == 3)
    #expect(try node.database.modelKeys() == [3, 4])
    // Another node gets the same result.
    let other = try ServerNode(Self.database(), settings: settings, log: log)
    #expect(try other.follow() == made && other.skipped == node.skipped)
    let history = try other.database.beginWrite()
    defer { history.cancel() }
    #expect(try other.state.history(of: 4, history) == made[4])
    #expect(IntegrityCheck.run(try node.database.snapshot()).isClean)
  }

  // MARK: - Settings

  @Test(arguments: [0, 16] as [UInt64])
  func `a partition is told of a deletion, although a field was declared later`(wholeVersions: UInt64) throws
  {
    let database = try Self.database()
    let log = MemoryLog()
    let before = ServerState.Settings(partitionProperty: "q")
    var node = try ServerNode(database, settings: before, log: log)
    var writer = Writer()
    try Self.append(Writer.beginning, node)
    try Self.append(
      [
        .register(Registration(replica: 5, user: "anna", partition: .int(1))),
        writer.upload(.creation(1, 1), base: 2), writer.upload(.creation(2, 2), base: 2),
      ], node)
    try node.follow()
    let from = node.state.version
    let deletions = [1, 2].map { Changeset.one($0, [.delete]) }
    for deletion in deletions { try Self.append([writer.upload(deletion, base: from)], node) }
    let made = try node.follow()
    #expect(made.values.allSatisfy { $0.objects.count == 1 && $0.refusals.isEmpty } && made.count == 2)
    for field in ["a", "m"] {
      let later = ServerState.Settings(partitionProperty: "q", fields: [ModelClass.name: [field]])
      node = try ServerNode(database, settings: later, log: log)
      let state = node.state
      let number = ServerState.partitionQuerySet
      var request = StepRequest(
        replica: 5, from: from, old: state.view(of: 5, querySet: number, at: from),
        new: state.view(of: 5, querySet: number), querySet: number)
      request.wholeVersions = wholeVersions
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      var steps: [Step] = []
      #expect(try state.step(request, transaction) { (step) throws(StorageError) in steps.append(step) })
      #expect(steps.map(\.told) == [["deleted 1"]], "the field \(field)")
    }
  }

  // MARK: - Disks

  /// A client whose objects are those with the field 1, as far as the server knows.
  private static func reader(_ server: SyncServer) throws -> SyncServer.SessionID {
    let id = server.connect(user: "anna")
    try server.receive(.hello(Hello(versions: 1...1)), from: id, time: time)
    var registered: Welcome.Registered?
    for case .welcome(let welcome) in try messages(server.run(time: time), id) {
      if case .registered(let found) = welcome.answer { registered = found }
    }
    let found = try #require(registered)
    let start = SessionStart(
      version: found.version, tag: found.tag, sessionNumber: found.sessionNumber, querySet: 0, wanted: 1)
    try server.receive(.start(start), from: id, time: time)
    let set = QuerySet(number: 1, queries: [DrivenClient.query("q == 1")])
    try server.receive(.querySet(set), from: id, time: time)
    // The first step comes, and then the step of the query set.
    for _ in 0..<2 { _ = try messages(server.run(time: time), id) }
    return id
  }

  private static func messages(
    _ actions: [SyncServer.Action], _ id: SyncServer.SessionID
  ) throws -> [ServerMessage] {
    try actions.compactMap { action in
      guard case .send(let frame, id) = action else { return nil }
      return try ServerMessage(bytes: frame)
    }
  }

  /// A changeset that fills a batch and makes one small object.
  private static var long: Changeset {
    var changeset = Changeset.creation(1, 1)
    for number in 0..<45_000 as Range<Int64> {
      changeset.objects[0].instructions.append(
        .set(InstructionPath("m"), .value(.int(number)), isDefault: false))
    }
    return changeset
  }

  @Test func `changes that were integrated before a disk was full are told later`() throws {
    try withTemporaryPath { path in
      _ = try Database(path: path)
      let disk = SmallDisk()
      let database = try Database(
        storage: FileStorage(path: path, readOnly: false, calls: disk), options: Database.Options())
      try database.write { try ModelClass.make($0) }
      let log = try EmbeddedLog(after: database, settings: ModelClass.settings)
      let node = try ServerNode(database, settings: ModelClass.settings, log: log)
      var generator = SeededGenerator(seed: 3)
      let server = SyncServer(node) { generator.next() >> 1 | 1 }
      var writer = Writer()
      try Self.append(Writer.beginning, node)
      let reader = try Self.reader(server)
      let base = node.state.version
      let block = generator.bytes(32 << 10).map { String($0, radix: 36) }.joined()
      let text = String(repeating: block, count: 200)
      try Self.append([writer.upload(Self.long, base: base)], node)
      try Self.append([writer.upload(.creation(2, 2, text: text), base: base)], node)
      disk.size.store(8 << 20, ordering: .releasing)
      #expect(throws: StorageError.self) { try server.run(time: Self.time) }
      // The first batch is integrated, and the second is not.
      try #require(node.state.version == base + 1)
      disk.size.store(.max, ordering: .releasing)
      var told: [[String]] = []
      for case .step(let step) in try Self.messages(server.run(time: Self.time), reader) {
        told.append(step.told)
      }
      #expect(node.state.version == base + 2 && told == [["whole 1"]])
    }
  }
}
