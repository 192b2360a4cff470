import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport

/// A twin of a client's file that has no faults: a file in memory, with a session that is told the same.
final class Twin {
  private let storage: MemoryStorage
  let database: Database
  let session: ClientSession

  /// - Parameter bytes: the bytes of a file that `bytes()` returned; empty for a new file.
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

/// The contents that a client's file may have: all contents whose commit has begun, and which of them were acknowledged.
struct SyncedHistory {
  private struct Known {
    var fingerprint: UInt64
    /// The bytes of a twin's file with that content.
    var file: [UInt8]
  }

  /// The contents, in the order in which they were made.
  private var known: [Known]
  /// The index of the last content that was acknowledged to survive a loss of power, and of the last content that was
  /// acknowledged at all.
  private(set) var full = 0
  private(set) var any = 0

  var newest: Int { known.count - 1 }

  init(_ twin: Twin) throws {
    known = [Known(fingerprint: try twin.fingerprint(), file: try twin.bytes())]
  }

  /// Adds the content of the twin. Returns its number, which is that of the newest content if nothing has changed.
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
    // No file can go back to an older content, so its bytes are not needed any more.
    for old in full..<index { known[old].file = [] }
    full = index
  }

  mutating func losePower() { any = full }

  /// Notes that a content has opened. It is durable from now on, and contents that were made later can't come back.
  ///
  /// - Returns: a twin with the same content, and whether there was a newer content.
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

/// The file of a client that crashes, with its server, which does not crash, and another client of that server.
///
/// The file that opens is compared with three things: a twin, which did the same in memory; the server, whose objects at the
/// file's version the file must have without its pending changes; and what the server was told, which must be decided
/// or pending in the file.
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

  /// Lets the other client write, and exchange messages with the server.
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

  /// Checks what has opened. Returns its twin.
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

  /// Checks that a file without its pending changes has what the server had at the file's version, as far as the query
  /// set shows it.
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

/// The options of the files of the run, which have only a few pages.
enum CrashOptions {
  static func small(isEncrypted: Bool, history: DatabaseOptions.History) -> Database.Options {
    var options = Database.Options(encryptionKey: isEncrypted ? Keys.first : nil, decryptedMemory: 1 << 20)
    options.history = history
    options.spillBytes = 1 << 16
    // The tables of this run are small. The clusters are small, too, so that some of them are full.
    options.clusterRows = 8
    // With this option nodes are moved and the end is cut off in small files, too.
    options.compaction = .eager
    return options
  }
}
