import Foundation
import RealmStorage
import Synchronization

/// Identifies a write transaction that begins later, or a commit whose completion is called later.
public typealias AsyncTransactionId = UInt32

extension Realm {
  /// Calls `block` in a write transaction when it is its turn, on the thread, queue or actor of this realm, and commits the
  /// transaction. The call returns at once. The thread waits neither for the transactions of others nor for the disk.
  ///
  /// Blocks run in the order in which they were given, including blocks that are given within other blocks. The realm stays open
  /// until all have run.
  ///
  /// - Parameters:
  ///   - block: changes the realm. It may commit or cancel the transaction itself.
  ///   - onComplete: is called in the same place, with nil when the commit survives a loss of power, and with a `Realm.Error` if
  ///     the transaction could not be begun or committed: then nothing was written. All realms see the commit before this call.
  ///     If the disk fails after the commit, the error says that a loss of power may take the commit back. Nil is also passed if
  ///     `block` ended the transaction itself.
  /// - Precondition: the realm is neither frozen nor read-only. If it belongs to a thread, that thread has a run loop that runs.
  ///   Otherwise the program stops.
  /// - Returns: an id with which `cancelAsyncWrite(_:)` takes the block back.
  @discardableResult
  public func writeAsync(
    _ block: @escaping () -> Void, onComplete: ((_ error: (any Swift.Error)?) -> Void)? = nil
  ) -> AsyncTransactionId {
    nonisolated(unsafe) let (block, onComplete) = (block, onComplete)
    return waitForTurn { realm in
      block()
      if realm.isInWriteTransaction {
        realm.commitAsyncWrite(onComplete)
      } else {
        // The block has ended the transaction itself.
        realm.session.inbox.enqueue { onComplete?(nil) }
      }
    } onFailure: {
      onComplete?($0)
    }
  }

  /// Calls `block` in a write transaction when it is its turn, as `writeAsync` does. The block commits with `commitAsyncWrite` or
  /// `commitWrite`; if it returns without a commit, the transaction is cancelled. If the transaction can't be begun, the block is
  /// not called and the error is logged.
  ///
  /// - Precondition: the same as for `writeAsync`.
  /// - Returns: an id with which `cancelAsyncWrite(_:)` takes the block back.
  @discardableResult
  public func beginAsyncWrite(_ asyncWriteBlock: @escaping () -> Void) -> AsyncTransactionId {
    nonisolated(unsafe) let block = asyncWriteBlock
    return waitForTurn { realm in
      block()
      if realm.isInWriteTransaction { realm.cancelWrite() }
    } onFailure: { _ in
    }
  }

  /// - Parameters:
  ///   - body: is called in the transaction.
  ///   - onFailure: is called if the transaction could not be begun.
  private func waitForTurn(
    _ body: @escaping @Sendable (Realm) -> Void, onFailure: @escaping @Sendable (any Swift.Error) -> Void
  ) -> AsyncTransactionId {
    let session = session
    session.checkCanWait()
    // The realm is used only in the scheduler of its session, because the turn is taken there.
    nonisolated(unsafe) let realm = self
    let id = session.asyncWrites.nextID()
    return session.asyncWrites.wait(session, as: id) { turn in realm.take(turn, id, body, onFailure) }.id
  }

  private func take(
    _ turn: AsyncWrites.Waiter.Turn, _ id: AsyncTransactionId, _ body: @escaping @Sendable (Realm) -> Void,
    _ onFailure: @escaping @Sendable (any Swift.Error) -> Void
  ) {
    let session = session
    switch turn {
    case .cancelled: return
    case .failed(let error):
      let failure = Realm.Error(error)
      Logger.shared.log(.error, "A write transaction could not be begun: \(failure.localizedDescription)")
      onFailure(failure)
    case .begins:
      do {
        let most = view.configuration.maximumNumberOfActiveVersions
        guard try session.beginIfFree(isTurn: true, whereVersions: most) else {
          // Another transaction has taken the write lock in the meantime.
          nonisolated(unsafe) let realm = self
          _ = session.asyncWrites.wait(session, as: id, again: true) { turn in
            realm.take(turn, id, body, onFailure)
          }
          return
        }
      } catch {
        Logger.shared.log(.error, "A write transaction could not be begun: \(error.localizedDescription)")
        return onFailure(error)
      }
      session.asyncWrites.didBegin()
      body(self)
    }
  }

  /// Commits the open write transaction: all realms see the commit when this returns. Another thread waits for the
  /// disk.
  ///
  /// - Parameters:
  ///   - allowGrouping: whether the disk may be waited for once for this commit and for those of the transactions that
  ///     wait for their turn on this realm. A loss of power before that takes back all of these commits together.
  ///   - onComplete: is called on the thread, queue or actor of this realm, with nil when the commit survives a loss of
  ///     power, and with a `Realm.Error` if the transaction could not be committed: then nothing was written. If the
  ///     disk fails after the commit, the error says that other realms may have seen the commit, and whether it is kept
  ///     is known when the file is opened again.
  /// - Precondition: a write transaction is open; otherwise the same as for `writeAsync`.
  /// - Returns: an id with which `cancelAsyncWrite(_:)` keeps `onComplete` from being called.
  @discardableResult
  public func commitAsyncWrite(
    allowGrouping: Bool = false, _ onComplete: ((_ error: (any Swift.Error)?) -> Void)? = nil
  ) -> AsyncTransactionId {
    let session = session
    session.checkCanWait()
    session.requireTransaction("commit", isEnd: true)
    let pending = session.asyncWrites
    do {
      try session.commitRelaxed()
    } catch {
      let id = pending.nextID()
      nonisolated(unsafe) let onComplete = onComplete
      session.inbox.enqueue { onComplete?(error) }
      return id
    }
    return pending.makeSure(session, mayWait: allowGrouping, onComplete)
  }

  /// Takes back a transaction that waits for its turn: neither its block nor its completion is called. With the id that
  /// `commitAsyncWrite` returned, only the completion of that commit is not called. If it is too late for that, nothing happens.
  ///
  /// - Throws: nothing; the declaration throws for the sake of programs written for RealmSwift.
  public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
    session.check()
    session.asyncWrites.cancel(asyncTransactionId)
  }

  /// Whether write transactions of this realm wait for their turn, one that began in its turn is open, or a commit may not yet
  /// survive a loss of power.
  public var isPerformingAsynchronousWriteOperations: Bool {
    session.check()
    return session.asyncWrites.isBusy
  }

  // MARK: - Tasks

  /// Calls `block` in a write transaction when it is its turn, and commits the transaction; if `block` throws, nothing
  /// is changed and the error is thrown on. While others write and while the disk is waited for, the task is suspended
  /// and the actor is free for other tasks. Tasks take turns in the order in which they came.
  ///
  /// The block runs without interruption: nothing else on the actor sees a part of its changes.
  ///
  /// - Throws: what `block` throws; `CancellationError` if the task was cancelled before its turn; `Realm.Error` if the
  ///   transaction could not be begun or committed. In these cases nothing is written. If the disk fails after the
  ///   commit, a `Realm.Error` says that other realms may have seen the commit, and whether it is kept is known when
  ///   the file is opened again.
  /// - Precondition: the realm belongs to the actor that calls, and is neither frozen nor read-only. Otherwise the
  ///   program stops.
  @discardableResult
  public func asyncWrite<Result>(
    _isolation actor: isolated any Actor = #isolation, _ block: () throws -> Result
  ) async throws -> Result {
    let session = session
    session.checkActor("asyncWrite")
    session.checkWritable()
    try await takeTurn(actor, session)
    let result: Result
    do {
      result = try block()
    } catch {
      if isInWriteTransaction { session.cancelWrite() }
      throw error
    }
    guard isInWriteTransaction else { return result }
    try session.commitRelaxed()
    if session.file.isInMemory { return result }
    let file = session.file
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Swift.Error>) in
      file.disk.flush(file.database) { failure in
        if let failure {
          continuation.resume(throwing: Realm.Error(unsureCommit: failure))
        } else {
          continuation.resume()
        }
      }
    }
    return result
  }

  /// Begins a transaction when it is the turn of the task.
  private func takeTurn(_ actor: isolated any Actor, _ session: RealmSession) async throws {
    let most = view.configuration.maximumNumberOfActiveVersions
    try Task.checkCancellation()
    var isAgain = false
    while try !session.beginIfFree(isTurn: isAgain, whereVersions: most) {
      let turn = TaskTurn()
      try await withTaskCancellationHandler {
        // The closure runs on the actor only if the parameter that is isolated to it is passed on.
        try await withCheckedThrowingContinuation(isolation: actor) {
          (continuation: CheckedContinuation<Void, any Swift.Error>) in
          turn.waiter = session.asyncWrites.wait(session, as: session.asyncWrites.nextID(), again: isAgain) {
            turn in
            switch turn {
            case .begins: continuation.resume()
            case .cancelled: continuation.resume(throwing: CancellationError())
            case .failed(let error): continuation.resume(throwing: Realm.Error(error))
            }
          }
        }
      } onCancel: {
        turn.cancel()
      }
      isAgain = true
      if Task.isCancelled {
        session.asyncWrites.passOn(session)
        throw CancellationError()
      }
    }
  }

  /// Moves the realm to the newest version. Returns whether it moved from an older one. Nothing is waited for.
  ///
  /// - Precondition: the realm belongs to the actor that calls. Otherwise the program stops.
  @discardableResult
  public func asyncRefresh(_isolation actor: isolated any Actor = #isolation) async -> Bool {
    session.checkActor("asyncRefresh")
    return session.refresh()
  }
}

/// The turn of a task. The task may be cancelled before it waits for the turn, and while it waits.
private final class TaskTurn: Sendable {
  private let state = Mutex<(waiter: AsyncWrites.Waiter?, isCancelled: Bool)>((nil, false))

  var waiter: AsyncWrites.Waiter? {
    get { state.withLock { $0.waiter } }
    set {
      let isCancelled = state.withLock { state in
        state.waiter = newValue
        return state.isCancelled
      }
      if isCancelled { newValue?.call(.cancelled) }
    }
  }

  func cancel() {
    let waiter = state.withLock { state in
      state.isCancelled = true
      return state.waiter
    }
    waiter?.call(.cancelled)
  }
}

extension RealmSession {
  /// Stops the program if a transaction can't begin later.
  fileprivate func checkCanWait() {
    checkWritable()
    inbox.lookForLoop()
    guard !inbox.isServed else { return }
    raise(
      "Thread without a run loop",
      "the realm at \(file.database.path) belongs to a thread that has no running run loop, so that nothing can be called on it later: "
        + "use realm.write { }, or open the realm on a queue, Realm(queue:), or for an actor, Realm(actor:).")
  }

  /// Stops the program if the session does not belong to the actor that runs.
  fileprivate func checkActor(_ what: String) {
    let isOfActor: Bool
    switch owner {
    case .mainQueue, .actor: isOfActor = true
    case .thread, .queue, .anyone: isOfActor = false
    }
    if isFrozen || isOfActor { return check() }
    raise(
      "Realm without an actor",
      "\(what) is for a realm of an actor, and the realm at \(file.database.path) belongs to \(owner.description): open it by "
        + "try await Realm(actor: self), or on the main actor.")
  }
}
