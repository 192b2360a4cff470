// These members belong to an early form of the flexible sync API, and are kept for programs that use them.
extension SyncSubscriptionSet {
  /// Whether there is no subscription.
  public var isEmpty: Bool { count == 0 }

  /// Runs a block that changes the newest subscriptions, and stores the result. If the block throws, nothing is stored. The
  /// function does not wait for the objects.
  ///
  /// - Returns: the result of the block.
  /// - Throws: the error of `block`; `Realm.Error` if the subscriptions could not be stored.
  /// - Precondition: as of `update(_:onComplete:)`.
  @available(*, deprecated, renamed: "update")
  @discardableResult
  public func write<R>(_ block: () throws -> R) throws -> R { try content.update(block) }

  /// Adds the subscriptions that a closure lists, at the end. A subscription without a name is not added if another one without a
  /// name asks for the same objects.
  ///
  ///     subscriptions.append {
  ///       QuerySubscription<Team> { $0.name == "docs" }
  ///       QuerySubscription<Task>(name: "mine") { $0.owner == "me" }
  ///     }
  ///
  /// - Precondition: the block of an update of this set runs, no subscription has one of the names, and the conditions can be
  ///   written as texts. Otherwise the program stops.
  public func append(@SubscriptionBuilder _ subscriptions: () -> [SubscriptionBuilder.One]) {
    for one in subscriptions() { add(one.query(content.realm), named: one.name) }
  }

  /// Removes the subscriptions that a closure lists. A listed subscription with a name removes the one with the same name. A
  /// listed subscription without a name removes the first one that asks for the same objects.
  ///
  /// - Precondition: the block of an update of this set runs. Otherwise the program stops.
  public func remove(@SubscriptionBuilder _ subscriptions: () -> [SubscriptionBuilder.One]) {
    for one in subscriptions() {
      if let name = one.name { remove(named: name) } else { remove(one.query(content.realm)) }
    }
  }

  /// The subscription with the name of the given one. If the given one has no name, the first that asks for the same objects. Nil
  /// if there is none.
  public func first<T: Object>(where subscription: () -> QuerySubscription<T>) -> SyncSubscription? {
    let wanted = subscription()
    if let name = wanted.name { return first(named: name) }
    return first(wanted)
  }
}

extension SyncSubscription {
  /// Makes the subscription ask for the objects of another one of the same class, and gives it the name of that one if it has a
  /// name.
  ///
  /// - Precondition: the block of an update of the subscription's set runs and has not removed the subscription, both have the
  ///   same class, and no other subscription has the name. Otherwise the program stops.
  public func update<T: Object>(_ subscription: () -> QuerySubscription<T>) {
    let wanted = subscription()
    change(to: wanted.query(in: content.realm), "update")
    if let name = wanted.name { rename(name, "update") }
  }
}

/// A result builder that lists subscriptions of any classes, one on each line.
@resultBuilder
public enum SubscriptionBuilder {
  /// A subscription of any class.
  public struct One {
    let name: String?
    let query: (Realm) -> SubscriptionQuery
  }

  /// Makes a list of the one subscription of a line.
  public static func buildExpression<T: Object>(_ subscription: QuerySubscription<T>) -> [One] {
    [One(name: subscription.name, query: subscription.query(in:))]
  }

  /// Joins the subscriptions of several lines.
  public static func buildBlock(_ parts: [One]...) -> [One] { parts.flatMap { $0 } }
  /// The subscriptions of an `if` without an `else`.
  public static func buildOptional(_ part: [One]?) -> [One] { part ?? [] }
  /// The subscriptions of an `if` that has an `else`.
  public static func buildEither(first part: [One]) -> [One] { part }
  /// The subscriptions of an `else`.
  public static func buildEither(second part: [One]) -> [One] { part }
  /// Joins the subscriptions of the rounds of a loop.
  public static func buildArray(_ parts: [[One]]) -> [One] { parts.flatMap { $0 } }
}

/// A type with a sequence of subscription states: `SyncSubscriptionSet`. The protocol lets `state` mean the sequence if a loop
/// uses it, and the present state otherwise.
public protocol _SubscriptionStates {
  /// The set whose states are meant.
  var _set: SyncSubscriptionSet { get }
}

extension SyncSubscriptionSet: _SubscriptionStates {
  public var _set: SyncSubscriptionSet { self }
}

extension _SubscriptionStates {
  /// The sequence of the states of the subscriptions: first the present state, then each one that follows.
  ///
  ///     for await state in subscriptions.state { show(state) }
  public var state: SubscriptionStates { SubscriptionStates(_set.content) }
}
