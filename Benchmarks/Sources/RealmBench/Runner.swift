import Foundation

/// Runs the chosen workloads on all engines, in rounds, and compares what they answer.
///
/// Within a round the engines take turns workload by workload, and where single commits are measured after each hundred
/// of them, so that whatever else the machine and its disk do meets all of them; who begins changes from round to round.
struct Runner {
  let contenders: [Contender]
  let workloads: Set<Workload>
  let rounds: Int
  let inputs: Inputs
  /// Where the files are made; emptied afterwards.
  let folder: String

  private var samples: [Sample.Kind: [Double]] = [:]
  /// Whose file for many processes is made.
  private var shared: Set<Contender> = []
  private var answers: [String: (answer: Answer, contender: Contender)] = [:]

  init(contenders: [Contender], workloads: Set<Workload>, rounds: Int, inputs: Inputs, folder: String) {
    self.contenders = contenders
    self.workloads = workloads
    self.rounds = rounds
    self.inputs = inputs
    self.folder = folder
  }

  /// The medians of all rounds.
  mutating func run(progress: (String) -> Void) throws -> [Sample] {
    let rounds = rounds
    for round in 1...rounds {
      let first = (round - 1) % contenders.count
      let order = Array(contenders[first...] + contenders[..<first])
      if !workloads.isSubset(of: Workload.onRecords) {
        progress("round \(round) of \(rounds): bulk insert")
        for contender in order { try build(contender) }
        try runOnOpenFiles(order) { progress("round \(round) of \(rounds): \($0)") }
      }
      if round == 1, !workloads.isDisjoint(with: Workload.growth) {
        progress("round \(round) of \(rounds): \(Workload.pinnedReader.title)")
        for contender in order { try runGrowth(contender) }
      }
      if workloads.contains(.processes) || workloads.contains(.oneProcess) {
        progress("round \(round) of \(rounds): \(Workload.processes.title)")
        for contender in order { try runProcesses(contender, round: round) }
      }
    }
    return samples.map { Sample(kind: $0.key, value: Measure.median($0.value)) }
  }

  private func home(_ contender: Contender) -> String { folder + "/" + contender.label }

  private mutating func note(_ workload: Workload, _ contender: Contender, _ metric: Metric, _ value: Double)
  {
    samples[Sample.Kind(workload: workload, contender: contender, metric: metric), default: []].append(value)
  }

  /// All engines, in all rounds, must have read the same.
  private mutating func compare(_ what: String, _ answer: Answer, _ contender: Contender) throws {
    guard let known = answers[what] else { return answers[what] = (answer, contender) }
    guard known.answer == answer else {
      throw BenchmarkError(
        "answers differ in \(what): \(contender.label) read \(answer.value), \(known.contender.label) \(known.answer.value)"
      )
    }
  }

  // MARK: - The file

  /// Makes the engine's file anew, in a process of its own.
  private mutating func build(_ contender: Contender) throws {
    try? FileManager.default.removeItem(atPath: home(contender))
    try FileManager.default.createDirectory(atPath: home(contender), withIntermediateDirectories: true)
    let result = try BulkInsert.runInProcess(contender, count: inputs.count, folder: home(contender))
    if workloads.contains(.bulkInsert) {
      note(.bulkInsert, contender, .seconds, result.seconds)
      note(.bulkInsert, contender, .peakMebibytes, Double(result.peakBytes) / 1_048_576)
    }
    if workloads.contains(.fileSize) {
      note(.fileSize, contender, .bytesPerObject, try bytesPerObject(home(contender)))
    }
  }

  private func bytesPerObject(_ folder: String) throws -> Double {
    Double(try Measure.size(of: folder)) / Double(inputs.count)
  }

  private mutating func noteCompacted(_ contender: Contender, _ engine: any Engine) throws {
    let copy = folder + "/compacted"
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    let isSmaller = try engine.compacted(at: copy + "/copy")
    note(
      .compactedSize, contender, .bytesPerObject, try bytesPerObject(isSmaller ? copy : home(contender)))
  }

  // MARK: - Rounds

  private mutating func runOnOpenFiles(_ order: [Contender], _ progress: (String) -> Void) throws {
    let chosen = Workload.onOpenFile.filter(workloads.contains)
    guard !chosen.isEmpty || workloads.contains(.compactedSize) || workloads.contains(.open) else { return }
    let runs = try order.map { contender in
      let engine = try contender.open(in: home(contender), count: inputs.count)
      return (contender: contender, run: WorkloadRun(engine: engine, inputs: inputs))
    }
    for (contender, run) in runs {
      // This also touches each page once, so that no workload pays for having come first.
      try compare("the content after the bulk insert", run.engine.readEverything(), contender)
      if workloads.contains(.compactedSize) { try noteCompacted(contender, run.engine) }
    }
    if !workloads.isDisjoint(with: Workload.steady.union(Workload.smallCommits)) {
      for (_, run) in runs { try run.engine.prepareSmallCommits() }
    }
    var isSteady = false
    for workload in chosen {
      if Workload.steady.contains(workload), !isSteady {
        progress("\(inputs.sizes.churn) updates")
        for (_, run) in runs { try run.churn() }
        isSteady = true
      }
      progress(workload.title)
      let series = runs.map { $0.run.series(workload) }
      try CommitSeries.runInTurns(series.compactMap { $0 }, count: inputs.sizes.commits)
      for ((contender, run), series) in zip(runs, series) {
        guard let outcome = try series?.outcome ?? run.run(workload) else { continue }
        for (metric, value) in outcome.values { note(workload, contender, metric, value) }
        if let answer = outcome.answer { try compare(workload.title, answer, contender) }
      }
    }
    for (contender, run) in runs {
      try compare("the content after all workloads", run.engine.readEverything(), contender)
      try run.engine.close()
    }
    guard workloads.contains(.open) else { return }
    progress(Workload.open.title)
    for contender in order { try runOpen(contender) }
  }

  /// The median of a few: the file has been read before, and is closed in between.
  private mutating func runOpen(_ contender: Contender) throws {
    var samples: [Double] = []
    for _ in 0..<5 {
      var found: (any Engine)?
      var count = 0
      samples.append(
        try Measure.seconds {
          found = try contender.open(in: home(contender), count: inputs.count)
          count = try found?.countAll() ?? 0
        })
      try compare(Workload.open.title, Answer(count), contender)
      try found?.close()
    }
    note(.open, contender, .seconds, Measure.median(samples))
  }

  // MARK: - Records

  private mutating func runGrowth(_ contender: Contender) throws {
    let home = folder + "/growth"
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: home) }
    guard let found = try Growth(contender: contender, sizes: inputs.sizes, folder: home).run() else {
      return
    }
    try compare(Workload.pinnedReader.title, found.answer, contender)
    for (workload, bytes) in [
      (Workload.freshFile, found.fresh), (.pinnedReader, found.pinned), (.releasedReader, found.released),
    ] where workloads.contains(workload) {
      note(workload, contender, .fileMebibytes, Double(bytes) / 1_048_576)
      if workload != .freshFile { note(workload, contender, .ratio, Double(bytes) / Double(found.fresh)) }
    }
  }

  private mutating func runProcesses(_ contender: Contender, round: Int) throws {
    let processes = Processes(
      contender: contender, sizes: inputs.sizes, folder: folder + "/processes-" + contender.label)
    if round == 1, try processes.build() { shared.insert(contender) }
    guard shared.contains(contender) else { return }
    var alone: Double?
    for workload in [Workload.oneProcess, .processes] where workloads.contains(workload) {
      let found = try processes.run(writers: workload == .processes ? 2 : 1)
      let median = Measure.percentile(0.5, of: found.commits) * 1e6
      note(workload, contender, .p50Microseconds, median)
      note(workload, contender, .p99Microseconds, Measure.percentile(0.99, of: found.commits) * 1e6)
      note(workload, contender, .fileMebibytes, Double(found.bytes) / 1_048_576)
      if let alone { note(workload, contender, .ratio, median / alone) }
      alone = median
    }
  }
}

/// The bulk insert, which a process does and nothing else, so that its memory is that of the engine alone.
struct BulkInsert: Codable {
  var seconds: Double
  var peakBytes: Int

  static func run(_ contender: Contender, count: Int, folder: String) throws -> BulkInsert {
    let engine = try contender.open(in: folder, count: count)
    var source = PersonSource(count: count)
    // One batch made and thrown away, so that words and caches of the generator count as what was there before.
    var rehearsal = PersonSource(count: 1_000)
    _ = rehearsal.next()
    let memory = MemoryWatch()
    let seconds = try Measure.seconds { try engine.insertAll(&source) }
    let peak = memory.end()
    try engine.close()
    return BulkInsert(seconds: seconds - source.seconds, peakBytes: peak)
  }

  static func runInProcess(_ contender: Contender, count: Int, folder: String) throws -> BulkInsert {
    let process = Process()
    let output = Pipe()
    process.executableURL = Bundle.main.executableURL
    process.arguments =
      ["bulk-insert", "--engine", contender.kind.rawValue, "--count", "\(count)", "--directory", folder]
      + (contender.isEncrypted ? ["--encrypted"] : [])
    process.standardOutput = output
    try process.run()
    let result = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BenchmarkError("the bulk insert of \(contender.label) failed")
    }
    return try JSONDecoder().decode(BulkInsert.self, from: result)
  }
}
