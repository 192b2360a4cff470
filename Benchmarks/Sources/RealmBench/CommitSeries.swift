/// Small commits of one engine, one after another, each measured by itself.
final class CommitSeries {
  private let engine: any Engine
  private let promise: Promise
  private let commit: (_ index: Int) throws -> Void
  private var seconds: [Double] = []
  private var written: WriteWatch

  /// Commits of one engine before it is the next one's turn: so many that each finds the processor's caches as its own
  /// commits leave them, and so few that a disk that gets slower does so for all.
  private static let turn = 100

  init(_ engine: any Engine, _ promise: Promise, _ commit: @escaping (_ index: Int) throws -> Void) {
    self.engine = engine
    self.promise = promise
    self.commit = commit
    written = WriteWatch(engine)
  }

  static func runInTurns(_ all: [CommitSeries], count: Int) throws {
    for start in stride(from: 0, to: count, by: turn) {
      for series in all { try series.run(start..<min(start + turn, count)) }
    }
  }

  private func run(_ indices: Range<Int>) throws {
    engine.promise = promise
    written.begin()
    for index in indices { seconds.append(try Measure.seconds { try commit(index) }) }
    written.end()
    engine.promise = .durable
  }

  var outcome: Outcome {
    var outcome = Outcome(percentilesOf: seconds)
    outcome.values += written.values(perCommitOf: seconds.count)
    return outcome
  }
}

/// What an engine writes while it is watched.
struct WriteWatch {
  private let engine: any Engine
  private var before: (process: Int?, engine: WrittenBytes?)
  /// By what the process handed to write calls, and by what the engine tells of it.
  private var process: Int?
  private var parts: WrittenBytes?

  init(_ engine: any Engine) { self.engine = engine }

  mutating func begin() { before = (Measure.writtenBytes, engine.written) }

  mutating func end() {
    if let old = before.process, let new = Measure.writtenBytes { process = (process ?? 0) + new - old }
    guard let old = before.engine, let new = engine.written else { return }
    var sum = parts ?? WrittenBytes(nodes: 0, moved: 0, meta: 0, growth: 0)
    sum.nodes += new.nodes - old.nodes
    sum.moved += new.moved - old.moved
    sum.meta += new.meta - old.meta
    sum.growth += new.growth - old.growth
    parts = sum
  }

  func values(perCommitOf count: Int) -> [(metric: Metric, value: Double)] {
    var bytes: [(Metric, Int)] = []
    if let parts {
      bytes += [
        (.nodeKibibytes, parts.nodes), (.movedKibibytes, parts.moved), (.metaKibibytes, parts.meta),
        (.growthKibibytes, parts.growth),
      ]
    }
    if let process { bytes.append((.writtenKibibytes, process)) }
    return bytes.map { ($0.0, Double($0.1) / 1024 / Double(count)) }
  }
}
