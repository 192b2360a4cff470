import Foundation
import RealmStorage
import RealmSyncClient

/// What a realm asks its server for: only objects that a subscription asks for are in the realm.
///
///     let subscriptions = realm.subscriptions
///     try await subscriptions.update {
///       subscriptions.append(QuerySubscription<Book>(name: "new") { $0.year > 2020 })
///     }
///
/// It shows the subscriptions as they were when `Realm.subscriptions` was read, or when it was last updated. It is used where its realm is.
public struct SyncSubscriptionSet: Sequence {
  let content: SubscriptionContent

  init(_ content: SubscriptionContent) { self.content = content }

  private var list: [StoredSubscription] { content.shown.subscriptions }

  private func subscription(_ stored: StoredSubscription?) -> SyncSubscription? {
    stored.map { SyncSubscription(stored: $0, content: content) }
  }

  // MARK: - What it shows

  /// How many subscriptions there are. In a block of an update, before that.
  public var count: Int { list.count }
  /// The one that was added first.
  public var first: SyncSubscription? { subscription(list.first) }
  /// The one that was added last.
  public var last: SyncSubscription? { subscription(list.last) }

  /// The subscription at a place, from 0, in the order in which they were added. It is never nil: a place that there is not stops the program.
  public subscript(position: Int) -> SyncSubscription? {
    guard list.indices.contains(position) else {
      raise("Index out of range", "there is no subscription \(position) among \(list.count).")
    }
    return subscription(list[position])
  }

  /// In the order in which they were added.
  public func makeIterator() -> SyncSubscriptionSetIterator {
    SyncSubscriptionSetIterator(rest: list[...], content: content)
  }

  /// What has become of these subscriptions, as it is now.
  public var state: SyncSubscriptionState { content.state(of: content.shown.number) }

  // MARK: - Looking for one

  /// The subscription of a name; nil where there is none. In a block of an update, one that the block has added is found, too.
  public func first(named name: String) -> SyncSubscription? {
    subscription(content.first { $0.isNamed(name) })
  }

  /// The first subscription that asks for the objects of which a condition holds, with a name or without; nil where there is none. Conditions
  /// are the same where they say the same in the same order.
  public func first<T: Object>(
    ofType type: T.Type, where query: (Query<T>) -> Query<Bool>
  ) -> SyncSubscription? {
    first(QuerySubscription<T>(query: query))
  }

  /// The same of a condition that is written in the format of `NSPredicate`.
  public func first<T: Object>(
    ofType type: T.Type, where predicateFormat: String, _ args: Any...
  ) -> SyncSubscription? {
    first(asking(T.self, predicateFormat, args))
  }

  func first<T: Object>(_ subscription: QuerySubscription<T>) -> SyncSubscription? {
    first(subscription.query(in: content.realm))
  }

  private func first(_ query: SubscriptionQuery) -> SyncSubscription? {
    subscription(content.first { $0.asks(query.table, query.predicate) })
  }

  private func asking<T: Object>(_ type: T.Type, _ format: String, _ args: [Any]) -> SubscriptionQuery {
    content.realm.subscriptionQuery(type) { context in context.predicate(format: format, args) }
  }

  // MARK: - Changes

  /// Lets a block change the newest subscriptions, and stores what it has made of them at once. The server is asked when there is a connection.
  /// What the block looks for is the state before it, but for subscriptions that it has added.
  ///
  /// - Parameters:
  ///   - block: is called at once, and changes this set by `append`, `remove` and `updateQuery`.
  ///   - onComplete: is called once, on another thread: with nil when all objects are in the realm's file, or when newer subscriptions
  ///     are in force; with `Realm.Error.subscriptionFailed` where the server can't use the subscriptions; with a `SyncError` where
  ///     the session ends before; with another `Realm.Error` where they could not be stored, which stops the program without `onComplete`.
  /// - Precondition: the realm is not frozen, and no write transaction is open on it. It is called in no block of an update of this set.
  public func update(_ block: () -> Void, onComplete: (@Sendable ((any Error)?) -> Void)? = nil) {
    do {
      try content.update(block)
    } catch {
      guard let onComplete else { raise("Subscriptions not stored", error.localizedDescription) }
      return SubscriptionWait.callbacks.async { onComplete(error) }
    }
    guard let onComplete else { return }
    SubscriptionWait.tell(content.shown.number, content.realm.syncSession, onComplete)
  }

  /// Lets a block change the newest subscriptions, stores what it has made of them, and waits until all objects are in the realm, or newer
  /// subscriptions are in force. While there is no connection, it waits on.
  ///
  /// - Throws: `Realm.Error.subscriptionFailed` where the server can't use the subscriptions; a `SyncError` where the session ends
  ///   before; another `Realm.Error` where they could not be stored; `CancellationError`. In the first two cases, and the last, they
  ///   stay.
  /// - Precondition: the same as of `update(_:onComplete:)`. The realm belongs to the main actor.
  @MainActor
  public func update(_ block: () -> Void) async throws {
    try content.update(block)
    try await SubscriptionWait.wait(content.shown.number, content.realm.syncSession)
    content.realm.session.showNewest()
  }

  /// Adds subscriptions behind the others. One without a name that asks for the same as another without is not added.
  ///
  /// - Precondition: a block of an update of this set runs; no subscription has the name; a text can say the condition. Else the program stops.
  public func append<T: Object>(_ subscriptions: QuerySubscription<T>...) {
    for subscription in subscriptions { add(subscription.query(in: content.realm), named: subscription.name) }
  }

  func add(_ query: SubscriptionQuery, named name: String?) {
    let isAdded = content.change("append") { $0.add(query, named: name) }
    guard !isAdded, let name else { return }
    raise(
      "Name of a subscription in use",
      "append adds a subscription to \(query.table) of the name \(name), which another subscription has: look for it by "
        + "first(named:), and change it by updateQuery, or choose another name.")
  }

  /// Removes the subscription of a name, if there is one. Its objects leave the realm soon, but for those that another subscription asks for.
  ///
  /// - Precondition: a block of an update of this set runs; else the program stops. So it is of all that remove.
  public func remove(named name: String) {
    content.change("remove") { $0.removeFirst { $0.isNamed(name) } }
  }

  /// Removes subscriptions. One that is not there any more is passed over.
  public func remove(_ subscriptions: SyncSubscription...) {
    let ids = Set(subscriptions.map(\.stored.id))
    content.change("remove") { $0.removeAll { ids.contains($0.id) } }
  }

  /// Removes the first subscription that asks for the objects of which a condition holds, with a name or without, if there is one.
  public func remove<T: Object>(ofType type: T.Type, _ query: (Query<T>) -> Query<Bool>) {
    remove(QuerySubscription<T>(query: query).query(in: content.realm))
  }

  /// The same of a condition that is written in the format of `NSPredicate`.
  public func remove<T: Object>(ofType type: T.Type, where predicateFormat: String, _ args: Any...) {
    remove(asking(T.self, predicateFormat, args))
  }

  func remove(_ query: SubscriptionQuery) {
    content.change("remove") { $0.removeFirst { $0.asks(query.table, query.predicate) } }
  }

  /// Removes all subscriptions, or all without a name. With all of them gone, all objects leave the realm.
  public func removeAll(unnamedOnly: Bool = false) {
    content.change("removeAll") { $0.removeAll { $0.name == nil || !unnamedOnly } }
  }

  /// Removes all subscriptions to a class.
  public func removeAll<T: Object>(ofType type: T.Type) {
    let table = content.realm.subscriptionQuery(type) { _ in .always }.table
    content.change("removeAll") { $0.removeAll { $0.table == table } }
  }
}

/// The subscriptions of a set, one after another, as they were when it was made.
public struct SyncSubscriptionSetIterator: IteratorProtocol {
  fileprivate var rest: ArraySlice<StoredSubscription>
  fileprivate let content: SubscriptionContent

  public mutating func next() -> SyncSubscription? {
    rest.popFirst().map { SyncSubscription(stored: $0, content: content) }
  }
}

extension Realm {
  /// What the realm asks its server for, as it is now.
  ///
  /// - Precondition: the realm was opened with `User.flexibleSyncConfiguration`; else the program stops.
  public var subscriptions: SyncSubscriptionSet {
    guard view.configuration.syncing?.isFlexible ?? false else {
      raise(
        "Realm without subscriptions",
        "the realm at \(session.file.database.path) was not opened with flexible sync, and has no subscriptions: open it "
          + "with user.flexibleSyncConfiguration().")
    }
    return SyncSubscriptionSet(SubscriptionContent(self))
  }
}

extension RealmSession {
  /// Moves to the newest version, where nobody has said that it does not move by itself.
  func showNewest() {
    if autorefresh { _ = refresh() }
  }
}
