import RealmStorage
import Synchronization

/// Keeps a session, for all that refer to it from outside: realms and collections. Objects, which come and go, keep it by
/// being counted.
///
/// The session refers to the last one weakly, and nobody to the session itself: to count references to what is referred to
/// weakly takes several times as long, and the session is used at every read.
final class SessionLife: @unchecked Sendable {
  // Sendable: it never changes, and the session is used by the one it belongs to only.
  let session: RealmSession

  init(_ session: RealmSession) {
    self.session = session
    session.holders.add()
  }

  deinit { session.removeHolder() }
}

/// Watches the versions that a session shows, for its observers. It is used by the session's scheduler.
protocol SessionWatcher: AnyObject {
  /// It moves the session to newer versions, together with what it tells; nobody else does.
  var movesSession: Bool { get }
  /// The rows that a plan finds in the version that the session shows, where they are known of an observer.
  func order(of plan: RowPlan) -> RowOrder?
  /// A write transaction is to begin.
  func willWrite()
  /// The session is to show another version.
  func willMove()
  /// The session shows another version, by its own commit too.
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
  /// There is a newer version. Called by any thread.
  func didCommit()
  /// The database is closed when this has returned.
  func fileWillClose()
  /// Returns when nothing keeps the file open for the sake of observers that have ended.
  func settle()
}

/// What becomes of a write transaction. The keys of the rows that it made are given again where it is cancelled.
final class TransactionFate: Sendable {
  private let cancelled = Atomic<Bool>(false)

  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
  func cancel() { cancelled.store(true, ordering: .releasing) }
}

/// How many hold a session.
///
/// Apart from it, so that who looks for a session that may be ending need not touch that.
final class HolderCount: Sendable {
  private let count = Atomic<Int>(0)

  /// Whoever adds one has another, or makes the first.
  @inline(__always)
  func add() { count.wrappingAdd(1, ordering: .relaxed) }

  /// The same of one who has none; false where the last is gone.
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

  /// Whether it was the last.
  @inline(__always)
  func remove() -> Bool { count.wrappingSubtract(1, ordering: .acquiringAndReleasing).oldValue == 1 }
}
