import ArgumentParser
import Foundation
import RealmServer
import RealmStorage
import RealmSync
import SyncSupport

/// Measures what the core of device sync costs.
struct Measure: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures how fast a server integrates uploads, and what a long list costs.")

  private struct Server {
    let database: Database
    var state: ServerState
    var sequences: [UInt64: (sequence: UInt64, hash: [UInt8])] = [:]

    init(path: String, replicas: Int) throws {
      database = try Database(path: path, options: DatabaseOptions())
      let transaction = try database.beginWrite()
      try ModelClass.make(transaction)
      state = try ServerState(transaction, settings: ModelClass.settings)
      for replica in 1...UInt64(replicas) {
        _ = try state.integrate(
          LogRecord(tag: replica, time: 1000, .register(Registration(replica: replica, user: "u"))),
          in: transaction)
        _ = try state.integrate(
          LogRecord(tag: replica, time: 1000, .querySet(replica: replica, number: 1, .everything)),
          in: transaction)
        sequences[replica] = (0, [])
      }
      try transaction.commit()
    }

    mutating func upload(
      _ changeset: Changeset, _ replica: UInt64, base: UInt64, _ transaction: WriteTransaction
    ) throws {
      let last = sequences[replica] ?? (0, [])
      let hash = "\(replica) \(last.sequence)".utf8.map(\.self).contentHash
      let upload = Upload(
        replica: replica, user: "u", sequence: last.sequence + 1, previous: last.hash, hash: hash, base: base,
        stamp: Stamp(milliseconds: 1000), querySets: [1], replicas: [0, replica, 1], changeset: changeset)
      let done = try state.integrate(LogRecord(tag: 1, time: 1000, .upload(upload)), in: transaction)
      precondition(done?.refusals.isEmpty == true && done?.objects.isEmpty == false)
      sequences[replica] = (last.sequence + 1, hash)
    }
  }

  private func seconds(_ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    let duration = try clock.measure(body)
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }

  func run() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sync-measure-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try measureUploads(folder.appending(path: "uploads.realm").path)
    for count in [10, 1_000_000] {
      try measureAppends(folder.appending(path: "list \(count).realm").path, count)
    }
  }

  /// Changesets of 100 new objects with three values each; eleven of them are made durable together.
  private func measureUploads(_ path: String) throws {
    var server = try Server(path: path, replicas: 1)
    let (uploads, objects) = (1000, 100)
    var next: Int64 = 0
    let time = try seconds {
      var upload = 0
      while upload < uploads {
        let transaction = try server.database.beginWrite()
        for _ in 0..<11 where upload < uploads {
          var changeset = Changeset()
          for _ in 0..<objects {
            next += 1
            changeset.objects.append(
              ObjectInstructions(
                ObjectName(ModelClass.name, .int(next)),
                [
                  .create, .set(InstructionPath("q"), .value(.int(next % 4)), isDefault: false),
                  .set(InstructionPath("c"), .value(.int(next)), isDefault: false),
                  .set(InstructionPath("m"), .value(.string("object \(next)")), isDefault: false),
                ]))
          }
          try server.upload(changeset, 1, base: 2, transaction)
          upload += 1
        }
        try transaction.commit()
      }
    }
    print("uploads: \(Int(Double(uploads * objects) / time)) objects/s")
  }

  /// Two replicas append to one list, neither sees what the other does.
  private func measureAppends(_ path: String, _ count: Int) throws {
    var server = try Server(path: path, replicas: 2)
    let name = ObjectName(ModelClass.name, .int(1))
    let list = InstructionPath("l")
    var transaction = try server.database.beginWrite()
    var made = 0
    var left = ElementID.none
    try server.upload(
      {
        var changeset = Changeset(); changeset.objects = [ObjectInstructions(name, [.create])];
        return changeset
      }(),
      1, base: 4, transaction)
    while made < count {
      var instructions: [Instruction] = []
      for _ in 0..<min(20_000, count - made) {
        made += 1
        let id = ElementID(replica: 1, counter: UInt32(made))
        instructions.append(.insert(list, id, left: left, right: .none, .value(.int(1))))
        left = id
      }
      var changeset = Changeset()
      changeset.objects = [ObjectInstructions(name, instructions)]
      try server.upload(changeset, 1, base: 4, transaction)
    }
    _ = try server.state.integrate(
      LogRecord(tag: 1, time: 1000, .trim(horizon: server.state.version)), in: transaction)
    try transaction.commit()
    let base = server.state.version
    var lefts = [left, left]
    let time = try seconds {
      for round in 0..<50 {
        transaction = try server.database.beginWrite()
        for replica in 1...2 {
          let id = ElementID(replica: 1, counter: UInt32((replica == 1 ? made : 0) + round + 1))
          var changeset = Changeset()
          changeset.objects = [
            ObjectInstructions(
              name, [.insert(list, id, left: lefts[replica - 1], right: .none, .value(.int(2)))])
          ]
          // The other replica names the elements of the first by its second number.
          if replica == 2, round == 0 {
            changeset.objects[0].instructions = [
              .insert(
                list, id, left: ElementID(replica: 2, counter: left.counter), right: .none, .value(.int(2)))
            ]
          }
          try server.upload(changeset, UInt64(replica), base: base, transaction)
          lefts[replica - 1] = id
        }
        try transaction.commit(.relaxed)
      }
    }
    print("appends to a list of \(count): \(Int(time / 100 * 1e6)) µs each")
  }
}
