import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport

/// What a client's file would be if nothing went wrong: in memory, with a session that is told the same.
final class Twin {
  private let storage: MemoryStorage
  let database: Database
  let session: ClientSession

  /// - Parameter bytes: of a file that `bytes` answered; none for a new file.
  init(_ bytes: [UInt8] = []) throws {
    var options = DatabaseOptions()
    options.history = .synced
    storage = try MemoryStorage(name: "twin")
    if bytes.isEmpty {
      database = try Database(creatingIn: storage, options: options)
    } else {
      try storage.write(bytes.span.bytes, at: 0)
      database = try Database(storage: storage, options: options)
    }
    session = ClientSession(database)
  }

  func bytes() throws -> [UInt8] {
    try database.flush()
    return storage.read(Int(storage.length()), at: 0)
  }

  func fingerprint() throws -> UInt64 { try SyncedContent.fingerprint(of: database.snapshot()) }
}

/// What a client's file may hold: all contents that somebody began to commit, and which were acknowledged.
struct SyncedHistory {
  private struct Known {
    var fingerprint: UInt64
    /// The twin with that content, as a file.
    var file: [UInt8]
  }

  /// In the order in which they were made.
  private var known: [Known]
  /// The last one that was acknowledged to survive power loss, and the last of any kind.
  private(set) var full = 0
  private(set) var any = 0

  var newest: Int { known.count - 1 }

  init(_ twin: Twin) throws {
    known = [Known(fingerprint: try twin.fingerprint(), file: try twin.bytes())]
  }

  /// Adds what the twin has; answers its number, which is that of the newest where nothing has changed.
  mutating func add(_ twin: Twin) throws -> Int {
    let fingerprint = try twin.fingerprint()
    if known[newest].fingerprint != fingerprint {
      known.append(Known(fingerprint: fingerprint, file: try twin.bytes()))
    }
    return newest
  }

  mutating func acknowledge(_ index: Int, isDurable: Bool) {
    any = max(any, index)
    guard isDurable, index > full else { return }
    // No file comes back to what is older.
    for old in full..<index { known[old].file = [] }
    full = index
  }

  mutating func losePower() { any = full }

  /// Something opens: it is durable from now on, and what came after it can't come back.
  ///
  /// - Returns: a twin that has the same, and whether there was something newer.
  mutating func find(_ fingerprint: UInt64) throws -> (twin: Twin, isOlder: Bool) {
    guard let index = known.lastIndex(where: { $0.fingerprint == fingerprint }) else {
      throw SyncedFault("wrong: a content opens that nobody committed")
    }
    guard index >= any else {
      throw SyncedFault("lost: content \(index) opens, but \(any) was acknowledged (full: \(full))")
    }
    let isOlder = index < newest
    known.removeSubrange(index + 1..<known.count)
    acknowledge(index, isDurable: true)
    return (try Twin(known[index].file), isOlder)
  }
}

/// A client's file with its server, which nothing happens to, and another client of that server.
///
/// What opens is compared with a twin, which did the same in memory; with the server, whose objects at the
/// file's version it has below what is pending; and with what the server was told, which is decided or
/// pending in the file.
final class SyncedFile: CrashedFile {
  static let name = "synced"
  static let figures = [
    "commits", "groups", "uploads", "steps", "parts", "resets", "trims", "recycled", "moved", "applied",
    "pending", "staged",
  ]
  static let floors = [
    (name: "pending", percent: 10), (name: "applied", percent: 10),
    (name: "depth2", percent: 3),
  ]

  let keys: Int
  let counts: CrashCounts
  let server: LocalServer
  var generator: SeededGenerator
  var time: UInt64 = 1_800_000_000_000
  var history: SyncedHistory
  private let options: Database.Options
  private let other: LocalClient

  init(isEncrypted: Bool, seed: UInt64, counts: CrashCounts) throws {
    var drawn = SeededGenerator(seed: seed)
    keys = 1 + drawn.below(4)
    let database = try Database(inMemory: "server")
    try database.write { try ModelClass.make($0) }
    server = try LocalServer(database, keepsPast: true, seed: drawn.next())
    other = try LocalClient("other")
    other.use(server)
    options = CrashOptions.small(isEncrypted: isEncrypted, history: .synced)
    let twin = try Twin()
    try ModelClass.ask(15, twin.database, .full)
    history = try SyncedHistory(twin)
    (self.counts, generator) = (counts, drawn)
  }

  func made() throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let database = try Database(creatingIn: disk, options: options)
    try ModelClass.ask(15, database, .full)
    database.close()
    if generator.chance(70) { try playOther() }
    return disk.afterKill(&generator)
  }

  /// The other client writes, and is told what there is.
  func playOther() throws {
    if generator.chance(80) {
      try other.write(1 + generator.below(4), keys: keys, time: time, &generator)
    }
    try other.exchange(time: &time)
  }

  // MARK: - Lives

  func live(on disk: SimulatedDisk) throws -> CrashedLife {
    var life = CrashedLife()
    let database: Database
    do {
      database = try Database(storage: disk, options: options)
    } catch {
      life.syncFailed = disk.hasFailedSync
      if disk.isDead || life.syncFailed { return life }
      throw SyncedFault("lost: nothing opens: \(error)")
    }
    life.opened = true
    let run = SyncedLife(self, disk, database, try look(database, &history))
    try run.run()
    try run.end(&life)
    return life
  }

  func look(at disk: SimulatedDisk) throws {
    let database: Database
    do { database = try Database(storage: disk, options: options) } catch {
      throw SyncedFault("lost: nothing opens: \(error)")
    }
    var copy = history
    copy.losePower()
    _ = try look(database, &copy)
  }

  func losePower() { history.losePower() }

  func end(on disk: SimulatedDisk) throws {
    let database = try Database(storage: disk, options: options)
    let run = SyncedLife(self, disk, database, try look(database, &history))
    try run.settle()
    let snapshot = try database.snapshot()
    let (position, state) = (try Self.position(snapshot), try snapshot.changelog()?.state)
    let mask = server.notes.mask(position.querySet, of: try database.replicaNumber())
    guard let mask, position.querySet == state?.querySet else {
      throw SyncedFault("hung: the file shows the query set \(position.querySet) in the end")
    }
    let expected = try server.texts().filter { ModelClass.isShown($0.value, by: mask) }
    if let difference = ModelClass.difference(try ModelClass.texts(ofFile: snapshot), expected) {
      throw SyncedFault("wrong: in the end \(difference)")
    }
    guard try snapshot.tree(MergeRecords.treeName).count() == 0 else {
      throw SyncedFault("wrong: the file keeps records without pending changesets")
    }
    let problem = IntegrityCheck.run(snapshot).problem
    if let problem { throw SyncedFault("wrong: in the end the file is damaged: \(problem)") }
    database.close()
  }

  // MARK: - What must hold

  private static func position(_ snapshot: Snapshot) throws -> ClientPosition {
    try ClientPosition(snapshot.tree(ClientPosition.tree))
  }

  /// Looks at what has opened; answers its twin.
  private func look(_ database: Database, _ history: inout SyncedHistory) throws -> Twin {
    let snapshot = try database.snapshot()
    if let problem = IntegrityCheck.run(snapshot).problem {
      throw SyncedFault("wrong: version \(snapshot.version) opens damaged: \(problem)")
    }
    let (twin, isOlder) = try history.find(SyncedContent.fingerprint(of: snapshot))
    if isOlder { counts.add("fallBacks") }
    try checkBase(twin.database)
    let transaction = try twin.database.beginWrite()
    defer { transaction.cancel() }
    let file = try ClientFile(transaction)
    try server.notes.check(file)
    if file.position.querySet > 0 { counts.add("applied") }
    if try file.hasStagedParts { counts.add("staged") }
    if try file.leastBase() != nil { counts.add("pending") }
    return twin
  }

  /// Without what is pending a file has what the server had at its version, as far as the query set shows it.
  func checkBase(_ database: Database) throws {
    let position = try Self.position(database.snapshot())
    var expected: [Int64: String] = [:]
    if position.querySet > 0 {
      let mask = server.notes.mask(position.querySet, of: try database.replicaNumber())
      guard let mask, let past = server.past[position.version] else {
        throw SyncedFault("wrong: the server has sent no step to version \(position.version)")
      }
      expected = past.filter { ModelClass.isShown($0.value, by: mask) }
    }
    let found = try ModelClass.textsWithoutPending(database)
    if let difference = ModelClass.difference(found, expected) {
      throw SyncedFault("wrong: at version \(position.version), without what is pending, \(difference)")
    }
  }
}

/// How the files of the run are opened: they are of a few pages.
enum CrashOptions {
  static func small(isEncrypted: Bool, history: DatabaseOptions.History) -> Database.Options {
    var options = Database.Options(encryptionKey: isEncrypted ? Keys.first : nil, decryptedMemory: 1 << 20)
    options.history = history
    options.spillBytes = 1 << 16
    // Tables are small here: their clusters are, so that there are full ones.
    options.clusterRows = 8
    // Nodes are moved and the end is cut off in small files all the same.
    options.compaction = .eager
    return options
  }
}
