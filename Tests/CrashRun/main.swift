import ArgumentParser
import Foundation
import Synchronization
import RealmTestSupport

/// Kills processes and cuts power at each place where a database writes, and checks what opens afterwards.
struct CrashRunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crash-run",
    abstract: "Crashes random workloads on a simulated disk and checks what is recovered.")

  @Option(help: "Distinct states to open, plain and again encrypted.")
  var states = 20_000

  @Option(help: "Where the random numbers start.")
  var seed: UInt64 = 1

  @Flag(help: "Stop quietly with code 3 at the first loss: for runs with a rule removed.")
  var mutant = false

  func run() throws {
    let outcomes = Mutex<[Bool: Outcome]>([:])
    let threads = DispatchGroup()
    for isEncrypted in [false, true] {
      threads.enter()
      let thread = Thread {
        defer { threads.leave() }
        let outcome = explore(isEncrypted: isEncrypted)
        // If one thread fails, the process ends without waiting for the other thread.
        if outcome.code != 0 { end(outcome) }
        outcomes.withLock { $0[isEncrypted] = outcome }
      }
      thread.stackSize = 8 << 20
      thread.start()
    }
    threads.wait()
    for isEncrypted in [false, true] { outcomes.withLock { print($0[isEncrypted]?.text ?? "") } }
  }

  private struct Outcome {
    var text: String
    var code: Int32 = 0
  }

  private func explore(isEncrypted: Bool) -> Outcome {
    let alarm = Alarm()
    alarm.start(patience: 60)
    var run = CrashRun(isEncrypted: isEncrypted, seed: seed, states: states)
    var synced = SyncedCrashRun<SyncedFile>(isEncrypted: isEncrypted, seed: seed, states: states / 5)
    var server = SyncedCrashRun<ServerFile>(isEncrypted: isEncrypted, seed: seed, states: states / 10)
    do {
      try run.explore(watchedBy: alarm)
      // The mutants remove rules of the engine, and the first run tries all of these.
      if !mutant {
        try synced.explore(watchedBy: alarm)
        try server.explore(watchedBy: alarm)
      }
    } catch {
      return Outcome(text: "seed=\(error.seed) encrypted=\(isEncrypted): \(error.what)", code: mutant ? 3 : 1)
    }
    guard mutant || run.reachesItsFloors else {
      return Outcome(
        text: run.summary
          + "\nThe run does not reach its floors: of the states 20 % after space was recycled, 10 % after nodes were "
          + "moved, 5 % after the file was made shorter, 10 % at depth two, 20 % with a named version, 1 % with one that was "
          + "given up.", code: 1)
    }
    guard !mutant else { return Outcome(text: run.summary) }
    let summary = [run.summary, synced.summary, server.summary].joined(separator: "\n")
    for (isReached, floors) in [
      (synced.reachesItsFloors, synced.floors), (server.reachesItsFloors, server.floors),
    ] where !isReached {
      return Outcome(text: summary + "\n" + floors, code: 1)
    }
    return Outcome(text: summary)
  }

  private func end(_ outcome: Outcome) -> Never {
    print(outcome.text)
    fflush(nil)
    Self.exit(withError: ExitCode(outcome.code))
  }
}

CrashRunCommand.main()
