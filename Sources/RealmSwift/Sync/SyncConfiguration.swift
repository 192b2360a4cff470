import Foundation

/// Says how a realm is synced: for which user, and which objects of the server it has.
///
/// `User.flexibleSyncConfiguration(…)` and `User.configuration(partitionValue:…)` make it as a part of the configuration that
/// they return.
public struct SyncConfiguration: Sendable {
  /// The user of the realm. The server decides which objects this user may see and change.
  public let user: User
  /// The partition of the realm: the value that all its objects have in the property by which the server divides objects. Nil for
  /// a realm with flexible sync, which has the objects that it subscribes to. The value `.null` is a partition, too.
  public let partitionValue: AnyBSON?
  /// What happens to the file when the server has another history than the file.
  public let clientResetMode: ClientResetMode
  /// Whether an asynchronous open fails if the server can't be reached. If false, it keeps trying.
  public let cancelAsyncOpenOnNonFatalErrors: Bool
  /// The subscriptions that are made when the file is new; nil if there are none.
  public let initialSubscriptions: InitialSubscriptionsConfiguration?

  /// - Parameters:
  ///   - partitionValue: the partition; nil for a realm with flexible sync.
  ///   - initialSubscriptions: the first subscriptions; nil for a realm with a partition.
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

  /// Whether the realm has the objects that it subscribes to, and not those of a partition.
  var isFlexible: Bool { partitionValue == nil }
}

/// The subscriptions that a realm makes when its file is new.
public final class InitialSubscriptionsConfiguration: Sendable {
  /// The closure that adds and changes subscriptions. It is called on the thread that opens the realm, inside an update of the
  /// realm's subscriptions.
  public let callback: @Sendable (_ subscriptions: SyncSubscriptionSet) -> Void
  /// Whether `callback` is also called if the file is not new: each time a realm of the file is opened while no other realm of it
  /// is open in this process.
  public let rerunOnOpen: Bool

  /// Makes initial subscriptions. Each parameter is described at the property of the same name.
  public init(
    callback: @escaping @Sendable (_ subscriptions: SyncSubscriptionSet) -> Void, rerunOnOpen: Bool = false
  ) {
    (self.callback, self.rerunOnOpen) = (callback, rerunOnOpen)
  }
}

/// The name that the Objective-C interface gave `InitialSubscriptionsConfiguration`.
public typealias RLMInitialSubscriptionsConfiguration = InitialSubscriptionsConfiguration

extension User {
  /// Makes the configuration of a realm that has the objects of one partition, in a file of its own.
  ///
  /// `fileURL` of the result may be set to another path.
  ///
  /// - Parameters:
  ///   - partitionValue: the partition: a `String`, `Int`, `Int32`, `Int64`, `ObjectId`, `UUID` or `NSNull`. Any other type stops
  ///     the program.
  ///   - clientResetMode: what happens to the file when the server has another history than the file.
  ///   - cancelAsyncOpenOnNonFatalErrors: whether an asynchronous open fails if the server can't be reached. If false, it keeps
  ///     trying.
  public func configuration<T: BSON>(
    partitionValue: T,
    clientResetMode: ClientResetMode = .recoverUnsyncedChanges(beforeReset: nil, afterReset: nil),
    cancelAsyncOpenOnNonFatalErrors: Bool = false
  ) -> Realm.Configuration {
    let partition = AnyBSON(partitionValue)
    // A value of any other type becomes null as well. Without this check it would silently stand for the partition of null.
    if partition.isNull, !(partitionValue is AnyBSON), !(partitionValue is NSNull) {
      Self.stopUnusable("a \(T.self)")
    }
    return configuration(
      partitionValue: partition, clientResetMode: clientResetMode,
      cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors)
  }

  /// Makes the configuration of a realm that has the objects of one partition, in a file of its own.
  ///
  /// `fileURL` of the result may be set to another path.
  ///
  /// - Parameters:
  ///   - partitionValue: the partition: a `string`, `int32`, `int64`, `objectId`, `uuid` or `null`. Any other case stops the
  ///     program.
  ///   - clientResetMode: what happens to the file when the server has another history than the file.
  ///   - cancelAsyncOpenOnNonFatalErrors: whether an asynchronous open fails if the server can't be reached. If false, it keeps
  ///     trying.
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

  /// Makes the configuration of a realm with flexible sync: it has the objects that it subscribes to; see `Realm.subscriptions`.
  ///
  /// `fileURL` of the result may be set to another path.
  ///
  /// - Parameters:
  ///   - clientResetMode: what happens to the file when the server has another history than the file.
  ///   - cancelAsyncOpenOnNonFatalErrors: whether an asynchronous open fails if the server can't be reached. If false, it keeps
  ///     trying.
  public func flexibleSyncConfiguration(
    clientResetMode: ClientResetMode = .recoverUnsyncedChanges(),
    cancelAsyncOpenOnNonFatalErrors: Bool = false
  ) -> Realm.Configuration {
    let sync = SyncConfiguration(
      user: self, partitionValue: nil, clientResetMode: clientResetMode,
      cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors)
    return configuration(of: .flexible, sync)
  }

  /// Makes the configuration of a realm with flexible sync that subscribes to some objects when its file is new.
  ///
  /// `fileURL` of the result may be set to another path. An asynchronous open waits for the objects of the initial subscriptions.
  ///
  /// - Parameters:
  ///   - clientResetMode: what happens to the file when the server has another history than the file.
  ///   - cancelAsyncOpenOnNonFatalErrors: whether an asynchronous open fails if the server can't be reached. If false, it keeps
  ///     trying.
  ///   - initialSubscriptions: adds and changes subscriptions. It is called on the thread that opens the realm, inside an update
  ///     of the realm's subscriptions.
  ///   - rerunOnOpen: whether `initialSubscriptions` is also called if the file is not new: each time a realm of the file is
  ///     opened while no other realm of it is open in this process. It then has to check whether a name is in use: adding a name
  ///     twice stops the program.
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
