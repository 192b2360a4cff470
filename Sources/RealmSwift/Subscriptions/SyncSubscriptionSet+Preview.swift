// What an early description of flexible sync has beside the interface that came to be.
extension SyncSubscriptionSet {
  /// Whether there is no subscription.
  public var isEmpty: Bool { count == 0 }

  /// Lets a block change the newest subscriptions, and stores what it has made of them at once; nothing where it throws. The objects are not
  /// waited for.
  ///
  /// - Throws: what `block` throws; `Realm.Error` where the subscriptions could not be stored.
  @available(*, deprecated, renamed: "update")
  @discardableResult
  public func write<R>(_ block: () throws -> R) throws -> R { try content.update(block) }

  /// Adds the subscriptions that a closure lists.
  ///
  ///     subscriptions.append {
  ///       QuerySubscription<Team> { $0.name == "docs" }
  ///       QuerySubscription<Task>(name: "mine") { $0.owner == "me" }
  ///     }
  ///
  /// - Precondition: the same as of `append(_:)`.
  public func append(@SubscriptionBuilder _ subscriptions: () -> [SubscriptionBuilder.One]) {
    for one in subscriptions() { add(one.query(content.realm), named: one.name) }
  }

  /// Removes the subscriptions that a closure lists: by their names, and where they have none, by what they ask for.
  ///
  /// - Precondition: a block of an update of this set runs; else the program stops.
  public func remove(@SubscriptionBuilder _ subscriptions: () -> [SubscriptionBuilder.One]) {
    for one in subscriptions() {
      if let name = one.name { remove(named: name) } else { remove(one.query(content.realm)) }
    }
  }

  /// The subscription that has the name of another one; where that has none, the first that asks for the same. Nil where there is none.
  public func first<T: Object>(where subscription: () -> QuerySubscription<T>) -> SyncSubscription? {
    let wanted = subscription()
    if let name = wanted.name { return first(named: name) }
    return first(wanted)
  }
}

extension SyncSubscription {
  /// Lets it ask for what another one asks for, of the same class, and gives it that one's name where it has one.
  ///
  /// - Precondition: a block of an update of its set runs, in which it was not removed; it is of the class; no other subscription has the
  ///   name. Else the program stops.
  public func update<T: Object>(_ subscription: () -> QuerySubscription<T>) {
    let wanted = subscription()
    change(to: wanted.query(in: content.realm), "update")
    if let name = wanted.name { rename(name, "update") }
  }
}

/// Lists subscriptions to any classes, one on each line.
@resultBuilder
public enum SubscriptionBuilder {
  /// A subscription to some class.
  public struct One {
    let name: String?
    let query: (Realm) -> SubscriptionQuery
  }

  /// One of the lines.
  public static func buildExpression<T: Object>(_ subscription: QuerySubscription<T>) -> [One] {
    [One(name: subscription.name, query: subscription.query(in:))]
  }

  /// Lines one after another.
  public static func buildBlock(_ parts: [One]...) -> [One] { parts.flatMap { $0 } }
  /// Lines behind an `if`.
  public static func buildOptional(_ part: [One]?) -> [One] { part ?? [] }
  /// Lines of an `if` with an `else`.
  public static func buildEither(first part: [One]) -> [One] { part }
  /// Lines of an `else`.
  public static func buildEither(second part: [One]) -> [One] { part }
  /// Lines of a loop.
  public static func buildArray(_ parts: [[One]]) -> [One] { parts.flatMap { $0 } }
}

/// Has states that may be gone over: `SyncSubscriptionSet`, where a loop asks for a sequence.
public protocol _SubscriptionStates {
  var _set: SyncSubscriptionSet { get }
}

extension SyncSubscriptionSet: _SubscriptionStates {
  public var _set: SyncSubscriptionSet { self }
}

extension _SubscriptionStates {
  /// The states of the subscriptions, one after another.
  ///
  ///     for await state in subscriptions.state { show(state) }
  public var state: SubscriptionStates { SubscriptionStates(_set.content) }
}
