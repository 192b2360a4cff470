import Foundation
import RealmStorage
import RealmSyncClient

extension SyncConfiguration: FileSyncMaker {
  func check(_ configuration: Realm.Configuration) {
    if configuration.migrationBlock != nil {
      raise(
        "Invalid configuration",
        "a synced realm is not migrated, since other devices have its objects, too: leave out migrationBlock. Properties are added "
          + "without one.")
    }
    if configuration.deleteRealmIfMigrationNeeded {
      raise(
        "Invalid configuration",
        "a synced realm is not deleted, since it may have changes that no server has: leave out deleteRealmIfMigrationNeeded."
      )
    }
  }

  func isSame(as other: any FileSyncMaker) -> Bool {
    guard let other = other as? SyncConfiguration else { return false }
    return user === other.user && isFlexible == other.isFlexible && partitionValue == other.partitionValue
  }

  func begin(_ file: RealmFile, _ hold: RealmFile.Hold) -> any FileSync {
    UserSessions.of(user).begin(file, hold, self)
  }

  func checkUser(_ configuration: Realm.Configuration) throws {
    guard user.state == .removed else { return }
    let place = configuration.inMemoryIdentifier ?? configuration.url.path
    throw SyncError(
      .clientUserError,
      "\(place) can't be opened for the user \(user.id), who was removed from this device. Log in, and open it by a configuration of "
        + "the user that App.login(credentials:) answers.")
  }

  func willDelete(_ configuration: Realm.Configuration) throws -> @Sendable () -> Void {
    guard Realm.fileExists(for: configuration) else { return {} }
    let replica = replica(configuration)
    try keepUnsynced(configuration)
    // The server is told only after the file is deleted, because a file that can't be deleted stays in use.
    return { [user] in
      if let replica { user.app.note(goneReplica: replica, of: user.id) }
    }
  }

  /// The server's number for a file; nil if the server has given it none, or the file can't be read.
  private func replica(_ configuration: Realm.Configuration) -> UInt64? {
    let key = configuration.encryptionKey.map { Array($0) }
    do throws(StorageError) {
      let database = try Database(path: configuration.url.path, options: .reading(key))
      defer { database.close() }
      return try ClientReplica.number(in: database.snapshot())
    } catch { return nil }
  }

  private func keepUnsynced(_ configuration: Realm.Configuration) throws {
    let path = configuration.url.path
    do {
      try FileActions(user.app.metadata, user.app.paths).keepUnsynced(
        path, key: configuration.encryptionKey.map { Array($0) })
    } catch let error as Realm.Error {
      throw error
    } catch {
      throw Realm.Error(
        .fileOperationFailed,
        "\(path) has changes that were not uploaded, and can't be put aside, so that it is not deleted: "
          + error.localizedDescription, path: path)
    }
  }

  func subscribed(_ transaction: WriteTransaction) throws(StorageError) -> Set<String> {
    Set(try SubscriptionStore.newest(transaction).subscriptions.map(\.table))
  }

  func didOpen(_ realm: Realm, isFirst: Bool) throws {
    // Only the first realm of a file makes the initial subscriptions, because they are stored in the file.
    guard isFirst, let initial = initialSubscriptions else { return }
    // Realms that are opened inside a callback of the session, such as one of a reset, do not count as opened by the app.
    if realm.syncSession?.core.isInTurn == true { return }
    let snapshot = try Realm.Error.wrapping { () throws(StorageError) in
      try realm.session.file.database.snapshot()
    }
    let newest = try Realm.Error.wrapping { () throws(StorageError) in
      try SubscriptionStore.newest(snapshot)
    }
    guard newest.number == 0 || initial.rerunOnOpen else { return }
    let subscriptions = realm.subscriptions
    try subscriptions.content.update { initial.callback(subscriptions) }
  }
}
