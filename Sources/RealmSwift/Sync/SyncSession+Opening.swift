import Dispatch
import Foundation
import RealmStorage
import RealmSyncClient
import Synchronization

/// Waits until a file is up to date, for asynchronous opens.
extension SyncSession {
  func whenUpToDate(
    for maker: (any FileSyncMaker)?, _ body: @escaping @Sendable ((any Error)?) -> Void
  ) -> @Sendable () -> Void {
    let call = FirstCall(body)
    let opener = maker as? SyncConfiguration ?? sync
    if !sync.user.isLoggedIn {
      call.end(SyncError(.clientUserError, "The user is logged out: log in before the realm is downloaded."))
      return {}
    }
    if opener.cancelAsyncOpenOnNonFatalErrors {
      let observer = addLossObserver { [weak self] problem in
        call.end(Self.openingError(problem, self))
      }
      call.whenEnded { [weak self] in self?.removeLossObserver(observer) }
    }
    resume()
    let withdraw = core.whenDownloaded { [self] problem in
      if let problem { return call.end(problem.error(of: self)) }
      guard sync.isFlexible else { return call.end(nil) }
      let withdraw = core.whenShown(querySet: newestQuerySet) { [weak self] result in
        switch result {
        // Another set may be the newest one by now. Its objects come later.
        case .success: call.end(nil)
        case .failure(.querySetRefused(_, let text)):
          call.end(Realm.Error(.subscriptionFailed, text, path: self?.file.database.path))
        case .failure(let problem): call.end(SyncError.of(problem, self))
        }
      }
      call.whenEnded(withdraw)
    }
    call.whenEnded(withdraw)
    return { call.forget() }
  }

  /// The error of an asynchronous open. A timeout becomes the error `ETIMEDOUT` of the system.
  private static func openingError(_ problem: SyncedFileProblem, _ session: SyncSession?) -> any Error {
    guard case .network(.timedOut) = problem else { return SyncError.of(problem, session) }
    return NSError(
      domain: NSPOSIXErrorDomain, code: Int(ETIMEDOUT), userInfo: [NSLocalizedDescriptionKey: problem.text])
  }
}

/// A closure that is called at most once.
private final class FirstCall: Sendable {
  private struct State {
    var body: (@Sendable ((any Error)?) -> Void)?
    /// The closures that are called after it was called or forgotten.
    var ends: [@Sendable () -> Void] = []
    var isEnded = false
  }
  private let state: Mutex<State>

  init(_ body: @escaping @Sendable ((any Error)?) -> Void) { state = Mutex(State(body: body)) }

  func whenEnded(_ end: @escaping @Sendable () -> Void) {
    let isEnded = state.withLock { state in
      if !state.isEnded { state.ends.append(end) }
      return state.isEnded
    }
    if isEnded { end() }
  }

  func end(_ error: (any Error)?) { take()?(error) }

  func forget() { _ = take() }

  private func take() -> (@Sendable ((any Error)?) -> Void)? {
    let taken = state.withLock { state in
      let taken = state
      state = State(isEnded: true)
      return taken
    }
    for end in taken.ends { end() }
    return taken.body
  }
}

extension Realm.AsyncOpenTask {
  /// Calls `block` with the progress of the download until the realm is open. A realm that is not synced reports nothing.
  ///
  /// - Parameters:
  ///   - queue: the queue on which `block` is called.
  ///   - block: the closure that gets the progress.
  public func addProgressNotification(
    queue: DispatchQueue = .main, block: @escaping (SyncSession.Progress) -> Void
  ) {
    // The block is called only on `queue`.
    nonisolated(unsafe) let block = block
    whenSynced { sync in
      guard let session = sync as? SyncSession else { return }
      _ = session.progress.add(.download, .forCurrentlyOutstandingWork, querySet: session.newestQuerySet) {
        progress in
        queue.async { block(progress) }
      }
    }
  }
}
