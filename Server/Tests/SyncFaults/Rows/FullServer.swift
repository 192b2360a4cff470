import Foundation
import SyncPrograms

/// The server's data is on a disk that gets full. Commits that clients make meanwhile wait, and the server has them at
/// the end.
struct FullServer {
  let scene: Scene
  let disk: SmallDisk

  private static let preloaded = 50

  func run() throws -> Report {
    let report = Report("full-server")
    let server = try scene.startServer(data: disk.folder.appending(path: "data"))
    defer { server.end() }
    let workers = (1...2).map { scene.worker($0, of: server.address) }
    defer { for worker in workers { worker.end() } }
    for worker in workers { try worker.start() }
    try workers[0].ask("preload \(Self.preloaded)", "preloaded")
    for worker in workers { try worker.write(pause: 1000, bytes: 5000) }
    for worker in workers { try worker.waitForCommit() }
    try disk.fill()

    // The server stops acknowledging, and gives the reason.
    var problem = ""
    let end = ContinuousClock.now + .seconds(60)
    while problem.isEmpty, server.isRunning, ContinuousClock.now < end {
      try Interruption.wait(seconds: 0.2)
      for worker in workers { worker.listen() }
      let health = server.ask("health")
      if health.status == 503 { problem = health.text }
    }
    try Interruption.wait(seconds: 1)
    for worker in workers { try worker.stop() }
    let waiting = workers.reduce(0) { $0 + $1.committed - $1.acknowledged }
    report.check(waiting > 0, "The clients have nothing that waits, though the server's disk is full.")
    let lives = server.isRunning
    if lives {
      report.check(problem.contains("error \(ENOSPC)"), "/health does not tell what is wrong: \(problem)")
    } else {
      let log = try server.crash()
      report.check(log.contains("error"), "The server has ended without a message.")
    }

    // There is space again. A server that still runs continues without help.
    try disk.free()
    if !lives { try server.start() }
    try Convergence(scene: scene, server: server.address, report: report).check(
      workers, Convergence.models(of: workers, preloaded: Self.preloaded))
    report.check(server.ask("health").status == 200, "The server is not healthy in the end.")
    report.check(workers.allSatisfy { $0.resets.isEmpty }, "A client was reset.")
    report.add("lives", lives ? 1 : 0)
    report.add("waiting", waiting)
    report.add("commits", workers.reduce(0) { $0 + $1.committed })
    return report
  }
}
