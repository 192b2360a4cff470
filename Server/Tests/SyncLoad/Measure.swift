import ArgumentParser
import Foundation
import SyncPrograms

/// Measures the rows one after another, and prints a line for each figure.
struct Measure: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures the rows S9 to S12 and S14 of docs/performance.md.")

  @Argument(help: "The program realm-server, built for release.") var server: String
  @Option(help: "Objects of the first download, and of the load of S11: 1,000,000 unless given.")
  var objects: Int?
  @Option(help: "How often short rows are measured, of which the medians are told: 3 unless given.")
  var rounds: Int?
  @Option(help: "Seconds over which idle clients are measured: 60 unless given.") var idleSeconds: Int?
  @Flag(help: "100,000 objects, one round, and 20 seconds of idle clients, where they are not given.")
  var quick = false
  @Option(parsing: .upToNextOption, help: "The rows that are measured: all of them unless given.")
  var rows: [String] = []

  private static let known = ["S9", "S10", "S11", "S12", "S14"]

  func validate() throws {
    guard objects ?? 1_000 >= 1_000, rounds ?? 1 >= 1, idleSeconds ?? 1 >= 1 else {
      throw ValidationError("Give at least 1000 objects, 1 round and 1 second.")
    }
    if let row = rows.first(where: { !Self.known.contains($0) }) {
      throw ValidationError("There is no row \(row). There are: \(Self.known.joined(separator: ", ")).")
    }
  }

  func run() throws {
    guard FileManager.default.isExecutableFile(atPath: server) else {
      throw ValidationError("\(server) is no program. Build realm-server, and give its path.")
    }
    Interruption.watch()
    let setting = try Setting(
      server: server, objects: objects ?? (quick ? 100_000 : 1_000_000), rounds: rounds ?? (quick ? 1 : 3),
      idleSeconds: idleSeconds ?? (quick ? 20 : 60))
    defer { setting.end() }
    let figures = Figures()
    let workloads: [(rows: [String], run: (Set<String>, Figures) throws -> Void)] = [
      (["S9"], { _, figures in try UploadRow(setting: setting).run(figures) }),
      (["S10", "S11"], { rows, figures in try People(setting: setting, rows: rows).run(figures) }),
      (["S11"], { _, figures in try DelayRow(setting: setting).run(figures) }),
      (["S12"], { _, figures in try CrowdRow(setting: setting).run(figures) }),
      (["S14"], { _, figures in try BytesRow(setting: setting).run(figures) }),
    ]
    var isWhole = true
    for workload in workloads {
      let wanted = Set(workload.rows).intersection(rows.isEmpty ? Self.known : rows)
      guard !wanted.isEmpty else { continue }
      do {
        try workload.run(wanted, figures)
      } catch let interrupted as Interrupted {
        throw interrupted
      } catch {
        // The other rows are measured all the same.
        isWhole = false
        note("\(wanted.sorted().joined(separator: ", ")): \(error)")
      }
    }
    print(figures.text)
    if !isWhole { throw ExitCode(1) }
  }
}
