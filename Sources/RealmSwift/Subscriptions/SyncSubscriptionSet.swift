import Foundation
import RealmStorage
import RealmSyncClient

/// The subscriptions of a realm. The realm has only the objects that a subscription asks for.
///
///     let subscriptions = realm.subscriptions
///     try await subscriptions.update {
///       subscriptions.append(QuerySubscription<Book>(name: "new") { $0.year > 2020 })
///     }
///
/// The set shows the subscriptions as they were when `Realm.subscriptions` was read, or after its own last update. Use it only
/// where its realm may be used.
public struct SyncSubscriptionSet: Sequence {
  let content: SubscriptionContent

  init(_ content: SubscriptionContent) { self.content = content }

  private var list: [StoredSubscription] { content.shown.subscriptions }

  private func subscription(_ stored: StoredSubscription?) -> SyncSubscription? {
    stored.map { SyncSubscription(stored: $0, content: content) }
  }

  // MARK: - What it shows

  /// The number of subscriptions. In the block of an update it is the number before the update.
  public var count: Int { list.count }
  /// The subscription that was added first; nil if there is none. In the block of an update it is the first one before the
  /// update.
  public var first: SyncSubscription? { subscription(list.first) }
  /// The subscription that was added last; nil if there is none. In the block of an update it is the last one before the update.
  public var last: SyncSubscription? { subscription(list.last) }

  /// The subscription at a position, in the order in which they were added.
  ///
  /// - Precondition: `position` is at least 0 and less than `count`. Otherwise the program stops, so that the result is never
  ///   nil.
  public subscript(position: Int) -> SyncSubscription? {
    guard list.indices.contains(position) else {
      raise("Index out of range", "there is no subscription \(position) among \(list.count).")
    }
    return subscription(list[position])
  }

  /// Makes an iterator over the subscriptions, in the order in which they were added.
  public func makeIterator() -> SyncSubscriptionSetIterator {
    SyncSubscriptionSetIterator(rest: list[...], content: content)
  }

  /// The present state of these subscriptions. It is read from the file at each use.
  public var state: SyncSubscriptionState { content.state(of: content.shown.number) }

  // MARK: - Looking for one

  /// The subscription with a name; nil if there is none. In the block of an update it also finds those that the block has added.
  public func first(named name: String) -> SyncSubscription? {
    subscription(content.first { $0.isNamed(name) })
  }

  /// The first subscription, with a name or without, that asks for the objects of a class that match a condition; nil if there is
  /// none. Two conditions are the same if their texts in Realm's query language are the same.
  ///
  /// - Precondition: the condition can be written as a text. Otherwise the program stops.
  public func first<T: Object>(
    ofType type: T.Type, where query: (Query<T>) -> Query<Bool>
  ) -> SyncSubscription? {
    first(QuerySubscription<T>(query: query))
  }

  /// The first subscription, with a name or without, that asks for the objects of a class that match a condition in the format of
  /// `NSPredicate`; nil if there is none. Two conditions are the same if their texts in Realm's query language are the same.
  ///
  /// - Precondition: the format is valid for the class, and the condition can be written as a text. Otherwise the program stops.
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

  /// Runs a block that changes the newest subscriptions, and stores the result at once. The server is asked when there is a
  /// connection.
  ///
  /// - Parameters:
  ///   - block: changes this set by `append`, `remove` and `updateQuery`. It is called at once. What it reads from the set is the
  ///     state before the update, except that the functions that look for one subscription also find those that the block has
  ///     added.
  ///   - onComplete: is called once, on another thread: with nil when all objects are in the realm's file, or when newer
  ///     subscriptions are in force; with `Realm.Error.subscriptionFailed` if the server can't use the subscriptions; with a
  ///     `SyncError` if the session ends before; with another `Realm.Error` if the subscriptions could not be stored. Without
  ///     `onComplete`, the program stops if they could not be stored.
  /// - Precondition: the realm is not frozen, is in no write transaction, and no block of an update of this set runs. Otherwise
  ///   the program stops.
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

  /// Runs a block that changes the newest subscriptions, stores the result, and waits until all objects are in the realm or newer
  /// subscriptions are in force. Without a connection the wait continues until there is one.
  ///
  /// - Parameter block: changes this set, as in `update(_:onComplete:)`.
  /// - Throws: `Realm.Error.subscriptionFailed` if the server can't use the subscriptions; a `SyncError` if the session ends
  ///   before; another `Realm.Error` if the subscriptions could not be stored; `CancellationError` if the task is cancelled.
  ///   Except if they could not be stored, the subscriptions stay.
  /// - Precondition: the realm belongs to the main actor, is not frozen, is in no write transaction, and no block of an update of
  ///   this set runs. Otherwise the program stops.
  @MainActor
  public func update(_ block: () -> Void) async throws {
    try content.update(block)
    try await SubscriptionWait.wait(content.shown.number, content.realm.syncSession)
    content.realm.session.showNewest()
  }

  /// Adds subscriptions at the end. A subscription without a name is not added if another one without a name asks for the same
  /// objects.
  ///
  /// - Precondition: the block of an update of this set runs, no subscription has one of the names, and the conditions can be
  ///   written as texts. Otherwise the program stops.
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

  /// Removes the subscription with a name, if there is one. Its objects leave the realm later, unless another subscription asks
  /// for them.
  ///
  /// - Precondition: the block of an update of this set runs. Otherwise the program stops.
  public func remove(named name: String) {
    content.change("remove") { $0.removeFirst { $0.isNamed(name) } }
  }

  /// Removes subscriptions. Those that are not in the set any more are ignored.
  ///
  /// - Precondition: the block of an update of this set runs. Otherwise the program stops.
  public func remove(_ subscriptions: SyncSubscription...) {
    let ids = Set(subscriptions.map(\.stored.id))
    content.change("remove") { $0.removeAll { ids.contains($0.id) } }
  }

  /// Removes the first subscription, with a name or without, that asks for the objects of a class that match a condition, if
  /// there is one.
  ///
  /// - Precondition: the block of an update of this set runs, and the condition can be written as a text. Otherwise the program
  ///   stops.
  public func remove<T: Object>(ofType type: T.Type, _ query: (Query<T>) -> Query<Bool>) {
    remove(QuerySubscription<T>(query: query).query(in: content.realm))
  }

  /// Removes the first subscription, with a name or without, that asks for the objects of a class that match a condition in the
  /// format of `NSPredicate`, if there is one.
  ///
  /// - Precondition: the block of an update of this set runs, the format is valid for the class, and the condition can be written
  ///   as a text. Otherwise the program stops.
  public func remove<T: Object>(ofType type: T.Type, where predicateFormat: String, _ args: Any...) {
    remove(asking(T.self, predicateFormat, args))
  }

  func remove(_ query: SubscriptionQuery) {
    content.change("remove") { $0.removeFirst { $0.asks(query.table, query.predicate) } }
  }

  /// Removes all subscriptions. Without subscriptions all objects leave the realm.
  ///
  /// - Parameter unnamedOnly: whether subscriptions with a name stay.
  /// - Precondition: the block of an update of this set runs. Otherwise the program stops.
  public func removeAll(unnamedOnly: Bool = false) {
    content.change("removeAll") { $0.removeAll { $0.name == nil || !unnamedOnly } }
  }

  /// Removes all subscriptions to a class.
  ///
  /// - Precondition: the block of an update of this set runs. Otherwise the program stops.
  public func removeAll<T: Object>(ofType type: T.Type) {
    let table = content.realm.subscriptionQuery(type) { _ in .always }.table
    content.change("removeAll") { $0.removeAll { $0.table == table } }
  }
}

/// An iterator over the subscriptions of a set, as they were when the iterator was made.
public struct SyncSubscriptionSetIterator: IteratorProtocol {
  fileprivate var rest: ArraySlice<StoredSubscription>
  fileprivate let content: SubscriptionContent

  /// The next subscription; nil after the last one.
  public mutating func next() -> SyncSubscription? {
    rest.popFirst().map { SyncSubscription(stored: $0, content: content) }
  }
}

extension Realm {
  /// The subscriptions of the realm, as they are stored now.
  ///
  /// - Precondition: the realm was opened with `User.flexibleSyncConfiguration`. Otherwise the program stops.
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
  /// Moves to the newest version of the file, unless `autorefresh` is off.
  func showNewest() {
    if autorefresh { _ = refresh() }
  }
}
