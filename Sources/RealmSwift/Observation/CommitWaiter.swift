import Dispatch
import Foundation
import RealmStorage
import Synchronization

/// A thread that waits for commits of any process, for as long as it is needed. It does not keep the file open.
final class CommitWaiter: Sendable {
  private let database: Database
  private let isStopped = Atomic<Bool>(false)
  private let isOver = Atomic<Bool>(false)
  private let ended = DispatchSemaphore(value: 0)

  /// - Parameter didCommit: is called when there was a commit, and now and then; answers whether it is still waited for.
  init(_ database: Database, _ didCommit: @escaping @Sendable () -> Bool) {
    self.database = database
    let thread = Thread { self.run(didCommit) }
    thread.name = "io.realm.wait"
    thread.start()
  }

  var hasEnded: Bool { isOver.load(ordering: .acquiring) }

  private func run(_ didCommit: () -> Bool) {
    var seen = database.version
    while !isStopped.load(ordering: .acquiring) {
      do throws(StorageError) {
        // A wake-up may get lost, and who stops this waits for it.
        if let found = try database.waitForCommit(after: seen, timeout: .milliseconds(250)) { seen = found }
      } catch {
        // A forked child follows no versions.
        break
      }
      if isStopped.load(ordering: .acquiring) || !didCommit() { break }
    }
    isOver.store(true, ordering: .releasing)
    ended.signal()
  }

  /// Returns when the database is not used any more.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    if !hasEnded { database.wakeWaiting() }
    ended.wait()
    // Who stops it again does not wait.
    ended.signal()
  }
}
