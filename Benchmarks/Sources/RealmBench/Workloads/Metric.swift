/// The kind of a measured number.
enum Metric: String {
  case seconds
  /// The time for reading the engine's files without using their content.
  case readingSeconds = "reading_s"
  case bytesPerObject = "bytes_per_object"
  case peakMebibytes = "peak_mib"
  case p50Microseconds = "p50_us"
  case p99Microseconds = "p99_us"
  case p999Microseconds = "p999_us"
  case meanMicroseconds = "mean_us"
  case nanosecondsPerRow = "row_ns"
  case fileMebibytes = "file_mib"
  /// The pages with nodes that a commit writes.
  case nodeKibibytes = "node_kib"
  /// The unchanged nodes that a commit moves to make the file smaller.
  case movedKibibytes = "moved_kib"
  /// The meta pages that a commit writes.
  case metaKibibytes = "meta_kib"
  /// The zeros that a commit writes for commits to come.
  case growthKibibytes = "growth_kib"
  /// Everything that the process passes to write calls for a commit: pages, log, and what a checkpoint copies.
  case writtenKibibytes = "written_kib"
  /// The ratio of a file to the fresh file, of a median to that of one process, of the time of two threads to twice the
  /// time of one, or of the median of commits to that of commits that update a number.
  case ratio
  /// The ratio of the mean time of commits to that of commits that update a number.
  case meanRatio = "mean_ratio"
}

/// The result of one run of a workload.
struct Outcome {
  var values: [(metric: Metric, value: Double)] = []
  /// The answer of what was read, to be compared with the other engines; nil if a workload reads nothing.
  var answer: Answer?
}

extension Outcome {
  /// The median of a few runs in a row, because short runs vary.
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
