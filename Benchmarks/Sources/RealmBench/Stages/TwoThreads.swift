import Foundation
import Synchronization

/// Compares a reading that one thread does with the same reading by two threads at once, each of which does all of it.
struct TwoThreads {
  let engine: any Engine
  let setting: Setting
  let contender: Contender

  private static let repeats = 3

  func run(_ ask: @escaping @Sendable (any Engine) throws -> Answer) throws -> Outcome {
    let (ready, begin, done) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let failure = Mutex<(any Error)?>(nil)
    let (given, open) = (Committers.Shared(value: engine), opener)
    // Each thread opens its own engine, because a realm belongs to the thread that opened it.
    Thread.detachNewThread {
      do {
        let engine = try open() ?? given.value
        // The first reading of the file is not measured.
        _ = try ask(engine)
        for _ in 0..<Self.repeats {
          ready.signal()
          begin.wait()
          _ = try ask(engine)
          done.signal()
        }
        if engine !== given.value { try engine.close() }
      } catch {
        failure.withLock { $0 = error }
      }
      for semaphore in [ready, done] { for _ in 0...Self.repeats { semaphore.signal() } }
    }
    var answer = Answer()
    var (alone, together): ([Double], [Double]) = ([], [])
    for _ in 0..<Self.repeats {
      ready.wait()
      alone.append(try Measure.seconds { answer = try ask(engine) })
      together.append(
        try Measure.seconds {
          begin.signal()
          _ = try ask(engine)
          done.wait()
        })
    }
    ready.wait()
    if let error = failure.withLock({ $0 }) { throw error }
    let seconds = Measure.median(together)
    return Outcome(
      values: [(.seconds, seconds), (.ratio, seconds / (2 * Measure.median(alone)))], answer: answer)
  }

  /// Opens the file once more; nil for engines that two threads may use at once.
  private var opener: @Sendable () throws -> (any Engine)? {
    let (contender, home, count) = (contender, setting.home(contender), setting.inputs.count)
    return switch contender.kind {
    case .realmStorage, .grdb, .lmdb: { nil }
    case .realmObjects, .sqlite: { try contender.open(in: home, count: count) }
    }
  }
}
