import Foundation

/// The workloads on lists. They run in the first round only, because SQLite takes long to find places.
struct ListStage: Stage {
  private let setting: Setting
  private let lists: Lists
  private let files: [(contender: Contender, file: any ListFile)]
  private var sizes: Inputs.Sizes { setting.inputs.sizes }

  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws {
    guard setting.round == 1 else { return }
    for kind in [Lists.Kind.numbers, .links, .texts] where setting.chose(anyOf: Workload.onLists(kind)) {
      progress("lists of \(kind.rawValue)")
      try setting.withFolder("lists") { folder in
        let stage = try ListStage(kind, setting, folder, &findings)
        switch kind {
        case .numbers: try stage.runOnNumbers(&findings, progress)
        case .links: try stage.runOnLinks(&findings, progress)
        case .texts:
          try stage.ask(.iterateShortLists, per: stage.lists.owners, &findings) { try $0.iterateAll() }
        }
        for (_, file) in stage.files { try file.close() }
      }
    }
  }

  private init(
    _ kind: Lists.Kind, _ setting: Setting, _ folder: String, _ findings: inout Findings
  ) throws {
    let lists = setting.inputs.lists(kind)
    self.setting = setting
    self.lists = lists
    var files: [(contender: Contender, file: any ListFile)] = []
    for contender in setting.contenders where contender.hasCollections {
      let home = folder + "/" + contender.label
      try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
      let build = try ListBuild.runInProcess(contender, lists, folder: home)
      let size = Double(try Measure.size(of: home)) / Double(lists.owners)
      if kind == .texts {
        Self.note(.shortLists, contender, build.fillSeconds / Double(lists.owners), setting, &findings)
        if setting.chose(.shortListFile) {
          findings.note(.shortListFile, contender, .bytesPerObject, size)
        }
      } else if kind == .numbers {
        let length = Double(lists.length)
        Self.note(.listAppendTogether, contender, build.appendSeconds / length, setting, &findings)
        Self.note(.listAppendEach, contender, build.appendEachSeconds / length, setting, &findings)
        if setting.chose(.listAppendTogether) {
          let peak = Double(build.appendPeakBytes) / 1_048_576
          findings.note(.listAppendTogether, contender, .peakMebibytes, peak)
        }
      }
      if let file = try contender.openLists(lists, in: home) { files.append((contender, file)) }
    }
    self.files = files
    // This also reads each page once, so that the first workload has no disadvantage.
    for (contender, file) in files where kind != .texts {
      try findings.compare("the long list of \(kind.rawValue)", file.content(), contender)
      if kind == .links { try findings.compare("the links", Answer(file.countLinks()), contender) }
    }
  }

  private static func note(
    _ workload: Workload, _ contender: Contender, _ seconds: Double, _ setting: Setting,
    _ findings: inout Findings
  ) {
    if setting.chose(workload) { findings.note(workload, contender, .nanosecondsPerRow, seconds * 1e9) }
  }

  // MARK: - Lists of numbers and of links

  private func runOnNumbers(_ findings: inout Findings, _ progress: (String) -> Void) throws {
    progress("reading a long list")
    try readPlaces(&findings)
    try ask(.listIterate, per: lists.length, &findings) { try $0.iterate() }
    try commit(.listOwnerUpdate, .listAppend, .listInsert, .listRemove, &findings, progress)
    if setting.chose(.listRemoveFirst) {
      progress(Workload.listRemoveFirst.title)
      for (contender, file) in files {
        let seconds = try Measure.seconds { try file.removeFirst(times: lists.length / 10) }
        findings.note(.listRemoveFirst, contender, .seconds, seconds)
      }
    }
    try compareContent(&findings)
  }

  private func runOnLinks(_ findings: inout Findings, _ progress: (String) -> Void) throws {
    try commit(.linkOwnerUpdate, .linkAppend, .linkInsert, .linkRemove, &findings, progress)
    // The items are multiples of a number that has no common factor with the count, so they are distinct and seem
    // random.
    let items = (0..<2_000).map { $0 * 7_919 % lists.length }
    for (workload, part) in [(Workload.deleteListed, items[..<1_000]), (.deleteListedEach, items[1_000...])]
    where setting.chose(workload) {
      progress(workload.title)
      for (contender, file) in files {
        let seconds = try file.delete(items: Array(part), isTogether: workload == .deleteListed)
        findings.note(workload, contender, .seconds, seconds)
      }
    }
    try compareContent(&findings)
  }

  private func compareContent(_ findings: inout Findings) throws {
    // Engines without relaxed commits have not made the changes of the relaxed workloads.
    let isChanged = setting.chose(anyOf: Workload.listCommits)
    for (contender, file) in files where !isChanged || file.hasRelaxedCommits {
      try findings.compare("the list of \(lists.kind.rawValue) at the end", file.content(), contender)
    }
  }

  private func ask(
    _ workload: Workload, per number: Int, _ findings: inout Findings,
    _ body: (any ListFile) throws -> Answer
  ) throws {
    guard setting.chose(workload) else { return }
    for (contender, file) in files {
      var answer = Answer()
      let samples = try (0..<5).map { _ in try Measure.seconds { answer = try body(file) } }
      try findings.compare(workload.title, answer, contender)
      Self.note(workload, contender, Measure.median(samples) / Double(number), setting, &findings)
    }
  }

  /// Reads elements by their places. Engines that pass all elements before a place are asked for few, and only these
  /// few are compared.
  private func readPlaces(_ findings: inout Findings) throws {
    guard setting.chose(.listRead) else { return }
    let few = setting.inputs.places(sizes.listPasses, seed: 24)
    let many = setting.inputs.places(sizes.listReads, seed: 25)
    for (contender, file) in files {
      try findings.compare(Workload.listRead.title, file.read(at: few), contender)
      let places = file.findsPlaces ? many : few
      let samples = try (0..<3).map { _ in try Measure.seconds { _ = try file.read(at: places) } }
      Self.note(
        .listRead, contender, Measure.median(samples) / Double(places.count), setting, &findings)
    }
  }

  // MARK: - Small commits

  /// Makes all commits in turns, with the update of a number, with which they are compared.
  private func commit(
    _ update: Workload, _ append: Workload, _ insert: Workload, _ remove: Workload,
    _ findings: inout Findings, _ progress: (String) -> Void
  ) throws {
    guard setting.chose(anyOf: [update, append, insert, remove]) else { return }
    progress("relaxed commits to lists of \(lists.kind.rawValue)")
    let (appended, inserted, removed) = (
      setting.inputs.listChanges(sizes.listCommits, seed: 26),
      setting.inputs.listChanges(sizes.listCommits, seed: 28),
      setting.inputs.places(sizes.listCommits, seed: 30)
    )
    var random = SplitMix64(seed: 31)
    let owners = (0..<sizes.listCommits).map { _ in random.next(below: lists.owners) }
    var all: [(workload: Workload, contender: Contender, series: CommitSeries)] = []
    for (contender, file) in files where file.hasRelaxedCommits {
      try file.prepareSmallCommits()
      all += [
        (update, CommitSeries(file, .relaxed) { try file.setNumber(Int64($0), of: owners[$0]) }),
        (append, CommitSeries(file, .relaxed) { try file.append(appended[$0].element) }),
        (
          insert,
          CommitSeries(file, .relaxed) { try file.insert(inserted[$0].element, at: inserted[$0].place) }
        ),
        (remove, CommitSeries(file, .relaxed) { try file.remove(at: removed[$0]) }),
      ].filter { setting.chose($0.0) || $0.0 == update }.map { ($0.0, contender, $0.1) }
    }
    try CommitSeries.runInTurns(all.map(\.series), count: sizes.listCommits)
    var updates: [Contender: Outcome] = [:]
    for (workload, contender, series) in all {
      var outcome = series.outcome
      if workload == update { updates[contender] = outcome }
      if workload != update, let number = updates[contender] {
        outcome.values += [(.ratio, .p50Microseconds), (.meanRatio, .meanMicroseconds)].compactMap {
          (ratio: Metric, of: Metric) in
          guard let mine = outcome.value(of), let its = number.value(of) else { return nil }
          return (ratio, mine / its)
        }
      }
      if setting.chose(workload) { try findings.note(workload, contender, outcome) }
    }
  }
}
