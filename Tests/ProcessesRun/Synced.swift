import Foundation
import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport

/// Workers write to a synced file and are killed, while a client's session uploads their changes and applies those of
/// another client. The session is in this process, or in another process that is killed, too.
///
/// After each kill no acknowledged commit of any worker is lost, the last commit of the killed worker is there
/// completely or not at all, and what the server was told is what the file says. In the end the file, the server and
/// two other clients are equal.
struct Synced {
  let part: Part

  private var kills: Int { part.isQuick ? 25 : 250 }

  func run() throws {
    var number = 0
    var (kills, commits, uploads, steps, changesets) = (0, 0, 0, 0, 0)
    try withScenes { scene in
      let round = try SyncedRound(scene, part.generator(number))
      for kill in 0..<self.kills {
        try part.state("encrypted \(scene.isEncrypted), kill \(kill)") { try round.kill(number: kill) }
        number += 1
      }
      try part.state("encrypted \(scene.isEncrypted), the end") { try round.end() }
      kills += round.clientKills
      commits += try scene.acknowledged(SyncedRound.slots)
      uploads += round.uploads
      steps += round.steps
      changesets += round.changesets
    }
    part.figures = [
      ("kills", number), ("clientKills", kills), ("commits", commits), ("uploads", uploads), ("steps", steps),
      ("changesets", changesets),
    ]
    guard commits >= number, steps >= number, changesets >= commits, kills > 0 else {
      throw Violation("the kills miss the commits or the steps: \(part.summary)")
    }
  }
}

/// The kills of one file.
private final class SyncedRound {
  static let slots = 0..<3
  private static let user = "file"

  private let scene: Scene
  private var generator: SeededGenerator
  private let database: Database
  private let server: LocalServer
  private let other: LocalClient
  private var workers: [Int: Child] = [:]
  private var client: SyncedClient?
  private var connection: LocalServer.Connection?
  /// The messages of the client that the server has not received yet.
  private var upward: [[UInt8]] = []
  /// True if a message was sent since this was set to false.
  private var isTalking = false
  /// The greatest count of each slot that a version had. A count must not decrease, because what was published is not
  /// taken back.
  private var seen: [Int: Int] = [:]
  private var newest: UInt64 = 0
  private(set) var clientKills = 0
  private(set) var steps = 0
  private(set) var changesets = 0
  var uploads: Int { server.notes.uploads }

  init(_ scene: Scene, _ generator: SeededGenerator) throws {
    (self.scene, self.generator) = (scene, generator)
    database = try Database(path: scene.path, options: syncedOptions(isEncrypted: scene.isEncrypted))
    // The server would refuse what is written before the file asks for a query set.
    try ModelClass.ask(15, database, .relaxed)
    try database.write { try ModelClass.make($0) }
    let file = try Database(inMemory: "server")
    try file.write { try ModelClass.make($0) }
    server = try LocalServer(file, seed: self.generator.next())
    other = try LocalClient("other")
    other.use(server)
  }

  // MARK: - Talking

  private func follow(_ order: SyncedOrder) throws {
    guard let client else { return }
    let answer = try client.follow(order)
    upward += answer.frames
    steps += answer.steps
    if answer.isOver { try lose() }
  }

  private func connect() throws {
    guard connection == nil else { return }
    if client == nil {
      if generator.chance(40) {
        client = .here(ClientSession(database))
      } else {
        client = .elsewhere(try scene.spawn(.syncClient))
      }
    }
    connection = server.connect(user: Self.user)
    try follow(.connect)
  }

  /// Breaks the connection. The server learns it now, or when the file has its next session.
  private func lose() throws {
    guard let connection else { return }
    if generator.chance(50) { server.disconnect(connection) }
    (self.connection, upward) = (nil, [])
    try follow(.lost)
    // The next session may be in another process.
    if case .here? = client { client = nil }
  }

  private func send() throws {
    guard let connection else { return }
    for frame in upward {
      isTalking = true
      try server.receive(frame, from: connection, time: SyncedOrder.now)
    }
    upward = []
  }

  /// Both clients send their messages, and take the answers of the server.
  private func talk() throws {
    try connect()
    try follow(.upload)
    try send()
    if try other.send(time: SyncedOrder.now) { isTalking = true }
    try server.run(time: SyncedOrder.now)
    while let connection, !connection.downward.isEmpty {
      isTalking = true
      try follow(.take(connection.downward.removeFirst()))
    }
    if try other.receive(time: SyncedOrder.now) { isTalking = true }
  }

  // MARK: - Kills

  func kill(number: Int) throws {
    for slot in Self.slots where workers[slot] == nil {
      workers[slot] = try scene.spawn(.writeSynced, slots: slot..<slot + 1, seed: generator.next() >> 1)
    }
    let end = ContinuousClock.now + .milliseconds(generator.below([5, 40, 40, 150][number % 4]))
    repeat {
      if generator.chance(20) {
        try other.write(1 + generator.below(3), keys: SyncedWriters.keys, time: nil, &generator)
      }
      if generator.chance(5) { try server.trim(time: SyncedOrder.now) }
      try talk()
      if generator.chance(5) { try lose() }
    } while ContinuousClock.now < end
    if case .elsewhere(let child)? = client, generator.chance(60) {
      try kill(child)
    } else {
      let victims =
        generator.chance(10) ? Array(Self.slots) : [Self.slots.lowerBound + generator.below(Self.slots.count)]
      for slot in victims {
        try workers[slot]?.crash()
        workers[slot] = nil
      }
    }
    try look(number)
    for worker in workers.values { try worker.expectHealth() }
  }

  /// Kills the process of the client's session while it takes a message, connects, or uploads.
  private func kill(_ child: Child) throws {
    clientKills += 1
    let order: SyncedOrder
    if connection == nil {
      connection = server.connect(user: Self.user)
      order = .connect
    } else {
      try follow(.upload)
      try send()
      try server.run(time: SyncedOrder.now)
      if let connection, !connection.downward.isEmpty {
        order = .take(connection.downward.removeFirst())
      } else {
        order = .upload
      }
    }
    upward = try child.crash(at: order, after: UInt32(generator.below(3000))).frames
    // Messages that the process has sent may reach the server after its death.
    if generator.chance(50) { try send() }
    client = nil
    try lose()
    upward = []
  }

  // MARK: - What must hold

  private func look(_ number: Int) throws {
    var least: [Int: Int] = [:]
    for slot in Self.slots { least[slot] = max(try scene.progress(of: slot).acknowledged, seen[slot] ?? 0) }
    let snapshot = try database.snapshot()
    guard snapshot.version >= newest else {
      throw Violation("version \(snapshot.version) comes after \(newest)")
    }
    newest = snapshot.version
    let counts = try CommitNotes.verify(snapshot, slots: Self.slots)
    for slot in Self.slots {
      let (count, most) = (counts[slot] ?? 0, try scene.progress(of: slot).begun)
      guard count >= least[slot] ?? 0 else {
        throw Violation(
          "slot \(slot): commit \(least[slot] ?? 0) was acknowledged or seen, version \(newest) has \(count)")
      }
      guard count <= most else { throw Violation("slot \(slot): \(count) commits, but \(most) were begun") }
      seen[slot] = count
    }
    if number % 10 == 9 { try Scene.check(snapshot) }
    guard generator.chance(30) else { return }
    // Beginning a transaction recovers what the killed worker left, unless another process was faster.
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    try server.notes.check(ClientFile(transaction))
  }

  func end() throws {
    for slot in Self.slots where workers[slot] == nil {
      workers[slot] = try scene.spawn(.writeSynced, slots: slot..<slot + 1, seed: generator.next() >> 1)
    }
    for worker in workers.values { worker.tell("stop") }
    for worker in workers.values { try worker.finish() }
    workers = [:]
    try lose()
    if case .elsewhere(let child)? = client {
      child.tell("stop")
      try child.finish()
    }
    client = .here(ClientSession(database))
    try settle()
    try database.pinsAreGone()
    changesets = Int(server.state.lastSequence(of: try database.replicaNumber()))
    let (last, fresh) = (try database.snapshot(), try LocalClient("fresh"))
    fresh.use(server)
    var time = SyncedOrder.now
    try fresh.exchange(time: &time)
    try compare(last, fresh)
    let counts = try CommitNotes.verify(last, slots: Self.slots)
    for slot in Self.slots {
      let expected = try scene.progress(of: slot).acknowledged
      guard counts[slot] ?? 0 == expected else {
        throw Violation("slot \(slot): \(expected) commits were acknowledged, \(counts[slot] ?? 0) are there")
      }
    }
  }

  /// Goes on until nothing is pending and neither side has a message for the other.
  private func settle() throws {
    repeat {
      isTalking = false
      try talk()
      // Commits that are not durable yet are uploaded after a while.
      if !isTalking { usleep(5000) }
    } while try isTalking || pending() > 0
  }

  private func pending() throws -> Int {
    let snapshot = try database.snapshot()
    return try snapshot.changelog()?.count(snapshot) ?? 0
  }

  private func compare(_ last: Snapshot, _ fresh: LocalClient) throws {
    let expected = try server.texts()
    let (others, freshest) = (try other.database.snapshot(), try fresh.database.snapshot())
    let files = [("the file", last), ("the other client", others), ("a fresh client", freshest)]
    for (name, snapshot) in files {
      let found = try ModelClass.texts(ofFile: snapshot)
      if let difference = ModelClass.difference(found, expected) {
        throw Violation("\(name) differs from the server: \(difference)")
      }
      try Scene.check(snapshot)
      guard try snapshot.tree(MergeRecords.treeName).count() == 0 else {
        throw Violation("\(name) keeps records without pending changesets")
      }
    }
    try Scene.check(server.database.snapshot())
  }
}
