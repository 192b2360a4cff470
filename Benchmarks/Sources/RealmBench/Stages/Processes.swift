import ArgumentParser
import Foundation

/// Workloads 20a and 20p. The first round makes their files.
struct ProcessStage: Stage {
  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws {
    let chosen = [Workload.oneProcess, .processes].filter(setting.chose)
    guard !chosen.isEmpty else { return }
    progress(Workload.processes.title)
    for contender in setting.contenders {
      let processes = Processes(
        contender: contender, sizes: setting.inputs.sizes,
        folder: setting.folder + "/processes-" + contender.label)
      guard try setting.round > 1 ? processes.isBuilt : processes.build() else { continue }
      var alone: Double?
      for workload in chosen {
        let found = try processes.run(writers: workload == .processes ? 2 : 1)
        let median = Measure.percentile(0.5, of: found.commits) * 1e6
        findings.note(workload, contender, .p50Microseconds, median)
        findings.note(
          workload, contender, .p99Microseconds, Measure.percentile(0.99, of: found.commits) * 1e6)
        findings.note(workload, contender, .fileMebibytes, Double(found.bytes) / 1_048_576)
        if let alone { findings.note(workload, contender, .ratio, median / alone) }
        alone = median
      }
    }
  }
}

/// Workload 20p: processes that commit to one file in turns.
struct Processes {
  let contender: Contender
  let sizes: Inputs.Sizes
  /// The folder of the file. The folder of the copies has this name with a suffix.
  let folder: String

  private static let textBytes = 1_000

  /// Makes the file that each run starts from. Returns false for an engine that does not take part.
  func build() throws -> Bool {
    guard contender.kind != .lmdb, contender.hasRecords else { return false }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    guard let file = try contender.openRecords(in: folder) else { return false }
    try file.fill(count: sizes.processRecords, textBytes: Self.textBytes)
    try file.close()
    return true
  }

  var isBuilt: Bool { FileManager.default.fileExists(atPath: folder) }

  struct Outcome {
    var commits: [Double]
    var bytes: Int
  }

  /// - Parameter writers: the number of processes that take turns. If there is more than one, another process holds a
  ///   reader meanwhile.
  func run(writers: Int) throws -> Outcome {
    let copy = folder + "-copy"
    try? FileManager.default.removeItem(atPath: copy)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try copyFiles(to: copy)
    try Measure.syncAll(in: copy)
    var reader: (process: Process, input: Pipe)?
    if writers > 1 {
      let (input, output) = (Pipe(), Pipe())
      let process = try start("hold-reader", [], copy, input: input, output: output)
      guard try output.fileHandleForReading.read(upToCount: 1) != nil else {
        throw BenchmarkError("a reader of \(contender.label) ended early")
      }
      reader = (process, input)
    }
    // The pipes form a ring, and each writer reads its turn from the one before it. The first turn is written before
    // the writers start. Then only they hold the ends of the pipes, and all of them end if one ends.
    let pipes = (0..<writers).map { _ in Pipe() }
    try pipes[0].fileHandleForWriting.write(contentsOf: [1])
    let processes = try (0..<writers).map { index in
      try start(
        "commit-in-turns",
        [
          "--number", "\(index)", "--writers", "\(writers)", "--commits", "\(sizes.processCommits / writers)",
          "--records", "\(sizes.processRecords)", "--result", "\(folder)-times-\(index)",
        ], copy, input: pipes[index], output: pipes[(index + 1) % writers])
    }
    for process in processes { try end(process) }
    let bytes = try Measure.size(of: copy)
    if let reader {
      try reader.input.fileHandleForWriting.write(contentsOf: [1])
      try end(reader.process)
    }
    let commits = try (0..<writers).flatMap { index in
      let path = "\(folder)-times-\(index)"
      defer { try? FileManager.default.removeItem(atPath: path) }
      return try JSONDecoder().decode([Double].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }
    return Outcome(commits: commits, bytes: bytes)
  }

  /// Copies the files. Sockets and the like, by which processes signal each other, can't be copied and are made again.
  private func copyFiles(to copy: String) throws {
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let path = folder + "/" + name
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
      try FileManager.default.copyItem(atPath: path, toPath: copy + "/" + name)
    }
  }

  private func start(_ command: String, _ arguments: [String], _ copy: String, input: Pipe, output: Pipe)
    throws
    -> Process
  {
    let process = Process()
    process.executableURL = Bundle.main.executableURL
    process.arguments =
      [command, "--engine", contender.kind.rawValue, "--directory", copy] + arguments
      + (contender.isEncrypted ? ["--encrypted"] : [])
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    return process
  }

  private func end(_ process: Process) throws {
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BenchmarkError("a process of \(contender.label) failed")
    }
  }
}

/// A process of 20p that commits when it is its turn.
struct CommitInTurns: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "commit-in-turns", shouldDisplay: false)

  @Option var engine: Contender.Kind
  @Flag var encrypted = false
  @Option var directory: String
  @Option var number: Int
  @Option var writers: Int
  @Option var commits: Int
  @Option var records: Int
  @Option var result: String

  func run() throws {
    guard let file = try Contender(kind: engine, isEncrypted: encrypted).openRecords(in: directory) else {
      throw BenchmarkError("no records")
    }
    var random = SplitMix64(seed: 2_000 + UInt64(number))
    var samples: [Double] = []
    for _ in 0..<commits {
      try receive()
      let (value, id) = (random.nextFraction(), Int64(random.next(below: records)))
      samples.append(try Measure.seconds { try file.set(value, of: id) })
      try send()
    }
    // When the last turn comes back to the first writer, all writers have made their commits.
    if number == 0 { try receive() }
    try JSONEncoder().encode(samples).write(to: URL(fileURLWithPath: result))
    try file.close()
  }

  private func receive() throws {
    var byte: UInt8 = 0
    guard read(STDIN_FILENO, &byte, 1) == 1 else { throw BenchmarkError("the turn was lost") }
  }

  private func send() throws {
    var byte: UInt8 = 1
    guard write(STDOUT_FILENO, &byte, 1) == 1 else { throw BenchmarkError("the turn can't be handed on") }
  }
}

/// A process of 20p that reads an old version until it is told to end.
struct HoldReader: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "hold-reader", shouldDisplay: false)

  @Option var engine: Contender.Kind
  @Flag var encrypted = false
  @Option var directory: String

  func run() throws {
    guard let file = try Contender(kind: engine, isEncrypted: encrypted).openRecords(in: directory) else {
      throw BenchmarkError("no records")
    }
    let unpin = try file.pin()
    try FileHandle.standardOutput.write(contentsOf: [1])
    _ = try FileHandle.standardInput.read(upToCount: 1)
    try unpin()
    try file.close()
  }
}
