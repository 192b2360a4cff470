import RealmStorage
import Synchronization

/// Keeps a session for realms and collections, which refer to it from outside. Objects come and go more often, so they
/// are only counted.
///
/// The session refers weakly to its last life, and nothing refers weakly to the session. If there is a weak reference
/// to an object, counting the references to it takes several times as long, and the session is used at every read.
final class SessionLife: @unchecked Sendable {
  // Sendable: a life never changes, and only the owner of the session uses the session.
  let session: RealmSession

  init(_ session: RealmSession) {
    self.session = session
    session.holders.add()
  }

  deinit { session.removeHolder() }
}

/// Watches the versions that a session shows, on behalf of the observers of the session. Only the scheduler of the
/// session uses it.
protocol SessionWatcher: AnyObject {
  /// Whether the watcher moves the session to newer versions when it calls its observers. Nothing else moves the
  /// session then.
  var movesSession: Bool { get }
  /// The rows that a plan finds in the version that the session shows, if they are known from an observer.
  func order(of plan: RowPlan) -> RowOrder?
  /// Called when a write transaction is about to begin.
  func willWrite()
  /// Called when the session is about to show another version.
  func willMove()
  /// Called when the session shows another version, also after its own commit.
  func didMove()
  /// Called when the session moves by itself from now on.
  func catchUp()
  /// Called when there is a newer version and the session does not move by itself.
  func isBehind()
  /// Called when everything that was read of the session has become invalid.
  func didInvalidate()
}

/// Watches the versions of an open file.
protocol FileWatcher: AnyObject, Sendable {
  /// Called when there is a newer version, on any thread.
  func didCommit()
  /// Called before the database is closed, which happens when this has returned.
  func fileWillClose()
  /// Returns when no observer that has ended keeps the file open any more.
  func settle()
}

/// The fate of a write transaction. If the transaction is cancelled, the keys of the rows that it made are given again
/// to other rows.
final class TransactionFate: Sendable {
  private let cancelled = Atomic<Bool>(false)

  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
  func cancel() { cancelled.store(true, ordering: .releasing) }
}

/// Counts the holders of a session.
///
/// The count is a separate object, so that code which looks for a session that may be ending need not touch the
/// session.
final class HolderCount: Sendable {
  private let count = Atomic<Int>(0)

  /// Adds a holder. The caller is the first holder, or there must be another holder already.
  @inline(__always)
  func add() { count.wrappingAdd(1, ordering: .relaxed) }

  /// Adds a holder although the caller has none. Returns false if the last holder has gone.
  func tryToAdd() -> Bool {
    var known = count.load(ordering: .relaxed)
    while known > 0 {
      let (isDone, found) = count.weakCompareExchange(
        expected: known, desired: known + 1, ordering: .acquiringAndReleasing)
      if isDone { return true }
      known = found
    }
    return false
  }

  /// Removes a holder. Returns whether it was the last one.
  @inline(__always)
  func remove() -> Bool { count.wrappingSubtract(1, ordering: .acquiringAndReleasing).oldValue == 1 }
}
