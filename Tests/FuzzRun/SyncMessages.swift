import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport

/// A client and a server, one of which receives changed messages of the other. A changed message may only harm its
/// sender: files stay sound, other clients are served, and nothing that was written is lost.
struct SyncMessages {
  let seed: UInt64

  func run(_ part: Part) throws {
    let stage = try Stage(SyncedWorld.make(seed: seed, key: nil))
    for number in 0..<(part.isQuick ? 250 : 10_000) {
      var generator = part.generator(2 * number)
      try part.state("messages \(number) to the server") { try stage.tellServer(&generator) }
      generator = part.generator(2 * number + 1)
      try part.state("messages \(number) to the client") { try stage.tellClient(&generator) }
    }
    part.figures = [
      ("decided", stage.decided), ("applied", stage.applied), ("resets", stage.resets),
      ("problems", stage.problems),
    ]
    // If no changed message is accepted anywhere, the run has tried nothing.
    guard stage.decided > 0, stage.applied > 0, stage.resets > 0, stage.problems > 0 else {
      throw Violation("\(part.name), seed \(part.seed): changed messages reach too little: \(part.figures)")
    }
  }
}

/// The files of a server and two clients. They are the same before each state.
private final class Stage {
  private let world: SyncedWorld
  private let serverStorage: ByteStorage
  private let clientStorage: ByteStorage
  private let neighbourStorage: ByteStorage
  private let upward: [[UInt8]]
  private let downward: [[UInt8]]
  private let earlierUpward: [[UInt8]]
  private let earlierDownward: [[UInt8]]
  /// The number of changesets that the server decided.
  private(set) var decided = 0
  /// The numbers of steps that the client applied, of resets of its file, and of problems that ended its session.
  private(set) var applied = 0
  private(set) var resets = 0
  private(set) var problems = 0

  init(_ world: SyncedWorld) throws {
    self.world = world
    serverStorage = try ByteStorage()
    clientStorage = try ByteStorage()
    neighbourStorage = try ByteStorage()
    upward = SyncedWorld.frames(world.talk, isUpward: true)
    downward = SyncedWorld.frames(world.talk, isUpward: false)
    earlierUpward = SyncedWorld.frames(world.earlier, isUpward: true)
    earlierDownward = SyncedWorld.frames(world.earlier, isUpward: false)
  }

  private func openServer(seed: UInt64, time: UInt64) throws -> ServerPeer {
    serverStorage.fill(world.serverBytes)
    return try ServerPeer(SyncedSample.open(serverStorage, .server, nil), seed: seed, time: time)
  }

  private func openClient() throws -> Database {
    clientStorage.fill(world.clientBytes)
    return try SyncedSample.open(clientStorage, .client, nil)
  }

  private func openNeighbour() throws -> Database {
    neighbourStorage.fill(world.neighbourBytes)
    return try SyncedSample.open(neighbourStorage, .client, nil)
  }

  // MARK: - What a server hears

  func tellServer(_ generator: inout SeededGenerator) throws {
    var changes = FrameChanges(generator: generator, others: earlierUpward, isUpward: true)
    let frames = changes.changed(upward)
    generator = changes.generator
    let peer = try openServer(seed: SyncedWorld.talkSeed, time: SyncedWorld.time)
    let start = peer.node.state.version
    var id = peer.server.connect(user: SyncedWorld.user)
    for frame in frames {
      peer.time += 100
      try peer.receive(frame, from: id)
      if generator.chance(70) { try peer.run() }
      // A session that was ended takes no more messages.
      if peer.hasEnded(id), generator.chance(50) { id = peer.server.connect(user: SyncedWorld.user) }
    }
    try peer.run()
    decided += try Self.decisions(of: peer, after: start)
    if let halt = peer.node.halt { throw Violation("hung: the server goes on no more: \(halt)") }
    if let problem = peer.server.lastProblem {
      throw Violation("wrong: the server can't make a step from a sound file: \(problem)")
    }
    try checkHonest(peer)
  }

  private static func decisions(of peer: ServerPeer, after start: UInt64) throws -> Int {
    let transaction = try peer.database.beginWrite()
    defer { transaction.cancel() }
    let state = peer.node.state
    var count = 0
    for version in stride(from: start + 1, through: state.version, by: 1) {
      if try state.history(of: version, transaction) != nil { count += 1 }
    }
    return count
  }

  /// Checks that another client is served, that the client's real file can come back, and that both show what the
  /// server has.
  private func checkHonest(_ peer: ServerPeer) throws {
    let neighbour = ClientPeer(try openNeighbour(), SyncedWorld.neighbour)
    try neighbour.write(peer) { writer in try writer.create(900, field: 1, "of an honest client") }
    try settle(neighbour, peer)
    let client = ClientPeer(try openClient(), SyncedWorld.user)
    try settle(client, peer)
    try settle(neighbour, peer)
    let (shown, made) = (try neighbour.texts(), try peer.texts())
    guard made[900] != nil else { throw Violation("lost: what an honest client wrote is not at the server") }
    guard shown == made else { throw Violation("wrong: an honest client shows not what the server has") }
    for database in [peer.database, neighbour.database, client.database] { try check(database) }
  }

  // MARK: - What a client hears

  func tellClient(_ generator: inout SeededGenerator) throws {
    var changes = FrameChanges(generator: generator, others: earlierDownward, isUpward: false)
    let frames = changes.changed(downward)
    generator = changes.generator
    let database = try openClient()
    let before = try database.pendingChangesets()
    var time = SyncedWorld.time
    let session = ClientSession(database)
    var actions = try session.connected()
    for frame in frames {
      time += 100
      actions += ClientPeer.receive(frame, session, time: time)
      actions += session.upload(time: time)
      guard !session.isConnected else { continue }
      guard generator.chance(50) else { break }
      actions += try session.connected()
    }
    session.disconnected()
    let hasApplied = try note(actions)
    try check(database)
    try checkNothingIsLost(database, before)
    try checkReturn(database, before, isStrict: !hasApplied, time)
  }

  /// Counts what happened. Returns whether a step was applied.
  private func note(_ actions: [ClientSession.Action]) throws -> Bool {
    var hasApplied = false
    for action in actions {
      switch action {
      case .applied:
        applied += 1
        hasApplied = true
      case .didReset: resets += 1
      case .failed(.storage(.corrupted(let corruption, _))),
        .failed(.resetFailed(.storage(.corrupted(let corruption, _)))):
        throw Violation("wrong: a message makes a sound file count as damaged: \(corruption)")
      case .failed: problems += 1
      default: break
      }
    }
    return hasApplied
  }

  /// Checks that changesets that were not acknowledged are still pending.
  private func checkNothingIsLost(_ database: Database, _ before: [UInt64: [UInt8]]) throws {
    let position = try database.inClientFile { $0.position }
    let acknowledged = position.decided.sequence &+ position.earlierSequences
    let left = try database.pendingChangesets()
    for sequence in before.keys.sorted() where sequence > acknowledged && left[sequence] == nil {
      throw Violation("lost: the changeset \(sequence) is not acknowledged, and not there")
    }
  }

  /// Checks that the file goes on with an honest server.
  ///
  /// - Parameter isStrict: true if no step was applied. A wrong step may give the objects a content from which no
  ///   server can go on. The client then reports that, and keeps its changes.
  private func checkReturn(
    _ database: Database, _ before: [UInt64: [UInt8]], isStrict: Bool, _ time: UInt64
  ) throws {
    let peer = try openServer(seed: SyncedWorld.otherSeed, time: time)
    let client = ClientPeer(database, SyncedWorld.user)
    guard try client.exchange(with: peer) else {
      throw Violation("hung: the client and an honest server talk without end")
    }
    if isStrict || client.stop == nil { try settle(client, peer) }
    try checkNothingIsLost(database, before)
    for database in [database, peer.database] { try check(database) }
  }

  // MARK: - What must hold

  private func settle(_ client: ClientPeer, _ peer: ServerPeer) throws {
    guard try client.exchange(with: peer) else {
      throw Violation("hung: an honest client and the server talk without end")
    }
    if let stop = client.stop { throw Violation("lost: an honest client stops: \(stop)") }
    let left = try client.database.pendingChangesets().keys.sorted()
    guard left.isEmpty else { throw Violation("lost: the changesets \(left) are not acknowledged") }
  }

  private func check(_ database: Database) throws {
    if let problem = IntegrityCheck.run(try database.snapshot()).problem {
      throw Violation("wrong: a file is not sound: \(problem)")
    }
  }
}
