import Foundation
import SyncPrograms

/// The server is stopped, and continues from a backup that was made before clients uploaded more.
///
/// The row checks the promises of docs/run-a-server.md: clients with later changes than the backup are reset, and no
/// other clients. Changes that were uploaded after the backup are gone everywhere, and the block before the reset sees
/// them. Changes that were not uploaded are made again on top of the server's state.
struct YesterdayRow {
  let scene: Scene

  private static let preloaded = 50

  /// The numbers of a client's commits at the backup, when the server was stopped, and when it started again.
  private struct Past {
    var backup = 0
    var stop = 0
    var start = 0
  }

  func run() throws -> Report {
    let report = Report("yesterday")
    var (uploaded, pending) = (0, 0)
    for _ in 0..<(scene.isQuick ? 1 : 6) {
      let pasts = try run(report)
      uploaded += pasts.reduce(0) { $0 + $1.stop - $1.backup }
      pending += pasts.reduce(0) { $0 + $1.start - $1.stop }
    }
    report.add("uploadedAfterBackup", uploaded)
    report.add("pending", pending)
    return report
  }

  /// Runs the row. The clients 1 and 2 write all the time, 3 only reads after the backup, and 4 is suspended before it.
  private func run(_ report: Report) throws -> [Past] {
    let server = try scene.startServer()
    defer { server.end() }
    let workers = (1...4).map { scene.worker($0, of: server.address, $0 == 2 ? .relaxed : .full) }
    defer { for worker in workers { worker.end() } }
    for worker in workers { try worker.start() }
    try workers[0].ask("preload \(Self.preloaded)", "preloaded")
    try write(workers, atLeast: 60)
    for worker in workers { try worker.settle() }
    for worker in workers { try worker.ask("content", "content") }
    var pasts = workers.map { Past(backup: $0.committed) }
    try workers[3].ask("suspend", "suspended")
    let backup = scene.newFolder("backup")
    try server.administer(["backup", backup.path])

    try write(Array(workers[...1]), atLeast: scene.random.below(80) + 1)
    for worker in workers[...1] { try worker.settle() }
    try workers[2].ask("content", "content")
    for (place, worker) in workers.enumerated() { pasts[place].stop = worker.committed }

    server.stop()
    try write([workers[0], workers[1], workers[3]], atLeast: scene.random.below(80) + 1)
    for (place, worker) in workers.enumerated() { pasts[place].start = worker.committed }
    // The suspended client has uploaded no changes since the backup.
    pasts[3].stop = pasts[3].backup
    try restore(backup, server)
    try workers[3].ask("resume", "resumed")
    for worker in workers[...2] {
      let isReset = try worker.waits(within: 60) { $0.countOfResets > 0 }
      report.check(isReset, "The client \(worker.author) is not reset within 60 seconds.")
    }
    for worker in workers { try worker.settle() }

    // All clients continue.
    var models = zip(workers, pasts).map { model(of: $0.author, $1, wasReset: $0.author != 4) }
    try write(workers, atLeast: 20)
    for (place, worker) in workers.enumerated() {
      for number in pasts[place].start..<worker.committed { models[place].commit(number + 1) }
    }
    var all = Convergence.models(of: [], preloaded: Self.preloaded)
    for model in models { all[model.author] = model }
    try Convergence(scene: scene, server: server.address, report: report).check(workers, all)
    for (worker, past) in zip(workers, pasts) {
      let expected = worker.author == 4 ? [] : [past.start]
      report.check(
        worker.resets == expected,
        "The client \(worker.author) was reset at the commits \(worker.resets), and not at \(expected).")
    }
    return pasts
  }

  /// Lets each of the clients make at least `count` commits.
  private func write(_ workers: [WorkerProgram], atLeast count: Int) throws {
    let before = workers.map(\.committed)
    for worker in workers { try worker.write(pause: 2000) }
    for (worker, before) in zip(workers, before) {
      let isDone = try worker.waits(within: 60) { $0.committed >= before + count }
      guard isDone else { throw Program.Failure("The client \(worker.author) commits too little.") }
    }
    for worker in workers { try worker.stop() }
  }

  /// Restores a backup in the way that docs/run-a-server.md describes.
  private func restore(_ backup: URL, _ server: ServerProgram) throws {
    let files = FileManager.default
    let app = server.data.appending(path: "dev")
    try files.moveItem(at: app, to: scene.newFolder("before"))
    try files.copyItem(at: backup.appending(path: "dev"), to: app)
    try server.start()
  }

  /// The objects that a client must have when all clients have converged.
  private func model(of author: Int, _ past: Past, wasReset: Bool) -> AuthorModel {
    var server = AuthorModel(author, commits: past.backup)
    guard wasReset else { return AuthorModel(author, commits: past.start) }
    var client = AuthorModel(author, commits: past.stop)
    let order = client.recent
    for number in past.stop..<past.start { server.redo(number + 1, client.commit(number + 1), order: order) }
    return server
  }
}
