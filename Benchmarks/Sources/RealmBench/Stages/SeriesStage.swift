import Foundation

/// What a row costs in a table that grows: of `realm-storage` alone, and in the first round only.
struct SeriesStage: Stage {
  private let contender: Contender
  private let setting: Setting
  private var million: Int { setting.inputs.sizes.million }

  /// Rows of each commit, of those that are many.
  private static let commit = 10_000

  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws {
    guard setting.round == 1, setting.chose(anyOf: Workload.series) else { return }
    for contender in setting.contenders where contender.kind == .realmStorage {
      let stage = SeriesStage(contender: contender, setting: setting)
      progress("a growing table, \(contender.label)")
      try stage.commits(.ascendingKeys, .ascendingKeysLater, keys: .ascending, &findings)
      try stage.commits(.uuidKeys, .uuidKeysLater, keys: .uuids, &findings)
      for (workload, count) in [
        (Workload.scrambledFew, stage.million / 10), (.scrambled, stage.million),
        (.scrambledMany, stage.million * 10),
      ] where setting.chose(workload) {
        try stage.series(.scrambled) { series in
          stage.note(
            workload, count, try Measure.seconds { try series.insert(0..<count, of: count) }, &findings)
          try findings.compare(workload.title, Answer(series.count()), contender)
        }
      }
    }
  }

  /// Ten million rows in commits of ten thousand: the time of the first million, and that of the last.
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
            try series.insert(start..<min(start + Self.commit, rows.upperBound), of: 10 * million)
          }
        }
        guard let workload = part == 0 ? first : part == 9 ? last : nil, setting.chose(workload) else {
          continue
        }
        note(workload, million, seconds, &findings)
        let bytes = Double(series.writtenNodeBytes - written)
        findings.note(
          workload, contender, .nodeKibibytes, bytes / 1024 / Double(million) * Double(Self.commit))
      }
      try findings.compare(last.title, Answer(series.count()), contender)
    }
  }

  private func series(_ keys: SeriesKeys, _ body: (StorageSeries) throws -> Void) throws {
    try setting.withFolder("series") { folder in
      let series = try StorageSeries(folder: folder, isEncrypted: contender.isEncrypted, keys: keys)
      try body(series)
      series.close()
    }
  }

  private func note(_ workload: Workload, _ rows: Int, _ seconds: Double, _ findings: inout Findings) {
    guard setting.chose(workload) else { return }
    findings.note(workload, contender, .nanosecondsPerRow, seconds / Double(rows) * 1e9)
  }
}
