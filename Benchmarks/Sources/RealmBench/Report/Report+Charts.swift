/// The figures of a run as charts. They compare each engine with SQLite through its C API.
extension Report {
  /// The file name of a chart and its content.
  private struct Group {
    let name: String
    let title: String
    let workloads: [Workload]
    /// The metrics that can stand for a workload. The first one that the workload has is used.
    var metrics: [Metric] = [.seconds, .p50Microseconds, .bytesPerObject, .fileMebibytes]
  }

  private static let groups = [
    Group(
      name: "reading", title: "Reading: times as fast as SQLite",
      workloads: [
        .lookUp, .lookUpTogether, .iterate, .iterateStrings, .iterateEvicted, .countAge, .countActive,
        .countEmail,
        .countNames,
        .countNamesIgnoringCase,
        .countCities, .sort, .sortLimited, .aggregate, .countIDs, .countAges, .ownerNames,
        .backlinks, .countByOwner, .open, .openAfterKill, .openSmall,
      ]),
    Group(
      name: "writing", title: "Writing: times as fast as SQLite, small commits at the median",
      workloads: [
        .bulkInsert, .update, .insert, .relaxedUpdate, .steadyUpdate, .steadyInsert, .threads8, .threads32,
        .raiseScores, .deleteInactive,
      ]),
    Group(
      name: "slowest", title: "The slowest of a hundred small commits: times as fast as SQLite",
      workloads: [.update, .insert, .relaxedUpdate, .steadyUpdate, .steadyInsert, .threads8, .threads32],
      metrics: [.p99Microseconds]),
    Group(
      name: "space", title: "Files: times as small as SQLite's",
      workloads: [
        .fileSize, .compactedSize, .freshFile, .pinnedReader, .releasedReader, .pinnedReaders, .smallFile,
        .pairFile, .pairFileCompacted,
      ]),
    Group(
      name: "pairs", title: "Keys and values: times as fast as SQLite", workloads: Workload.keyValues,
      metrics: [.seconds]),
    Group(
      name: "collections", title: "Collections: times as fast as SQLite, and as small",
      workloads: Workload.lists + [.setContains, .mapValue],
      metrics: [.nanosecondsPerRow, .p50Microseconds, .seconds, .bytesPerObject]),
  ]

  /// The charts of what was measured, by file name. There are none if the run left SQLite out, because there is nothing
  /// to compare with.
  var charts: [(name: String, svg: String)] {
    guard let sqlite = contenders.first(where: { $0.kind == .sqlite }) else { return [] }
    let others = contenders.filter { $0 != sqlite }
    return Self.groups.compactMap { group in
      let rows = group.workloads.compactMap { workload -> Chart.Row? in
        guard let metric = group.metrics.first(where: { value(workload, sqlite, $0) != nil }),
          let peer = value(workload, sqlite, metric)
        else { return nil }
        let bars = others.compactMap { contender in
          value(workload, contender, metric).map { (engine: contender.label, factor: peer / $0) }
        }
        return bars.isEmpty ? nil : Chart.Row(label: workload.title, bars: bars)
      }
      guard !rows.isEmpty else { return nil }
      let chart = Chart(title: group.title, rows: rows, engines: Self.coloured(others))
      return (group.name + ".svg", chart.svg)
    }
  }

  /// The engines with their colours. Ours have warm colours, and the others have cold ones.
  private static func coloured(_ contenders: [Contender]) -> [(label: String, colour: String)] {
    var (warm, cold) = (
      ["#c2410c", "#fb923c", "#7f1d1d", "#fca5a5"][...], ["#0f766e", "#64748b", "#1d4ed8"][...]
    )
    return contenders.map { ($0.label, ($0.isOurs ? warm.popFirst() : cold.popFirst()) ?? "black") }
  }
}
