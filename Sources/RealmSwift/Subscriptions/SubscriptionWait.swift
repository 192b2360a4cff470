import Dispatch
import Foundation
import RealmSyncClient

/// Waits until the server has answered a query set and its objects are in the file.
enum SubscriptionWait {
  /// The queue on which closures of the app are called, so that the session does not wait for them.
  static let callbacks = DispatchQueue(label: "realm.sync.subscriptions")
  /// The longest timeout, in seconds, that the system's timers are certain to support.
  private static let longestTimeout: TimeInterval = 1_000_000_000

  /// Calls `body` on the session's queue: with nil once a query set or a newer one is in force, or with the error that prevents
  /// it.
  ///
  /// - Returns: a closure that cancels the wait.
  @discardableResult
  private static func whenShown(
    _ number: UInt64, _ session: SyncSession?, _ body: @escaping @Sendable ((any Error)?) -> Void
  ) -> @Sendable () -> Void {
    guard let session else {
      body(SyncError.of(.stopped, nil))
      return {}
    }
    return session.core.whenShown(querySet: number) { [weak session] result in
      switch result {
      case .success: body(nil)
      case .failure(let problem):
        if let text = problem.refusedText {
          body(Realm.Error(.subscriptionFailed, text))
        } else {
          body(SyncError.of(problem, session))
        }
      }
    }
  }

  /// Calls a closure of the app on `callbacks`: with nil once a query set or a newer one is in force, or with the error that
  /// prevents it.
  static func tell(
    _ number: UInt64, _ session: SyncSession?, _ block: @escaping @Sendable ((any Error)?) -> Void
  ) {
    whenShown(number, session) { error in callbacks.async { block(error) } }
  }

  /// Waits until a query set or a newer one is in force.
  ///
  /// - Parameter timeout: the longest time to wait, in seconds; nil, 0 and negative values for no limit.
  /// - Throws: `Realm.Error.subscriptionFailed` if the server can't use the set; a `SyncError` if the session ends; an `NSError`
  ///   with the domain `NSPOSIXErrorDomain` and the code `ETIMEDOUT` after a timeout; `CancellationError` if the task is
  ///   cancelled.
  static func wait(_ number: UInt64, _ session: SyncSession?, timeout: TimeInterval? = nil) async throws {
    try await CallbackWait.wait { (done: @escaping @Sendable (Result<Void, any Error>) -> Void) in
      let withdraw = whenShown(number, session) { error in
        done(error.map { .failure($0) } ?? .success(()))
      }
      guard let timeout, timeout > 0 else { return withdraw }
      DispatchQueue.global().asyncAfter(deadline: .now() + min(timeout, longestTimeout)) {
        let text =
          "The server has not sent all objects of the subscription within \(timeout) seconds. The subscription stays, and "
          + "they come later."
        done(
          .failure(
            NSError(
              domain: NSPOSIXErrorDomain, code: Int(ETIMEDOUT), userInfo: [NSLocalizedDescriptionKey: text])))
      }
      return withdraw
    }
  }

  /// Blocks this thread until a query set is in force or refused, or the session has ended.
  static func block(_ number: UInt64, _ session: SyncSession?) {
    let isDone = DispatchSemaphore(value: 0)
    whenShown(number, session) { _ in isDone.signal() }
    isDone.wait()
  }
}
