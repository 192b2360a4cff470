/// The bytes that an engine writes while it is watched.
struct WriteWatch {
  private let engine: any Committing
  private var before: (process: Int?, engine: WrittenBytes?)
  /// The bytes that the process passed to write calls, and the bytes that the engine reports.
  private var process: Int?
  private var parts: WrittenBytes?

  init(_ engine: any Committing) { self.engine = engine }

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
