import Foundation
import RealmStorage
import Synchronization
import RealmTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Waits for each commit, and reports its version and the time of the wake.
struct Waiter {
  let path: String
  let isEncrypted: Bool

  func run() throws {
    let database = try Database(path: path, options: options(isEncrypted: isEncrypted))
    var version = try database.snapshot().version
    WorkerCommand.say("\(version)")
    while let next = try database.waitForCommit(after: version, timeout: .seconds(600)) {
      let time = Self.now
      guard next > version, try database.snapshot().version >= next else {
        throw Violation("woken by version \(next) after \(version)")
      }
      version = next
      WorkerCommand.say("\(version) \(time)")
    }
    throw Violation("nothing came after version \(version)")
  }

  /// The time in nanoseconds, by a clock that all processes share.
  static var now: UInt64 { Clock.steady }
}

/// Two other processes and a thread of this process wait for commits. If they keep pace, each commit wakes all of them.
/// If they do not, they still learn of the last commit.
struct Wakes {
  let part: Part

  private var commits: Int { part.isQuick ? 1000 : 10_000 }
  /// The number of commits in a state. It is small, so that a hang is noticed in time.
  private static let batch = 500

  func run() throws {
    var latencies: [UInt64] = []
    try withScenes { scene in
      let database = try scene.open()
      let waiters = try [scene.spawn(.wait), scene.spawn(.wait)]
      for waiter in waiters { _ = try waiter.line() }
      let thread = WaitingThread(try scene.open(), after: try database.snapshot().version)
      for batch in 0..<commits / Self.batch {
        try part.state("encrypted \(scene.isEncrypted), one by one, \(batch)") {
          for _ in 0..<Self.batch { try oneByOne(database, waiters, &latencies) }
        }
      }
      try part.state("encrypted \(scene.isEncrypted), as they come") {
        let last = try freely(database, waiters)
        try thread.await(last)
      }
      try part.state("encrypted \(scene.isEncrypted), a wait without commits") { try waitInVain(database) }
      for waiter in waiters { try waiter.crash() }
      database.close()
    }
    latencies.sort()
    part.figures = [
      ("wakes", latencies.count), ("medianMicroseconds", Int(latencies[latencies.count / 2] / 1000)),
      ("p99Microseconds", Int(latencies[latencies.count * 99 / 100] / 1000)),
    ]
  }

  private func commit(_ database: Database) throws -> UInt64 {
    let transaction = try database.beginWrite()
    try transaction.tree("wakes").set(Array("\(transaction.base.number)".utf8), for: [0])
    return try transaction.commit(.relaxed)
  }

  private func oneByOne(_ database: Database, _ waiters: [Child], _ latencies: inout [UInt64]) throws {
    let version = try commit(database)
    let returned = Waiter.now
    for waiter in waiters {
      let (seen, time) = try Self.wake(waiter)
      guard seen == version else {
        throw Violation("commit \(version) woke process \(waiter.process) as \(seen)")
      }
      // A waiter may be faster than the return of the commit. Its latency counts as 0.
      latencies.append(time > returned ? time - returned : 0)
    }
  }

  private func freely(_ database: Database, _ waiters: [Child]) throws -> UInt64 {
    var last: UInt64 = 0
    for _ in 0..<commits { last = try commit(database) }
    for waiter in waiters {
      var seen: UInt64 = 0
      while seen < last {
        let (next, _) = try Self.wake(waiter)
        guard next > seen, next <= last else { throw Violation("version \(next) comes after \(seen)") }
        seen = next
      }
    }
    return last
  }

  private static func wake(_ waiter: Child) throws -> (version: UInt64, time: UInt64) {
    let words = try waiter.line().split(separator: " ").compactMap { UInt64($0) }
    guard words.count == 2 else { throw Violation("process \(waiter.process) tells no version") }
    return (words[0], words[1])
  }

  private func waitInVain(_ database: Database) throws {
    let (version, start) = (try database.snapshot().version, ContinuousClock.now)
    let next = try database.waitForCommit(after: version, timeout: .seconds(0.05))
    let time = start.duration(to: .now)
    guard next == nil, time > .milliseconds(45), time < .seconds(5) else {
      throw Violation("a wait of 50 ms ended after \(time) with version \(next ?? 0)")
    }
    guard try database.waitForCommit(after: version - 1, timeout: .seconds(10)) == version else {
      throw Violation("version \(version), which is there, is waited for")
    }
  }
}

/// A thread of the writing process that waits like the other processes, on its own handle.
private final class WaitingThread: Sendable {
  private let seen = Mutex<(version: UInt64, problem: String?)>((0, nil))

  init(_ database: Database, after version: UInt64) {
    Thread.detachNewThread {
      var version = version
      do {
        while let next = try database.waitForCommit(after: version, timeout: .seconds(2)) {
          let isOrdered = next > version
          version = next
          self.seen.withLock { $0 = (next, isOrdered ? $0.problem : "a thread is woken by an old version") }
        }
      } catch {
        self.seen.withLock { $0.problem = "\(error)" }
      }
    }
  }

  func await(_ version: UInt64) throws {
    while true {
      let (newest, problem) = seen.withLock { $0 }
      if let problem { throw Violation(problem) }
      if newest == version { return }
      Thread.sleep(forTimeInterval: 0.001)
    }
  }
}
