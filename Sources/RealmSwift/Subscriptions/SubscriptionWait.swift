import Dispatch
import Foundation
import RealmSyncClient

/// Waits for a query set to be in force.
enum SubscriptionWait {
  /// Where blocks of the app are called: the session does not wait for them.
  static let callbacks = DispatchQueue(label: "realm.sync.subscriptions")
  /// No timer of the system takes more seconds than this for certain.
  private static let longestTimeout: TimeInterval = 1_000_000_000

  /// Calls `body` once a query set is in force, or a newer one is, with nil; or with why that does not come. On the session's queue.
  ///
  /// - Returns: withdraws the wait.
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

  /// Calls a block of the app once a query set is in force, or a newer one is, with nil; or with why that does not come.
  static func tell(
    _ number: UInt64, _ session: SyncSession?, _ block: @escaping @Sendable ((any Error)?) -> Void
  ) {
    whenShown(number, session) { error in callbacks.async { block(error) } }
  }

  /// Waits until a query set is in force, or a newer one is.
  ///
  /// - Parameter timeout: in seconds; nil, and what is not greater than 0, for any time.
  /// - Throws: `Realm.Error.subscriptionFailed` where the server can't use the set; a `SyncError` where the session ends; an `NSError`
  ///   with the code `ETIMEDOUT` of the domain `NSPOSIXErrorDomain`; `CancellationError`.
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

  /// Waits on this thread until something has become of a query set, or the session has ended.
  static func block(_ number: UInt64, _ session: SyncSession?) {
    let isDone = DispatchSemaphore(value: 0)
    whenShown(number, session) { _ in isDone.signal() }
    isDone.wait()
  }
}
