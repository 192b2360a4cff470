import ArgumentParser
import Foundation
import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import SyncSupport

/// Measures what steps cost: the first one of a new client, one of a client that is far behind, and one that meets many pending changes.
struct MeasureSteps: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures what steps cost, of the server and of a client.")
  @Option(help: "How many objects a new client gets.") var objects = 1_000_000
  @Option(help: "How many changes a client is behind.") var changes = 1_000_000
  @Option(help: "How many changes meet as many pending ones, and half as many before.") var pending = 20_000

  private static let person = "Person"
  private static let settings = ServerState.Settings(fields: [person: ["team"]])
  private static let time: UInt64 = 1_800_000_000_000

  private static func make(_ transaction: WriteTransaction) throws -> WritableTable {
    try transaction.createTable(
      TableSchema(
        person, hasElementIDs: true,
        columns: [
          Column("id", .int64, index: .unique), Column("name", .string), Column("team", .int64),
          Column("score", .double), Column("active", .bool),
        ]))
  }

  private static func values(_ number: Int) -> [String: Value] {
    [
      "id": .int(Int64(number)), "name": .string("Person number \(number)"),
      "team": .int(Int64(number % 100)),
      "score": .double(Double(number) / 3), "active": .bool(number % 2 == 0),
    ]
  }

  private func seconds(_ body: () throws -> Void) rethrows -> Double {
    let duration = try ContinuousClock().measure(body)
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }

  /// Bytes of memory that the process holds, without those of mapped files.
  private func memory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
    return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) << 10
  }

  func run() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sync-steps-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try measureFirst(folder)
    try measureBehind(folder.appending(path: "behind.realm").path)
    for count in [pending / 2, pending] {
      try measureMeeting(count, folder.appending(path: "meeting \(count)").path)
    }
  }

  private func fill(_ database: Database, _ count: Int) throws {
    let transaction = try database.beginWrite()
    let table = try Self.make(transaction)
    for number in 0..<count { _ = try table.insert(Self.values(number)) }
    try transaction.commit()
  }

  private func register(_ state: ServerState, _ transaction: WriteTransaction, _ filters: ClassFilters) throws
  {
    let registration = Registration(replica: 7, user: "u")
    try state.integrate(LogRecord(tag: 1, time: Self.time, .register(registration)), in: transaction)
    let set = LogEntry.querySet(replica: 7, number: 1, filters)
    try state.integrate(LogRecord(tag: 2, time: Self.time, set), in: transaction)
  }

  /// A new client gets all objects.
  private func measureFirst(_ folder: URL) throws {
    let plain = try Database(path: folder.appending(path: "plain.realm").path, options: DatabaseOptions())
    let bulk = try seconds { try fill(plain, objects) }
    let database = try Database(path: folder.appending(path: "server.realm").path, options: DatabaseOptions())
    try fill(database, objects)
    let transaction = try database.beginWrite()
    let state = try ServerState(transaction, settings: Self.settings)
    try register(state, transaction, .everything)
    var request = StepRequest(
      replica: 7, from: 1, old: .empty, new: state.view(of: 7, querySet: 1), querySet: 1)
    request.partBytes = 256 << 10
    var frames: [[UInt8]] = []
    let made = try seconds {
      _ = try state.step(request, transaction) { frames.append(ServerMessage.step($0).bytes) }
    }
    try transaction.commit()
    let bytes = frames.reduce(0) { $0 + $1.count }
    print("first step: \(objects) objects, \(frames.count) parts, \(bytes) bytes, server \(text(made)) s")

    var options = DatabaseOptions()
    options.history = .synced
    let client = try Database(path: folder.appending(path: "client.realm").path, options: options)
    let session = ClientSession(client)
    try client.write { transaction in
      var file = try ClientFile(transaction)
      _ = try file.setQueries([QuerySet.Query(table: Self.person, predicate: "")])
    }
    _ = try session.connected()
    let registered = Welcome.Registered(
      replica: 7, version: 1, tag: 1, mark: Stamp(milliseconds: Self.time), sessionNumber: 1)
    let welcome = Welcome(
      version: 1, answer: .registered(registered), limits: ServerLimits().messages, time: Self.time)
    _ = session.receive(.welcome(welcome), time: Self.time)
    let before = memory()
    var most = before
    var last: [ClientSession.Action] = []
    let applied = try seconds {
      for frame in frames {
        last = session.receive(.step(try step(frame)), time: Self.time)
        most = max(most, memory())
      }
    }
    most = max(most, memory())
    guard last.contains(where: { if case .applied = $0 { true } else { false } }) else {
      print("the step was not applied: \(last)")
      throw ExitCode(1)
    }
    print(
      "first step: client \(text(applied)) s, bulk insert \(text(bulk)) s, \(Int(bulk / applied * 100)) %, memory \((most - before) >> 20) MiB"
    )
  }

  private func step(_ frame: [UInt8]) throws -> Step {
    guard case .step(let step) = try ServerMessage(bytes: frame) else { throw ExitCode(1) }
    return step
  }

  private func text(_ seconds: Double) -> String { String(format: "%.3f", seconds) }

  private func changeset(_ keys: some Sequence<Int>, _ instructions: (Int) -> [Instruction]) -> Changeset {
    var changeset = Changeset()
    for key in keys {
      changeset.objects.append(
        ObjectInstructions(ObjectName(Self.person, .int(Int64(key))), instructions(key)))
    }
    return changeset
  }

  /// Uploads of one replica, in the order of their sequences.
  private struct Uploads {
    var sequence: UInt64 = 0
    var hash: [UInt8] = []

    mutating func entry(_ changeset: Changeset, base: UInt64) -> LogEntry {
      let previous = hash
      sequence += 1
      hash = "\(sequence)".utf8.map(\.self).contentHash
      return .upload(
        Upload(
          replica: 8, user: "v", sequence: sequence, previous: previous, hash: hash, base: base,
          stamp: Stamp(milliseconds: MeasureSteps.time), querySets: [1], replicas: [0, 8],
          changeset: changeset))
    }
  }

  /// A client that looks for one team is behind many changes, ten of which are of that team.
  private func measureBehind(_ path: String) throws {
    let database = try Database(path: path, options: DatabaseOptions())
    try fill(database, 10_000)
    var transaction = try database.beginWrite()
    let state = try ServerState(transaction, settings: Self.settings)
    let team = FieldFilter(terms: [[FieldFilter.Condition("team", .equal, [.value(.int(1000))])]])
    try register(state, transaction, ClassFilters([Self.person: team]))
    let other = Registration(replica: 8, user: "v")
    try state.integrate(LogRecord(tag: 3, time: Self.time, .register(other)), in: transaction)
    try state.integrate(
      LogRecord(tag: 4, time: Self.time, .querySet(replica: 8, number: 1, .everything)), in: transaction)
    try transaction.commit()
    let from = state.version
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    var uploads = Uploads()
    var number = 0
    while number < changes {
      transaction = try database.beginWrite()
      for _ in 0..<1000 where number < changes {
        number += 1
        // Each change is of one number, by a changeset of its own.
        var instructions = [
          Instruction.set(InstructionPath("score"), .value(.double(Double(number))), isDefault: false)
        ]
        if number % (changes / 10) == 0 {
          instructions = [.set(InstructionPath("team"), .value(.int(1000)), isDefault: false)]
        }
        let entry = uploads.entry(
          changeset([(number * 7919 + number / 1000) % 10_000]) { _ in instructions }, base: from)
        try state.integrate(LogRecord(tag: 5, time: Self.time, entry), in: transaction)
      }
      try transaction.commit(.relaxed)
    }
    try database.flush()
    let grown = (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0) - size
    let view = state.view(of: 7, querySet: 1)
    var told = 0
    let time = try seconds {
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      let request = StepRequest(replica: 7, from: from, old: view, new: view, querySet: 1)
      _ = try state.step(request, transaction) { told += $0.objects.count }
    }
    print(
      "behind \(changes) changes: \(told) objects told in \(text(time)) s, file grew \(grown / changes) bytes a change"
    )
  }

  /// Changes of others meet pending changes of the same objects.
  private func measureMeeting(_ count: Int, _ path: String) throws {
    var options = DatabaseOptions()
    options.history = .synced
    let client = try Database(path: path, options: options)
    try client.write { transaction in
      try transaction.changeChangelogState { $0.querySet = 1 }
      var file = try ClientFile(transaction)
      try file.register(
        Welcome.Registered(replica: 7, version: 1, tag: 1, mark: Stamp(word: 0), sessionNumber: 1),
        partition: nil, time: Self.time)
    }
    try client.write { transaction in
      _ = try Self.make(transaction)
      var file = try ClientFile(transaction)
      var step = Step(
        from: 1, to: 2, tag: 2, querySet: 1, partition: nil, mark: Stamp(milliseconds: Self.time),
        lastSequence: 0)
      for number in 0..<count {
        let content: [Instruction] = [
          .create, .set(InstructionPath("name"), .value(.string("Person \(number)")), isDefault: false),
        ]
        step.objects.append(ObjectStep(ObjectName(Self.person, .int(Int64(number))), .whole(content)))
      }
      _ = try file.apply(StepParts([step]), time: Self.time)
    }
    for start in stride(from: 0, to: count, by: 100) {
      try client.write(.relaxed) { transaction in
        let table = try transaction.table(Self.person)
        for number in start..<min(count, start + 100) {
          if let row = try table?.row(withPrimaryKey: .int(Int64(number))) {
            try table?.set(.string("mine \(number)"), "name", ofRow: row)
          }
        }
      }
    }
    let transaction = try client.beginWrite()
    var file = try ClientFile(transaction)
    var step = Step(
      from: 2, to: 3, tag: 3, querySet: 1, partition: nil, mark: Stamp(milliseconds: Self.time),
      lastSequence: 0)
    step.replicas = [0, 9]
    let decided = DecidedBy(version: 3, stamp: Stamp(milliseconds: Self.time), replica: 1)
    for number in 0..<count {
      let effect = Effect(.set(InstructionPath("score"), .value(.double(1)), isDefault: false))
      step.objects.append(
        ObjectStep(ObjectName(Self.person, .int(Int64(number))), .effects([.others(decided, [effect])])))
    }
    let time = try seconds {
      _ = try file.apply(StepParts([step]), time: Self.time)
      try transaction.commit(.relaxed)
    }
    print("\(count) remote changes into \(count) pending ones: \(text(time)) s")
  }
}
