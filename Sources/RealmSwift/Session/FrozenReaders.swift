import RealmStorage
import Synchronization

/// What a frozen version is read with: for each thread that reads it a session of its own, since a session, and all that it
/// remembers, is used by one thread.
///
/// A frozen session is a name for the version. Realms, objects and collections that are frozen refer to it and to its contexts, on
/// whatever thread they are, and nothing of them changes. Each read of theirs begins by finding the reader of its thread, which a thread
/// remembers (`RealmSession.here`, `ObjectContext.here`). What is read refers to the frozen session again (`ObjectContext.ofHandles`).
///
/// The readers belong to the frozen session, and go with it. Those of threads that have ended go when the next one is made.
final class FrozenReaders: Sendable {
  /// No version is held, and nothing is read.
  let namesOnly: Bool
  /// Threads know the reader of theirs by it.
  let number = ReaderNumber.next()
  private let state = Mutex(State())

  private struct State: @unchecked Sendable {
    // Sendable: it is used under the lock, and each reader by its own thread only.
    /// The version, which is held for as long as the frozen session is there.
    var snapshot: Snapshot?
    var readers: [(life: ThreadLife, session: RealmSession)] = []
    /// The contexts that handles refer to, by the class's index.
    var contexts: [Int: ObjectContext] = [:]
  }

  /// What was found under the lock, for the thread that found it.
  private struct Found<Object: AnyObject>: @unchecked Sendable {
    // Sendable: it only leaves the lock.
    let reference: UncountedReference<Object>

    init(_ object: Object) { reference = UncountedReference(object) }
  }

  init(_ snapshot: Snapshot?) {
    namesOnly = snapshot == nil
    state.withLock { $0.snapshot = snapshot }
  }

  /// Lets go of the version, before the file may be closed: the frozen session ends.
  func end() { state.withLock { $0 = State() } }

  /// The number of the version.
  var version: UInt64? { state.withLock { $0.snapshot?.version } }

  /// The session that this thread reads the version of a frozen session with. O(readers) the first time on a thread.
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

  /// The context that handles of a class refer to.
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
