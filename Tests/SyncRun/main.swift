import ArgumentParser
import Foundation
import RealmStorage
import RealmSyncSupport

/// Tests the core of device sync against the model of its rules.
struct SyncRun: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync-run", abstract: "Tries the core of device sync.",
    subcommands: [Compare.self, Simulate.self, Measure.self])
}

/// Reads schedules that the model of the merge rules wrote, from standard input, and compares their outcomes.
struct Compare: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Integrates the logs of schedules of the model, and compares with what the model made of them.")

  @Flag(help: "Ends with the first difference.") var firstOnly = false

  func run() throws {
    var replay = ModelReplay()
    var seeds = 0
    var wrong = 0
    let lines = sequence(state: ()) { _ in readLine() }
    try ModelSchedule.read(lines) { schedule in
      seeds += 1
      let database = try Database(inMemory: "server")
      if let difference = try replay.run(schedule, database) {
        wrong += 1
        if wrong <= 10 { print("seed \(schedule.seed): \(difference)") }
        if firstOnly { throw ExitCode(1) }
      }
    }
    print(
      "seeds=\(seeds) uploads=\(replay.uploads) effects=\(replay.effects) refusals=\(replay.refusals) trims=\(replay.trims) wrong=\(wrong)"
    )
    if wrong > 0 { throw ExitCode(1) }
  }
}

/// Runs clients and a server. Their messages are delayed and lost.
struct Simulate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs clients and a server whose messages are late and lost, seed by seed.")
  @Option(help: "The first seed.") var first: UInt64 = 1
  @Option(help: "How many seeds.") var seeds = 100
  @Flag(help: "Ends with the first failure.") var firstOnly = false

  /// The number of seeds that is enough to meet each kind of instruction.
  private static let enoughSeeds = 500

  func run() throws {
    var failures: [Simulation.Failure.Kind: Int] = [:]
    var total = Simulation.Count()
    func note(_ kind: Simulation.Failure.Kind, _ seed: UInt64, _ text: any CustomStringConvertible) {
      failures[kind, default: 0] += 1
      if failures.values.reduce(0, +) <= 5 { print("seed \(seed): \(text)") }
    }
    for seed in first..<first + UInt64(seeds) {
      let simulation = try Simulation(seed: seed)
      do {
        if let failure = try simulation.run() { note(failure.kind, seed, failure) }
      } catch {
        note(.wrong, seed, "\(error)")
      }
      total += simulation.count
      if firstOnly, !failures.isEmpty { break }
    }
    let found = Simulation.Failure.Kind.allCases.map { "\($0.rawValue)=\(failures[$0] ?? 0)" }
    print("took effect/did not: \(total.decided.text)")
    print("seeds=\(seeds) \(total.text) \(found.joined(separator: " "))")
    // A rule that is never met is not tested.
    let notMet = seeds < Self.enoughSeeds ? [] : total.decided.notMet
    if !notMet.isEmpty { print("never met both ways: \(notMet.joined(separator: ", "))") }
    if !failures.isEmpty || !notMet.isEmpty { throw ExitCode(1) }
  }
}

SyncRun.main()
