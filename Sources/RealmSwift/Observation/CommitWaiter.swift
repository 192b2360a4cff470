import Dispatch
import Foundation
import RealmStorage
import Synchronization

/// A thread that waits for commits of any process as long as it is needed. It does not keep the file open.
final class CommitWaiter: Sendable {
  private let database: Database
  private let isStopped = Atomic<Bool>(false)
  private let ended = DispatchSemaphore(value: 0)

  /// - Parameter goOn: is called with true after commits, and with false when a second has passed without a commit. The
  ///   thread ends when it returns false.
  init(_ database: Database, _ goOn: @escaping @Sendable (_ isNewer: Bool) -> Bool) {
    self.database = database
    // The version is read here, because there may be a commit before the thread runs, and nothing else looks for it.
    let seen = database.version
    let thread = Thread { self.run(seen, goOn) }
    thread.name = "io.realm.wait"
    thread.start()
  }

  private func run(_ first: UInt64, _ goOn: (Bool) -> Bool) {
    var seen = first
    var isOver = false
    while !isOver {
      do throws(StorageError) {
        let found = try database.waitForCommit(after: seen, timeout: .seconds(1)) {
          isStopped.load(ordering: .acquiring)
        }
        if let found { seen = found }
        isOver = isStopped.load(ordering: .acquiring) || !goOn(found != nil)
      } catch {
        // A forked child can't wait, and follows no versions.
        isOver = true
      }
    }
    ended.signal()
  }

  /// Ends the thread, and returns when the thread no longer uses the database.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    // A forked child does not have the thread.
    guard !database.isForked else { return }
    database.wakeWaiting()
    ended.wait()
    // A second call does not wait for the thread again.
    ended.signal()
  }
}
