/// Small commits of one engine, one after another, each measured by itself.
final class CommitSeries {
  private let engine: any Committing
  private let promise: Promise
  private let commit: (_ index: Int) throws -> Void
  private var seconds: [Double] = []
  private var written: WriteWatch

  /// The number of commits of one engine before the next engine's turn. It is so great that each engine finds the
  /// processor's caches as its own commits leave them, and so small that a disk that gets slower does so for all
  /// engines.
  private static let turn = 100

  init(_ engine: any Committing, _ promise: Promise, _ commit: @escaping (_ index: Int) throws -> Void) {
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
