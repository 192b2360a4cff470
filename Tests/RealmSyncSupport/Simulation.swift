import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmTestSupport

/// Several clients and a server, whose messages are delayed and lost at random. The seed determines all of it.
///
/// The sessions of both sides are those that a network would drive. Every message is written to bytes and read from
/// them.
package final class Simulation {
  final class Client {
    /// The client's file. Another file takes its place if the client loses power or its file is restored from a copy.
    private(set) var file: SimulatedFile
    let user: String
    /// The key of the object in which each commit is noted.
    let logKey: Int64
    let partition: Value?
    private(set) var session: ClientSession
    var connection: Connection?
    /// The objects that each query set shows, as masks over the values of the filter field. The first set shows none.
    var querySets = [0]
    var refusals = 0
    /// True if the file may have forgotten refusals, because it was reset.
    var isReset = false
    /// The numbers of the commits that the file has made.
    var written: [Int] = []
    /// The number of those commits that were made durable.
    var durable = 0
    /// True if the client may be told again what it was told before a loss of power.
    var hasLostPower = false
    /// True if the server has lost the object in which commits are noted. Commits are lost until the client learns of
    /// that.
    var isWritingToLost = false
    /// True if changes that were pending when the file was copied may count twice.
    var isCopied = false
    /// The objects that came whole while changes of them were pending. The client is not told what others did to them,
    /// so it can't show the result that the server will make of the changes.
    var unpredictable: Set<Int64> = []

    init(_ file: SimulatedFile, user: String, partition: Value?) {
      (self.file, self.user, self.partition) = (file, user, partition)
      logKey = 1000 + Int64(user.utf8.last ?? 0)
      session = ClientSession(file.database, partition: partition)
    }

    var database: Database { file.database }

    /// Continues with another file. The connection is lost.
    func use(_ file: SimulatedFile) {
      self.file = file
      session = ClientSession(file.database, partition: partition)
    }
  }

  /// The messages that are under way between a client and the server, as bytes.
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
  /// The connections that their clients have given up, and that the server still has.
  var lingering: [Connection] = []
  var generator: SeededGenerator
  var time: UInt64 = 1_800_000_000_000
  /// The objects at the versions to which steps lead, with the values of their filter field.
  var past: [UInt64: [Int64: Past]] = [:]
  var refusalsMade: [UInt64: Int] = [:]
  let hasQuerySets: Bool
  let hasRules: Bool
  let keys: Int
  package internal(set) var count = Count()
  /// The changesets that were sent to the server and are not decided.
  var sent: [UploadName: Changeset] = [:]

  struct UploadName: Hashable {
    var replica: UInt64
    var sequence: UInt64
  }

  /// Copies from which files may be restored, with the commits that their clients had made then.
  var clientCopies: [(client: Int, file: SimulatedFile, written: [Int])] = []
  var serverCopy: SimulatedFile?
  /// True if an event has happened after which files may be reset.
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
    // The shift keeps the numbers small, because the texts of objects join a replica's number and a counter into one
    // number.
    return SyncServer(node, limits: limits) { generator.next() >> 20 }
  }

  package struct Failure: Error, CustomStringConvertible {
    package enum Kind: String, CaseIterable, Sendable {
      /// A commit that was written is missing.
      case lost
      case wrong
      /// A client was told an object that the rules or the query do not show.
      case leaked
      /// Both sides have nothing to say, or never come to an end.
      case hung
    }

    package var kind = Kind.wrong
    package var description: String
  }

  /// Runs the simulation to its end.
  ///
  /// - Returns: The first failure; nil if there was none.
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
      // Retires the replica of a client, so that its file is reset.
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

  /// Starts the server again from its file.
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

  /// Notes each commit in an object that only the client writes to.
  func log(_ client: Client, _ transaction: WriteTransaction) throws {
    guard let objects = try transaction.table(ModelClass.name),
      let set = objects.schema.columns.firstIndex(where: { $0.name == "s" })
    else { return }
    let key = Value.int(client.logKey)
    let row = try objects.row(withPrimaryKey: key) ?? objects.insert(["id": key, "c": .int(0)])
    client.written.append(count.commits)
    try objects.insert([.int(Int64(count.commits))], intoSet: set, ofRow: row)
    // The sum shows whether a commit counts twice.
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
    // The horizon may pass versions that clients need. Their files are reset.
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
