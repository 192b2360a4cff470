import Dispatch
import RealmStorage
import Synchronization

/// The write transactions of a session that begin later, when it is their turn, without anybody waiting for that on the session's
/// thread.
///
/// They begin in the order in which they were asked for. The session asks for the writer's lock once at a time
/// (`WriterRequest`), on behalf of the first. A transaction that is begun at once meanwhile takes what was asked for, and the others
/// go on waiting behind it.
///
/// A commit is shown to all readers when it returns, and survives the death of the process. It survives a loss of power from the moment on that its completion is called: the disk
/// is waited for on another thread (`DiskQueue`).
///
/// Used where the session is used.
final class AsyncWrites {
  /// Of a transaction that waits, or of a commit whose completion is not called yet.
  typealias ID = UInt32

  /// A transaction that waits for its turn.
  final class Waiter: Sendable {
    let id: ID
    private let state: Mutex<State>

    enum State: Sendable {
      /// What is to be called on its turn, where the session is used.
      case waiting(@Sendable (Turn) -> Void)
      case called
    }

    /// Why a waiter is called.
    enum Turn: Sendable {
      /// The writer's lock is at hand: `AsyncWrites.begin` begins the transaction.
      case begins
      case cancelled
      case failed(StorageError)
    }

    fileprivate init(_ id: ID, _ body: @escaping @Sendable (Turn) -> Void) {
      self.id = id
      state = Mutex(.waiting(body))
    }

    fileprivate var isWaiting: Bool { state.withLock { if case .waiting = $0 { true } else { false } } }

    /// Calls it, where nobody has called it yet. On any thread.
    @discardableResult
    func call(_ turn: Turn) -> Bool {
      let body = state.withLock { state -> (@Sendable (Turn) -> Void)? in
        guard case .waiting(let body) = state else { return nil }
        state = .called
        return body
      }
      body?(turn)
      return body != nil
    }
  }

  private var waiters: [Waiter] = []
  private var request: WriterRequest?
  private var lastID: ID = 0
  /// Commits whose completion is not called yet; nil for one whose completion is not wanted any more.
  private var completions: [ID: (((any Error)?) -> Void)?] = [:]
  /// The transaction that is open was begun by a turn.
  private(set) var isTurnOpen = false
  /// A waiter was called, and has not begun its transaction yet: nobody else begins one before it but who can't wait.
  private var isTurnGiven = false
  /// The next commits to be made sure of, where a later one is on its way that is made sure of with them.
  private var grouped: [ID] = []

  func nextID() -> ID {
    lastID &+= 1
    if lastID == 0 { lastID = 1 }
    return lastID
  }

  /// Transactions wait, one is open that was begun by its turn, or commits are not sure yet.
  var isBusy: Bool { isTurnOpen || !completions.isEmpty || hasWaiters }

  /// A transaction waits for its turn.
  var hasWaiters: Bool { waiters.contains { $0.isWaiting } }

  // MARK: - Waiting

  /// Waits for a turn behind all others; before them where it had its turn, and another has begun a transaction meanwhile.
  func wait(
    _ session: RealmSession, as id: ID, again: Bool = false, _ body: @escaping @Sendable (Waiter.Turn) -> Void
  ) -> Waiter {
    session.check()
    let waiter = Waiter(id, body)
    waiters.insert(waiter, at: again ? 0 : waiters.count)
    ask(session)
    return waiter
  }

  /// Asks for the writer's lock, where somebody waits for it.
  private func ask(_ session: RealmSession) {
    // One that has given way many times is not asked for again at once; now that somebody runs here, it is.
    if let pausing = request, pausing.isPausing {
      request = nil
      pausing.giveUp()
    }
    guard request == nil, session.transaction == nil else { return }
    guard hasWaiters else { return flush(session) }
    let life = session.life
    let request = WriterRequest()
    self.request = request
    session.file.disk.ask(request, session.file.database) {
      // Where nothing is run any more nobody would ever end the transaction.
      if life.session.inbox.isGone {
        request.giveUp()
        return life.session.asyncWrites.forget()
      }
      guard request.isToServe() else { return }
      life.session.inbox.enqueue {
        request.isServed()
        life.session.asyncWrites.serve(life.session, request)
      }
    }
  }

  /// Lets go of all that waits: the thread or actor is gone, so that nobody else uses this any more, and nothing is called. What
  /// waits keeps the session, and with it the file.
  private func forget() {
    (waiters, completions, grouped, request) = ([], [:], [], nil)
  }

  /// The lock is at hand, or can't be had.
  private func serve(_ session: RealmSession, _ request: WriterRequest) {
    // Somebody else has taken it, or is about to; or it was given back meanwhile, and comes again.
    guard self.request === request, !isTurnGiven else { return }
    guard request.isAnswered else { return ask(session) }
    waiters.removeAll { !$0.isWaiting }
    guard let first = waiters.first else {
      self.request = nil
      request.giveUp()
      return flush(session)
    }
    if let failure = request.failure {
      self.request = nil
      waiters.removeFirst()
      first.call(.failed(failure))
      return ask(session)
    }
    // It is called where the session is used, and begins the transaction there.
    waiters.removeFirst()
    isTurnGiven = true
    if first.call(.begins) { return }
    isTurnGiven = false
    serve(session, request)
  }

  /// The transaction of the lock that was asked for, where it is at hand. Else the lock is not asked for any more: whoever can't wait
  /// asks for it himself.
  func takeOrGiveUp() -> WriteTransaction? {
    isTurnGiven = false
    guard let request else { return nil }
    self.request = nil
    if let taken = try? request.take() { return taken }
    request.giveUp()
    return nil
  }

  /// The transaction of a waiter that was called; nil where another has taken the lock meanwhile, or it was given back.
  func takeTurn() throws(StorageError) -> WriteTransaction? {
    isTurnGiven = false
    do throws(StorageError) {
      guard let taken = try request?.take() else { return nil }
      request = nil
      return taken
    } catch {
      request = nil
      throw error
    }
  }

  /// Nobody waits, and nobody was called who has yet to begin: a transaction may begin at once.
  var isFree: Bool { request == nil && !isTurnGiven && !hasWaiters }

  /// Whoever had a turn, or took what was asked for, does not begin a transaction: the next does.
  func passOn(_ session: RealmSession) {
    isTurnGiven = false
    if request?.failure != nil { request = nil }
    guard let request else { return ask(session) }
    // Not at once: each that waits may fail in its turn.
    let life = session.life
    session.inbox.enqueue { life.session.asyncWrites.serve(life.session, request) }
  }

  /// The session ends: the lock that was asked for is given up.
  func end() {
    request?.giveUp()
    request = nil
  }

  // MARK: - Transactions

  func didBegin() { isTurnOpen = true }

  /// The open transaction has ended: the next begins.
  func didEnd(_ session: RealmSession) {
    isTurnOpen = false
    ask(session)
  }

  /// A commit is to be made sure of.
  ///
  /// - Parameters:
  ///   - mayWait: it may be made sure of together with the transactions that wait, when none waits any more.
  ///   - completion: is called then, where the session is used.
  func makeSure(
    _ session: RealmSession, mayWait: Bool, _ completion: (((any Error)?) -> Void)?
  ) -> ID {
    let id = nextID()
    completions[id] = .some(completion)
    grouped.append(id)
    if !mayWait || !hasWaiters { flush(session) }
    return id
  }

  /// Makes sure of the commits that wait for it.
  private func flush(_ session: RealmSession) {
    if grouped.isEmpty { return }
    let life = session.life
    let group = grouped
    grouped = []
    session.file.disk.flush(session.file.database) { failure in
      if life.session.inbox.isGone { return life.session.asyncWrites.forget() }
      life.session.inbox.enqueue { life.session.asyncWrites.complete(group, failure) }
    }
  }

  private func complete(_ group: [ID], _ failure: StorageError?) {
    for id in group {
      guard let completion = completions.removeValue(forKey: id) else { continue }
      completion?(failure.map { Realm.Error(unsureCommit: $0) })
    }
  }

  /// The transaction does not begin, or the completion of the commit is not called; nothing of one that is done.
  func cancel(_ id: ID) {
    if let place = waiters.firstIndex(where: { $0.id == id }) {
      waiters.remove(at: place).call(.cancelled)
    } else if completions[id] != nil {
      completions[id] = .some(nil)
    }
  }
}

/// One request for the writer's lock of a file: a transaction is begun on another thread, and handed to whoever asked.
final class WriterRequest: Sendable {
  private let state = Mutex(State.waiting)
  /// Told when the transaction was taken, or nobody wants it any more.
  private let settled = DispatchSemaphore(value: 0)
  private let isQueued = Atomic<Bool>(false)
  private let pauses = Atomic<Bool>(false)

  /// It has given way, and does not begin again for a while.
  fileprivate(set) var isPausing: Bool {
    get { pauses.load(ordering: .acquiring) }
    set { pauses.store(newValue, ordering: .releasing) }
  }

  private enum State: @unchecked Sendable {
    // Sendable: a transaction is used by one thread at a time, and here by none.
    case waiting
    case begun(WriteTransaction)
    case failed(StorageError)
    case taken
    case unwanted
  }

  /// Whether it is to be served: false where that is under way already.
  func isToServe() -> Bool { !isQueued.exchange(true, ordering: .acquiringAndReleasing) }

  /// It is being served, and is to be again where it is answered again.
  func isServed() { isQueued.store(false, ordering: .releasing) }

  /// Why the lock could not be had.
  var failure: StorageError? { state.withLock { if case .failed(let error) = $0 { error } else { nil } } }

  /// The transaction has begun, or can't.
  var isAnswered: Bool {
    state.withLock { state in
      switch state {
      case .begun, .failed: true
      case .waiting, .taken, .unwanted: false
      }
    }
  }

  /// Begins the transaction: on a thread that may wait.
  fileprivate func begin(_ database: Database) {
    if state.withLock({ if case .unwanted = $0 { true } else { false } }) { return }
    let result: State
    do throws(StorageError) { result = .begun(try database.beginWrite()) } catch { result = .failed(error) }
    let unwanted = state.withLock { state -> State? in
      if case .unwanted = state { return result }
      state = result
      return nil
    }
    if case .begun(let transaction)? = unwanted { transaction.cancel() }
  }

  /// The transaction where it has begun; nil where it has not.
  func take() throws(StorageError) -> WriteTransaction? {
    let answer = state.withLock { state in
      defer { if case .begun = state { state = .taken } }
      return state
    }
    switch answer {
    case .begun(let transaction):
      settled.signal()
      return transaction
    case .failed(let error): throw error
    case .waiting, .taken, .unwanted: return nil
    }
  }

  /// Gives the lock back where nobody takes it for long, so that the transaction has to begin again; answers whether it was given back.
  /// On the thread that began it.
  ///
  /// The code that is to take it may not run before others have written: those who wait for the lock on threads of the system, as in
  /// `realm.write` of several actors, can keep all threads that tasks run on.
  fileprivate func isGivenBack(after patience: DispatchTimeInterval) -> Bool {
    guard isAnswered, failure == nil, settled.wait(timeout: .now() + patience) == .timedOut else {
      return false
    }
    let answer = state.withLock { state in
      defer { if case .begun = state { state = .waiting } }
      return state
    }
    guard case .begun(let transaction) = answer else { return false }
    transaction.cancel()
    return true
  }

  /// Nobody wants the lock any more.
  func giveUp() {
    let answer = state.withLock { state in
      defer { state = .unwanted }
      return state
    }
    settled.signal()
    if case .begun(let transaction) = answer { transaction.cancel() }
  }
}

/// The threads of a file that wait: one for the writer's lock, one for the disk.
final class DiskQueue: Sendable {
  /// Requests are answered one after another: a transaction that was begun for one has to end before the next begins anyway. So
  /// whoever asked first is first, whatever session asked, unless its code does not run.
  private let writers = DispatchQueue(label: "io.realm.writers")
  private let flushes = DispatchQueue(label: "io.realm.flushes")
  private let waiting = Mutex<[@Sendable (StorageError?) -> Void]>([])

  /// Begins a transaction when it is the turn of this request, and calls `body`, on another thread. A transaction that is not taken for
  /// long gives way, to other requests too, since a thread may wait for one of them. It begins again behind these, and `body`
  /// is called again.
  ///
  /// - Parameter rounds: so often it gave way. A place where nothing runs for a second is asked less and less often, for the sake of
  ///   the others.
  func ask(
    _ request: WriterRequest, _ database: Database, rounds: Int = 0, _ body: @escaping @Sendable () -> Void
  ) {
    writers.async {
      request.isPausing = false
      request.begin(database)
      body()
      guard request.isGivenBack(after: .milliseconds(50)) else { return }
      guard rounds >= 16 else { return self.ask(request, database, rounds: rounds + 1, body) }
      request.isPausing = true
      self.writers.asyncAfter(deadline: .now() + .milliseconds(min(1 << (rounds - 10), 2_000))) {
        self.ask(request, database, rounds: min(rounds + 1, 24), body)
      }
    }
  }

  /// Makes all that is committed sure, and calls `body` with what went wrong, on another thread. Those who call while the disk is
  /// being waited for share the next time.
  func flush(_ database: Database, _ body: @escaping @Sendable (StorageError?) -> Void) {
    waiting.withLock { $0.append(body) }
    flushes.async {
      let bodies = self.waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      if bodies.isEmpty { return }
      var failure: StorageError?
      do throws(StorageError) { try database.flush() } catch { failure = error }
      for body in bodies { body(failure) }
    }
  }
}
