import Foundation
import SyncPrograms

/// The server and the clients are killed again and again while the clients write as fast as they can.
///
/// A kill of the server hits integrating, or trimming, if its log shows that the work had begun and not ended. A kill
/// of a client hits bootstrapping if a part of the first download had come, and the client had not reported that all
/// objects were there.
final class KillRow {
  private struct Count {
    var aimed = 0
    var hit = 0
  }

  private let scene: Scene
  private let report = Report("kill")
  private let server: ServerProgram
  private var writers: [WorkerProgram] = []
  /// A client that began with an empty folder, and that writes until the next one begins.
  private var newcomer: WorkerProgram?
  /// The models of newcomers that are done, by their numbers.
  private var models: [Int: AuthorModel] = [:]
  private var countOfNewcomers = 0
  private var counts: [KillAim: Count] = [:]
  private var bootstrapping = Count()
  private var serverKills = 0
  private var clientKills = 0
  /// The number of commits of newcomers that are done. The server has acknowledged all of them.
  private var committed = 0

  init(_ scene: Scene) throws {
    self.scene = scene
    server = try scene.startServer()
  }

  private static let aims: [KillAim?] = [nil, .integrating, nil, .trimming]

  private var kills: Int { scene.isQuick ? 8 : 200 }
  private var preloaded: Int { scene.isQuick ? 3000 : 20_000 }
  /// The number of kills that must hit each aim.
  private var least: Int { scene.isQuick ? 0 : 20 }

  func run() throws -> Report {
    defer {
      for worker in writers + [newcomer].compactMap(\.self) { worker.end() }
      server.end()
    }
    note(
      "kill: a kill of the server hits integrating or trimming where its log tells the beginning of that and not the end; "
        + "one of a client hits bootstrapping where a part of the first download had come and not all. The figures are hits/aimed."
    )
    try begin()
    let start = ContinuousClock.now
    let before = countCommits()
    try Interruption.wait(seconds: 2)
    report.add("calm", "\((countCommits() - before) / 2)/s")
    for round in 0..<kills {
      try killServer(Self.aims[round % Self.aims.count])
      if round % 4 == 2 { try killNewcomer() } else { try killWriter() }
    }
    try reachAll()
    try finish(since: start)
    return report
  }

  // MARK: - The beginning and the end

  /// Starts the clients. Half of them commit with each durability.
  private func begin() throws {
    for author in 1...(scene.isQuick ? 4 : 6) {
      writers.append(scene.worker(author, of: server.address, author % 2 == 0 ? .relaxed : .full))
    }
    try writers[0].start()
    try writers[0].ask("preload \(preloaded)", "preloaded", within: 120)
    try writers[0].settle()
    for writer in writers.dropFirst() { try writer.start() }
    for writer in writers { try writer.write() }
    for writer in writers { try writer.waitForCommit() }
  }

  /// The number of commits of all clients so far.
  private func countCommits() -> Int {
    let running = writers + [newcomer].compactMap(\.self)
    for worker in running { worker.listen() }
    return running.reduce(committed) { $0 + $1.committed }
  }

  private func finish(since start: ContinuousClock.Instant) throws {
    for writer in writers { try writer.stop() }
    try retireNewcomer()
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let all = countCommits()
    models.merge(Convergence.models(of: writers, preloaded: preloaded)) { $1 }
    // All commits must exist, and the acknowledged ones are a part of them.
    let known = writers.reduce(committed) { $0 + $1.acknowledged }
    try Convergence(scene: scene, server: server.address, report: report).check(writers, models)
    report.add("rate", "\(Int(Double(all) / seconds))/s")
    report.add("commits", all)
    report.add("acknowledged", known)
    report.add("untold", writers.reduce(0) { $0 + $1.untold })
    report.add("serverKills", serverKills)
    report.add("clientKills", clientKills)
    for aim in KillAim.allCases { add(aim.rawValue, counts[aim] ?? Count()) }
    add("bootstrapping", bootstrapping)
    report.add("resets", writers.reduce(0) { $0 + $1.resets.count })
    report.add("newcomers", countOfNewcomers)
  }

  private func add(_ name: String, _ count: Count) {
    report.add(name, "\(count.hit)/\(count.aimed)")
    report.check(count.hit >= least, "\(count.hit) kills have hit \(name), and \(count.aimed) aimed at it.")
  }

  /// Continues to kill until each aim was hit often enough, or was missed too often.
  private func reachAll() throws {
    for aim in KillAim.allCases {
      for _ in 0..<100 where counts[aim]?.hit ?? 0 < least { try killServer(aim) }
    }
    for _ in 0..<100 where bootstrapping.hit < least { try killNewcomer() }
  }

  // MARK: - Kills

  /// - Parameter aim: The work that the kill aims at; nil for any moment.
  private func killServer(_ aim: KillAim?) throws {
    try scene.wait(upTo: 0.5)
    if let aim, let log = server.log {
      counts[aim, default: Count()].aimed += 1
      _ = try aim.waits(in: log, within: 4)
    }
    let log = try server.crash()
    serverKills += 1
    for aim in KillAim.allCases where aim.isUnderWay(in: log) { counts[aim, default: Count()].hit += 1 }
    try scene.wait(upTo: 0.3)
    try server.start()
  }

  /// Kills a client at any moment, even while it starts.
  private func killWriter() throws {
    try scene.wait(upTo: 0.4)
    let victim = writers[scene.random.below(writers.count)]
    try victim.crash()
    clientKills += 1
    try victim.start()
    try victim.write()
  }

  /// Kills a client with an empty folder in its first download, and starts it again.
  private func killNewcomer() throws {
    try retireNewcomer()
    countOfNewcomers += 1
    let author = CommitKind.firstWithoutBoard + countOfNewcomers
    let worker = scene.worker(author, of: server.address, author % 2 == 0 ? .relaxed : .full)
    newcomer = worker
    try worker.start()
    try worker.write(pause: 5000)
    bootstrapping.aimed += 1
    _ = try worker.waits(within: 20) { $0.isDownloading || $0.hasDownloaded }
    try scene.wait(upTo: 0.01)
    try worker.crash()
    clientKills += 1
    if worker.isDownloading, !worker.hasDownloaded { bootstrapping.hit += 1 }
    try worker.start()
    try worker.write(pause: 5000)
  }

  /// Ends a client and removes its folder, after the client has uploaded all commits.
  private func retireNewcomer() throws {
    guard let worker = newcomer else { return }
    try worker.stop()
    try worker.settle()
    newcomer = nil
    worker.end()
    try? FileManager.default.removeItem(at: worker.files)
    models[worker.author] = AuthorModel(worker.author, commits: worker.committed)
    committed += worker.committed
    (report.lost, report.doubled) = (report.lost + worker.lost, report.doubled + worker.doubled)
    report.errors += worker.errors.count
    for error in worker.errors { report.check(false, "The client \(worker.author): \(error)") }
  }
}
