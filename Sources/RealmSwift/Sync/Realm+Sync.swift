public import Foundation
import RealmStorage
import RealmSyncClient

extension Realm {
  /// The session that syncs the realm's file with its server; nil if the realm is not synced, or if the session is over. All
  /// realms of a file have the same session.
  public var syncSession: SyncSession? { session.file.sync as? SyncSession }
}

extension Realm.Configuration {
  /// How the realm is synced; nil for a realm that is not synced. `User.flexibleSyncConfiguration()` and
  /// `User.configuration(partitionValue:)` make the value.
  ///
  /// - Precondition: the user of a new value was not removed. Otherwise the program stops.
  public var syncConfiguration: SyncConfiguration? {
    get { syncing as? SyncConfiguration }
    set {
      if let user = newValue?.user, user.state == .removed {
        raise(
          "Removed user",
          "a realm can't be synced for the user, who was removed from this device: log in first.")
      }
      syncing = newValue
    }
  }

  /// Makes a configuration. Each parameter is described at the property of the same name. If both `fileURL` and
  /// `inMemoryIdentifier` are given, `inMemoryIdentifier` counts.
  ///
  /// - Precondition: `encryptionKey` is nil or has 64 bytes. Otherwise the program stops.
  public init(
    fileURL: URL? = Self.defaultFileURL, inMemoryIdentifier: String? = nil,
    syncConfiguration: SyncConfiguration? = nil, encryptionKey: Data? = nil, readOnly: Bool = false,
    schemaVersion: UInt64 = 0, migrationBlock: MigrationBlock? = nil,
    deleteRealmIfMigrationNeeded: Bool = false,
    shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)? = nil, objectTypes: [ObjectBase.Type]? = nil,
    seedFilePath: URL? = nil
  ) {
    self.init(
      fileURL: fileURL, inMemoryIdentifier: inMemoryIdentifier, syncing: syncConfiguration,
      encryptionKey: encryptionKey, readOnly: readOnly, schemaVersion: schemaVersion,
      migrationBlock: migrationBlock, deleteRealmIfMigrationNeeded: deleteRealmIfMigrationNeeded,
      shouldCompactOnLaunch: shouldCompactOnLaunch, objectTypes: objectTypes, seedFilePath: seedFilePath)
  }
}

extension SyncSession {
  /// The number of the newest query set of the file; 0 if it can't be read.
  var newestQuerySet: UInt64 {
    do throws(StorageError) {
      return try SubscriptionStore.newest(file.database.snapshot()).number
    } catch { return 0 }
  }
}
