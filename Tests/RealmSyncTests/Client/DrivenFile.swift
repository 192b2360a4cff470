import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport

/// A client's file whose session a test drives in place of a server. Every message is written to bytes and read from
/// them.
final class DrivenFile {
  static let start: UInt64 = 1_800_000_000_000

  let database: Database
  let session: ClientSession
  var time = DrivenFile.start
  private var commits: Int64 = 0

  /// - Parameters:
  ///   - changes: The number of pending changesets, each of which makes an object.
  ///   - mayRepeatResets: The value of `ClientSession`'s parameter of that name.
  init(
    changes: Int = 1, recovery: ClientSession.Recovery = .recover, mayRepeatResets: Bool = true
  ) throws {
    var options = DatabaseOptions()
    options.history = .synced
    database = try Database(creatingIn: MemoryStorage(name: "client"), options: options)
    session = ClientSession(database, recovery: recovery, mayRepeatResets: mayRepeatResets)
    for _ in 0..<changes { try write() }
  }

  /// Makes an object whose key is the number of the commit. The first call also makes the class.
  func write(_ durability: Durability = .full) throws {
    commits += 1
    try database.write(durability) { transaction in
      try transaction.setTime(time)
      if try transaction.table(ModelClass.name) == nil { try ModelClass.make(transaction) }
      _ = try transaction.table(ModelClass.name)?.insert(["id": .int(commits), "m": .string("mine")])
    }
  }

  func reading<Result>(_ body: (inout ClientFile) throws -> Result) throws -> Result {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    var file = try ClientFile(transaction)
    return try body(&file)
  }

  func changing<Result>(_ body: (inout ClientFile) throws -> Result) throws -> Result {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    var file = try ClientFile(transaction)
    let result = try body(&file)
    try transaction.commit()
    return result
  }

  func position() throws -> ClientPosition { try reading { $0.position } }

  /// The bytes of the pending changesets, by their sequences.
  func pending() throws -> [UInt64: [UInt8]] {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    var found: [UInt64: [UInt8]] = [:]
    try transaction.changesets()?.forEach(transaction) {
      found[$0.sequence] = $0.bytes
      return true
    }
    return found
  }

  func texts() throws -> [Int64: String] {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    return try ModelClass.texts(transaction) { UInt64($0) }
  }

  // MARK: - What a server sends

  static func registered(_ replica: UInt64 = 7, version: UInt64 = 5) -> Welcome.Registered {
    Welcome.Registered(
      replica: replica, version: version, tag: 55, mark: Stamp(milliseconds: start), sessionNumber: 1)
  }

  static func welcome(_ answer: Welcome.Answer, bytesUnderWay: UInt64 = 1 << 20) -> ServerMessage {
    let limits = Welcome.Limits(
      changesetBytes: 1 << 20, valueBytes: 1 << 20, querySets: 10, bytesUnderWay: bytesUnderWay,
      firstWait: 1000, longestWait: 5000)
    return .welcome(Welcome(version: 1, answer: answer, limits: limits, time: start))
  }

  /// A reset that registers the file as the replica 8 at version 9.
  static func reset(isInDoubt: Bool = true) -> Welcome.Reset {
    Welcome.Reset(registered: registered(8, version: 9), isInDoubt: isInDoubt)
  }

  /// An empty step from the file's version, or from the given one, to the next version.
  func step(from version: UInt64? = nil) throws -> Step {
    let position = try position()
    let from = version ?? position.version
    return Step(
      from: from, to: from &+ 1, tag: 66, querySet: position.querySet, partition: nil,
      mark: Stamp(milliseconds: Self.start), lastSequence: position.decided.sequence)
  }

  /// A step that decides uploads as they were written. Each upload made one object.
  func step(deciding uploads: [UploadMessage], refusing refusals: [Refusal] = []) throws -> Step {
    var step = try step()
    step.to = step.from + UInt64(uploads.count)
    for (place, upload) in uploads.enumerated() {
      step.own.append(
        OwnChangeset(
          sequence: upload.sequence, version: step.from + UInt64(place) + 1, stamp: upload.stamp,
          hash: upload.hash, refusals: place == 0 ? refusals : []))
      step.lastSequence = upload.sequence
      for object in upload.changeset.objects {
        step.objects.append(ObjectStep(object.id, .effects([.own(sequence: upload.sequence)])))
      }
    }
    return step
  }

  /// The step that resets the file. It has one object, which none of the clients here wrote.
  func resetStep(_ schema: [SchemaInstruction] = []) throws -> Step {
    var step = try step(from: 9)
    (step.querySet, step.lastSequence, step.schema) = (0, 0, schema)
    let content: [Instruction] = [
      .create, .set(InstructionPath("m"), .value(.string("theirs")), isDefault: false),
    ]
    step.objects = [ObjectStep(ObjectName(ModelClass.name, .int(100)), .whole(content))]
    return step
  }

  // MARK: - The session

  func receive(_ message: ServerMessage) throws -> [ClientSession.Action] {
    session.receive(try ServerMessage(bytes: message.bytes), time: time)
  }

  func upload() -> [ClientSession.Action] { session.upload(time: time) }

  /// Connects the session until the server has registered or recognized the file.
  @discardableResult
  func begin(bytesUnderWay: UInt64 = 1 << 20) throws -> [ClientSession.Action] {
    let isNew = try reading { $0.number } == .max
    _ = try session.connected()
    let answer: Welcome.Answer = isNew ? .registered(Self.registered()) : .known(sessionNumber: 2)
    return try receive(Self.welcome(answer, bytesUnderWay: bytesUnderWay))
  }
}

extension [ClientSession.Action] {
  var uploads: [UploadMessage] {
    compactMap { if case .send(.upload(let upload)) = $0 { upload } else { nil } }
  }

  /// The session's start, if it is among the actions.
  var start: SessionStart? {
    for case .send(.start(let start)) in self { return start }
    return nil
  }

  var problem: ClientProblem? {
    for case .failed(let problem) in self { return problem }
    return nil
  }

  /// The names of the actions, as one text.
  var text: String {
    map { action in
      switch action {
      case .send(.hello): "hello"
      case .send(.start): "start"
      case .send(.querySet): "set"
      case .send(.upload): "upload"
      case .send: "other message"
      case .disconnect(.never): "stop"
      case .disconnect: "disconnect"
      case .applied: "applied"
      case .refused: "refused"
      case .showsQuerySet: "shows"
      case .querySetRefused: "set refused"
      case .willReset: "will reset"
      case .didReset: "did reset"
      case .mark: "mark"
      case .retired: "retired"
      case .failed: "failed"
      case .ended: "ended"
      case .callAgain: "call again"
      }
    }.joined(separator: ", ")
  }
}
