import Foundation
import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport

/// A server's state in a file, and what its replicas have sent.
struct MeasuredServer {
  let database: Database
  var state: ServerState
  var sequences: [UInt64: (sequence: UInt64, hash: [UInt8])] = [:]

  init(_ database: Database, replicas: Int) throws {
    self.database = database
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

/// Measures how many objects of uploads a server integrates in a second.
struct Uploads {
  /// Integrates changesets of 100 new objects with three values each. Each commit makes eleven of them durable.
  func run(_ folder: URL, _ figures: Figures) throws {
    var server = try MeasuredServer(Database.local(folder, "uploads"), replicas: 1)
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
    figures.add(
      "S3 a server integrates uploads of 100 objects", Double(uploads * objects) / time, "objects/s",
      .atLeast(100_000), digits: 0)
  }
}
