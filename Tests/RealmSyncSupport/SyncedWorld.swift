import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmTestSupport

/// The files of a server and of two clients, and the messages that one of the clients and the server send each other
/// next.
///
/// The files are made by real sessions. No byte in them is written by hand.
package struct SyncedWorld {
  /// The users of the client and of its neighbour.
  package static let user = "anna"
  package static let neighbour = "ben"
  /// The seeds of the numbers that the server draws while the client talks to it (`talkSeed`), and while another client
  /// does (`otherSeed`).
  package static let talkSeed: UInt64 = 11
  package static let otherSeed: UInt64 = 77
  package static let start: UInt64 = 1_800_000_000_000
  /// The time at which the files are used. The last entry of the log is less than an hour old then.
  package static let time = start + 1_000_000

  package let serverBytes: [UInt8]
  /// The client's file. It has changes that no server knows, a query set that was not sent, refusals that the app was
  /// not told, and parts of a step whose last part never came.
  package let clientBytes: [UInt8]
  /// The neighbour's file, which has all objects that the server has.
  package let neighbourBytes: [UInt8]
  /// The messages that the client and the server send each other, until both have nothing more to say.
  package let talk: [Frame]
  /// The messages of the neighbour and the server. The neighbour has nothing to upload.
  package let neighbourTalk: [Frame]
  /// The earlier messages between the clients and the server.
  package let earlier: [Frame]

  package static func make(seed: UInt64, key: [UInt8]?) throws -> SyncedWorld {
    try WorldBuilder(seed: seed, key: key).build()
  }

  /// The options with which the files are opened. Clusters have few rows, so that small tables have full clusters.
  package static func options(isClient: Bool, _ key: [UInt8]?) -> Database.Options {
    var options = Database.Options(encryptionKey: key, decryptedMemory: 1 << 22)
    options.clusterRows = 8
    options.history = isClient ? .synced : .local
    return options
  }

  /// The frames that one side has sent.
  package static func frames(_ all: [Frame], isUpward: Bool) -> [[UInt8]] {
    all.filter { $0.isUpward == isUpward }.map(\.bytes)
  }
}

private final class WorldBuilder {
  private let key: [UInt8]?
  private var generator: SeededGenerator
  private let storages: [ByteStorage]
  private let peer: ServerPeer
  private let client: ClientPeer
  private let neighbour: ClientPeer

  init(seed: UInt64, key: [UInt8]?) throws {
    self.key = key
    generator = SeededGenerator(seed: seed)
    storages = [try ByteStorage(), try ByteStorage(), try ByteStorage()]
    let options = SyncedWorld.options(isClient: true, key)
    let server = try Database(
      creatingIn: storages[0], options: SyncedWorld.options(isClient: false, key))
    peer = try ServerPeer(server, seed: seed, time: SyncedWorld.start)
    client = ClientPeer(try Database(creatingIn: storages[1], options: options), SyncedWorld.user)
    neighbour = ClientPeer(try Database(creatingIn: storages[2], options: options), SyncedWorld.neighbour)
  }

  func build() throws -> SyncedWorld {
    try begin()
    try refuse()
    try addOthers()
    try writeOffline()
    try stage()
    for database in [peer.database, client.database, neighbour.database] { database.close() }
    let bytes = storages.map(\.bytes)
    return SyncedWorld(
      serverBytes: bytes[0], clientBytes: bytes[1], neighbourBytes: bytes[2],
      talk: try talk(SyncedWorld.user, bytes[0], bytes[1]),
      neighbourTalk: try talk(SyncedWorld.neighbour, bytes[0], bytes[2]),
      earlier: client.frames + neighbour.frames)
  }

  private func sync(_ client: ClientPeer) throws {
    guard try client.exchange(with: peer) else { throw Violation("clients of a sample talk without end") }
    if let stop = client.stop { throw Violation("a client of a sample stops: \(stop)") }
  }

  private func number() -> Int64 { Int64(generator.below(1000)) }

  private func text(_ length: Int) -> String {
    String((0..<length).map { _ in Character(Unicode.Scalar(UInt8(97 + generator.below(26)))) })
  }

  // MARK: - What all know

  /// Gives both clients objects. The client becomes another replica once, so that neither its number in the file nor
  /// its sequences are the first ones.
  private func begin() throws {
    try neighbour.ask("")
    try neighbour.write(peer) { writer in
      for key in 1...8 as ClosedRange<Int64> { try writer.create(key, field: key % 3, text(12)) }
      try writer.create(50, field: 3, "not seen by the client")
      try writer.setParts(of: 7, number())
      try writer.link(1, to: 2)
      try writer.changeSorted(of: 4, number())
    }
    try sync(neighbour)
    try client.ask("q IN {0, 1, 2}")
    try client.write(peer) { writer in
      for key in 20...22 as ClosedRange<Int64> { try writer.create(key, field: key % 3, text(12)) }
    }
    try sync(client)
    try client.write(peer) { writer in try writer.changeList(of: 20, number()) }
    try peer.append(.retire(replica: client.number()), tag: generator.next())
    try sync(client)
    guard client.resets == 1 else { throw Violation("the client of a sample was not reset") }
    try sync(neighbour)
  }

  /// Makes two objects of the client that the server refuses. The app is not told.
  private func refuse() throws {
    try client.write(peer) { writer in
      try writer.create(30, field: 3, "outside of the query")
      try writer.create(50, field: 1, "the key is in use")
      try writer.create(31, field: 1, text(12))
    }
    try sync(client)
    let refusals = try client.database.inClientFile { try $0.refusals().count }
    guard refusals == 2 else { throw Violation("\(refusals) changes of a sample were refused, not 2") }
    try sync(neighbour)
    try neighbour.write(peer) { writer in
      try writer.remove(6)
      try writer.changeList(of: 1, number())
      try writer.changeList(of: 20, number())
      try writer.set("m", .string(text(12)), of: 21)
    }
    try sync(neighbour)
    try sync(client)
  }

  /// Gives the server rules, data of a user, and a retired replica with a partition. The server forgets the beginning
  /// of its history.
  private func addOthers() throws {
    let rules = AccessRules(read: ModelClass.filters(3), write: ModelClass.filters(15))
    try peer.append(.rules(user: "carl", rules), tag: generator.next())
    try peer.append(.user(SyncedWorld.user, ["roles": [.string("editor"), .null]]), tag: generator.next())
    let carl = ClientPeer(
      try Database(
        creatingIn: MemoryStorage(name: "file of carl"),
        options: SyncedWorld.options(isClient: true, nil)),
      "carl", partition: .int(1))
    try carl.write(peer) { writer in try writer.create(80, field: 1, text(12)) }
    try sync(carl)
    try peer.append(.retire(replica: carl.number()), tag: generator.next())
    for one in [client, neighbour] {
      one.disconnect(from: peer)
      try sync(one)
    }
    try peer.server.trim(offline: 1 << 50, time: peer.time)
    try peer.run()
    guard peer.node.state.horizon > 0 else { throw Violation("no history of a sample was forgotten") }
    try neighbour.write(peer) { writer in
      try writer.remove(22)
      try writer.changeList(of: 2, number())
      try writer.add(3, to: 1)
    }
    try sync(neighbour)
    try sync(client)
  }

  // MARK: - What the client alone knows

  private func writeOffline() throws {
    client.disconnect(from: peer)
    try client.write(peer) { writer in
      try writer.create(40, field: 0, text(12))
      try writer.create(41, field: 1, text(40))
    }
    try client.write(peer) { writer in
      try writer.set("m", .string(text(20)), of: 1)
      try writer.add(5, to: 2)
      try writer.set("q", .int(0), of: 5)
    }
    try client.write(peer) { writer in
      try writer.changeList(of: 1, number())
      try writer.changeList(of: 31, number())
    }
    try client.write(peer) { writer in
      try writer.remove(3)
      try writer.changeSorted(of: 4, number())
    }
    try client.write(peer) { writer in
      try writer.setParts(of: 7, number())
      try writer.link(40, to: 41)
      try writer.link(31, to: 40)
    }
    try client.ask("q IN {0, 1, 2} OR q == nil")
    try client.write(peer) { writer in try writer.create(42, field: 2, text(12)) }
  }

  /// Lets the neighbour change objects that the client has changed too, so that the client's file has records. Then the
  /// neighbour writes so much that a step has several parts, and the client gets all but the last one.
  private func stage() throws {
    try neighbour.write(peer) { writer in
      try writer.changeList(of: 1, number())
      try writer.setParts(of: 7, number())
      try writer.set("m", .string(text(12)), of: 4)
      try writer.changeSorted(of: 4, number())
    }
    try sync(neighbour)
    _ = try receive(keeping: 0)
    try neighbour.write(peer) { writer in
      for key in 60...75 as ClosedRange<Int64> { try writer.create(key, field: key % 3, text(30)) }
      try writer.changeList(of: 1, number())
      try writer.remove(8)
    }
    try sync(neighbour)
    guard try receive(keeping: 1) > 0, try client.database.inClientFile({ try $0.hasStagedParts }) else {
      throw Violation("no part of a step stands in a sample")
    }
  }

  /// Connects the client, which gets the server's messages except the last frames. The server gets the client's start,
  /// and no later message.
  ///
  /// - Returns: The number of frames that the client got.
  private func receive(keeping kept: Int) throws -> Int {
    peer.time += 100
    try client.connect(to: peer)
    try client.carryUp(peer)
    try peer.run()
    client.carryDown(peer)
    try client.carryUp(peer, most: 1)
    try peer.run()
    let count = client.carryDown(peer, keeping: kept)
    client.disconnect(from: peer)
    return count
  }

  private func talk(_ user: String, _ serverBytes: [UInt8], _ clientBytes: [UInt8]) throws -> [Frame] {
    let (serverStorage, clientStorage) = (try ByteStorage(), try ByteStorage())
    serverStorage.fill(serverBytes)
    clientStorage.fill(clientBytes)
    let server = try ServerPeer(
      Database(storage: serverStorage, options: SyncedWorld.options(isClient: false, key)),
      seed: SyncedWorld.talkSeed, time: SyncedWorld.time)
    let client = ClientPeer(
      try Database(storage: clientStorage, options: SyncedWorld.options(isClient: true, key)), user)
    guard try client.exchange(with: server), client.stop == nil, client.resets == 0,
      try client.database.pendingChangesets().isEmpty
    else { throw Violation("the client of a sample can't go on: \(client.stop ?? "it is reset, or waits")") }
    return client.frames
  }
}
