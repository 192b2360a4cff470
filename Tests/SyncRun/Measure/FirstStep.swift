import ArgumentParser
import Foundation
import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport

/// A new client gets all objects.
struct FirstStep {
  let objects: Int

  func run(_ folder: URL, _ figures: Figures) throws {
    let plain = try Database.local(folder, "plain")
    let bulk = try Person.fill(plain, objects)
    let database = try Database.local(folder, "server")
    try Person.fill(database, objects)
    let transaction = try database.beginWrite()
    let state = try ServerState(transaction, settings: ServerState.measured)
    try state.register(transaction, .everything)
    var request = StepRequest(
      replica: 7, from: 1, old: .empty, new: state.view(of: 7, querySet: 1), querySet: 1)
    request.partBytes = 256 << 10
    var frames: [[UInt8]] = []
    let made = try seconds {
      _ = try state.step(request, transaction) { frames.append(ServerMessage.step($0).bytes) }
    }
    try transaction.commit()
    let name = "S4 first step of 1,000,000 objects"
    figures.add("\(name): server", made, "s", .atMost(2), digits: 2)
    let bytes = frames.reduce(0) { $0 + $1.count }
    figures.add(
      "\(name): bytes, against the values compressed", Double(bytes) / Double(compressedValues()), "×",
      .atMost(1.2), digits: 2)
    let client = try Database.synced(folder, "client")
    let session = ClientSession(client)
    try client.write { transaction in
      var file = try ClientFile(transaction)
      _ = try file.setQueries([QuerySet.Query(table: Person.name, predicate: "")])
    }
    _ = try session.connected()
    let registered = Welcome.Registered(
      replica: 7, version: 1, tag: 1, mark: Stamp(milliseconds: Person.time), sessionNumber: 1)
    let welcome = Welcome(
      version: 1, answer: .registered(registered), limits: ServerLimits().messages, time: Person.time)
    _ = session.receive(.welcome(welcome), time: Person.time)
    let before = memory()
    var most = before
    var last: [ClientSession.Action] = []
    let applied = try seconds {
      for frame in frames {
        last = session.receive(.step(try step(frame)), time: Person.time)
        most = max(most, memory())
      }
    }
    most = max(most, memory())
    guard last.contains(where: { if case .applied = $0 { true } else { false } }) else {
      print("the step was not applied: \(last)")
      throw ExitCode(1)
    }
    figures.add("\(name): client, against a bulk insert", bulk / applied * 100, "%", .atLeast(40), digits: 0)
    figures.add(
      "\(name): memory of the client", Double(most - before) / 1_048_576, "MiB", .atMost(64), digits: 0)
  }

  /// The number of bytes that the values of all objects take, one after another, if zlib compresses them at level 1.
  private func compressedValues() -> Int {
    var bytes: [UInt8] = []
    var compressed = 0
    for number in 0..<objects {
      Person(number).append(to: &bytes)
      guard bytes.count >= 256 << 10 || number == objects - 1 else { continue }
      compressed += Deflate.compressed(bytes)?.count ?? bytes.count
      bytes = []
    }
    return compressed
  }

  private func step(_ frame: [UInt8]) throws -> Step {
    guard case .step(let step) = try ServerMessage(bytes: frame) else { throw ExitCode(1) }
    return step
  }
}
