public import Foundation
import RealmStorage
import RealmSyncClient

extension Realm {
  /// What keeps this realm the same as its server has it; nil of a realm that is not synced, and once that is over. All realms of a file have the same.
  public var syncSession: SyncSession? { session.file.sync as? SyncSession }
}

extension Realm.Configuration {
  /// How the realm is kept the same as a server has it; nil for a realm that is not synced. It is made by
  /// `User.flexibleSyncConfiguration()` and `User.configuration(partitionValue:)`.
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

  /// A configuration; each parameter is described at the property of its name. Of a file and a name for a realm in memory the name
  /// counts. A key that has not 64 bytes stops the program.
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
  /// The number of the newest query set of the file; 0 where it can't be read.
  var newestQuerySet: UInt64 {
    do throws(StorageError) {
      return try SubscriptionStore.newest(file.database.snapshot()).number
    } catch { return 0 }
  }
}
