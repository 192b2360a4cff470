/// What a measured number is.
enum Metric: String {
  case seconds
  /// To read the engine's files and do nothing with what they hold.
  case readingSeconds = "reading_s"
  case bytesPerObject = "bytes_per_object"
  case peakMebibytes = "peak_mib"
  case p50Microseconds = "p50_us"
  case p99Microseconds = "p99_us"
  case p999Microseconds = "p999_us"
  case meanMicroseconds = "mean_us"
  case nanosecondsPerRow = "row_ns"
  case fileMebibytes = "file_mib"
  /// For each commit: pages with nodes.
  case nodeKibibytes = "node_kib"
  /// Nodes that did not change and were moved, to make the file smaller.
  case movedKibibytes = "moved_kib"
  /// Meta pages.
  case metaKibibytes = "meta_kib"
  /// Zeros, for commits to come.
  case growthKibibytes = "growth_kib"
  /// All that the process handed to write calls: pages, log, whatever a checkpoint copies.
  case writtenKibibytes = "written_kib"
  /// Of a file to the fresh one, of a median to that of one process, of the time of two threads to twice that of one,
  /// of the median of commits to that of commits that update a number.
  case ratio
  /// Of the mean time of commits to that of commits that update a number.
  case meanRatio = "mean_ratio"
}

/// What one run of a workload found.
struct Outcome {
  var values: [(metric: Metric, value: Double)] = []
  /// What was read, to be compared with the other engines; nil where a workload reads nothing.
  var answer: Answer?
}

extension Outcome {
  /// The median of a few runs in a row: the short ones vary.
  static func timed(repeats: Int, _ body: () throws -> Answer) throws -> Outcome {
    var answer = Answer()
    let samples = try (0..<repeats).map { _ in try Measure.seconds { answer = try body() } }
    return Outcome(values: [(.seconds, Measure.median(samples))], answer: answer)
  }

  func value(_ metric: Metric) -> Double? { values.first { $0.metric == metric }?.value }

  init(percentilesOf seconds: [Double]) {
    values = [
      (.p50Microseconds, Measure.percentile(0.5, of: seconds) * 1e6),
      (.p99Microseconds, Measure.percentile(0.99, of: seconds) * 1e6),
      (.p999Microseconds, Measure.percentile(0.999, of: seconds) * 1e6),
      (.meanMicroseconds, seconds.reduce(0, +) / Double(seconds.count) * 1e6),
    ]
  }
}
