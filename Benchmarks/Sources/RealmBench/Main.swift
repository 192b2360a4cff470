import ArgumentParser
import Foundation

@main
struct RealmBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "realm-bench",
    abstract: "Runs the same workloads on this project's engine, on SQLite and on LMDB, side by side.",
    subcommands: [
      Compare.self, BoundsCommand.self, BulkInsertCommand.self, CommitInTurns.self, HoldReader.self,
      DyingWriter.self, BuildListsCommand.self,
    ], defaultSubcommand: Compare.self)
}

extension Contender.Kind: ExpressibleByArgument {}

struct Compare: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs workloads on all engines and prints their medians and ratios.")

  @Option(help: "How many Persons the files hold.")
  var count: Int?

  @Flag(
    help: "100,000 Persons instead of 1,000,000, fewer commits, and 64 MiB for processes instead of 1 GiB.")
  var quick = false

  @Option(help: "Rounds; each number is the median of them.")
  var rounds = 3

  @Option(help: "Writes all numbers to a file too.")
  var json: String?

  @Option(help: "Writes charts of all numbers into a folder too, as SVG.")
  var charts: String?

  @Option(help: "Only these workloads, with commas between them: \(Workload.allCases.map(\.rawValue)).")
  var filter: String?

  @Option(help: "Only these engines, with commas between them: \(Contender.Kind.allCases.map(\.rawValue)).")
  var engine: String?

  @Flag(help: "This project's engine with an encrypted file too.")
  var encrypted = false

  @Option(help: "Where the files are made; on a real disk, or syncs cost nothing.")
  var directory = FileManager.default.temporaryDirectory.path

  func validate() throws {
    _ = try chosenWorkloads()
    _ = try chosenEngines()
    guard (1_000...100_000_000).contains(objects) else {
      throw ValidationError("--count is 1,000 to 100,000,000.")
    }
    guard rounds > 0 else { throw ValidationError("--rounds is 1 or more.") }
    // A wrong path is an error now, and not after a run of minutes.
    if let json {
      let folder = URL(fileURLWithPath: json).deletingLastPathComponent().path
      guard FileManager.default.isWritableFile(atPath: folder) else {
        throw ValidationError("--json: there is no folder \(folder) that can be written to.")
      }
    }
  }

  private var objects: Int { count ?? (quick ? 100_000 : 1_000_000) }

  private func chosenWorkloads() throws -> Set<Workload> {
    guard let filter else { return Set(Workload.allCases).subtracting(Workload.onRequest) }
    return Set(
      try filter.split(separator: ",").map { name in
        guard let workload = Workload(rawValue: String(name)) else {
          throw ValidationError("There is no workload \(name).")
        }
        return workload
      })
  }

  private func chosenEngines() throws -> [Contender] {
    let names = engine?.split(separator: ",").map(String.init) ?? Contender.Kind.allCases.map(\.rawValue)
    let contenders = try names.flatMap { name in
      guard let kind = Contender.Kind(rawValue: name) else {
        throw ValidationError("There is no engine \(name).")
      }
      let plain = Contender(kind: kind)
      return plain.isOurs && encrypted ? [plain, Contender(kind: kind, isEncrypted: true)] : [plain]
    }
    guard !contenders.isEmpty, Set(contenders).count == contenders.count else {
      throw ValidationError("--engine names each engine once.")
    }
    return contenders
  }

  func run() throws {
    let contenders = try chosenEngines()
    let folder = directory + "/realm-bench-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try printHeader(folder)
    let runner = Runner(
      contenders: contenders, workloads: try chosenWorkloads(), rounds: rounds,
      inputs: Inputs(count: objects, sizes: quick ? .quick : Inputs.Sizes()), folder: folder)
    let start = ContinuousClock.now
    let samples = try runner.run { stage in
      Self.complain("\(Int((ContinuousClock.now - start) / .seconds(1))) s: \(stage)")
    }
    let report = Report(samples, contenders: contenders, count: objects)
    Self.say(report.table)
    Self.say("All answers are equal. \(Int((ContinuousClock.now - start) / .seconds(1))) s in all.")
    if let json { try report.json.write(to: URL(fileURLWithPath: json)) }
    if let charts {
      try FileManager.default.createDirectory(atPath: charts, withIntermediateDirectories: true)
      for chart in report.charts {
        try Data(chart.svg.utf8).write(to: URL(fileURLWithPath: charts + "/" + chart.name))
      }
    }
  }

  private func printHeader(_ folder: String) throws {
    #if DEBUG
      Self.complain("This is a debug build: its numbers say nothing. Build with -c release.")
    #endif
    let sync = try Measure.syncTime(in: folder)
    if sync < 10 {
      Self.complain(
        "Syncs cost nothing in \(directory), so durable commits don't: choose a --directory on a disk.")
    }
    Self.say(
      """
      \(objects) Persons, \(rounds) rounds, medians; less is better; a ratio below 1: ours is better.
      SQLite \(SQLiteEngine.version), LMDB \(LMDBEngine.version), \(ProcessInfo.processInfo.activeProcessorCount) \
      processors; a sync of an overwritten 4 KiB page takes \(Int(sync)) µs.
      """)
  }

  /// Writes a message at once, even into a pipe, where it would otherwise come after later complaints.
  private static func say(_ message: String) {
    FileHandle.standardOutput.write(Data((message + "\n").utf8))
  }

  private static func complain(_ message: String) {
    FileHandle.standardError.write(Data((message + "\n").utf8))
  }
}

/// The command that a bulk insert's parent process starts.
struct BulkInsertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "bulk-insert", shouldDisplay: false)

  @Option var engine: Contender.Kind
  @Flag var encrypted = false
  @Option var count: Int
  @Option var directory: String

  func run() throws {
    let contender = Contender(kind: engine, isEncrypted: encrypted)
    let result = try BulkInsert.run(contender, count: count, folder: directory)
    FileHandle.standardOutput.write(try JSONEncoder().encode(result))
  }
}
