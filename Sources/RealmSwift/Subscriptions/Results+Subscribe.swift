public import Foundation
import RealmStorage
import RealmSyncClient

/// When `Results.subscribe` waits for the objects.
public enum WaitForSyncMode: UInt, Sendable {
  /// Where the subscription was not there before.
  case onCreation
  /// Always.
  case always
  /// Never.
  case never
}

extension Results {
  /// Lets the realm ask its server for these objects: adds a subscription to them, where none with this name, or without a name, asks for them already.
  /// The subscription of a name that asks for something else is changed, also where that is of another class.
  ///
  ///     let new = try await realm.objects(Book.self).where { $0.year > 2020 }.subscribe(name: "new")
  ///
  /// - Parameters:
  ///   - name: of the subscription; nil for one that is found by what it asks for.
  ///   - waitForSync: when the objects are waited for. While there is no connection, that goes on.
  ///   - timeout: in seconds; nil, and what is not greater than 0, for any time. Behind it the subscription stays, and nothing is waited for.
  /// - Returns: these results.
  /// - Throws: `Realm.Error.subscriptionFailed` where the server can't use the subscriptions; a `SyncError` where the session ends before;
  ///   an `NSError` with the code `ETIMEDOUT` of the domain `NSPOSIXErrorDomain`; another `Realm.Error` where the subscription
  ///   could not be stored; `CancellationError`.
  /// - Precondition: the realm was opened with flexible sync, belongs to the actor that calls, and is in no write transaction; the results are all
  ///   objects of a class, or those of which conditions hold that a text can say, without an order. Else the program stops.
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

  /// Removes the subscription that `subscribe` has made or found for these results; else the one without a name that asks for these objects; does nothing
  /// where there is none. Objects that no other subscription asks for leave the realm soon, which is not waited for.
  ///
  /// - Precondition: the realm was opened with flexible sync, and is in no write transaction; the results are as `subscribe` takes them. Else the
  ///   program stops, and so it does where the change can't be stored.
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
  /// What a subscription asks for that is to show these objects.
  ///
  /// - Precondition: they are all of a class, or those of which a condition holds; else the program stops.
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
  /// Stops the program where the session does not belong to the actor that runs.
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
