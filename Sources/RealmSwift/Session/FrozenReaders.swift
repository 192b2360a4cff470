import RealmStorage
import Synchronization

/// The sessions with which threads read a frozen version. Each of these threads has its own session, because a session
/// and everything that it remembers may be used by one thread only.
///
/// A frozen session stands for the version. Frozen realms, objects and collections refer to it and to its contexts on
/// every thread, and none of these changes. Each of their reads begins with a search for the reader of the current
/// thread, which the thread remembers (`RealmSession.here`, `ObjectContext.here`). The objects that are read refer to
/// the frozen session again (`ObjectContext.ofHandles`).
///
/// The readers belong to the frozen session, and are freed with it. The readers of threads that have ended are freed
/// when the next reader is made.
final class FrozenReaders: Sendable {
  /// Whether the session has no version, so that nothing can be read.
  let namesOnly: Bool
  /// The number by which each thread remembers its reader.
  let number = ReaderNumber.next()
  private let state = Mutex(State())

  private struct State: @unchecked Sendable {
    // Sendable: the state is used under the lock, and each thread uses only its own reader.
    /// The version. It is held as long as the frozen session exists.
    var snapshot: Snapshot?
    var readers: [(life: ThreadLife, session: RealmSession)] = []
    /// The contexts to which handles refer, by the index of the class.
    var contexts: [Int: ObjectContext] = [:]
  }

  /// An object that was found under the lock, for the thread that found it.
  private struct Found<Object: AnyObject>: @unchecked Sendable {
    // Sendable: the reference only leaves the lock, and stays on its thread.
    let reference: UncountedReference<Object>

    init(_ object: Object) { reference = UncountedReference(object) }
  }

  init(_ snapshot: Snapshot?) {
    namesOnly = snapshot == nil
    state.withLock { $0.snapshot = snapshot }
  }

  /// Lets go of the version when the frozen session ends, because the file may be closed after that.
  func end() { state.withLock { $0 = State() } }

  /// The number of the version.
  var version: UInt64? { state.withLock { $0.snapshot?.version } }

  /// The session with which the current thread reads the version of a frozen session. The first call on a thread takes
  /// O(number of readers).
  func reader(of frozen: RealmSession) -> RealmSession {
    let life = ThreadLife.current
    let kept = Found(frozen)
    let reader = state.withLock { state -> Found<RealmSession> in
      if let found = state.readers.first(where: { $0.life === life }) { return Found(found.session) }
      state.readers.removeAll { $0.life.hasEnded }
      let made = RealmSession(reading: kept.reference.counted, state.snapshot, on: life.thread)
      state.readers.append((life, made))
      return Found(made)
    }.reference
    reader.know(number)
    return reader.counted
  }

  /// The context to which the handles of a class refer.
  func context(_ binding: ClassBinding, of frozen: RealmSession) -> ObjectContext {
    let kept = Found(frozen)
    return state.withLock { state -> Found<ObjectContext> in
      if let found = state.contexts[binding.index] { return Found(found) }
      let made = ObjectContext(session: kept.reference.counted, binding: binding)
      state.contexts[binding.index] = made
      return Found(made)
    }.reference.counted
  }
}
