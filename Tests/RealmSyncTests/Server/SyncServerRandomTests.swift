import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Clients that send random messages, and random histories.
@Suite struct SyncServerRandomTests {
  /// Sends random messages: some that are right, some that are wrong, and bytes that are not a message.
  private struct Sender {
    var messages: MessageMaker
    var hostile: HostileMaker
    var generator: SeededGenerator
    /// The counts of what happened. A test that reaches none of these cases tests nothing.
    var (uploads, damaged, welcomes) = (0, 0, 0)

    init(seed: UInt64) {
      messages = MessageMaker(seed: seed)
      hostile = HostileMaker(seed: seed &+ 1000)
      generator = SeededGenerator(seed: seed &+ 2000)
    }

    mutating func step(_ driven: DrivenServer, _ clients: [DrivenClient]) throws {
      let client = clients[generator.below(clients.count)]
      switch generator.below(100) {
      case 0..<40: try honest(client, driven)
      case 40..<55: try driven.send(messages.clientMessage(), client.id)
      case 55..<65:
        damaged += 1
        let frame = generator.chance(50) ? client.start.bytes : messages.clientMessage().bytes
        try driven.send(bytes: messages.damaged(frame), client.id)
      case 65..<68:
        // Another client names the file.
        let id = driven.server.connect(user: clients[generator.below(clients.count)].user)
        try driven.send(client.hello, id)
      case 68..<75: client.connect()
      case 75..<78 where driven.state.version > 0:
        // The step is small enough that the clock does not count as wrong.
        driven.time = min(driven.time + UInt64(generator.below(40_000_000)), driven.state.time + 80_000_000)
      case 78..<80: driven.time -= UInt64(generator.below(100_000))
      case 80: try driven.append(.trim(horizon: UInt64(generator.below(Int(driven.node.end) + 2))))
      default: try driven.run()
      }
    }

    /// Follows the protocol, with changesets that may have any content.
    private mutating func honest(_ client: DrivenClient, _ driven: DrivenServer) throws {
      if client.isClosed {
        client.connect()
        // The changes that the file has sent can't be decided, so the client lets the server reset the file.
        if client.lastError == 12 { client.tag ^= 1 }
      }
      guard client.isWelcome else {
        try driven.send(client.hello, client.id)
        try driven.run()
        if client.isWelcome { welcomes += 1 }
        return
      }
      guard client.hasStarted else { return try client.sendStart() }
      guard client.asked > 0, generator.chance(85) else {
        return try client.ask(generator.chance(70) ? [""] : ["q == 1", "q > 2"])
      }
      guard let changeset = try? Changeset(bytes: hostile.changeset().bytes) else { return }
      uploads += 1
      let own = client.replica ?? 0
      try client.upload(changeset, replicas: [0, own, own, 9])
    }
  }

  /// Checks that the server still serves a client that keeps to the protocol.
  private static func checkHonest(_ driven: DrivenServer, seed: UInt64) throws {
    // The administrator of the server confirms that its clock is right.
    driven.server.acceptsClock = true
    driven.time = max(driven.time, driven.state.time)
    let client = driven.client("clara")
    try client.begin()
    #expect(client.replica != nil && !client.isClosed, "seed \(seed)")
    try client.ask([""])
    try driven.run()
    try client.upload(.creation(50, 1))
    try driven.run()
    #expect(client.querySet == 1 && client.version == driven.state.version, "seed \(seed)")
    #expect(client.own.map(\.sequence) == [1] && client.own.first?.refusals == [], "seed \(seed)")
    #expect(client.steps.last?.told == ["effects 50"], "seed \(seed)")
  }

  @Test func `nothing breaks, whatever clients send, and clients that keep to the protocol are served`()
    throws
  {
    var (uploads, damaged, welcomes, objects) = (0, 0, 0, 0)
    for seed in Slow.seeds(10, slow: 400) {
      var limits = ServerLimits()
      (limits.registrations, limits.replicas) = (.max, .max)
      (limits.partBytes, limits.waiting, limits.idleVersions) = (200, 50, 7)
      limits.wholeVersions = seed % 3
      // In half of the runs the log keeps its entries as bytes.
      let driven = try DrivenServer(limits, log: seed % 2 == 0 ? MemoryLog() : nil, seed: seed)
      let clients = [driven.client("anna"), driven.client("anna"), driven.client("ben", partition: .int(1))]
      var sender = Sender(seed: seed)
      do {
        for _ in 0..<300 { try sender.step(driven, clients) }
        try driven.run()
        try Self.checkHonest(driven, seed: seed)
      } catch {
        Issue.record("seed \(seed): \(error)")
        return
      }
      #expect(driven.node.halt == nil, "seed \(seed)")
      let check = IntegrityCheck.run(try driven.database.snapshot())
      #expect(check.isClean, "seed \(seed): \(check.findings)")
      (uploads, damaged) = (uploads + sender.uploads, damaged + sender.damaged)
      welcomes += sender.welcomes
      for version in 1...driven.state.version { objects += try driven.history(version)?.objects.count ?? 0 }
    }
    #expect(uploads > 100 && damaged > 100 && welcomes > 50 && objects > 20)
  }

  // MARK: - The index of the history

  private static let fields = ["q", "m", "c"]
  private static let settings = ServerState.Settings(fields: [ModelClass.name: fields])

  /// Histories of a few objects whose fields change all the time.
  private struct History {
    var generator: SeededGenerator
    private let replicas: [UInt64] = [5, 6]
    private var last: [UInt64: (sequence: UInt64, hash: [UInt8])] = [:]

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func value(of field: String) -> Value {
      let number = Int64(generator.below(4))
      if generator.chance(15) { return .null }
      guard field == "m" else { return .int(number) }
      let texts = ["", "a", "ab", "b", String(repeating: "a", count: 40)]
      switch generator.below(4) {
      case 0: return .int(number)
      case 1: return .double(Double(number) / 2)
      default: return .string(texts[generator.below(texts.count)])
      }
    }

    mutating func condition() -> FieldFilter.Condition {
      let field = SyncServerRandomTests.fields[generator.below(3)]
      let all = FieldFilter.Comparison.allCases
      let comparison = generator.chance(50) ? .equal : all[generator.below(all.count)]
      let operands = (0..<1 + generator.below(2)).map { _ in FieldFilter.Operand.value(value(of: field)) }
      return FieldFilter.Condition(field, comparison, operands)
    }

    mutating func filters() -> ClassFilters {
      let terms = (0..<1 + generator.below(2)).map { _ in
        (0..<1 + generator.below(2)).map { _ in condition() }
      }
      return ClassFilters([ModelClass.name: FieldFilter(terms: terms)])
    }

    private mutating func instructions() -> [Instruction] {
      switch generator.below(10) {
      case 0: return [.delete]
      case 1, 2, 3:
        return [.create] + SyncServerRandomTests.fields.map { set($0) }
      default: return [set(SyncServerRandomTests.fields[generator.below(3)])]
      }
    }

    private mutating func set(_ field: String) -> Instruction {
      .set(InstructionPath(field), .value(value(of: field)), isDefault: false)
    }

    mutating func upload(base: UInt64) -> Upload {
      let replica = replicas[generator.below(2)]
      let before = last[replica] ?? (0, [])
      let hash = "\(replica) \(before.sequence)".utf8.map(\.self).contentHash
      var changeset = Changeset()
      for key in 0..<5 as Range<Int64> where generator.chance(40) {
        let name = ObjectName(ModelClass.name, .int(key))
        changeset.objects.append(ObjectInstructions(name, instructions()))
      }
      last[replica] = (before.sequence + 1, hash)
      return Upload(
        replica: replica, user: "user \(replica)", sequence: before.sequence + 1, previous: before.hash,
        hash: hash, base: base, stamp: Stamp(milliseconds: 1000 + base), querySets: [1],
        replicas: [0, replica], changeset: changeset)
    }
  }

  /// The changes of each object in a step, with the numbers of the replicas themselves.
  private static func told(
    _ request: StepRequest, wholeVersions: UInt64, _ state: ServerState, _ transaction: WriteTransaction
  ) throws -> [ObjectName: ObjectStep] {
    var request = request
    (request.wholeVersions, request.partBytes) = (wholeVersions, 300)
    var parts: [Step] = []
    #expect(try state.step(request, transaction) { (part) throws(StorageError) in parts.append(part) })
    let step = try Step(joining: parts)
    var found: [ObjectName: ObjectStep] = [:]
    for object in step.objects {
      #expect(found[object.name] == nil)
      found[object.name] = object.mapReplicas { UInt32(step.replicas[Int($0)]) }
    }
    return found
  }

  @Test func `steps that are read with the index are the same as those read from the whole history`() throws {
    var kinds: Set<String> = []
    for seed in Slow.seeds(20, slow: 1000) {
      var history = History(seed: seed)
      let database = try Database(inMemory: "server")
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      try ModelClass.make(transaction)
      let state = try ServerState(transaction, settings: Self.settings)
      for replica in [5, 6, 7] as [UInt64] {
        let registration = Registration(replica: replica, user: "user \(replica)")
        try state.integrate(LogRecord(tag: 1, time: 1000, .register(registration)), in: transaction)
        let set = LogEntry.querySet(replica: replica, number: 1, .everything)
        try state.integrate(LogRecord(tag: 1, time: 1000, set), in: transaction)
      }
      for _ in 0..<40 {
        let upload = history.upload(base: state.version)
        try state.integrate(LogRecord(tag: 2, time: 2000, .upload(upload)), in: transaction)
        guard history.generator.chance(5) else { continue }
        let horizon = state.version - min(state.version, UInt64(history.generator.below(10)))
        try state.integrate(LogRecord(tag: 3, time: 2000, .trim(horizon: horizon)), in: transaction)
      }
      // The objects of another view are read from the version with which a transaction begins.
      try transaction.commit()
      let reading = try database.beginWrite()
      defer { reading.cancel() }
      for _ in 0..<20 {
        let from = UInt64.random(in: max(6, state.horizon)...state.version, using: &history.generator)
        let replica: UInt64 = history.generator.chance(70) ? 7 : 5
        var old = state.view(of: replica, querySet: 1, at: from)
        old.querySet = history.filters()
        var new = state.view(of: replica, querySet: 1)
        new.querySet = history.generator.chance(60) ? old.querySet : history.filters()
        var request = StepRequest(replica: replica, from: from, old: old, new: new, querySet: 1)
        request.told = state.lastSequence(of: replica)
        let looked = try Self.told(request, wholeVersions: 0, state, reading)
        let read = try Self.told(request, wholeVersions: .max, state, reading)
        #expect(looked == read, "seed \(seed) from \(from): \(old.querySet) to \(new.querySet)")
        for object in read.values { kinds.insert(String("\(object.change)".prefix { $0 != "(" })) }
      }
    }
    #expect(kinds == ["effects", "whole", "left", "deleted"])
  }
}
