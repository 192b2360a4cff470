import Dispatch
import RealmStorage
import Synchronization

/// The write transactions of a session that begin later, in their turn. The session's thread does not wait for that.
///
/// They begin in the order in which they were asked for. The session has at most one request for the writer's lock
/// (`WriterRequest`), on behalf of the first of them. If a transaction is begun at once meanwhile, it takes the lock
/// that was asked for, and the others go on waiting behind it.
///
/// When a commit returns, all readers see it, and it survives the death of the process. When its completion is called,
/// it survives a loss of power too. Another thread waits for the disk until then (`DiskQueue`).
///
/// This object is used where the session is used.
final class AsyncWrites {
  /// Identifies a transaction that waits, or a commit whose completion has not been called.
  typealias ID = UInt32

  /// A transaction that waits for its turn.
  final class Waiter: Sendable {
    let id: ID
    private let state: Mutex<State>

    enum State: Sendable {
      /// The closure to call when it is the waiter's turn, where the session is used.
      case waiting(@Sendable (Turn) -> Void)
      case called
    }

    /// Why a waiter is called.
    enum Turn: Sendable {
      /// The lock is available, and `beginIfFree` begins the transaction.
      case begins
      case cancelled
      case failed(StorageError)
    }

    fileprivate init(_ id: ID, _ body: @escaping @Sendable (Turn) -> Void) {
      self.id = id
      state = Mutex(.waiting(body))
    }

    fileprivate var isWaiting: Bool { state.withLock { if case .waiting = $0 { true } else { false } } }

    /// Calls the closure unless it was called already. Any thread may call this.
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
  /// The completions that were not called yet, by the id of their commit. The value is nil for a commit that has no
  /// completion, or whose completion is not wanted any more.
  private var completions: [ID: (((any Error)?) -> Void)?] = [:]
  /// Whether the open transaction was begun by a waiter in its turn.
  private(set) var isTurnOpen = false
  /// Whether a waiter was called and has not begun its transaction yet. Until it does, only a transaction that can't
  /// wait may begin.
  private var isTurnGiven = false
  /// The commits that are not durable yet. They wait here if a later commit is expected that makes them durable as
  /// well.
  private var grouped: [ID] = []

  func nextID() -> ID {
    lastID &+= 1
    if lastID == 0 { lastID = 1 }
    return lastID
  }

  /// Whether transactions wait, a transaction that was begun in its turn is open, or commits may not be durable yet.
  var isBusy: Bool { isTurnOpen || !completions.isEmpty || hasWaiters }

  /// Whether a transaction waits for its turn.
  var hasWaiters: Bool { waiters.contains { $0.isWaiting } }

  // MARK: - Waiting

  /// Makes a transaction wait for its turn. It waits behind all others, or before them if it had its turn already and
  /// another transaction was begun meanwhile.
  func wait(
    _ session: RealmSession, as id: ID, again: Bool = false, _ body: @escaping @Sendable (Waiter.Turn) -> Void
  ) -> Waiter {
    session.check()
    let waiter = Waiter(id, body)
    waiters.insert(waiter, at: again ? 0 : waiters.count)
    ask(session)
    return waiter
  }

  /// Asks for the writer's lock if a transaction waits for it. If none waits, makes the commits in `grouped` durable.
  private func ask(_ session: RealmSession) {
    // A request that has given way many times pauses. The lock is asked for again at once, because code runs here now.
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
      // If the inbox runs no blocks any more, nothing would ever end the transaction.
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

  /// Forgets everything that waits. The thread or actor has gone, so nothing else uses this object any more, and no
  /// closure is called. A waiting closure keeps the session, and with it the file.
  private func forget() {
    (waiters, completions, grouped, request) = ([], [:], [], nil)
  }

  /// Called when the lock is available or can't be had.
  private func serve(_ session: RealmSession, _ request: WriterRequest) {
    // If the first guard fails, another transaction has taken the lock or is about to. If the second guard fails, the
    // lock was given back and will come again.
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
    // The closure is called where the session is used, and begins the transaction there.
    waiters.removeFirst()
    isTurnGiven = true
    if first.call(.begins) { return }
    isTurnGiven = false
    serve(session, request)
  }

  /// The transaction of the request if it has begun. Otherwise the request is given up, because the caller can't wait
  /// and asks for the lock itself.
  func takeOrGiveUp() -> WriteTransaction? {
    isTurnGiven = false
    guard let request else { return nil }
    self.request = nil
    if let taken = try? request.take() { return taken }
    request.giveUp()
    return nil
  }

  /// The transaction for a waiter that was called. It is nil if another transaction has taken the lock meanwhile, or if
  /// the lock was given back.
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

  /// Whether a transaction may begin at once. It may if none waits and no waiter that was called still has to begin its
  /// own.
  var isFree: Bool { request == nil && !isTurnGiven && !hasWaiters }

  /// Lets the next transaction begin, because a transaction that had its turn, or that took the lock which was asked
  /// for, does not begin.
  func passOn(_ session: RealmSession) {
    isTurnGiven = false
    if request?.failure != nil { request = nil }
    guard let request else { return ask(session) }
    // This is not done at once, because each waiter may fail in its turn and call this function again.
    let life = session.life
    session.inbox.enqueue { life.session.asyncWrites.serve(life.session, request) }
  }

  /// Gives up the request, because the session ends.
  func end() {
    request?.giveUp()
    request = nil
  }

  // MARK: - Transactions

  func didBegin() { isTurnOpen = true }

  /// Called when the open transaction has ended. The next one begins.
  func didEnd(_ session: RealmSession) {
    isTurnOpen = false
    ask(session)
  }

  /// Makes a commit durable.
  ///
  /// - Parameters:
  ///   - mayWait: whether it may become durable together with the transactions that wait, when none waits any more.
  ///   - completion: called when the commit is durable or the disk has failed, where the session is used.
  func makeSure(
    _ session: RealmSession, mayWait: Bool, _ completion: (((any Error)?) -> Void)?
  ) -> ID {
    let id = nextID()
    completions[id] = .some(completion)
    grouped.append(id)
    if !mayWait || !hasWaiters { flush(session) }
    return id
  }

  /// Makes the commits in `grouped` durable.
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

  /// Takes back a transaction that waits, or the completion of a commit. Nothing that was done is undone.
  func cancel(_ id: ID) {
    if let place = waiters.firstIndex(where: { $0.id == id }) {
      waiters.remove(at: place).call(.cancelled)
    } else if completions[id] != nil {
      completions[id] = .some(nil)
    }
  }
}

/// A request for the writer's lock of a file. Another thread begins a transaction, and the session that asked takes it.
final class WriterRequest: Sendable {
  private let state = Mutex(State.waiting)
  /// Signalled when the transaction was taken, or is not wanted any more.
  private let settled = DispatchSemaphore(value: 0)
  private let isQueued = Atomic<Bool>(false)
  private let pauses = Atomic<Bool>(false)

  /// Whether the request has given way and does not begin again for a while.
  fileprivate(set) var isPausing: Bool {
    get { pauses.load(ordering: .acquiring) }
    set { pauses.store(newValue, ordering: .releasing) }
  }

  private enum State: @unchecked Sendable {
    // Sendable: one thread at a time uses a transaction, and no thread uses it while it is here.
    case waiting
    case begun(WriteTransaction)
    case failed(StorageError)
    case taken
    case unwanted
  }

  /// Whether the session must be called for the request. It is false if a call is queued already.
  func isToServe() -> Bool { !isQueued.exchange(true, ordering: .acquiringAndReleasing) }

  /// Notes that the session was called, so that it is called again when the request is answered again.
  func isServed() { isQueued.store(false, ordering: .releasing) }

  /// The error because of which the lock could not be had; nil if there is none.
  var failure: StorageError? { state.withLock { if case .failed(let error) = $0 { error } else { nil } } }

  /// Whether the transaction has begun, or can't begin.
  var isAnswered: Bool {
    state.withLock { state in
      switch state {
      case .begun, .failed: true
      case .waiting, .taken, .unwanted: false
      }
    }
  }

  /// Begins the transaction. The current thread must be one that may wait.
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

  /// Takes the transaction if it has begun; nil if it has not.
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

  /// Gives the lock back if nobody takes the transaction for a time, so that the transaction must begin again. Returns
  /// whether the lock was given back. The thread that began the transaction calls this.
  ///
  /// It may be that the code which takes the transaction can't run before others have written: `realm.write` of several
  /// actors can block all threads on which tasks run, while they wait for the lock.
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

  /// Gives the lock up, because it is not wanted any more.
  func giveUp() {
    let answer = state.withLock { state in
      defer { state = .unwanted }
      return state
    }
    settled.signal()
    if case .begun(let transaction) = answer { transaction.cancel() }
  }
}

/// The threads that wait on behalf of a file. One waits for the writer's lock, and one for the disk.
final class DiskQueue: Sendable {
  /// The queue that answers requests one after another, because a transaction must end before the next one begins
  /// anyway. Requests of all sessions are answered in the order in which they were made, unless the code of a session
  /// does not run.
  private let writers = DispatchQueue(label: "io.realm.writers")
  private let flushes = DispatchQueue(label: "io.realm.flushes")
  private let waiting = Mutex<[@Sendable (StorageError?) -> Void]>([])

  /// Begins a transaction when it is the turn of the request, and calls `body` on another thread. If the transaction is
  /// not taken within 50 milliseconds, it gives way to others and to other requests, because a thread may wait for one
  /// of them. It begins again behind these, and `body` is called again.
  ///
  /// - Parameter rounds: the number of times that the request gave way. If nothing has run in its session for about a
  ///   second, it tries less and less often, for the sake of the others.
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

  /// Makes all commits durable, and then calls `body` on another thread with the error, if there was one. Calls that
  /// come while this waits for the disk share the next wait.
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
