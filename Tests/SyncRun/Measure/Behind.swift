import ArgumentParser
import Foundation
import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport

/// A client is behind many changes, a few of which concern it.
struct Behind {
  let changes: Int

  /// The uploads of one replica, in the order of their sequences.
  struct Uploads {
    var sequence: UInt64 = 0
    var hash: [UInt8] = []

    mutating func entry(_ changeset: Changeset, base: UInt64) -> LogEntry {
      let previous = hash
      sequence += 1
      hash = "\(sequence)".utf8.map(\.self).contentHash
      return .upload(
        Upload(
          replica: 8, user: "v", sequence: sequence, previous: previous, hash: hash, base: base,
          stamp: Stamp(milliseconds: Person.time), querySets: [1], replicas: [0, 8],
          changeset: changeset))
    }
  }

  /// Measures a step for a client that asks for one city and is behind many changes. Ten of the changes concern that
  /// city.
  func run(_ folder: URL, _ figures: Figures) throws {
    let path = folder.appending(path: "behind.realm").path
    let database = try Database.local(folder, "behind")
    try Person.fill(database, 10_000)
    var transaction = try database.beginWrite()
    let state = try ServerState(transaction, settings: ServerState.measured)
    let team = FieldFilter(terms: [[FieldFilter.Condition("city", .equal, [.value(.string("Nowhere"))])]])
    try state.register(transaction, ClassFilters([Person.name: team]))
    let other = Registration(replica: 8, user: "v")
    try state.integrate(LogRecord(tag: 3, time: Person.time, .register(other)), in: transaction)
    try state.integrate(
      LogRecord(tag: 4, time: Person.time, .querySet(replica: 8, number: 1, .everything)), in: transaction)
    try transaction.commit()
    let from = state.version
    let size = try sizeOfFile(path)
    var uploads = Uploads()
    var number = 0
    while number < changes {
      transaction = try database.beginWrite()
      for _ in 0..<1000 where number < changes {
        number += 1
        // Each changeset makes one change, mostly of a number.
        var instructions = [
          Instruction.set(InstructionPath("score"), .value(.double(Double(number))), isDefault: false)
        ]
        if number % (changes / 10) == 0 {
          instructions = [.set(InstructionPath("city"), .value(.string("Nowhere")), isDefault: false)]
        }
        let entry = uploads.entry(
          Person.changeset([(number * 7919 + number / 1000) % 10_000]) { _ in instructions }, base: from)
        try state.integrate(LogRecord(tag: 5, time: Person.time, entry), in: transaction)
      }
      try transaction.commit(.relaxed)
    }
    try database.flush()
    let grown = try sizeOfFile(path) - size
    let view = state.view(of: 7, querySet: 1)
    var told = 0
    let time = try seconds {
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      let request = StepRequest(replica: 7, from: from, old: view, new: view, querySet: 1)
      _ = try state.step(request, transaction) { told += $0.objects.count }
    }
    guard told == 10 else {
      print("\(told) objects were told, in place of 10")
      throw ExitCode(1)
    }
    figures.add(
      "S5 a client behind 1,000,000 changes, of which 10 concern it", time * 1000, "ms", .atMost(100))
    figures.add(
      "S8 the history of a change of one number", Double(grown) / Double(changes), "bytes", .atMost(120),
      digits: 0)
  }
}
