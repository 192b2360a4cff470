import Foundation

/// The median of a workload's rounds.
struct Sample {
  struct Kind: Hashable {
    let workload: Workload
    let contender: Contender
    let metric: Metric
  }

  let kind: Kind
  let value: Double
}

/// The results of a run, for people and for programs.
struct Report {
  let contenders: [Contender]
  let count: Int
  private let values: [Sample.Kind: Double]

  init(_ samples: [Sample], contenders: [Contender], count: Int) {
    self.contenders = contenders
    self.count = count
    values = Dictionary(uniqueKeysWithValues: samples.map { ($0.kind, $0.value) })
  }

  /// The unit and the factor with which each metric is shown, in the order in which a workload's metrics are shown.
  private static let metrics: [(metric: Metric, unit: String, factor: Double)] = [
    (.seconds, "ms", 1_000), (.readingSeconds, "ms to read", 1_000), (.peakMebibytes, "MiB anon", 1),
    (.bytesPerObject, "B/object", 1),
    (.p50Microseconds, "µs p50", 1), (.p99Microseconds, "µs p99", 1),
    (.p999Microseconds, "µs p99.9", 1), (.meanMicroseconds, "µs mean", 1),
    (.nanosecondsPerRow, "ns/row", 1), (.nodeKibibytes, "KiB nodes", 1), (.movedKibibytes, "KiB moved", 1),
    (.metaKibibytes, "KiB meta", 1),
    (.growthKibibytes, "KiB growth", 1),
    (.writtenKibibytes, "KiB written", 1), (.fileMebibytes, "MiB", 1), (.ratio, "ratio", 1),
    (.meanRatio, "ratio mean", 1),
  ]

  // MARK: - A table

  /// The results as a table. In each row less is better. A ratio is our value divided by theirs, so ours is better
  /// below 1.
  var table: String {
    let ours = contenders.filter(\.isOurs)
    let peers = contenders.filter { !$0.isOurs }
    var header = ["#", "workload", "unit"] + contenders.map(\.label)
    for engine in ours where !peers.isEmpty {
      let key = engine.isEncrypted ? " +key" : ""
      if peers.contains(where: { $0.kind == .sqlite }) { header.append("/sqlite" + key) }
      header.append("/best" + key)
    }
    var rows = [header]
    for workload in Workload.allCases {
      for (metric, unit, factor) in Self.metrics {
        let cells = contenders.map { values[Sample.Kind(workload: workload, contender: $0, metric: metric)] }
        guard cells.contains(where: { $0 != nil }) else { continue }
        var row = [workload.rawValue, workload.title, unit]
        row += cells.map { $0.map { Self.number($0 * factor) } ?? "-" }
        for engine in ours where !peers.isEmpty { row += ratios(engine, to: peers, workload, metric) }
        rows.append(row)
      }
    }
    return Self.aligned(rows)
  }

  private func ratios(_ engine: Contender, to peers: [Contender], _ workload: Workload, _ metric: Metric)
    -> [String]
  {
    func ratio(to other: Double?) -> String {
      guard let own = value(workload, engine, metric), let other, other > 0 else { return "-" }
      return Self.number(own / other)
    }
    let best = ratio(to: peers.compactMap { value(workload, $0, metric) }.min())
    guard let sqlite = peers.first(where: { $0.kind == .sqlite }) else { return [best] }
    return [ratio(to: value(workload, sqlite, metric)), best]
  }

  /// A measured value; nil if it was not measured.
  func value(_ workload: Workload, _ contender: Contender, _ metric: Metric) -> Double? {
    values[Sample.Kind(workload: workload, contender: contender, metric: metric)]
  }

  /// The number with three digits, or with all digits before the decimal point.
  static func number(_ value: Double) -> String {
    let places = value >= 100 ? 0 : value >= 10 ? 1 : 2
    return String(format: "%.\(places)f", value)
  }

  static func aligned(_ rows: [[String]]) -> String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      row.indices.map { column in
        let space = String(repeating: " ", count: widths[column] - row[column].count)
        // Texts are aligned to the left and numbers to the right.
        return column < 3 ? row[column] + space : space + row[column]
      }.joined(separator: "  ")
    }.joined(separator: "\n")
  }

  // MARK: - JSON

  private struct Record: Encodable {
    let workload: String
    let engine: String
    let encrypted: Bool
    let metric: String
    let value: Double
    let count: Int
  }

  /// The results as JSON, with one record for each number of the table, in its order.
  var json: Data {
    get throws {
      var records: [Record] = []
      for workload in Workload.allCases {
        for (metric, _, _) in Self.metrics {
          for contender in contenders {
            guard let value = values[Sample.Kind(workload: workload, contender: contender, metric: metric)]
            else { continue }
            records.append(
              Record(
                workload: workload.rawValue, engine: contender.kind.rawValue,
                encrypted: contender.isEncrypted, metric: metric.rawValue, value: value, count: count))
          }
        }
      }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return try encoder.encode(records)
    }
  }
}
