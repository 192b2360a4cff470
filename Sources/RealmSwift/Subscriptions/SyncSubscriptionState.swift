/// What has become of the subscriptions that a realm asks its server for.
public enum SyncSubscriptionState: Sendable {
  /// All objects that they ask for are in the realm, and none that they do not ask for.
  case complete
  /// The server can't use them, and says why: a `SyncError` with the code `invalidFlexibleSyncSubscriptions`. The subscriptions
  /// before them stay in force.
  case error(any Error)
  /// The server has not answered yet, or not all objects are in the realm yet.
  case pending
  /// Newer subscriptions are in force.
  case superseded
}

extension SyncSubscriptionState: Equatable {
  /// Whether both are the same; errors are, where they have the same domain and code.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.complete, .complete), (.pending, .pending), (.superseded, .superseded): true
    case (.error(let left), .error(let right)): left._domain == right._domain && left._code == right._code
    default: false
    }
  }
}
