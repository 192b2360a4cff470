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

    package init() {}

    package static func += (left: inout Count, right: Count) {
      for path in paths { left[keyPath: path] += right[keyPath: path] }
    }

    nonisolated(unsafe) private static let paths: [WritableKeyPath<Count, Int>] = [
      \.steps, \.commits, \.uploads, \.refusals, \.applied, \.objects, \.whole, \.left, \.deleted, \.trims,
      \.lost, \.predictions,
    ]
  }

  private final class Client {
    let database: Database
    let user: String
    let partition: MergeContext.Partition?
    /// What the query sets show, as masks over the values of the filter field; the first shows nothing.
    var querySets = [0, 15]
    /// What the file is cut with.
    var view = View.empty
    var session: Session?
    var refusals = 0
    /// Objects that came whole while changes of them were pending: what others did to them is not told, so that what the server will make of the changes can't be shown.
    var unpredictable: Set<Int64> = []

    init(_ database: Database, user: String, partition: MergeContext.Partition?) {
      (self.database, self.user, self.partition) = (database, user, partition)
    }

    var wanted: UInt64 { UInt64(querySets.count - 1) }
  }

  private enum Upward {
    case querySet(UInt64)
    case upload(UploadMessage)
  }

  private struct Session {
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
  private struct Past {
    var text: String
    var field: Value
  }

  private let server: Database
  private var state: ServerState
  private var clients: [Client] = []
  private var generator: SeededGenerator
  private var time: UInt64 = 1_800_000_000_000
  private var tags: [UInt64] = [0]
  private var nextReplica: UInt64 = 100
  /// The objects at each version, with the values of their filter field.
  private var past: [UInt64: [Int64: Past]] = [:]
  private var refusalsMade: [UInt32: Int] = [:]
  private let hasQuerySets: Bool
  private let hasRules: Bool
  private let keys: Int
  package private(set) var count = Count()

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

  private struct Failure: Error, CustomStringConvertible { var description: String }

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

  private func step() throws {
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

  private func administer(_ client: Client) throws {
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

  private func write(_ client: Client) throws {
    count.commits += 1
    try client.database.write(.relaxed) { transaction in
      try transaction.setTime(time)
      if try transaction.changesets()?.state.querySet == 0 {
        try transaction.changeChangelogState { $0.querySet = 1 }
      }
      if try transaction.table(ModelClass.name) == nil { try ModelClass.make(transaction) }
      guard let writer = try RandomWriter(transaction, keys: keys, field: client.partition?.value) else {
        return
      }
      for _ in 0..<1 + generator.below(4) { try writer.change(&generator) }
    }
  }

  private func inFile<Result>(_ client: Client, _ body: (inout ClientFile) throws -> Result) throws -> Result
  {
    let transaction = try client.database.beginWrite()
    defer { transaction.cancel() }
    var file = try ClientFile(transaction)
    let result = try body(&file)
    try transaction.commit(.relaxed)
    return result
  }

  private func append(_ entry: LogEntry) throws -> HistoryEntry? {
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

  private func present(_ transaction: WriteTransaction) throws -> [Int64: Past] {
    let texts = try ModelClass.texts(transaction) { [state] in state.numbers[Int($0)] }
    var found: [Int64: Past] = [:]
    for (key, text) in texts {
      let object = try transaction.object(ObjectName(ModelClass.name, .int(key)))
      found[key] = Past(text: text, field: try object.values(of: ["q"])?.first ?? .null)
    }
    return found
  }

  private func replica(_ client: Client) throws -> UInt64 { try inFile(client) { $0.position.replicas[1] } }

  private func connect(_ client: Client) throws {
    guard client.session == nil else { return }
    var position = try inFile(client) { $0.position }
    if position.replicas[1] == .max {
      nextReplica += 1
      _ = try append(
        .register(Registration(replica: nextReplica, user: client.user, partition: client.partition?.value)))
      let registered = Welcome.Registered(
        replica: nextReplica, version: state.version, tag: tags[Int(state.version)], mark: state.mark,
        sessionNumber: 1)
      // The answer is lost: the file registers again.
      if generator.chance(10) { return }
      position = try inFile(client) { file in
        try file.register(registered, partition: client.partition)
        return file.position
      }
    }
    client.session = Session(
      sent: position.decided, asked: position.querySet, wanted: position.querySet,
      querySet: position.querySet,
      version: position.version, view: client.view)
  }

  private func send(_ client: Client) throws {
    guard var session = client.session else { return }
    let message = try inFile(client) { try $0.upload(after: session.sent) }
    // A set goes before the uploads that name it, and later ones go after them.
    let needed = message?.querySet ?? client.wanted
    if session.asked < needed {
      session.asked = needed
      session.upward.append(.querySet(needed))
    } else if let message {
      session.upward.append(.upload(message))
      session.sent = NamedChangeset(sequence: message.sequence, hash: message.hash)
    }
    client.session = session
  }

  private func receive(_ client: Client) throws {
    guard let session = client.session, !session.upward.isEmpty,
      let next = client.session?.upward.removeFirst()
    else { return }
    let replica = try replica(client)
    switch next {
    case .querySet(let number):
      _ = try append(
        .querySet(replica: replica, number: number, ModelClass.filters(client.querySets[Int(number)])))
      client.session?.wanted = max(session.wanted, number)
    case .upload(let message):
      count.uploads += 1
      let upload = Upload(
        replica: replica, user: client.user, sequence: message.sequence, previous: message.previous,
        hash: message.hash, base: message.base, stamp: message.stamp,
        querySets: [message.querySet, session.querySet], replicas: message.replicas,
        changeset: message.changeset)
      count.refusals += try append(.upload(upload))?.refusals.count ?? 0
    }
  }

  private func sendStep(_ client: Client) throws {
    guard var session = client.session else { return }
    let replica = try replica(client)
    let new = state.view(of: replica, querySet: session.wanted)
    guard session.version < state.version || session.querySet != session.wanted else { return }
    let transaction = try server.beginWrite()
    defer { transaction.cancel() }
    guard
      let step = try state.step(
        for: replica, from: session.version, session.view, to: new, querySet: session.wanted,
        transaction)
    else { return }
    session.steps.append((step, new))
    (session.version, session.view, session.querySet) = (state.version, new, session.wanted)
    client.session = session
    try checkLeaks(step, new)
    for object in step.objects {
      switch object.change {
      case .effects: count.objects += 1
      case .whole: count.whole += 1
      case .left: count.left += 1
      case .deleted: count.deleted += 1
      }
    }
  }

  private func applyStep(_ client: Client) throws {
    guard client.session?.steps.isEmpty == false, let (step, view) = client.session?.steps.removeFirst()
    else { return }
    count.applied += 1
    let decided = try inFile(client) { file in
      client.refusals += try file.apply([step], time: time).count
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

  private func trim() throws {
    var horizon = state.version
    for client in clients {
      let (position, least) = try inFile(client) { ($0.position, try $0.leastBase()) }
      guard position.replicas[1] != .max else { continue }
      horizon = min(horizon, position.version, least ?? .max)
    }
    count.trims += 1
    _ = try append(.trim(horizon: horizon))
  }

  // MARK: - The end

  private func settle() throws {
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

  /// Whoever shows all that the server has shows also what the server makes of the pending changesets, if nothing else comes between.
  private func checkPrediction(_ client: Client) throws {
    try sendStep(client)
    while client.session?.steps.isEmpty == false { try applyStep(client) }
    guard let session = client.session, session.upward.isEmpty, session.version == state.version,
      client.partition == nil,
      client.view.querySet == .everything || client.querySets[Int(session.querySet)] == 15,
      client.view.read == .everything
    else { return }
    let transaction = try client.database.beginWrite()
    let shown = try texts(client, transaction)
    transaction.cancel()
    let refusals = count.refusals
    try sendAll(client)
    guard count.refusals == refusals else { return }
    count.predictions += 1
    defer { client.unpredictable = [] }
    let made = (past[state.version] ?? [:]).mapValues(\.text)
    for key in Set(shown.keys).union(made.keys).subtracting(client.unpredictable).sorted()
    where shown[key] != made[key] {
      // That an object was deleted which the client never saw is not told.
      if made[key] == nil, past[session.version]?[key] == nil { continue }
      throw Failure(
        description: """
          \(client.user) at \(state.version) shows object \(key) as
            \(shown[key] ?? "not there")
          and the server makes of it
            \(made[key] ?? "none")
          """)
    }
  }

  private func sendAll(_ client: Client) throws {
    var count = -1
    while let session = client.session, session.upward.count != count {
      count = session.upward.count
      try send(client)
    }
    while client.session?.upward.isEmpty == false { try receive(client) }
  }

  // MARK: - Checks

  /// What was done to an object is told only to who sees it after each change.
  private func checkLeaks(_ step: Step, _ view: View) throws {
    for object in step.objects {
      guard case .effects(let all) = object.change, case .int(let key) = object.name.key else { continue }
      for case .others(let decided, _) in all {
        let field = past[decided.version]?[key]?.field
        guard let field, view.shows([field], of: ModelClass.name, ModelClass.settings) else {
          throw Failure(description: "a change of object \(key) outside the view is told")
        }
      }
    }
  }

  private func texts(_ client: Client, _ transaction: WriteTransaction) throws -> [Int64: String] {
    let position = try ClientFile(transaction).position
    return try ModelClass.texts(transaction) { position.replicas[Int($0)] }
  }

  /// What stands in the file without its pending changesets is what the server had at its version.
  private func checkBase(_ client: Client) throws {
    let transaction = try client.database.beginWrite()
    defer { transaction.cancel() }
    guard let changelog = try transaction.changesets() else { return }
    var pending: [StoredChangeset] = []
    try changelog.forEach(transaction) {
      pending.append($0)
      return true
    }
    for changeset in pending.reversed() { try transaction.undo(changeset) }
    let position = try ClientFile(transaction).position
    try compare(try texts(client, transaction), position.version, client)
  }

  /// What a file has is what the server had at a version, as far as the replica saw it.
  private func compare(_ found: [Int64: String], _ version: UInt64, _ client: Client) throws {
    let expected = (past[version] ?? [:]).filter {
      client.view.shows([$0.value.field], of: ModelClass.name, ModelClass.settings)
    }
    for key in Set(found.keys).union(expected.keys).sorted() where found[key] != expected[key]?.text {
      throw Failure(
        description: """
          \(client.user) at \(version): object \(key) is
            \(found[key] ?? "not there")
          in place of
            \(expected[key]?.text ?? "none")
          """)
    }
  }

  private func checkAll() throws {
    for client in clients {
      let transaction = try client.database.beginWrite()
      defer { transaction.cancel() }
      let position = try ClientFile(transaction).position
      guard position.version == state.version else {
        throw Failure(description: "\(client.user) is at \(position.version) of \(state.version)")
      }
      guard try transaction.changesets()?.count(transaction) == 0 else {
        var found: [UInt64] = []
        try transaction.changesets()?.forEach(transaction) {
          found.append($0.sequence)
          return true
        }
        throw Failure(
          description:
            "\(client.user) has pending changesets at the end: \(found), decided \(position.decided.sequence)"
        )
      }
      try compare(try texts(client, transaction), state.version, client)
      guard try MergeRecords(transaction).tree.count() == 0 else {
        throw Failure(description: "\(client.user) keeps records without pending changesets")
      }
    }
    for client in clients {
      let replica = try replica(client)
      let made = state.numbers.firstIndex(of: replica).flatMap { refusalsMade[UInt32($0)] } ?? 0
      guard made == client.refusals else {
        throw Failure(description: "\(client.user) was told \(client.refusals) of \(made) refusals")
      }
    }
    for database in clients.map(\.database) + [server] {
      let check = IntegrityCheck.run(try database.snapshot())
      guard check.isClean else { throw Failure(description: "\(check.findings)") }
    }
  }
}
