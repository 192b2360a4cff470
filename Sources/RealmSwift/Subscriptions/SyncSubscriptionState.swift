/// The state of a set of subscriptions.
public enum SyncSubscriptionState: Sendable {
  /// All objects that the subscriptions ask for are in the realm, and no others.
  case complete
  /// The server can't use the subscriptions. The error is a `SyncError` with the code `invalidFlexibleSyncSubscriptions`, and
  /// says why. The earlier subscriptions stay in force.
  case error(any Error)
  /// The server has not answered yet, or not all objects are in the realm yet.
  case pending
  /// Newer subscriptions are in force.
  case superseded
}

extension SyncSubscriptionState: Equatable {
  /// Whether both states are equal. Two errors are equal if they have the same domain and code.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.complete, .complete), (.pending, .pending), (.superseded, .superseded): true
    case (.error(let left), .error(let right)): left._domain == right._domain && left._code == right._code
    default: false
    }
  }
}
