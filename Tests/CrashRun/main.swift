import ArgumentParser

/// Kills processes and cuts power at every place a database writes, and looks at what opens afterwards.
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
    for isEncrypted in [false, true] {
      var run = CrashRun(isEncrypted: isEncrypted, seed: seed, states: states)
      do {
        try run.explore()
      } catch let violation as Violation {
        print("seed=\(violation.seed) encrypted=\(isEncrypted): \(violation.what)")
        throw ExitCode(mutant ? 3 : 1)
      }
      print(run.summary)
      guard mutant || run.reachesItsFloors else {
        print(
          "The run does not reach its floors: of the states 20 % after space was recycled, 10 % after nodes were moved, "
            + "5 % after the file was made shorter, 10 % at depth two."
        )
        throw ExitCode(1)
      }
    }
  }
}

CrashRunCommand.main()
