import Foundation

/// How a realm is kept the same as what its server has: for which user, and which of the server's objects.
///
/// It is made by `User.flexibleSyncConfiguration(…)` or `User.configuration(partitionValue:…)`, as a part of the configuration
/// that they return.
public struct SyncConfiguration: Sendable {
  /// Who uses the realm. What the server lets the user see and change is in it.
  public let user: User
  /// What all objects of the realm have in the property that the server divides objects by. Nil of a realm that has the objects
  /// that it subscribes to; the value `.null` names a partition, too.
  public let partitionValue: AnyBSON?
  /// What happens to the file when the server has another history.
  public let clientResetMode: ClientResetMode
  /// Whether an asynchronous open fails when the server can't be reached. Else it goes on trying.
  public let cancelAsyncOpenOnNonFatalErrors: Bool
  /// What is subscribed to when the file is new; nil where that is left to the app.
  public let initialSubscriptions: InitialSubscriptionsConfiguration?

  /// - Parameters:
  ///   - partitionValue: nil for the objects that are subscribed to.
  ///   - initialSubscriptions: only without a partition value.
  init(
    user: User, partitionValue: AnyBSON?, clientResetMode: ClientResetMode,
    cancelAsyncOpenOnNonFatalErrors: Bool, initialSubscriptions: InitialSubscriptionsConfiguration? = nil
  ) {
    self.user = user
    self.partitionValue = partitionValue
    self.clientResetMode = clientResetMode
    self.cancelAsyncOpenOnNonFatalErrors = cancelAsyncOpenOnNonFatalErrors
    self.initialSubscriptions = initialSubscriptions
  }

  /// The realm has the objects that it subscribes to.
  var isFlexible: Bool { partitionValue == nil }
}

/// What a realm subscribes to when its file is new.
public final class InitialSubscriptionsConfiguration: Sendable {
  /// Is called while the subscriptions of the realm are being updated: it adds to them, and changes them. It is called by the
  /// thread that opens the realm.
  public let callback: @Sendable (_ subscriptions: SyncSubscriptionSet) -> Void
  /// `callback` is called also when the file is not new, whenever a realm of it is opened and none in the process is open.
  public let rerunOnOpen: Bool

  /// Each parameter is described at the property of its name.
  public init(
    callback: @escaping @Sendable (_ subscriptions: SyncSubscriptionSet) -> Void, rerunOnOpen: Bool = false
  ) {
    (self.callback, self.rerunOnOpen) = (callback, rerunOnOpen)
  }
}

/// The name that the Objective-C interface gave `InitialSubscriptionsConfiguration`.
public typealias RLMInitialSubscriptionsConfiguration = InitialSubscriptionsConfiguration

extension User {
  /// The configuration of a realm that has the objects of one partition, in a file of its own.
  ///
  /// `fileURL` may be set to another place.
  ///
  /// - Parameters:
  ///   - partitionValue: names the partition: a `String`, `Int`, `Int32`, `Int64`, `ObjectId`, `UUID` or `NSNull`. Another type stops the program.
  ///   - clientResetMode: what happens to the file when the server has another history.
  ///   - cancelAsyncOpenOnNonFatalErrors: an asynchronous open fails when the server can't be reached. Else it goes on trying.
  public func configuration<T: BSON>(
    partitionValue: T,
    clientResetMode: ClientResetMode = .recoverUnsyncedChanges(beforeReset: nil, afterReset: nil),
    cancelAsyncOpenOnNonFatalErrors: Bool = false
  ) -> Realm.Configuration {
    let partition = AnyBSON(partitionValue)
    // A value of a type of the app's own becomes null too, and would silently name the partition of null.
    if partition.isNull, !(partitionValue is AnyBSON), !(partitionValue is NSNull) {
      Self.stopUnusable("a \(T.self)")
    }
    return configuration(
      partitionValue: partition, clientResetMode: clientResetMode,
      cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors)
  }

  /// The configuration of a realm that has the objects of one partition, in a file of its own.
  ///
  /// `fileURL` may be set to another place.
  ///
  /// - Parameters:
  ///   - partitionValue: names the partition: a `string`, `int32`, `int64`, `objectId`, `uuid` or `null`. Another case stops the program.
  ///   - clientResetMode: what happens to the file when the server has another history.
  ///   - cancelAsyncOpenOnNonFatalErrors: an asynchronous open fails when the server can't be reached. Else it goes on trying.
  public func configuration(
    partitionValue: AnyBSON,
    clientResetMode: ClientResetMode = .recoverUnsyncedChanges(beforeReset: nil, afterReset: nil),
    cancelAsyncOpenOnNonFatalErrors: Bool = false
  ) -> Realm.Configuration {
    if partitionValue.partitionValue() == nil { Self.stopUnusable("an AnyBSON.\(partitionValue.caseName)") }
    let sync = SyncConfiguration(
      user: self, partitionValue: partitionValue, clientResetMode: clientResetMode,
      cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors)
    return configuration(of: .partition(partitionValue), sync)
  }

  /// The configuration of a realm that has the objects that it subscribes to; see `Realm.subscriptions`.
  ///
  /// `fileURL` may be set to another place.
  ///
  /// - Parameters:
  ///   - clientResetMode: what happens to the file when the server has another history.
  ///   - cancelAsyncOpenOnNonFatalErrors: an asynchronous open fails when the server can't be reached. Else it goes on trying.
  public func flexibleSyncConfiguration(
    clientResetMode: ClientResetMode = .recoverUnsyncedChanges(),
    cancelAsyncOpenOnNonFatalErrors: Bool = false
  ) -> Realm.Configuration {
    let sync = SyncConfiguration(
      user: self, partitionValue: nil, clientResetMode: clientResetMode,
      cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors)
    return configuration(of: .flexible, sync)
  }

  /// The configuration of a realm that has the objects that it subscribes to, and subscribes to some when its file is new.
  ///
  /// `fileURL` may be set to another place. An asynchronous open waits for the objects of the initial subscriptions.
  ///
  /// - Parameters:
  ///   - clientResetMode: what happens to the file when the server has another history.
  ///   - cancelAsyncOpenOnNonFatalErrors: an asynchronous open fails when the server can't be reached. Else it goes on trying.
  ///   - initialSubscriptions: is called while the subscriptions of the realm are being updated, by the thread that opens it.
  ///   - rerunOnOpen: `initialSubscriptions` is called also when the file is not new, whenever a realm of it is opened and none in the
  ///     process is open. It is then to look whether a name is in use already: to add one twice stops the program.
  public func flexibleSyncConfiguration(
    clientResetMode: ClientResetMode = .recoverUnsyncedChanges(),
    cancelAsyncOpenOnNonFatalErrors: Bool = false,
    initialSubscriptions: @escaping @Sendable (_ subscriptions: SyncSubscriptionSet) -> Void,
    rerunOnOpen: Bool = false
  ) -> Realm.Configuration {
    let sync = SyncConfiguration(
      user: self, partitionValue: nil, clientResetMode: clientResetMode,
      cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors,
      initialSubscriptions: InitialSubscriptionsConfiguration(
        callback: initialSubscriptions, rerunOnOpen: rerunOnOpen))
    return configuration(of: .flexible, sync)
  }

  private func configuration(
    of content: SyncPaths.Content, _ sync: SyncConfiguration
  ) -> Realm.Configuration {
    let url = app.paths.file(of: id, content)
    note(realmPath: url.path)
    return Realm.Configuration(fileURL: url, syncConfiguration: sync)
  }

  private static func stopUnusable(_ given: String) -> Never {
    raise(
      "Invalid partition value",
      "User.configuration(partitionValue:) was given \(given), and a partition is named by a String, Int, Int32, "
        + "Int64, ObjectId, UUID or null: give one of these, or use flexibleSyncConfiguration().")
  }
}

extension AnyBSON {
  fileprivate var caseName: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
