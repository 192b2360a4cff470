import ArgumentParser
import Foundation

/// Measures the least time that the machine itself needs for parts of the workloads, without any engine.
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
      + ScatterBounds(count: count, folder: folder).all(rounds) + ThreadBounds(folder: folder).all(rounds)
      + MemoryBounds(count: count, folder: folder).all(rounds)
      + ValueBounds(count: count).all(rounds) + ObjectBounds(count: count, folder: folder).all(rounds)
    let rows = bounds.map { [$0.workloads, $0.title, $0.unit, Report.number($0.value)] }
    let text =
      "\(count) Persons, \(rounds) rounds, medians.\n"
      + Report.aligned([["for", "part", "unit", "takes"]] + rows)
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }
}

/// The measured value of one part.
struct Bound {
  /// The numbers of the workloads that include the part.
  let workloads: String
  let title: String
  let unit: String
  let value: Double

  /// The median of some rounds, after one round that does not count.
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

  /// A part that is compared with others. Each of them is measured once in each round, because the machine's speed
  /// drifts.
  struct Part {
    let workloads: String
    let title: String
    let measure: () throws -> [Double]
  }

  private static func inTurns(_ parts: [Part], rounds: Int) throws -> [[[Double]]] {
    for part in parts { _ = try part.measure() }
    var samples = [[[Double]]](repeating: [], count: parts.count)
    for _ in 0..<rounds {
      for (index, part) in parts.enumerated() { samples[index].append(try part.measure()) }
    }
    return samples
  }

  /// The median over the rounds of each round's median, for each part.
  static func medians(_ unit: String, rounds: Int, _ parts: [Part]) throws -> [Bound] {
    zip(parts, try inTurns(parts, rounds: rounds)).map { part, samples in
      Bound(
        workloads: part.workloads, title: part.title, unit: unit,
        value: Measure.median(samples.map(Measure.median)))
    }
  }

  /// The medians over the rounds of the median, of the percentiles 99 and 99.9, and of the mean, for parts whose
  /// samples vary.
  static func spreads(_ unit: String, rounds: Int, _ parts: [Part]) throws -> [Bound] {
    zip(parts, try inTurns(parts, rounds: rounds)).flatMap { part, samples in
      spread(part, unit, samples)
    }
  }

  private static func spread(_ part: Part, _ unit: String, _ samples: [[Double]]) -> [Bound] {
    let parts: [(String, ([Double]) -> Double)] = [
      ("p50", Measure.median), ("p99", { Measure.percentile(0.99, of: $0) }),
      ("p99.9", { Measure.percentile(0.999, of: $0) }),
      ("mean", { $0.reduce(0, +) / Double($0.count) }),
    ]
    return parts.map { name, value in
      Bound(
        workloads: part.workloads, title: part.title, unit: unit + " " + name,
        value: Measure.median(samples.map(value)))
    }
  }
}

/// The sizes in this project's file from which the sizes of reads and writes are computed.
enum FileShape {
  /// The bytes for each Person, measured by workload 2.
  static let bytesPerPerson = 101
  static let rowsPerCluster = 512
  static let line = 64
  static let page = 4096
}
