import Foundation
import Synchronization

/// The phases of redb's benchmark. One file of keys and values goes through all of them, in the first round only,
/// because they take as long as all other workloads.
struct KeyValueStage: Stage {
  private let contender: Contender
  private let sizes: Inputs.Sizes
  private let folder: String
  private let file: any KeyValueFile
  private var pairs = 0

  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws {
    guard setting.round == 1, setting.chose(anyOf: Set(Workload.keyValues)) else { return }
    for contender in setting.contenders {
      progress("keys and values, \(contender.label)")
      try setting.withFolder("pairs") { folder in
        guard let file = try contender.openKeyValues(in: folder) else { return }
        var stage = KeyValueStage(
          contender: contender, sizes: setting.inputs.sizes, folder: folder, file: file)
        // All phases run, whichever were chosen, because each finds the file as the phases before it left it.
        for phase in Workload.keyValues {
          let outcome = try stage.run(phase, setting)
          if setting.chose(phase) { try findings.note(phase, contender, outcome) }
        }
        try file.close()
      }
    }
  }

  private init(contender: Contender, sizes: Inputs.Sizes, folder: String, file: any KeyValueFile) {
    self.contender = contender
    self.sizes = sizes
    self.folder = folder
    self.file = file
  }

  private mutating func run(_ phase: Workload, _ setting: Setting) throws -> Outcome {
    switch phase {
    case .loadPairs: return try insert(commits: 1, of: sizes.pairs, .durable)
    case .singlePairs: return try insert(commits: sizes.pairCommits, of: 1, .durable)
    case .pairBatches: return try insert(commits: sizes.pairBatches, of: 1_000, .durable)
    case .relaxedPairs: return try insert(commits: sizes.relaxedPairs, of: 1, .relaxed)
    case .readPairs: return try read(threads: 1)
    case .readPairs4: return try read(threads: 4)
    case .readPairs32: return try read(threads: 32)
    case .scanPairs:
      let keys = keys(sizes.pairScans, seed: 6)
      return try Outcome.timed(repeats: 1) { try file.scan(from: keys, count: 10) }
    case .removePairs:
      let keys = (0..<pairs / 2).map { KeyValues.key($0) }
      let seconds = try Measure.seconds { try file.remove(keys) }
      return Outcome(values: [(.seconds, seconds)], answer: Answer(try file.count()))
    case .pairFile: return Outcome(values: [(.fileMebibytes, try mebibytes(folder))])
    default:
      let size = try setting.withFolder("compacted") { copy in
        try mebibytes(try file.compact(to: copy) ? copy : folder)
      }
      return Outcome(values: [(.fileMebibytes, size)])
    }
  }

  private mutating func insert(commits: Int, of size: Int, _ promise: Promise) throws -> Outcome {
    var seconds = 0.0
    for _ in 0..<commits {
      var source = PairSource(pairs..<pairs + size)
      seconds += try Measure.seconds { try file.insert(&source, promise) } - source.seconds
      pairs += size
    }
    return Outcome(values: [(.seconds, seconds)])
  }

  /// All threads together read as many keys as one thread alone.
  private func read(threads: Int) throws -> Outcome {
    let keys = keys(sizes.pairReads, seed: 5)
    guard threads > 1 else { return try Outcome.timed(repeats: 3) { try file.read(keys) } }
    let share = keys.count / threads
    let parts = (0..<threads).map { Array(keys[$0 * share..<($0 + 1) * share]) }
    let shared = Committers.Shared(value: file)
    return try Outcome.timed(repeats: 3) {
      try InParallel.run(parts) { try shared.value.read($0) }.reduce(into: Answer()) { $0.add($1) }
    }
  }

  private func keys(_ number: Int, seed: UInt64) -> [[UInt8]] {
    var random = SplitMix64(seed: seed)
    return (0..<number).map { _ in KeyValues.key(random.next(below: pairs)) }
  }

  private func mebibytes(_ folder: String) throws -> Double {
    Double(try Measure.size(of: folder)) / 1_048_576
  }
}

/// Threads that work at the same time, each on its own input.
enum InParallel {
  static func run<Input: Sendable, Result: Sendable>(
    _ inputs: [Input], _ body: @escaping @Sendable (Input) throws -> Result
  ) throws -> [Result] {
    let results = Mutex<[Swift.Result<Result, any Error>]>([])
    let group = DispatchGroup()
    for input in inputs {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        let result = Swift.Result { try body(input) }
        results.withLock { $0.append(result) }
      }
    }
    group.wait()
    return try results.withLock { $0 }.map { try $0.get() }
  }
}
