import Foundation

/// The workloads on a file of Persons, which each round makes anew.
struct PeopleStage: Stage {
  private let setting: Setting
  private var inputs: Inputs { setting.inputs }

  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws {
    guard setting.chose(anyOf: Workload.onPeople) else { return }
    let stage = PeopleStage(setting: setting)
    progress("bulk insert")
    for contender in setting.contenders { try stage.build(contender, &findings) }
    if setting.chose(.iterateEvicted) {
      progress(Workload.iterateEvicted.title)
      for contender in setting.contenders { try stage.iterateEvicted(contender, &findings) }
    }
    try stage.runOnOpenFiles(&findings, progress)
    try Opening(setting: setting).run(&findings, progress)
    for contender in setting.contenders {
      try? FileManager.default.removeItem(atPath: setting.home(contender))
    }
  }

  // MARK: - The file

  /// Makes the engine's file anew, in a process of its own.
  private func build(_ contender: Contender, _ findings: inout Findings) throws {
    let home = setting.home(contender)
    try? FileManager.default.removeItem(atPath: home)
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    let result = try BulkInsert.runInProcess(contender, count: inputs.count, folder: home)
    if setting.chose(.bulkInsert) {
      findings.note(.bulkInsert, contender, .seconds, result.seconds)
      findings.note(.bulkInsert, contender, .peakMebibytes, Double(result.peakBytes) / 1_048_576)
    }
    if setting.chose(.fileSize) {
      findings.note(.fileSize, contender, .bytesPerObject, try bytesPerObject(home))
    }
  }

  private func bytesPerObject(_ folder: String) throws -> Double {
    Double(try Measure.size(of: folder)) / Double(inputs.count)
  }

  private func noteCompacted(_ contender: Contender, _ engine: any Engine, _ findings: inout Findings) throws
  {
    let bytes = try setting.withFolder("compacted") { copy in
      let isSmaller = try engine.compacted(at: copy + "/copy")
      return try bytesPerObject(isSmaller ? copy : setting.home(contender))
    }
    findings.note(.compactedSize, contender, .bytesPerObject, bytes)
  }

  /// Measures an iteration over an evicted file. Opening the file is not part of the time.
  private func iterateEvicted(_ contender: Contender, _ findings: inout Findings) throws {
    // The reading time just before shows what the disk and new memory take by themselves.
    guard try Measure.evict(setting.home(contender)) else { return }
    let reading = try Measure.readAll(in: setting.home(contender))
    guard try Measure.evict(setting.home(contender)) else { return }
    let engine = try contender.open(in: setting.home(contender), count: inputs.count)
    var answer = Answer()
    let seconds = try Measure.seconds { answer = try engine.iterate() }
    try findings.note(
      .iterateEvicted, contender,
      Outcome(values: [(.seconds, seconds), (.readingSeconds, reading)], answer: answer))
    try engine.close()
  }

  // MARK: - On open files

  private func runOnOpenFiles(_ findings: inout Findings, _ progress: (String) -> Void) throws {
    let chosen = Workload.onOpenFile.filter(setting.chose)
    guard !chosen.isEmpty || setting.chose(.compactedSize) || setting.chose(anyOf: Workload.opening) else {
      return
    }
    let runs = try setting.contenders.map { contender in
      let engine = try contender.open(in: setting.home(contender), count: inputs.count)
      return (contender: contender, run: WorkloadRun(engine: engine, setting: setting, contender: contender))
    }
    for (contender, run) in runs {
      // This also reads each page once, so that the first workload has no disadvantage.
      try findings.compare("the content after the bulk insert", run.engine.readEverything(), contender)
      if setting.chose(.compactedSize) { try noteCompacted(contender, run.engine, &findings) }
    }
    if setting.chose(anyOf: Workload.steady.union(Workload.smallCommits)) {
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
        try findings.note(workload, contender, outcome)
      }
    }
    for (contender, run) in runs {
      try findings.compare("the content after all workloads", run.engine.readEverything(), contender)
      try run.engine.close()
    }
  }
}

extension Setting {
  /// The folder of an engine's file of Persons.
  func home(_ contender: Contender) -> String { folder + "/" + contender.label }
}
