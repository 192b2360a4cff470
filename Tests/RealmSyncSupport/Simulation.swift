import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmTestSupport

/// Several clients and a server, whose messages are late and lost by chance. All of it follows from a seed.
///
/// The sessions of both sides are those that a network would drive, and every message goes through its bytes.
package final class Simulation {
  final class Client {
    /// Another one after the client has lost power, or its file came back from a copy.
    private(set) var file: SimulatedFile
    let user: String
    /// The key of the object in which each commit is noted.
    let logKey: Int64
    let partition: Value?
    private(set) var session: ClientSession
    var connection: Connection?
    /// What the query sets show, as masks over the values of the filter field; the first shows nothing.
    var querySets = [0]
    var refusals = 0
    /// What was refused may have been forgotten.
    var isReset = false
    /// What the file wrote, each commit by a number.
    var written: [Int] = []
    /// So many of them were made durable.
    var durable = 0
    /// What was told before may be told again.
    var hasLostPower = false
    /// The server has lost the object in which commits are noted. What is written to it is lost, until the client learns that.
    var isWritingToLost = false
    /// What was pending when the file was copied may count twice.
    var isCopied = false
    /// Objects that came whole while changes of them were pending: what others did to them is not told, so that what the server will make of the changes can't be shown.
    var unpredictable: Set<Int64> = []

    init(_ file: SimulatedFile, user: String, partition: Value?) {
      (self.file, self.user, self.partition) = (file, user, partition)
      logKey = 1000 + Int64(user.utf8.last ?? 0)
      session = ClientSession(file.database, partition: partition)
    }

    var database: Database { file.database }

    /// Goes on with another file. The connection is gone.
    func use(_ file: SimulatedFile) {
      self.file = file
      session = ClientSession(file.database, partition: partition)
    }
  }

  /// What is under way between a client and the server, as bytes.
  final class Connection {
    let id: SyncServer.SessionID
    var upward: [[UInt8]] = []
    var downward: [[UInt8]] = []

    init(_ id: SyncServer.SessionID) { self.id = id }
  }

  /// An object of the server at a version.
  struct Past {
    var text: String
    var field: Value
  }

  var serverFile: SimulatedFile
  var node: ServerNode
  var server: SyncServer
  var clients: [Client] = []
  /// Connections that their clients have given up, and the server not yet.
  var lingering: [Connection] = []
  var generator: SeededGenerator
  var time: UInt64 = 1_800_000_000_000
  /// The objects at the versions that steps lead to, with the values of their filter field.
  var past: [UInt64: [Int64: Past]] = [:]
  var refusalsMade: [UInt64: Int] = [:]
  let hasQuerySets: Bool
  let hasRules: Bool
  let keys: Int
  package internal(set) var count = Count()
  /// What was sent to the server, until it is decided.
  var sent: [UploadName: Changeset] = [:]

  struct UploadName: Hashable {
    var replica: UInt64
    var sequence: UInt64
  }

  /// Copies that files may come back from, with what their owners had written then.
  var clientCopies: [(client: Int, file: SimulatedFile, written: [Int])] = []
  var serverCopy: SimulatedFile?
  /// Something has happened after which files may be reset.
  var mayReset = false

  var state: ServerState { node.state }
  var database: Database { serverFile.database }

  package init(seed: UInt64) throws {

    generator = SeededGenerator(seed: seed)
    keys = 1 + generator.below(4)
    (hasQuerySets, hasRules) = (generator.chance(50), generator.chance(30))
    let hasPartitions = generator.chance(25)
    let losesPower = generator.chance(10)
    serverFile = try SimulatedFile(isSynced: false, onDisk: losesPower)
    try serverFile.database.write { try ModelClass.make($0) }
    node = try Self.node(serverFile.database)
    server = Self.server(node, seed: seed)
    for index in 0..<2 + generator.below(2) {
      let file = try SimulatedFile(isSynced: true, onDisk: losesPower)
      let partition = Value.int(Int64(generator.below(2)))
      let isPartitioned = hasPartitions && generator.chance(60)
      clients.append(Client(file, user: "user \(index)", partition: isPartitioned ? partition : nil))
    }
    past[0] = [:]
  }

  static func node(_ database: Database) throws -> ServerNode {
    let log = try EmbeddedLog(after: database, settings: ModelClass.settings)
    return try ServerNode(database, settings: ModelClass.settings, log: log)
  }

  static func server(_ node: ServerNode, seed: UInt64) -> SyncServer {
    var generator = SeededGenerator(seed: seed &* 31 &+ 7)
    var limits = ServerLimits()
    limits.registrations = .max
    // Steps have several parts.
    limits.partBytes = 200
    limits.idleVersions = generator.chance(50) ? 1 : 20
    limits.wholeVersions = UInt64(generator.below(4))
    // Steps take several turns.
    limits.rowsAtOnce = 1 + generator.below(8)
    // The texts of objects name elements by the number of the replica and a counter in one number.
    return SyncServer(node, limits: limits) { generator.next() >> 20 }
  }

  package struct Failure: Error, CustomStringConvertible {
    package enum Kind: String, CaseIterable, Sendable {
      /// Something that was written is not there any more.
      case lost
      case wrong
      /// Somebody was told what the rules or the query do not show.
      case leaked
      /// Nobody has anything to say, or all talk without end.
      case hung
    }

    package var kind = Kind.wrong
    package var description: String
  }

  /// Runs to the end; answers what was wrong.
  package func run() throws -> Failure? {
    do {
      for _ in 0..<40 + generator.below(120) { try step() }
      try settle()
      try checkAll()
    } catch let failure as Failure {
      return failure
    }
    return nil
  }

  // MARK: - Steps

  func step() throws {
    count.steps += 1
    if generator.chance(40) { time += UInt64(generator.below(3000)) }
    let client = clients[generator.below(clients.count)]
    switch generator.below(100) {
    case 0..<22: try write(client)
    case 22..<38: try perform(client.session.upload(time: time), client)
    case 38..<58: for _ in 0..<1 + generator.below(4) { try receive(client.connection) }
    case 58..<68: try runServer()
    case 68..<85: for _ in 0..<1 + generator.below(4) { try deliver(client) }
    case 85..<91: try connect(client)
    case 91..<94: try lose(client)
    case 94: if let connection = lingering.first { try receive(connection) }
    default: try administer(client)
    }
  }

  func administer(_ client: Client) throws {
    switch generator.below(12) {
    case 8, 9: try losePower(client)
    case 10: try copyFile(client)
    case 11: try copyServer()
    case 0, 1: try trim()
    case 2, 3, 4:
      guard hasQuerySets, client.partition == nil else { return }
      let mask = generator.chance(30) ? 15 : 1 + generator.below(15)
      client.querySets.append(mask)
      _ = try inFile(client) { try $0.setQueries([ModelClass.query(mask)]) }
    case 5:
      // A file is reset.
      guard try replica(client) != .max else { return }
      mayReset = true
      try append(.retire(replica: replica(client)))
    case 6: try restart()
    default:
      guard hasRules else { return }
      let write = generator.chance(50) ? 15 : 1 + generator.below(15)
      let rules = AccessRules(
        read: ModelClass.filters(1 + generator.below(15)), write: ModelClass.filters(write))
      try append(.rules(user: client.user, rules))
    }
  }

  /// The server starts anew, from its file.
  func restart() throws {
    count.restarts += 1
    for client in clients where client.connection != nil { try lose(client) }
    lingering = []
    node = try Self.node(database)
    server = Self.server(node, seed: generator.next())
  }

  func write(_ client: Client) throws {
    count.commits += 1
    if try inFile(client, { $0.newestQuerySet }) == 0 {
      client.querySets.append(15)
      _ = try inFile(client) { try $0.setQueries([ModelClass.query(15)]) }
    }
    let durability = generator.chance(50) ? Durability.relaxed : .full
    try client.database.write(durability) { transaction in
      try transaction.setTime(time)
      if try transaction.table(ModelClass.name) == nil { try ModelClass.make(transaction) }
      if !hasQuerySets, !hasRules, client.partition == nil { try log(client, transaction) }
      guard let writer = try RandomWriter(transaction, keys: keys, field: client.partition) else {
        return
      }
      for _ in 0..<1 + generator.below(4) { try writer.change(&generator) }
    }
    if durability == .full { client.durable = client.written.count }
  }

  /// Notes each commit in an object that the client alone writes to.
  func log(_ client: Client, _ transaction: WriteTransaction) throws {
    guard let objects = try transaction.table(ModelClass.name),
      let set = objects.schema.columns.firstIndex(where: { $0.name == "s" })
    else { return }
    let key = Value.int(client.logKey)
    let row = try objects.row(withPrimaryKey: key) ?? objects.insert(["id": key, "c": .int(0)])
    client.written.append(count.commits)
    try objects.insert([.int(Int64(count.commits))], intoSet: set, ofRow: row)
    // What counts twice is found by the sum.
    if let sum = objects.schema.columns.firstIndex(where: { $0.name == "c" }) {
      try objects.add(1, to: sum, ofRow: row)
    }
  }

  func inFile<Result>(_ client: Client, _ body: (inout ClientFile) throws -> Result) throws -> Result {
    let transaction = try client.database.beginWrite()
    defer { transaction.cancel() }
    var file = try ClientFile(transaction)
    let result = try body(&file)
    try transaction.commit(.relaxed)
    return result
  }

  func replica(_ client: Client) throws -> UInt64 { try inFile(client) { $0.number } }

  func append(_ entry: LogEntry) throws {
    try runServer()
    try node.append(entry, tag: generator.next(), time: time)
    try runServer()
  }

  func trim() throws {
    count.trims += 1
    try runServer()
    guard generator.chance(25) else {
      try server.trim(offline: 1 << 50, time: time)
      return try runServer()
    }
    // Also below what some need: these are reset.
    mayReset = true
    try append(.trim(horizon: UInt64(generator.below(Int(state.version) + 1))))
  }

  // MARK: - The end

  func settle() throws {
    for _ in 0..<10 {
      for client in clients {
        try connect(client)
        try checkPrediction(client)
        try exchange(client)
      }
      try runServer()
      for client in clients { try exchange(client) }
    }
  }
}
