import RealmStorage
import Synchronization

/// Keeps a session for realms and collections, which refer to it from outside. Objects come and go more often: they are only
/// counted.
///
/// The session refers weakly to its last life, and nothing refers weakly to the session. Counting the references to an object
/// takes several times as long once there is a weak one to it, and the session is used at every read.
final class SessionLife: @unchecked Sendable {
  // Sendable: a life never changes, and the session is used by its owner only.
  let session: RealmSession

  init(_ session: RealmSession) {
    self.session = session
    session.holders.add()
  }

  deinit { session.removeHolder() }
}

/// Watches the versions that a session shows, for its observers. It is used by the session's scheduler.
protocol SessionWatcher: AnyObject {
  /// Whether the watcher moves the session to newer versions, together with its calls. Nobody else does then.
  var movesSession: Bool { get }
  /// The rows that a plan finds in the version that the session shows, if they are known from an observer.
  func order(of plan: RowPlan) -> RowOrder?
  /// A write transaction is about to begin.
  func willWrite()
  /// The session is about to show another version.
  func willMove()
  /// The session shows another version, also after its own commit.
  func didMove()
  /// The session moves by itself from now on.
  func catchUp()
  /// There is a newer version, and the session does not move by itself.
  func isBehind()
  /// What was read of the session is invalid.
  func didInvalidate()
}

/// Watches the versions of an open file.
protocol FileWatcher: AnyObject, Sendable {
  /// There is a newer version. May be called on any thread.
  func didCommit()
  /// The database will be closed when this has returned.
  func fileWillClose()
  /// Returns when no observer that has ended keeps the file open any more.
  func settle()
}

/// The fate of a write transaction. If it is cancelled, the keys of the rows that it made are given again.
final class TransactionFate: Sendable {
  private let cancelled = Atomic<Bool>(false)

  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
  func cancel() { cancelled.store(true, ordering: .releasing) }
}

/// Counts the holders of a session.
///
/// The count is an object of its own, so that code which looks for a session that may be ending need not touch the session.
final class HolderCount: Sendable {
  private let count = Atomic<Int>(0)

  /// Adds a holder. The caller has another one, or makes the first.
  @inline(__always)
  func add() { count.wrappingAdd(1, ordering: .relaxed) }

  /// Adds a holder for a caller that has none. Returns false if the last holder has gone.
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

  /// Removes a holder. Returns whether it was the last.
  @inline(__always)
  func remove() -> Bool { count.wrappingSubtract(1, ordering: .acquiringAndReleasing).oldValue == 1 }
}
