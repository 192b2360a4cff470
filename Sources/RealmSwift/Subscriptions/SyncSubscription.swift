public import Foundation
import RealmStorage
import RealmSyncClient

/// What a realm asks its server for of a class, as it was when it was found in `Realm.subscriptions`.
public struct SyncSubscription {
  let stored: StoredSubscription
  let content: SubscriptionContent

  /// Nil of one that is found by what it asks for.
  public var name: String? { stored.name }
  /// When it was added.
  public var createdAt: Date { Date(milliseconds: stored.createdAt) }
  /// When it was last told to ask for something else, or got another name; when it was added, where it never was.
  public var updatedAt: Date { Date(milliseconds: stored.updatedAt) }

  /// Lets it ask for the objects of which a condition holds, of the same class. One without a name goes to the end of the subscriptions.
  ///
  /// - Precondition: a block of an update of its set runs, in which it was not removed; it is of the class; a text can say the condition.
  ///   Else the program stops.
  public func updateQuery<T: Object>(toType type: T.Type, where query: (Query<T>) -> Query<Bool>) {
    change(to: QuerySubscription<T>(query: query))
  }

  /// The same; nil for all objects of the class.
  public func updateQuery<T: Object>(toType type: T.Type, where query: ((Query<T>) -> Query<Bool>)? = nil) {
    change(to: query.map { QuerySubscription<T>(query: $0) } ?? QuerySubscription<T>())
  }

  /// Lets it ask for the objects of its class of which a condition holds that is written in the format of `NSPredicate`. One without a
  /// name goes to the end of the subscriptions.
  ///
  /// - Parameters:
  ///   - predicateFormat: a format; one that makes no sense for the class stops the program.
  ///   - args: values for `%@` and key paths for `%K`, in the order of the format.
  /// - Precondition: a block of an update of its set runs, in which it was not removed, and the realm has its class.
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

  /// - Parameter what: the call that does it.
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

  /// - Parameter what: the call that does it.
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
