public import Foundation
import RealmStorage
import RealmSyncClient

/// One subscription of a realm: the objects of a class that the realm asks its server for. The value shows the subscription as it
/// was when it was found in `Realm.subscriptions`.
public struct SyncSubscription {
  let stored: StoredSubscription
  let content: SubscriptionContent

  /// The name; nil if the subscription has none.
  public var name: String? { stored.name }
  /// When the subscription was added, by this device's clock.
  public var createdAt: Date { Date(milliseconds: stored.createdAt) }
  /// When the condition or the name was last changed; if neither ever was, when the subscription was added.
  public var updatedAt: Date { Date(milliseconds: stored.updatedAt) }

  /// Makes the subscription ask for the objects of its class that match another condition. A subscription without a name moves to
  /// the end.
  ///
  /// - Parameters:
  ///   - type: the class of the subscription.
  ///   - query: returns the condition.
  /// - Precondition: the block of an update of the subscription's set runs and has not removed the subscription, `type` is its
  ///   class, and the condition can be written as a text. Otherwise the program stops.
  public func updateQuery<T: Object>(toType type: T.Type, where query: (Query<T>) -> Query<Bool>) {
    change(to: QuerySubscription<T>(query: query))
  }

  /// Makes the subscription ask for the objects of its class that match another condition, or for all of them. A subscription
  /// without a name moves to the end.
  ///
  /// - Parameters:
  ///   - type: the class of the subscription.
  ///   - query: returns the condition; nil for all objects of the class.
  /// - Precondition: the block of an update of the subscription's set runs and has not removed the subscription, `type` is its
  ///   class, and the condition can be written as a text. Otherwise the program stops.
  public func updateQuery<T: Object>(toType type: T.Type, where query: ((Query<T>) -> Query<Bool>)? = nil) {
    change(to: query.map { QuerySubscription<T>(query: $0) } ?? QuerySubscription<T>())
  }

  /// Makes the subscription ask for the objects of its class that match a condition in the format of `NSPredicate`. A
  /// subscription without a name moves to the end.
  ///
  /// - Parameters:
  ///   - predicateFormat: the condition.
  ///   - args: the values for `%@` and the key paths for `%K`, in the order of the format.
  /// - Precondition: the block of an update of the subscription's set runs and has not removed the subscription, the realm has
  ///   the class, and the format is valid for it. Otherwise the program stops.
  public func updateQuery(to predicateFormat: String, _ args: Any...) {
    let classes = content.realm.classes
    guard let binding = classes.bindings.first(where: { $0.table?.name == stored.table }) else {
      raise(
        "Class not in the realm",
        "a subscription asks for objects of \(stored.table), which is not among the classes of this realm: use a realm "
          + "whose configuration names it.")
    }
    let query = content.realm.subscriptionQuery(binding.model.type) { context in
      context.predicate(format: predicateFormat, args)
    }
    change(to: query, "updateQuery")
  }

  private func change<T: Object>(to subscription: QuerySubscription<T>) {
    change(to: subscription.query(in: content.realm), "updateQuery")
  }

  /// Makes the subscription ask for another query of its class.
  ///
  /// - Parameter what: the name of the call, for messages.
  func change(to query: SubscriptionQuery, _ what: String) {
    guard query.table == stored.table else {
      raise(
        "Subscription of another class",
        "\(what) can't let a subscription to \(stored.table) ask for objects of \(query.table): remove it, and append "
          + "another one.")
    }
    let isThere = content.change(what) { $0.change(stored.id, to: query) }
    guard !isThere else { return }
    raise(
      "Removed subscription",
      "\(what) changes a subscription to \(stored.table)\(stored.name.map { " of the name \($0)" } ?? ""), which was "
        + "removed: append it anew.")
  }

  /// Gives the subscription another name.
  ///
  /// - Parameter what: the name of the call, for messages.
  func rename(_ name: String, _ what: String) {
    let isFree = content.change(what) { $0.rename(stored.id, name) }
    guard !isFree else { return }
    raise(
      "Name of a subscription in use",
      "\(what) gives a subscription to \(stored.table) the name \(name), which another subscription has: choose another, "
        + "or remove that one.")
  }
}

/// The name that the Objective-C interface gave `SyncSubscription`.
public typealias RLMSyncSubscription = SyncSubscription

extension Date {
  fileprivate init(milliseconds: UInt64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
