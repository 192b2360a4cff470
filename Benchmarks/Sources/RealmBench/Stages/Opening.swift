import ArgumentParser
import Foundation

/// Opens a file, and counts its objects.
struct Opening {
  let setting: Setting

  func run(_ findings: inout Findings, _ progress: (String) -> Void) throws {
    for workload in [Workload.open, .openAfterKill, .openSmall] where setting.chose(workload) {
      progress(workload.title)
      for contender in setting.contenders { try run(workload, contender, &findings) }
    }
  }

  private func run(_ workload: Workload, _ contender: Contender, _ findings: inout Findings) throws {
    let outcome: Outcome
    if workload == .openSmall {
      outcome = try setting.withFolder("small") { folder in
        _ = try BulkInsert.runInProcess(contender, count: Self.few, folder: folder)
        return try open(contender, folder) { _ in }
      }
    } else {
      let home = setting.home(contender)
      outcome = try open(contender, home) { time in
        if workload == .openAfterKill { try DyingWriter.run(contender, folder: home, time: time) }
      }
    }
    try findings.note(workload, contender, outcome)
  }

  private static let few = 1_000

  /// The median of a few openings. The file is in the page cache, and no process has it open.
  private func open(_ contender: Contender, _ folder: String, before: (_ time: Int) throws -> Void) throws
    -> Outcome
  {
    var samples: [Double] = []
    var count = 0
    for time in 0..<5 {
      try before(time)
      var found: (any Engine)?
      samples.append(
        try Measure.seconds {
          found = try contender.open(in: folder, count: setting.inputs.count)
          count = try found?.countAll() ?? 0
        })
      try found?.close()
    }
    return Outcome(values: [(.seconds, Measure.median(samples))], answer: Answer(count))
  }
}

/// A process that adds Persons, each in one commit, and is killed with the file open.
struct DyingWriter: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "dying-writer", shouldDisplay: false)

  @Option var engine: Contender.Kind
  @Flag var encrypted = false
  @Option var directory: String
  @Option var first: Int64

  private static let commits = 10
  /// The first id of the added Persons. It is greater than the id of each other Person.
  private static let firstID: Int64 = 1 << 40

  func run() throws {
    let file = try Contender(kind: engine, isEncrypted: encrypted).open(in: directory, count: 1)
    var people = PersonGenerator(seed: UInt64(first))
    for id in first..<first + Int64(Self.commits) { try file.insert(people.next(id: id)) }
    try FileHandle.standardOutput.write(contentsOf: [1])
    _ = try FileHandle.standardInput.read(upToCount: 1)
  }

  /// - Parameter time: the number of earlier calls for this file.
  static func run(_ contender: Contender, folder: String, time: Int) throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = Bundle.main.executableURL
    process.arguments =
      [
        "dying-writer", "--engine", contender.kind.rawValue, "--directory", folder,
        "--first", "\(firstID + Int64(time * commits))",
      ] + (contender.isEncrypted ? ["--encrypted"] : [])
    process.standardInput = Pipe()
    process.standardOutput = output
    try process.run()
    guard try output.fileHandleForReading.read(upToCount: 1) != nil else {
      throw BenchmarkError("a process of \(contender.label) failed")
    }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
