import ArgumentParser
import Foundation

/// What the machine takes for the least that a workload asks of it, without any engine.
struct BoundsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bounds",
    abstract: "Measures what the machine itself takes for parts that no engine can do without.")

  @Option(help: "For a file of how many Persons.")
  var count = 1_000_000

  @Option(help: "Rounds; each number is the median of them.")
  var rounds = 5

  @Option(help: "Where the files are made; on a real disk, or syncs cost nothing.")
  var directory = FileManager.default.temporaryDirectory.path

  func validate() throws {
    guard (1_000...10_000_000).contains(count) else {
      throw ValidationError("--count is 1,000 to 10,000,000.")
    }
    guard rounds > 0 else { throw ValidationError("--rounds is 1 or more.") }
  }

  func run() throws {
    let folder = directory + "/realm-bounds-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let bounds =
      try DiskBounds(count: count, folder: folder).all(rounds)
      + ThreadBounds(folder: folder).all(rounds)
      + MemoryBounds(count: count, folder: folder).all(rounds)
      + ValueBounds(count: count).all(rounds) + ObjectBounds(count: count, folder: folder).all(rounds)
    let rows = bounds.map { [$0.workloads, $0.title, $0.unit, Report.number($0.value)] }
    let text =
      "\(count) Persons, \(rounds) rounds, medians.\n"
      + Report.aligned([["for", "part", "unit", "takes"]] + rows)
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }
}

/// What one part takes.
struct Bound {
  /// The numbers of those it is a part of.
  let workloads: String
  let title: String
  let unit: String
  let value: Double

  /// The median of some rounds, after one that is not counted.
  init(
    _ workloads: String, _ title: String, _ unit: String, rounds: Int, _ measure: () throws -> Double
  ) rethrows {
    _ = try measure()
    let value = Measure.median(try (0..<rounds).map { _ in try measure() })
    self.init(workloads: workloads, title: title, unit: unit, value: value)
  }

  private init(workloads: String, title: String, unit: String, value: Double) {
    self.workloads = workloads
    self.title = title
    self.unit = unit
    self.value = value
  }

  /// What is different each time: the medians over the rounds of what half of the times take, 99 %, 99.9 %, and of the mean.
  static func spread(
    _ workloads: String, _ title: String, _ unit: String, rounds: Int, _ measure: () throws -> [Double]
  ) rethrows -> [Bound] {
    _ = try measure()
    let samples = try (0..<rounds).map { _ in try measure() }
    let parts: [(String, ([Double]) -> Double)] = [
      ("p50", Measure.median), ("p99", { Measure.percentile(0.99, of: $0) }),
      ("p99.9", { Measure.percentile(0.999, of: $0) }),
      ("mean", { $0.reduce(0, +) / Double($0.count) }),
    ]
    return parts.map { name, part in
      Bound(
        workloads: workloads, title: title, unit: unit + " " + name, value: Measure.median(samples.map(part)))
    }
  }
}

/// The sizes of this project's file that what is read and written follows from.
enum FileShape {
  /// By workload 2.
  static let bytesPerPerson = 101
  static let rowsPerCluster = 512
  static let line = 64
  static let page = 4096
}
