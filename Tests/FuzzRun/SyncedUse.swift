import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport

/// Uses a file of device sync like its owner: it reads the whole file, and goes on with a session.
struct SyncedUse {
  let owner: SyncedSample.Owner
  /// The messages of clients to a server that is used.
  let talks: [Talk]

  struct Talk {
    let user: String
    let frames: [[UInt8]]
  }

  enum Outcome {
    /// The file does not open.
    case refused(any Error)
    /// Using the file throws an error.
    ///
    /// - isFound: whether the integrity check of the file finds damage, too.
    case unreadable(any Error, isFound: Bool)
    /// A hash of everything that was read and sent.
    ///
    /// - isSound: whether the integrity check of the file finds nothing.
    case content(UInt64, isSound: Bool)
  }

  struct Options {
    /// True if the app writes an object. A forger may have changed the classes, which an app checks before it writes.
    var writes = true
    /// True if the integrity check must find nothing in the file after its use.
    var checksResult = false
  }

  /// - Parameter between: the closure that is called when a part of a step is stored in a client's file and the last
  ///   part has not come.
  /// - Throws: `Violation`, and errors that are not those of the storage engine or of device sync.
  func look(
    at storage: ByteStorage, key: [UInt8]?, _ options: Options = Options(),
    between: (Database) throws -> Void = { _ in }
  ) throws -> Outcome {
    let database: Database
    let snapshot: Snapshot
    do throws(StorageError) {
      database = try SyncedSample.open(storage, owner, key)
      snapshot = try database.snapshot()
    } catch {
      return .refused(error)
    }
    let outcome = try read(database, snapshot, options, between)
    guard options.checksResult else { return outcome }
    let report = IntegrityCheck.run(try database.snapshot())
    if let problem = report.problem {
      throw Violation("wrong: what its use leaves is not sound: \(problem)")
    }
    return outcome
  }

  private func read(
    _ database: Database, _ snapshot: Snapshot, _ options: Options, _ between: (Database) throws -> Void
  ) throws -> Outcome {
    do {
      var hash = Fingerprint()
      try WholeContent.add(snapshot, to: &hash)
      switch owner {
      case .client: try useClient(database, &hash, options, between)
      case .server: try useServer(database, &hash)
      }
      try WholeContent.add(database.snapshot(), to: &hash)
      return .content(hash.value, isSound: IntegrityCheck.run(snapshot).isClean)
    } catch {
      guard error is StorageError || error is ClientProblem || error is MessageDamage else { throw error }
      return .unreadable(error, isFound: !IntegrityCheck.run(snapshot).isClean)
    }
  }

  // MARK: - Clients

  private func useClient(
    _ database: Database, _ hash: inout Fingerprint, _ options: Options,
    _ between: (Database) throws -> Void
  ) throws {
    try readFile(database, &hash)
    for action in try session(database, between) {
      switch action {
      case .send(let message): hash.add(message.bytes)
      case .failed(let problem): throw problem
      default: hash.add(text: "\(action)")
      }
    }
    try database.inClientFile(commits: true) { file in
      try file.forgetRefusals(upTo: file.refusals().first?.number ?? 0)
    }
    guard options.writes else { return }
    try database.write { transaction in
      try SyncedWriter(transaction, time: SyncedWorld.time).create(800, field: 1, "new")
    }
  }

  /// Reads everything that the client keeps beside its objects.
  private func readFile(_ database: Database, _ hash: inout Fingerprint) throws {
    try database.inClientFile { file in
      let position = file.position
      hash.add(file.number)
      for (number, element) in zip(position.replicas, position.lastElements) {
        hash.add(number)
        hash.add(UInt64(element))
      }
      let newest = file.newestQuerySet
      hash.add(ClientMessage.start(try file.start(wanted: newest)).bytes)
      hash.add(position.earlierSequences)
      hash.add(text: "\(String(describing: position.partition)) \(String(describing: position.flexibleFrom))")
      for number in newest - min(newest, 3)...newest {
        if let set = try file.querySet(number) { hash.add(ClientMessage.querySet(set).bytes) }
      }
      for (number, refusal) in try file.refusals() {
        hash.add(number)
        hash.add(refusal.bytes)
      }
      let hasParts = try file.hasStagedParts
      hash.add(text: hasParts ? "parts" : "no parts")
      // The app asks for another query set. The change is discarded with the transaction.
      _ = try file.setQueries([QuerySet.Query(table: ModelClass.name, predicate: "")])
    }
  }

  /// Begins a session, which gets a welcome and a step in two parts.
  private func session(
    _ database: Database, _ between: (Database) throws -> Void
  ) throws -> [ClientSession.Action] {
    let session = ClientSession(database)
    var actions = try session.connected()
    func receive(_ message: ServerMessage) throws {
      actions += session.receive(try ServerMessage(bytes: message.bytes), time: SyncedWorld.time)
    }
    let isNew = try database.inClientFile { $0.number == .max }
    try receive(Self.welcome(isNew: isNew))
    // Old parts of a step were removed, and the session waits until that is durable.
    actions += session.upload(time: SyncedWorld.time + 100)
    var first: UploadMessage?
    for case .send(.upload(let upload)) in actions where first == nil { first = upload }
    let position = try database.inClientFile { $0.position }
    let parts = Self.step(position, deciding: first)
    try receive(.step(parts.first))
    try between(database)
    try receive(.step(parts.last))
    actions += session.upload(time: SyncedWorld.time + 200)
    session.disconnected()
    return actions
  }

  private static func welcome(isNew: Bool) -> ServerMessage {
    let registered = Welcome.Registered(
      replica: 4141, version: 5, tag: 55, mark: Stamp(milliseconds: SyncedWorld.time), sessionNumber: 1)
    return .welcome(
      Welcome(
        version: ProtocolVersion.newest, answer: isNew ? .registered(registered) : .known(sessionNumber: 7),
        limits: ServerLimits().messages, time: SyncedWorld.time))
  }

  /// Makes a step that first has changes of others, and then the decision of a changeset of the file, as it was
  /// written.
  private static func step(
    _ position: ClientPosition, deciding upload: UploadMessage?
  ) -> (first: Step, last: Step) {
    let mark = max(Stamp(milliseconds: SyncedWorld.time), upload?.stamp ?? Stamp(word: 0))
    var last = Step(
      from: position.version, to: position.version &+ 2, tag: 66, querySet: position.querySet, partition: nil,
      mark: mark, lastSequence: upload?.sequence ?? position.decided.sequence)
    var first = last
    (first.isLast, first.replicas) = (false, [0, 4242])
    let made: [Instruction] = [
      .create, .set(InstructionPath("m"), .value(.string("theirs")), isDefault: false),
    ]
    let inserted = Instruction.insert(
      InstructionPath("l"), ElementID(replica: 1, counter: 5), left: .none, right: .none, .value(.int(5)))
    let order = ElementOrder(dead: .none, parent: .none, isLeftOfParent: false, left: .none)
    let decided = DecidedBy(version: position.version &+ 1, stamp: mark, replica: 1)
    first.objects = [
      ObjectStep(ObjectName(ModelClass.name, .int(700)), .whole(made)),
      ObjectStep(
        ObjectName(ModelClass.name, .int(1)), .effects([.others(decided, [Effect(inserted, order: order)])])),
    ]
    guard let upload else { return (first, last) }
    let refusal = Refusal(subject: .object(ObjectName(ModelClass.name, .int(999))), reason: .notPermitted)
    last.own = [
      OwnChangeset(
        sequence: upload.sequence, version: last.to, stamp: upload.stamp, hash: upload.hash,
        refusals: [refusal])
    ]
    last.objects = upload.changeset.objects.map { object in
      ObjectStep(object.id, .effects([.own(sequence: upload.sequence)]))
    }
    return (first, last)
  }

  // MARK: - Servers

  /// Reads the history. Then the clients that the server knows go on, and the server trims the history that nobody
  /// needs.
  private func useServer(_ database: Database, _ hash: inout Fingerprint) throws {
    let peer = try ServerPeer(database, seed: SyncedWorld.talkSeed, time: SyncedWorld.time)
    try readHistory(peer, &hash)
    for talk in talks {
      let id = peer.server.connect(user: talk.user)
      for frame in talk.frames {
        peer.time += 100
        try peer.receive(frame, from: id)
        try peer.run()
        for answer in peer.answers(to: id) { hash.add(answer) }
      }
    }
    try peer.server.trim(offline: 1 << 50, time: peer.time)
    try peer.run()
    // A problem with the data ends the session of a client.
    if let problem = peer.server.lastProblem { throw problem }
  }

  /// The greatest number of versions that are read, because a forger may claim any number.
  private static let mostVersions: UInt64 = 500

  private func readHistory(_ peer: ServerPeer, _ hash: inout Fingerprint) throws {
    let state = peer.node.state
    for number in [state.version, state.tag, state.horizon, state.mark.word] + state.numbers {
      hash.add(number)
    }
    let transaction = try peer.database.beginWrite()
    defer { transaction.cancel() }
    for version in stride(from: 1, through: min(state.version, Self.mostVersions), by: 1) {
      guard let entry = try state.history(of: version, transaction) else { continue }
      for number in [version, UInt64(entry.replica), entry.sequence, entry.base, entry.stamp.word] {
        hash.add(number)
      }
      hash.add(entry.hash)
      for refusal in entry.refusals { hash.add(refusal.bytes) }
      var changeset = Changeset()
      for object in entry.objects {
        changeset.objects.append(ObjectInstructions(object.name, object.effects.map(\.instruction)))
        for value in (object.before ?? []) + (object.after ?? []) { hash.add(value) }
      }
      hash.add(changeset.bytes)
    }
  }
}

/// The whole content of a version of a file of device sync.
enum WholeContent {
  /// The greatest number of entries that are read, because a forger may claim any number.
  private static let mostEntries = 20_000

  /// Adds the trees, the rows of the tables and the changelog to a hash.
  static func add(_ snapshot: Snapshot, to hash: inout Fingerprint) throws {
    var left = mostEntries
    for name in try snapshot.treeNames().prefix(16) {
      hash.add(text: name)
      try snapshot.tree(name).forEach { key, value in
        hash.add(key)
        hash.add(value)
        left -= 1
        return left > 0
      }
    }
    for schema in try snapshot.schemas() {
      hash.add(text: schema.name)
      try snapshot.table(schema.name)?.forEach { key, values in
        hash.add(key)
        for value in values { hash.add(value) }
        left -= 1
        return left > 0
      }
    }
    guard let changelog = try snapshot.changelog() else { return }
    hash.add(text: "\(changelog.state)")
    try changelog.forEach(snapshot) { changeset in
      let numbers = [
        changeset.sequence, changeset.stamp.word, changeset.base ?? .max, changeset.querySet,
      ]
      for number in numbers { hash.add(number) }
      hash.add(changeset.bytes)
      hash.add(changeset.undo)
      left -= 1
      return left > 0
    }
  }
}

extension Fingerprint {
  fileprivate mutating func add(text: String) { add(Array(text.utf8)) }
}
