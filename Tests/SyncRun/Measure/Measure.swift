import ArgumentParser
import Foundation

/// Measures what device sync costs, without a network.
struct Measure: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures what device sync costs: the rows S1 to S8 and S13 of docs/performance.md.")
  @Option(help: "How often each is measured; the medians are told.") var rounds = 3
  @Option(parsing: .upToNextOption, help: "The rows that are measured: all of them unless given.")
  var rows: [String] = []

  func run() throws {
    let figures = Figures()
    let workloads: [(rows: [String], run: (URL, Figures) throws -> Void)] = [
      (["S1"], Commits().run), (["S2"], BulkInserts(objects: 1_000_000).run), (["S3"], Uploads().run),
      (["S4"], FirstStep(objects: 1_000_000).run), (["S5", "S8"], Behind(changes: 1_000_000).run),
      (["S6"], Lists().run), (["S7"], Meeting(pending: 20_000).run),
      (["S13"], Reconnecting(count: 10_000).run),
    ]
    for _ in 0..<rounds {
      for workload in workloads where rows.isEmpty || !Set(rows).isDisjoint(with: workload.rows) {
        let folder = FileManager.default.temporaryDirectory.appending(
          path: "sync-measure-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try workload.run(folder, figures)
      }
    }
    print(figures.text)
  }
}
