import Foundation

/// Measures the cost of a row in a growing table. It runs in the first round only, because it takes long.
struct SeriesStage: Stage {
  private let contender: Contender
  private let setting: Setting
  private var million: Int { setting.inputs.sizes.million }

  /// The number of rows of each commit in workloads with many commits.
  private static let commit = 10_000

  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws {
    guard setting.round == 1, setting.chose(anyOf: Workload.series) else { return }
    for contender in setting.contenders where contender.hasRecords {
      let stage = SeriesStage(contender: contender, setting: setting)
      progress("a growing table, \(contender.label)")
      try stage.commits(.ascendingKeys, .ascendingKeysLater, keys: .ascending, &findings)
      try stage.commits(.uuidKeys, .uuidKeysLater, keys: .uuids, &findings)
      for (workload, count) in [
        (Workload.scrambledFew, stage.million / 10), (.scrambled, stage.million),
        (.scrambledMany, stage.million * 10),
      ] where setting.chose(workload) {
        try stage.series(.scrambled) { series in
          let rows = SeriesRows(keys: .scrambled, places: 0..<count, count: count)
          stage.note(workload, count, try Measure.seconds { try series.insert(rows) }, &findings)
          try stage.compare(workload, series, rows, &findings)
        }
      }
    }
  }

  /// Adds ten million rows in commits of ten thousand. The results are the times of the first million and of the last.
  private func commits(_ first: Workload, _ last: Workload, keys: SeriesKeys, _ findings: inout Findings)
    throws
  {
    guard setting.chose(anyOf: [first, last]) else { return }
    try series(keys) { series in
      for part in 0..<10 {
        let rows = part * million..<(part + 1) * million
        let written = series.writtenNodeBytes
        let seconds = try Measure.seconds {
          for start in stride(from: rows.lowerBound, to: rows.upperBound, by: Self.commit) {
            let places = start..<min(start + Self.commit, rows.upperBound)
            try series.insert(SeriesRows(keys: keys, places: places, count: 10 * million))
          }
        }
        guard let workload = part == 0 ? first : part == 9 ? last : nil, setting.chose(workload) else {
          continue
        }
        note(workload, million, seconds, &findings)
        if let before = written, let after = series.writtenNodeBytes {
          let kibibytes = Double(after - before) / 1024 / Double(million) * Double(Self.commit)
          findings.note(workload, contender, .nodeKibibytes, kibibytes)
        }
      }
      let all = SeriesRows(keys: keys, places: 0..<10 * million, count: 10 * million)
      try compare(last, series, all, &findings)
    }
  }

  private func compare(
    _ workload: Workload, _ series: any SeriesTable, _ rows: SeriesRows, _ findings: inout Findings
  ) throws {
    try findings.compare(workload.title, series.read(rows), contender)
    try findings.compare(workload.title + ", count", Answer(series.count()), contender)
  }

  private func series(_ keys: SeriesKeys, _ body: (any SeriesTable) throws -> Void) throws {
    try setting.withFolder("series") { folder in
      guard let series = try contender.openSeries(in: folder, keys: keys) else { return }
      try body(series)
      try series.close()
    }
  }

  private func note(_ workload: Workload, _ rows: Int, _ seconds: Double, _ findings: inout Findings) {
    guard setting.chose(workload) else { return }
    findings.note(workload, contender, .nanosecondsPerRow, seconds / Double(rows) * 1e9)
  }
}
