import Dispatch
import Foundation
import RealmStorage
import Synchronization

/// A thread that waits for commits of any process, for as long as it is needed. It does not keep the file open.
final class CommitWaiter: Sendable {
  private let database: Database
  private let isStopped = Atomic<Bool>(false)
  private let ended = DispatchSemaphore(value: 0)

  /// - Parameter goOn: is called after a commit, with true, and now and then; answers whether it is still waited for.
  init(_ database: Database, _ goOn: @escaping @Sendable (_ isNewer: Bool) -> Bool) {
    self.database = database
    // Read here: the thread may begin after a commit that nobody else looks for.
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
        // A forked child follows no versions.
        isOver = true
      }
    }
    ended.signal()
  }

  /// Returns when the database is not used any more.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    // In a forked child there is no such thread.
    guard !database.isForked else { return }
    database.wakeWaiting()
    ended.wait()
    // Who stops it again does not wait.
    ended.signal()
  }
}
