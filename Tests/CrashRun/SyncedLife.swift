import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport

/// One life of a client's file. Everything is done to the twin before it is done to the file, so that it is known what
/// a commit leaves if the disk dies during it.
final class SyncedLife {
  /// A file and its session with the server.
  struct Side {
    let database: Database
    let session: ClientSession
  }

  private let file: SyncedFile
  private let disk: SimulatedDisk
  private let side: Side
  private let twin: Twin
  private var connection: LocalServer.Connection?
  /// The messages of the session that the server has not received yet.
  private var upward: [[UInt8]] = []
  private var pin: (snapshot: Snapshot, fingerprint: UInt64)?
  private var syncFailed = false
  /// True if the disk has died or a sync has failed.
  private var isOver = false

  init(_ file: SyncedFile, _ disk: SimulatedDisk, _ database: Database, _ twin: Twin) {
    (self.file, self.disk, self.twin) = (file, disk, twin)
    side = Side(database: database, session: ClientSession(database))
  }

  func run() throws {
    if file.generator.chance(80) { try connect() }
    for _ in 0..<file.generator.below(16) {
      guard !isOver else { return }
      try step()
    }
  }

  private func step() throws {
    file.time += UInt64(file.generator.below(40))
    let time = file.time
    switch file.generator.below(100) {
    case 0..<28: try commit()
    case 28..<46: try upload()
    case 46..<70: try receive(1 + file.generator.below(6))
    case 70..<77: if connection == nil { try connect() } else { lose() }
    case 77..<81:
      let mask = file.generator.chance(50) ? 15 : 1 + file.generator.below(15)
      try change { try ModelClass.ask(mask, $0, $1) }
    case 81..<91: try file.playOther()
    case 91..<94:
      file.counts.add("trims")
      try file.server.trim(time: time)
      try file.server.run(time: time)
    case 94..<96:
      // The retired replica makes the client reset the file.
      let number = try twin.database.replicaNumber()
      if number != .max { try file.server.retire(number, time: time) }
      try file.server.run(time: time)
    case 96..<98: try hold()
    default:
      try perform { side in
        try side.database.flush()
        return []
      }
    }
  }

  // MARK: - Both sides

  private func ends() -> Bool {
    syncFailed = syncFailed || disk.hasFailedSync
    isOver = isOver || disk.isDead || syncFailed
    return isOver
  }

  /// Does something to the twin, and then to the file. It commits at most once. A disk that dies meanwhile therefore
  /// has what was there before, or what the twin has.
  private func perform(isFull: Bool = false, _ body: (Side) throws -> [ClientSession.Action]) throws {
    guard !isOver else { return }
    try check(try body(Side(database: twin.database, session: twin.session)))
    let before = file.history.newest
    let index = try file.history.add(twin)
    // A commit that changes nothing makes nothing durable either.
    let isFull = isFull && index != before
    let actions: [ClientSession.Action]
    do { actions = try body(side) } catch {
      guard ends() else { throw error }
      return
    }
    guard !ends() else { return }
    try check(actions)
    try compare()
    file.history.acknowledge(index, isDurable: isFull || side.database.isDurable(side.database.version))
    try take(actions)
  }

  /// Checks that no session has failed. A session may fail only because the disk has died, and then it is not checked.
  private func check(_ actions: [ClientSession.Action]) throws {
    for case .failed(let problem) in actions {
      throw SyncedFault("wrong: the client's session fails: \(problem)")
    }
  }

  private func compare() throws {
    let snapshot = try side.database.snapshot()
    guard try SyncedContent.fingerprint(of: snapshot) != twin.fingerprint() else { return }
    let objects = ModelClass.difference(
      try ModelClass.texts(ofFile: snapshot), try ModelClass.texts(ofFile: twin.database.snapshot()))
    throw SyncedFault(
      "wrong: version \(snapshot.version) differs from what was committed: "
        + (objects ?? "not in its objects, but in its changesets or its place in the log"))
  }

  private func take(_ actions: [ClientSession.Action]) throws {
    for action in actions {
      switch action {
      case .send(let message):
        if case .upload = message { file.counts.add("uploads") }
        upward.append(message.bytes)
      case .disconnect: lose()
      case .applied:
        file.counts.add("steps")
        try file.checkBase(twin.database)
      case .didReset: file.counts.add("resets")
      case .refused: try change { try Self.forgetRefusals($0, $1) }
      case .querySetRefused(_, _, let text): throw SyncedFault("wrong: a query set is refused: \(text)")
      default: break
      }
    }
  }

  /// Makes a change that the app makes in one transaction.
  private func change(_ body: (Database, Durability) throws -> Void) throws {
    let durability: Durability = file.generator.chance(50) ? .full : .relaxed
    try perform(isFull: durability == .full) { side in
      try body(side.database, durability)
      return []
    }
  }

  private static func forgetRefusals(_ database: Database, _ durability: Durability) throws {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    try ClientFile(transaction).forgetRefusals(upTo: .max)
    try transaction.commit(durability)
  }

  /// Takes a snapshot, which must stay as it is, whatever is committed later, and checks the snapshot held before.
  private func hold() throws {
    try look()
    let snapshot = try side.database.snapshot()
    pin = (snapshot, try SyncedContent.fingerprint(of: snapshot))
  }

  private func look() throws {
    guard let pin, try SyncedContent.fingerprint(of: pin.snapshot) != pin.fingerprint else { return }
    throw SyncedFault("wrong: the snapshot of version \(pin.snapshot.version) changed")
  }

  // MARK: - Commits

  /// Commits one transaction, or several that are sealed one after another, like those of several threads.
  private func commit() throws {
    let count = file.generator.chance(20) ? 2 + file.generator.below(2) : 1
    if count > 1 { file.counts.add("groups") }
    let changes = (0..<count).map { SyncedChange(&file.generator, time: file.time + UInt64($0)) }
    file.time += UInt64(count)
    var indexes: [Int?] = []
    for change in changes where !change.isCancelled {
      let transaction = try twin.database.beginWrite()
      defer { transaction.cancel() }
      try change.make(transaction, keys: file.keys)
      try transaction.commit()
      let before = file.history.newest
      let index = try file.history.add(twin)
      // A commit that changes nothing does not wait for the commits before it.
      indexes.append(index == before ? nil : index)
      file.counts.add("commits")
    }
    do {
      guard try seal(changes, indexes) else { return }
    } catch {
      guard ends() else { throw error }
      return
    }
    if !ends() { try compare() }
  }

  /// Does to the file what was done to the twin. Returns false if the disk has died before the last transaction.
  private func seal(_ changes: [SyncedChange], _ indexes: [Int?]) throws -> Bool {
    var sealed: [(transaction: SealedTransaction, index: Int?, durability: Durability)] = []
    for change in changes {
      let transaction = try side.database.beginWrite()
      defer { transaction.cancel() }
      // Writing a sealed transaction may have failed meanwhile. This transaction would then begin without its changes.
      guard !ends() else { return false }
      try change.make(transaction, keys: file.keys)
      if change.isCancelled { continue }
      sealed.append((try transaction.seal(change.durability), indexes[sealed.count], change.durability))
    }
    // The transaction that waits first leads the commits.
    if file.generator.chance(50) { sealed.reverse() }
    for (transaction, index, durability) in sealed {
      try transaction.wait()
      if let index { file.history.acknowledge(index, isDurable: durability == .full) }
    }
    return true
  }

  // MARK: - The session

  private func connect() throws {
    guard connection == nil else { return }
    connection = file.server.connect(user: "file")
    try perform { try $0.session.connected() }
    try hear()
  }

  private func lose() {
    guard let connection else { return }
    if file.generator.chance(50) { file.server.disconnect(connection) }
    side.session.disconnected()
    twin.session.disconnected()
    (self.connection, upward) = (nil, [])
  }

  private func upload() throws {
    guard connection != nil else { return try connect() }
    let time = file.time
    try perform { $0.session.upload(time: time) }
    try hear()
  }

  /// Lets the server take the messages of the session and answer them.
  private func hear() throws {
    guard !isOver, let connection else { return }
    for frame in upward { try file.server.receive(frame, from: connection, time: file.time) }
    upward = []
    try file.server.run(time: file.time)
  }

  /// Lets the session take at most this number of the server's answers.
  private func receive(_ count: Int) throws {
    for _ in 0..<count {
      guard !isOver, let connection, !connection.downward.isEmpty else { return }
      let message = try ServerMessage(bytes: connection.downward.removeFirst())
      if case .step = message { file.counts.add("parts") }
      let time = file.time
      try perform { $0.session.receive(message, time: time) }
      if !upward.isEmpty, file.generator.chance(70) { try hear() }
    }
  }

  // MARK: - The end

  /// Goes on until nothing is pending and neither side has a message for the other.
  func settle() throws {
    for _ in 0..<1000 {
      file.time += 100
      try upload()
      let hasHeard = connection?.downward.isEmpty == false
      try receive(1000)
      guard !isOver else { throw SyncedFault("wrong: the disk has failed by itself") }
      if !hasHeard, try isSettled() { return }
    }
    throw SyncedFault("hung: the file and the server talk without end")
  }

  /// Whether nothing is pending and the newest query set is in force.
  private func isSettled() throws -> Bool {
    let snapshot = try side.database.snapshot()
    guard let changelog = try snapshot.changelog(), try changelog.count(snapshot) == 0 else { return false }
    return try ClientPosition(snapshot.tree(ClientPosition.tree)).querySet == changelog.state.querySet
  }

  func end(_ life: inout CrashedLife) throws {
    _ = ends()
    if let connection {
      // The first of the messages under way may still reach the server.
      for frame in upward.prefix(file.generator.below(upward.count + 1)) {
        try file.server.receive(frame, from: connection, time: file.time)
      }
      if file.generator.chance(50) { file.server.disconnect(connection) }
      try file.server.run(time: file.time)
    }
    let database = side.database
    if !isOver { try look() }
    pin = nil
    if database.recycledPages > 0 { file.counts.add("recycled") }
    if database.compacted.movedNodes > 0 { file.counts.add("moved") }
    life.syncFailed = syncFailed
    if !isOver, file.generator.chance(50) {
      database.close()
      life.syncFailed = disk.hasFailedSync
      life.closedCleanly = !disk.isDead && !life.syncFailed
      if life.closedCleanly { file.history.acknowledge(file.history.any, isDurable: true) }
    } else if !disk.isDead {
      disk.follow(.init(dieAt: disk.events.count))
      database.close()
    }
  }
}
