import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport

/// The file of a server that crashes, and two clients that do not crash.
///
/// After each crash the file must have what a reference makes of the same entries of the log, and at least what the
/// clients were told. A crash of the server resets no client.
final class ServerFile: CrashedFile {
  static let name = "server"
  static let figures = ["runs", "trims", "retired", "told", "lostEntries", "recycled", "moved"]
  static let floors = [
    (name: "told", percent: 10), (name: "lostEntries", percent: 1), (name: "depth2", percent: 3),
  ]

  private static let keys = 4
  private let options: Database.Options
  private let counts: CrashCounts
  private let notes = ServerNotes()
  private let reference: ServerReference
  private let clients: [LocalClient]
  private var generator: SeededGenerator
  private var time: UInt64 = 1_800_000_000_000

  init(isEncrypted: Bool, seed: UInt64, counts: CrashCounts) throws {
    options = CrashOptions.small(isEncrypted: isEncrypted, history: .local)
    self.counts = counts
    reference = try ServerReference()
    clients = [try LocalClient("anna"), try LocalClient("ben")]
    generator = SeededGenerator(seed: seed)
  }

  func made() throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let database = try Database(creatingIn: disk, options: options)
    try database.write { try ModelClass.make($0) }
    database.close()
    return disk.afterKill(&generator)
  }

  private func started(_ database: Database) throws -> LocalServer {
    let log = try EmbeddedLog(after: database, settings: ModelClass.settings)
    return try LocalServer(
      database, notes: notes, log: NotedLog(log, reference), seed: generator.next())
  }

  // MARK: - Lives

  func live(on disk: SimulatedDisk) throws -> CrashedLife {
    var life = CrashedLife()
    let server: LocalServer
    do {
      server = try started(try Database(storage: disk, options: options))
    } catch {
      life.syncFailed = disk.hasFailedSync
      if disk.isDead || life.syncFailed { return life }
      throw SyncedFault("lost: nothing opens: \(error)")
    }
    life.opened = true
    try look(server)
    try reference.goOn(at: server.state.version)
    for client in clients { client.use(server) }
    var isOver = false
    for _ in 0..<generator.below(24) where !isOver {
      do { try step(server) } catch {
        // A `SyncedFault` is a failure of the run, whether or not the disk is dead.
        guard !(error is SyncedFault), disk.isDead || disk.hasFailedSync else { throw error }
      }
      isOver = disk.isDead || disk.hasFailedSync
    }
    // Messages that the server has sent may arrive after its crash.
    for client in clients where generator.chance(50) { try client.receive(time: time) }
    end(server.database, disk, &life)
    return life
  }

  private func step(_ server: LocalServer) throws {
    time += UInt64(generator.below(200))
    let client = clients[generator.below(clients.count)]
    switch generator.below(100) {
    case 0..<40:
      try client.write(1 + generator.below(4), keys: Self.keys, time: time, &generator)
      if generator.chance(60) { try client.send(time: time) }
    case 40..<52: try client.send(time: time)
    case 52..<80:
      counts.add("runs")
      try server.run(time: time)
    case 80..<92: try client.receive(time: time)
    case 92..<95:
      counts.add("trims")
      try server.trim(time: time)
    case 95..<97:
      let number = try client.number()
      guard number != .max else { return }
      counts.add("retired")
      try server.retire(number, time: time)
    default: client.use(server)
    }
  }

  private func end(_ database: Database, _ disk: SimulatedDisk, _ life: inout CrashedLife) {
    life.syncFailed = disk.hasFailedSync
    if database.recycledPages > 0 { counts.add("recycled") }
    if database.compacted.movedNodes > 0 { counts.add("moved") }
    if !disk.isDead, !life.syncFailed, generator.chance(50) {
      database.close()
      life.syncFailed = disk.hasFailedSync
      life.closedCleanly = !disk.isDead && !life.syncFailed
    } else if !disk.isDead {
      disk.follow(.init(dieAt: disk.events.count))
      database.close()
    }
  }

  func look(at disk: SimulatedDisk) throws {
    let database: Database
    do { database = try Database(storage: disk, options: options) } catch {
      throw SyncedFault("lost: nothing opens: \(error)")
    }
    try look(LocalServer(database, seed: 1))
  }

  /// A server tells its clients only what is durable, so a loss of power takes nothing back.
  func losePower() {}

  // MARK: - What must hold

  private func look(_ server: LocalServer) throws {
    let (snapshot, state) = (try server.database.snapshot(), server.state)
    if let problem = IntegrityCheck.run(snapshot).problem {
      throw SyncedFault("wrong: version \(snapshot.version) opens damaged: \(problem)")
    }
    guard state.version >= reference.durable else {
      throw SyncedFault("lost: the log ends at \(state.version), but \(reference.durable) was durable")
    }
    if reference.goesBeyond(state.version) { counts.add("lostEntries") }
    guard try ServerReference.fingerprint(of: snapshot) == reference.fingerprint(at: state.version) else {
      throw SyncedFault("wrong: version \(state.version) is not what comes of the log")
    }
    for client in clients {
      let (position, number) = (try client.position(), try client.number())
      if position.querySet > 0 { counts.add("told") }
      guard position.version == 0 || reference.tag(of: position.version) == position.tag,
        position.version <= state.version
      else { throw SyncedFault("lost: a client was told version \(position.version) of \(state.version)") }
      guard position.decided.sequence <= state.lastSequence(of: number) else {
        throw SyncedFault(
          "lost: a client was told that its changeset \(position.decided.sequence) is decided, and "
            + "\(state.lastSequence(of: number)) is the last")
      }
    }
  }

  /// Checks that both clients and the server have the same objects in the end.
  func end(on disk: SimulatedDisk) throws {
    let server = try started(try Database(storage: disk, options: options))
    try look(server)
    try reference.goOn(at: server.state.version)
    for client in clients { client.use(server) }
    // Each client has two turns, because the first client has to be told what the second client wrote.
    for client in clients + clients { try client.exchange(time: &time) }
    let expected = try server.texts()
    for client in clients {
      let found = try ModelClass.texts(ofFile: client.database.snapshot())
      if let difference = ModelClass.difference(found, expected) {
        throw SyncedFault("wrong: in the end \(difference)")
      }
    }
    let problem = IntegrityCheck.run(try server.database.snapshot()).problem
    if let problem { throw SyncedFault("wrong: in the end the file is damaged: \(problem)") }
    server.database.close()
  }
}
