public import Foundation
import RealmStorage
import RealmSyncClient

/// When `Results.subscribe` waits until the subscribed objects are in the realm.
public enum WaitForSyncMode: UInt, Sendable {
  /// It waits only if it has added or changed the subscription.
  case onCreation
  /// It always waits.
  case always
  /// It never waits.
  case never
}

extension Results {
  /// Subscribes to the objects of these results, and waits until they are in the realm if `waitForSync` says so.
  ///
  /// If a subscription with this name, or without a name if `name` is nil, asks for the same objects already, none is added. If a
  /// subscription with this name asks for other objects, even of another class, it is changed to ask for these.
  ///
  ///     let new = try await realm.objects(Book.self).where { $0.year > 2020 }.subscribe(name: "new")
  ///
  /// - Parameters:
  ///   - name: the name of the subscription; nil for a subscription without a name, which is found by its class and condition.
  ///   - waitForSync: when to wait for the objects. Without a connection the wait continues until there is one.
  ///   - timeout: the longest time to wait, in seconds; nil, 0 and negative values for no limit. The subscription stays after a
  ///     timeout.
  /// - Returns: these results.
  /// - Throws:
  ///   - `Realm.Error.subscriptionFailed` if the server can't use the subscriptions;
  ///   - a `SyncError` if the session ends before the objects are there;
  ///   - an `NSError` with the domain `NSPOSIXErrorDomain` and the code `ETIMEDOUT` after a timeout;
  ///   - another `Realm.Error` if the subscription could not be stored;
  ///   - `CancellationError` if the task is cancelled.
  /// - Precondition: the realm was opened with flexible sync, belongs to the calling actor and is in no write transaction. The
  ///   results are unsorted, without `distinct` and limit, and either all objects of a class or those that match conditions which
  ///   can be written as a text. Otherwise the program stops.
  @discardableResult
  public func subscribe(
    name: String? = nil, waitForSync: WaitForSyncMode = .onCreation, timeout: TimeInterval? = nil,
    _isolation actor: isolated any Actor = #isolation
  ) async throws -> Results<Element> {
    let content = managedContent("subscribed to")
    let session = content.context.session
    session.checkCanSubscribe()
    let query = content.subscriptionQuery()
    let subscriptions = Realm(session).subscriptions.content
    let known = subscriptions.shown.subscriptions.first {
      $0.isNamed(name) && $0.asks(query.table, query.predicate)
    }
    content.subscription = known?.id
    if known == nil {
      content.subscription = try subscriptions.update {
        subscriptions.change("subscribe") { $0.assign(query, named: name) }
      }
    }
    guard waitForSync == .always || waitForSync == .onCreation && known == nil else { return self }
    let sync = subscriptions.realm.syncSession
    try await SubscriptionWait.wait(subscriptions.shown.number, sync, timeout: timeout)
    session.showNewest()
    return self
  }

  /// Removes the subscription that `subscribe` has made or found for these results. If `subscribe` was not called on them, it
  /// removes the subscription without a name that asks for these objects. If there is none, nothing happens. Objects that no
  /// other subscription asks for leave the realm later; this function does not wait for that.
  ///
  /// - Precondition: the realm was opened with flexible sync and is in no write transaction. The results are such as `subscribe`
  ///   accepts. Otherwise, and if the change can't be stored, the program stops.
  public func unsubscribe() {
    let content = managedContent("unsubscribed from")
    let query = content.subscriptionQuery()
    let subscriptions = Realm(content.context.session).subscriptions.content
    let remembered = content.subscription
    content.subscription = nil
    do {
      try subscriptions.update {
        subscriptions.change("unsubscribe") { draft in
          draft.removeFirst { subscription in
            if let remembered { return subscription.id == remembered }
            return subscription.name == nil && subscription.asks(query.table, query.predicate)
          }
        }
      }
    } catch {
      raise("Subscriptions not stored", error.localizedDescription)
    }
  }
}

extension _CollectionContent {
  /// The query of a subscription to these objects.
  ///
  /// - Precondition: they are all objects of a class, or those that match a condition. Otherwise the program stops.
  fileprivate func subscriptionQuery() -> SubscriptionQuery {
    guard let (plan, inner) = enginePlan() else { return context.subscriptionQuery(.always) }
    let name = context.binding.model.name
    guard case .table = plan.source, inner == nil else {
      raise(
        "Unsupported subscription",
        "a server is asked for objects by conditions on all of a class, and these \(name) are those of a collection, or "
          + "what a limit has left: subscribe to realm.objects(\(name).self).where { }.")
    }
    guard plan.steps.isEmpty else {
      raise(
        "Unsupported subscription",
        "sort, distinct and limit can't be subscribed to: subscribe to the \(name) without them, and add them to what that "
          + "answers.")
    }
    return context.subscriptionQuery(plan.predicate)
  }
}

extension RealmSession {
  /// Stops the program if the session does not belong to the actor that runs now.
  fileprivate func checkCanSubscribe() {
    switch owner {
    case .mainQueue, .actor: check()
    case .thread, .queue, .anyone:
      checkThawed("be subscribed to; use results of a live realm")
      raise(
        "Realm without an actor",
        "subscribe is for results of a realm of an actor, and the realm at \(file.database.path) belongs to \(owner.description): "
          + "open it by try await Realm(actor: self), or on the main actor.")
    }
  }
}
