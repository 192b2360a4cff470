import Foundation

/// The workloads on queries: indexes, lists, subqueries, texts without regard to case and diacritics, and the time
/// before a query runs.
struct QueryStage: Stage {
  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws {
    let chosen = Workload.queries.filter(setting.chose)
    guard !chosen.isEmpty else { return }
    let inputs = QueryInputs(count: setting.inputs.count)
    try setting.withFolder("queries") { folder in
      var files: [(contender: Contender, file: any QueryFile)] = []
      for contender in setting.contenders where contender.hasCollections {
        progress("Persons, notes and humans, \(contender.label)")
        let home = folder + "/" + contender.label
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        guard let file = try contender.openQueries(in: home, count: inputs.count) else { continue }
        try file.fill(inputs)
        files.append((contender, file))
      }
      for workload in chosen {
        progress(workload.title)
        for (contender, file) in files {
          guard let outcome = try measure(workload, file, inputs) else { continue }
          try findings.note(workload, contender, outcome)
          // A comparison that ignores case and diacritics finds the same titles as one by bytes, because no name has
          // the part in other letters.
          if Workload.titles.contains(workload), let answer = outcome.answer {
            try findings.compare("titles with a part", answer, contender)
          }
        }
      }
      for (_, file) in files { try file.close() }
    }
  }

  /// Measures a workload; the result is nil if the engine has no such operation.
  private static func measure(
    _ workload: Workload, _ file: any QueryFile, _ inputs: QueryInputs
  ) throws -> Outcome? {
    if workload == .prepareConditions { return try preparation(file) }
    // The first run does not count, because it also reads each page that the query needs.
    guard try ask(workload, file, inputs) != nil else { return nil }
    return try Outcome.timed(repeats: 3) { try ask(workload, file, inputs) ?? Answer() }
  }

  private static func ask(
    _ workload: Workload, _ file: any QueryFile, _ inputs: QueryInputs
  ) throws -> Answer? {
    switch workload {
    case .listRange: try file.list(createdIn: inputs.ranges, asTwo: false)
    case .listRangeAsTwo: try file.list(createdIn: inputs.ranges, asTwo: true)
    case .listPrefix: try file.list(namedFrom: inputs.prefixes)
    case .listOneIndex: try file.list(ages: inputs.pairs.map(\.age)).map { Answer($0) }
    case .listIndexAndTest: try file.list(inputs.pairs, areBothIndexed: false)
    case .listTwoIndexes: try file.list(inputs.pairs, areBothIndexed: true)
    case .countAnyTag: Answer(try file.countNotes(tagged: inputs.tag))
    case .countSubquery: Answer(try file.countHumans(withDogs: 2, olderThan: 5))
    case .countTitles:
      try file.countTitles(containing: inputs.part, isFolded: false, areAccented: false).map { Answer($0) }
    case .countTitlesFolded:
      try file.countTitles(containing: inputs.foldedPart, isFolded: true, areAccented: false).map {
        Answer($0)
      }
    case .countAccentsFolded:
      try file.countTitles(containing: inputs.foldedPart, isFolded: true, areAccented: true).map {
        Answer($0)
      }
    default: nil
    }
  }

  /// Measures the preparation of conditions, as the median of a hundred runs of a hundred preparations each.
  private static func preparation(_ file: any QueryFile) throws -> Outcome {
    let number = 100
    let samples = try (0..<100).map { _ in
      try Measure.seconds { for _ in 0..<number { try file.prepareConditions() } } / Double(number)
    }
    return Outcome(values: [(.p50Microseconds, Measure.median(samples) * 1e6)])
  }
}
