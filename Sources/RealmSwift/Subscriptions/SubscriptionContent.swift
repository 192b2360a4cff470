import Foundation
import RealmStorage
import RealmSyncClient

/// The subscriptions that a `SyncSubscriptionSet` shows, and the changes that the block of an update has made to them so far.
final class SubscriptionContent {
  let realm: Realm
  /// The stored subscriptions. While the block of an update runs, they are those before the block.
  private(set) var shown: StoredSubscriptionSet
  /// The changed subscriptions while the block of an update runs; nil otherwise.
  private var draft: SubscriptionDraft?

  /// Reads the newest subscriptions of a realm's file.
  init(_ realm: Realm) {
    self.realm = realm
    shown = Self.newest(realm)
  }

  private static func newest(_ realm: Realm) -> StoredSubscriptionSet {
    reading { () throws(StorageError) in try SubscriptionStore.newest(realm.session.file.database.snapshot())
    }
  }

  /// The state of the subscription set with a number, read from the file now.
  func state(of number: UInt64) -> SyncSubscriptionState {
    let state = reading { () throws(StorageError) in
      try SubscriptionStore.state(of: number, realm.session.file.database.snapshot())
    }
    return switch state {
    case .pending: .pending
    case .complete: .complete
    case .superseded: .superseded
    case .refused(_, let text):
      .error(SyncError(.invalidFlexibleSyncSubscriptions, userInfo: [NSLocalizedDescriptionKey: text]))
    }
  }

  /// The first subscription that matches a condition. While the block of an update runs, its changed subscriptions are searched
  /// first, then the stored ones.
  func first(where isWanted: (StoredSubscription) -> Bool) -> StoredSubscription? {
    draft?.list.first(where: isWanted) ?? shown.subscriptions.first(where: isWanted)
  }

  // MARK: - Changes

  /// Changes the subscriptions.
  ///
  /// - Parameter what: the name of the call that changes them, for messages.
  /// - Precondition: the block of an update runs. Otherwise the program stops.
  func change<Result>(_ what: String, _ body: (inout SubscriptionDraft) -> Result) -> Result {
    guard var changed = draft else {
      raise(
        "Subscriptions outside of an update",
        "\(what) changes the subscriptions of \(realm.session.file.database.path), and is called in the block of an "
          + "update of the same set only: put it into subscriptions.update { }.")
    }
    let result = body(&changed)
    draft = changed
    return result
  }

  /// Reads the newest subscriptions, runs a block that changes them, and commits the result. If the block throws, nothing is
  /// committed.
  ///
  /// - Throws: the error of `block`; `Realm.Error` if the result could not be committed.
  /// - Precondition: the realm is not frozen, and is in no write transaction; no block of an update of this set runs. Otherwise
  ///   the program stops.
  @discardableResult
  func update<Result>(_ block: () throws -> Result) throws -> Result {
    checkCanChange()
    guard draft == nil else {
      raise(
        "Update in an update",
        "the subscriptions of \(realm.session.file.database.path) are being updated: change them in the block that "
          + "runs, without another update.")
    }
    shown = Self.newest(realm)
    draft = SubscriptionDraft(shown.subscriptions)
    defer { draft = nil }
    let result = try block()
    if let draft { shown = try commit(draft) }
    return result
  }

  private func checkCanChange() {
    let session = realm.session
    // A realm that is opened for reading may change its subscriptions, because they say which objects it gets.
    session.check()
    session.checkThawed("have its subscriptions changed; thaw() it, and change those of what that answers")
    guard session.transaction != nil else { return }
    raise(
      "Subscriptions in a write transaction",
      "the realm at \(session.file.database.path) is in a write transaction, and subscriptions are stored by one of "
        + "their own: update them before realm.write { } or behind it.")
  }

  private func commit(_ draft: SubscriptionDraft) throws -> StoredSubscriptionSet {
    checkCanChange()
    let session = realm.session
    // An asynchronous write that waits for its turn has asked for the write lock, and may hold it.
    let taken = session.pendingWrites?.takeOrGiveUp()
    defer { session.pendingWrites?.passOn(session) }
    let transaction =
      try taken
      ?? Realm.Error.wrapping { () throws(StorageError) in try session.file.database.beginWrite() }
    defer { transaction.cancel() }
    let committed: StoredSubscriptionSet
    do {
      var file = try ClientFile(transaction)
      let newest = try file.subscriptions()
      let list = draft.applied(to: newest.subscriptions)
      // If the server has refused the newest set, the same set is stored again, because the server may accept it now.
      if list == newest.subscriptions, newest.number > 0, newest.refusal == nil { return newest }
      let number = try file.setSubscriptions(list)
      try transaction.commit()
      committed = StoredSubscriptionSet(number: number, subscriptions: list)
    } catch {
      Logger.shared.log(.error, "Subscriptions were not stored: \(error)")
      throw Realm.Error(ofSubscriptions: error, path: session.file.database.path)
    }
    session.file.didCommit(session)
    return committed
  }
}

extension Realm.Error {
  fileprivate init(ofSubscriptions error: any Swift.Error, path: String) {
    switch error {
    case let error as StorageError: self.init(error)
    case ClientProblem.storage(let error): self.init(error)
    default: self.init(.fail, "The subscriptions were not stored. \(error)", path: path)
    }
  }
}
