import Foundation
import RealmStorage
import RealmSyncClient

/// The subscriptions that a set shows, and what the block of an update has changed of them so far.
final class SubscriptionContent {
  let realm: Realm
  /// In a block, as they were before it.
  private(set) var shown: StoredSubscriptionSet
  /// Nil outside of a block.
  private var draft: SubscriptionDraft?

  /// The newest of a realm's file.
  init(_ realm: Realm) {
    self.realm = realm
    shown = Self.newest(realm)
  }

  private static func newest(_ realm: Realm) -> StoredSubscriptionSet {
    reading { () throws(StorageError) in try SubscriptionStore.newest(realm.session.file.database.snapshot())
    }
  }

  /// What has become of a set, as the file tells it now.
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

  /// The first that a condition holds of: of those that a block has made, or of those that are shown.
  func first(where isWanted: (StoredSubscription) -> Bool) -> StoredSubscription? {
    draft?.list.first(where: isWanted) ?? shown.subscriptions.first(where: isWanted)
  }

  // MARK: - Changes

  /// Changes the subscriptions.
  ///
  /// - Parameter what: the call that does it.
  /// - Precondition: a block of an update runs; else the program stops.
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

  /// Lets a block change the newest subscriptions, and commits what it has made of them; nothing where it throws.
  ///
  /// - Throws: what `block` throws; `Realm.Error` where it could not be committed.
  /// - Precondition: the realm is not frozen, and no write transaction is open on it; else the program stops.
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
    // Also of a realm that is only read: they say what it has.
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
    // What waits for its turn has asked for the lock, and may have it.
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
      // A set that was refused may be usable now.
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
