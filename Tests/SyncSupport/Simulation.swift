import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import TestSupport

/// Several clients and a server, whose messages are late and lost by chance. All of it follows from a seed.
package final class Simulation {
  package struct Count {
    package var steps = 0
    package var commits = 0
    package var uploads = 0
    package var refusals = 0
    package var applied = 0
    package var objects = 0
    package var whole = 0
    package var left = 0
    package var deleted = 0
    package var trims = 0
    package var lost = 0
    package var predictions = 0
    package var resets = 0
    package var recovered = 0

    package init() {}

    /// What a run prints.
    package var text: String {
      """
      steps=\(steps) commits=\(commits) uploads=\(uploads) refusals=\(refusals) applied=\(applied) effects=\(objects) \
      whole=\(whole) left=\(left) deleted=\(deleted) trims=\(trims) broken=\(lost) predictions=\(predictions) \
      resets=\(resets) recovered=\(recovered)
      """
    }

    package static func += (left: inout Count, right: Count) {
      for path in paths { left[keyPath: path] += right[keyPath: path] }
    }

    nonisolated(unsafe) private static let paths: [WritableKeyPath<Count, Int>] = [
      \.steps, \.commits, \.uploads, \.refusals, \.applied, \.objects, \.whole, \.left, \.deleted, \.trims,
      \.lost, \.predictions, \.resets, \.recovered,
      \.resets, \.recovered,
    ]
  }

  final class Client {
    let database: Database
    let user: String
    let partition: MergeContext.Partition?
    /// What the query sets show, as masks over the values of the filter field; the first shows nothing.
    var querySets = [0, 15]
    /// What the file is cut with.
    var view = View.empty
    var session: Session?
    var refusals = 0
    /// What was refused may have been forgotten.
    var isReset = false
    /// What the file wrote, each commit by a number.
    var written: [Int] = []
    /// Objects that came whole while changes of them were pending: what others did to them is not told, so that what the server will make of the changes can't be shown.
    var unpredictable: Set<Int64> = []

    init(_ database: Database, user: String, partition: MergeContext.Partition?) {
      (self.database, self.user, self.partition) = (database, user, partition)
    }

    /// The key of the object in which each commit is noted.
    var logKey: Int64 { 1000 + Int64(user.utf8.last ?? 0) }
    var wanted: UInt64 { UInt64(querySets.count - 1) }
  }

  enum Upward {
    case querySet(UInt64)
    case upload(UploadMessage)
  }

  struct Session {
    var upward: [Upward] = []
    var steps: [(step: Step, view: View)] = []
    var sent: NamedChangeset
    /// The last query set that was sent, that came, and that is in force.
    var asked: UInt64
    var wanted: UInt64
    var querySet: UInt64
    var version: UInt64
    var view: View
  }

  /// An object of the server at a version.
  struct Past {
    var text: String
    var field: Value
  }

  let server: Database
  var state: ServerState
  var clients: [Client] = []
  var generator: SeededGenerator
  var time: UInt64 = 1_800_000_000_000
  var tags: [UInt64] = [0]
  var nextReplica: UInt64 = 100
  var nextSession: UInt64 = 0
  /// The objects at each version, with the values of their filter field.
  var past: [UInt64: [Int64: Past]] = [:]
  var refusalsMade: [UInt32: Int] = [:]
  let hasQuerySets: Bool
  let hasRules: Bool
  let keys: Int
  package internal(set) var count = Count()

  package init(seed: UInt64) throws {
    generator = SeededGenerator(seed: seed)
    keys = 1 + generator.below(4)
    (hasQuerySets, hasRules) = (generator.chance(50), generator.chance(30))
    let hasPartitions = generator.chance(25)
    server = try Database(inMemory: "server")
    let transaction = try server.beginWrite()
    try ModelClass.make(transaction)
    state = try ServerState(transaction, settings: ModelClass.settings)
    try transaction.commit(.relaxed)
    for index in 0..<2 + generator.below(2) {
      var options = DatabaseOptions()
      options.history = .synced
      let database = try Database(creatingIn: MemoryStorage(name: "client \(index)"), options: options)
      let partition = MergeContext.Partition(property: "q", value: .int(Int64(generator.below(2))))
      let isPartitioned = hasPartitions && generator.chance(60)
      clients.append(Client(database, user: "user \(index)", partition: isPartitioned ? partition : nil))
    }
    past[0] = [:]
  }

  struct Failure: Error, CustomStringConvertible { var description: String }

  /// Runs to the end; answers what was wrong.
  package func run() throws -> String? {
    do {
      for _ in 0..<40 + generator.below(120) { try step() }
      try settle()
      try checkAll()
    } catch let failure as Failure {
      return failure.description
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
    case 22..<38: for _ in 0..<1 + generator.below(3) { try send(client) }
    case 38..<54: for _ in 0..<1 + generator.below(3) { try receive(client) }
    case 54..<70: try sendStep(client)
    case 70..<85: try applyStep(client)
    case 85..<94: try connect(client)
    case 94..<97:
      if let session = client.session, !session.upward.isEmpty || !session.steps.isEmpty { count.lost += 1 }
      client.session = nil
    default: try administer(client)
    }
  }

  func administer(_ client: Client) throws {
    switch generator.below(4) {
    case 0: try trim()
    case 1, 2:
      guard hasQuerySets else { return }
      client.querySets.append(generator.chance(30) ? 15 : 1 + generator.below(15))
      let transaction = try client.database.beginWrite()
      defer { transaction.cancel() }
      try transaction.changeChangelogState { $0.querySet = client.wanted }
      try transaction.commit(.relaxed)
    default:
      guard hasRules else { return }
      let write = generator.chance(50) ? 15 : 1 + generator.below(15)
      let rules = AccessRules(
        read: ModelClass.filters(1 + generator.below(15)), write: ModelClass.filters(write))
      _ = try append(.rules(user: client.user, rules))
    }
  }

  func write(_ client: Client) throws {
    count.commits += 1
    try client.database.write(.relaxed) { transaction in
      try transaction.setTime(time)
      if try transaction.changesets()?.state.querySet == 0 {
        try transaction.changeChangelogState { $0.querySet = 1 }
      }
      if try transaction.table(ModelClass.name) == nil { try ModelClass.make(transaction) }
      if !hasQuerySets, !hasRules, client.partition == nil { try log(client, transaction) }
      guard let writer = try RandomWriter(transaction, keys: keys, field: client.partition?.value) else {
        return
      }
      for _ in 0..<1 + generator.below(4) { try writer.change(&generator) }
    }
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

  func append(_ entry: LogEntry) throws -> HistoryEntry? {
    let tag = generator.next()
    let transaction = try server.beginWrite()
    defer { transaction.cancel() }
    // A server that starts anew goes on with what stands in its file.
    if generator.chance(5) { state = try ServerState(transaction, settings: ModelClass.settings) }
    let done = try state.integrate(LogRecord(tag: tag, time: time, entry), in: transaction)
    tags.append(tag)
    past[state.version] = try present(transaction)
    if let done { refusalsMade[done.replica, default: 0] += done.refusals.count }
    try transaction.commit(.relaxed)
    return done
  }

  func applyStep(_ client: Client) throws {
    guard client.session?.steps.isEmpty == false, let (step, view) = client.session?.steps.removeFirst()
    else { return }
    count.applied += 1
    let decided = try inFile(client) { file in
      client.refusals += try file.apply(parts(of: step), time: time).count
      return file.position.decided
    }
    let hasPending = try inFile(client) { try $0.upload(after: decided) != nil }
    client.view = view
    if !hasPending { client.unpredictable = [] }
    for object in step.objects {
      if hasPending, case .whole = object.change, case .int(let key) = object.name.key {
        client.unpredictable.insert(key)
      }
    }
    // What was decided meanwhile is not sent again.
    if let sent = client.session?.sent, sent.sequence < decided.sequence { client.session?.sent = decided }
    try checkBase(client)
  }

  func trim() throws {
    var horizon = state.version
    for client in clients {
      let (number, position, least) = try inFile(client) { ($0.number, $0.position, try $0.leastBase()) }
      guard number != .max else { continue }
      horizon = min(horizon, position.version, least ?? .max)
    }
    // Below some: these are reset.
    if generator.chance(25) { horizon = UInt64(generator.below(Int(state.version) + 1)) }
    count.trims += 1
    _ = try append(.trim(horizon: horizon))
  }

  // MARK: - The end

  func settle() throws {
    for _ in 0..<8 {
      for client in clients {
        try connect(client)
        guard client.session != nil else { continue }
        try checkPrediction(client)
        try sendAll(client)
      }
      for client in clients {
        try sendStep(client)
        while client.session?.steps.isEmpty == false { try applyStep(client) }
      }
    }
  }
}
