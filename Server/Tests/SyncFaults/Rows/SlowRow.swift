import Foundation
import SyncPrograms

/// Clients write through a network that delays, splits, joins and stalls bytes, and breaks connections.
///
/// If the system can slow down a network for this row alone (`Netem`), the row runs there. A proxy does the rest: it
/// splits and cuts, which the system does not do.
struct SlowRow {
  let scene: Scene

  private var seconds: Double { scene.isQuick ? 6 : 90 }

  func run() throws -> Report {
    if !scene.isWithinNetem, Netem.isThere { return try Netem.run(scene, row: "slow") }
    let report = Report("slow")
    report.add("by", scene.isWithinNetem ? "netem+proxy" : "proxy")
    let server = try scene.startServer()
    defer { server.end() }
    let network = SlowNetwork(seed: scene.random.next())
    let proxy = try TCPProxy(for: server.port) { network.passage() }
    defer { proxy.end() }
    let workers = (1...3).map { author in
      scene.worker(author, of: proxy.address, author == 2 ? .relaxed : .full)
    }
    defer { for worker in workers { worker.end() } }
    for worker in workers { try worker.start() }
    try workers[0].ask("preload 100", "preloaded", within: 120)
    for worker in workers { try worker.write(pause: 20_000) }
    for worker in workers { try worker.waitForCommit() }
    try Interruption.wait(seconds: seconds)
    for worker in workers { try worker.stop() }
    // The bytes that still wait also go through the slow network, but are not cut.
    network.endCutting()
    try Convergence(scene: scene, server: server.address, report: report).check(
      workers, Convergence.models(of: workers, preloaded: 100))
    let counts = network.counts
    report.add("commits", workers.reduce(0) { $0 + $1.committed })
    report.add("pieces", counts.pieces)
    report.add("joined", counts.joined)
    report.add("delays", counts.delays)
    report.add("stalls", counts.stalls)
    report.add("cuts", counts.cuts)
    return report
  }
}
