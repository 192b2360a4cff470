import ArgumentParser
import Foundation
import RealmTestSupport

/// The program of the run, in one of its roles.
struct ProcessesRunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "processes-run",
    abstract: "Several processes share a file, are killed, and find it changed beneath them.",
    subcommands: [Run.self, WorkerCommand.self], defaultSubcommand: Run.self)
}

struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs the parts and tells of each what it did.")

  @Option(help: "Where the random numbers start; when processes meet is not theirs to say.")
  var seed: UInt64 = 1

  @Flag(help: "Fewer states: under a minute in a release build.")
  var quick = false

  @Option(help: "Run only the parts whose name starts with this.")
  var part = ""

  /// The time in seconds after which a state, or an operation of a worker, counts as hung.
  static let patience = 60

  func run() throws {
    // A worker that has ended is noticed because it does not answer, so the signal of its closed pipe is ignored.
    signal(SIGPIPE, SIG_IGN)
    Alarm.shared.start(patience: Self.patience)
    let isGood = try Part.runAll(
      parts, startingWith: part, named: "processes-", seed: seed, isQuick: quick)
    guard isGood else { throw ExitCode(1) }
  }

  /// The parts of the run, in their order.
  private var parts: [(name: String, body: (Part) throws -> Void)] {
    [
      ("kill", { try Kills(part: $0).run() }),
      ("registering", { try Registering(part: $0).run() }),
      ("filling", { try Filling(part: $0).run() }),
      ("descriptors", { try Descriptors(part: $0).run() }),
      ("management", { try Management(part: $0).run() }),
      ("fork", { try Forks(part: $0).run() }),
      ("reboot", { try Reboots(part: $0).run() }),
      ("truncated", { try Truncations(part: $0).run() }),
      ("wake", { try Wakes(part: $0).run() }),
      ("threads", { try Threads(part: $0).run() }),
      ("migration", { try Migrations(part: $0).run() }),
      ("synced", { try Synced(part: $0).run() }),
      ("agents", { try Agents(part: $0).run() }),
    ]
  }
}

ProcessesRunCommand.main()
