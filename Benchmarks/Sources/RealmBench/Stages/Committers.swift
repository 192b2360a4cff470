import Foundation
import Synchronization

/// Threads that commit at the same time. Each commits one change after another.
enum Committers {
  /// The time of all commits together, and the time of each commit.
  struct Times {
    var seconds: Double
    var commits: [Double]
  }

  /// Passes a value that is not Sendable to several threads. The threads must make sure that only one of them uses it
  /// at a time.
  struct Shared<Value>: @unchecked Sendable {
    // This is Sendable under the condition above.
    let value: Value
  }

  /// Runs a thread for each list of changes. Each thread calls `committer` before any of them begins, and then commits
  /// its changes one by one by the closure that it returns.
  static func run(
    _ changes: [[ScoreChange]], _ committer: @escaping @Sendable () throws -> (ScoreChange) throws -> Void
  ) throws -> Times {
    let commits = Mutex<[Double]>([])
    let failures = Mutex<[any Error]>([])
    let (group, ready, start) = (DispatchGroup(), DispatchGroup(), DispatchSemaphore(value: 0))
    for own in changes {
      group.enter()
      ready.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        let commit = Result { try committer() }
        ready.leave()
        start.wait()
        do {
          let commit = try commit.get()
          var samples: [Double] = []
          for change in own { samples.append(try Measure.seconds { try commit(change) }) }
          commits.withLock { $0 += samples }
        } catch {
          failures.withLock { $0.append(error) }
        }
      }
    }
    ready.wait()
    let seconds = Measure.seconds {
      for _ in changes { start.signal() }
      group.wait()
    }
    if let failure = failures.withLock({ $0.first }) { throw failure }
    return Times(seconds: seconds, commits: commits.withLock { $0 })
  }
}

/// Batches the commits of many threads for an engine that does not do so itself. A thread that finds no leader becomes
/// the leader, puts all waiting changes into one transaction, and tells each thread the result.
final class CommitQueue: @unchecked Sendable {
  // This is Sendable because everything except `commit` is used only under `condition`, and one leader at a time calls
  // `commit`.
  private let commit: (ArraySlice<ScoreChange>) throws -> Void
  private let condition = NSCondition()
  private var waiting: [ScoreChange] = []
  /// The number of changes that were asked for, and the number of changes that were committed, in the same order.
  private var asked = 0
  private var done = 0
  private var isLed = false
  private var failure: (any Error)?

  init(_ commit: @escaping (ArraySlice<ScoreChange>) throws -> Void) { self.commit = commit }

  func add(_ change: ScoreChange) throws {
    condition.lock()
    defer { condition.unlock() }
    waiting.append(change)
    asked += 1
    let own = asked
    while done < own, failure == nil {
      if isLed {
        condition.wait()
      } else {
        lead()
      }
    }
    if let failure { throw failure }
  }

  private func lead() {
    isLed = true
    let taken = waiting
    waiting = []
    condition.unlock()
    let result = Result { try commit(taken[...]) }
    condition.lock()
    if case .failure(let error) = result { failure = error }
    done += taken.count
    isLed = false
    condition.broadcast()
  }
}

extension Engine {
  /// Commits from many threads through a queue, which makes one transaction of the waiting changes.
  func commitFromThreads(_ changes: [[ScoreChange]]) throws -> Committers.Times {
    let engine = Committers.Shared(value: self)
    let queue = CommitQueue { try engine.value.setScores($0) }
    return try Committers.run(changes) { { try queue.add($0) } }
  }
}
