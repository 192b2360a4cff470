public import Foundation
import Synchronization

extension Realm {
  /// Says which realm is opened, and how.
  public struct Configuration: Sendable {
    /// The file of the realm. Setting it clears `inMemoryIdentifier`.
    public var fileURL: URL? {
      didSet { if fileURL != nil { inMemoryIdentifier = nil } }
    }
    /// The name of a realm that has no file, and lives as long as it is open in this process. Setting it clears `fileURL`.
    public var inMemoryIdentifier: String? {
      didSet { if inMemoryIdentifier != nil { fileURL = nil } }
    }
    /// Tells how the file is synced with a server; nil for a realm that is not synced.
    var syncing: (any FileSyncMaker)?
    /// The key with which the file is encrypted, of exactly 64 bytes; nil for a file that is not encrypted. A key of another
    /// length stops the program.
    public var encryptionKey: Data? {
      didSet { Self.check(encryptionKey) }
    }
    /// Whether the program only reads the realm. A file that is not synced is then never written to, and may lie on a disk that
    /// can't be written to. A synced file is still made and changed by what comes from its server, and its subscriptions may be
    /// changed; the program does not write its objects.
    public var readOnly: Bool
    /// The version of the classes. The program raises it when it adds, removes or changes properties; a file never goes back to a
    /// lower version. Classes and indexes may be added and left out without a new version.
    public var schemaVersion: UInt64
    /// The realm calls this block in the transaction that brings a file of a lower version to `schemaVersion`; not for a new
    /// file. The block gets the migration, with which it changes objects, and the version that the file had. If the block throws,
    /// the file stays as it was and opening the realm throws that error. It can't be combined with a synced realm.
    ///
    /// The file is made to fit the classes with or without a block. If a property gets another type, the values that convert to
    /// it without loss are kept, for example a number that becomes a text. Other values become nil if the property may be nil,
    /// and zero otherwise. Nil becomes zero if the property becomes required. If the new type has no zero, for example an
    /// enumeration without such a case, the value that the class declares is taken.
    public var migrationBlock: MigrationBlock?
    /// The realm calls this closure with the part of a migration that is done, from 0 to 1, on the thread that opens the realm:
    /// at most once for each hundredth of the objects that the file had, and once with 1 at the end. Objects count when the block
    /// goes through them, the first time for each class.
    public var migrationProgress: (@Sendable (Double) -> Void)?
    /// Whether the file is deleted, with all that is in it, and made anew if classes do not fit its tables or `schemaVersion`
    /// differs from the file's. This is for data that the program can get again. It can't be combined with `readOnly`, and not
    /// with a synced realm.
    public var deleteRealmIfMigrationNeeded: Bool
    /// The realm calls this closure when this process opens the file first, if no other process has it open and the file has room
    /// to give back. The closure gets the size of the file and the part of it that is in use, both in bytes, and returns whether
    /// the file is compacted. A compaction that fails is logged, and the file is opened as it is. It can't be combined with
    /// `readOnly`.
    public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?
    /// A realm that is copied to `fileURL` if there is no file yet, for example content that an app is shipped with. It must have
    /// the same `encryptionKey`, and must not be open anywhere.
    public var seedFilePath: URL?
    /// The number of versions that may be in use: a write transaction is refused with `Realm.Error.fail` while there are more.
    /// The newest version counts as one. Nil or 0 allows any number. The file can't use the space of a version again while
    /// somebody reads the version.
    public var maximumNumberOfActiveVersions: UInt?
    /// Whether an object that was deleted still has the values that it had when its realm was last refreshed, instead of stopping
    /// the program. This is for views that show the object for a moment longer. Its links are then nil, its collections are
    /// empty, `isInvalidated` is true, and it can't be written.
    ///
    /// The values are copied when a realm moves to a version without the object, and only if something refers to the object. Each
    /// object that a program gets takes a lock of its class when it comes and when it goes. All realms of a file in one process
    /// must have the same setting.
    public var keepsDeletedValues = false
    /// The classes that the realm stores; nil for all classes of the program that inherit from `Object`. An empty list opens a
    /// file with the classes and the schema version that it has, for dynamic objects: see `Realm.dynamicObjects(_:)`.
    public var objectTypes: [ObjectBase.Type]? {
      get { types?.classes }
      set { types = newValue.map { ObjectTypes(classes: $0) } }
    }
    private var types: ObjectTypes?

    /// Sendable: threads may share classes because they never change.
    private struct ObjectTypes: @unchecked Sendable {
      let classes: [ObjectBase.Type]
    }

    /// Sets all that a configuration has. The public initializer is among the declarations of device sync.
    init(
      fileURL: URL?, inMemoryIdentifier: String?, syncing: (any FileSyncMaker)?, encryptionKey: Data?,
      readOnly: Bool, schemaVersion: UInt64, migrationBlock: MigrationBlock?,
      deleteRealmIfMigrationNeeded: Bool, shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)?,
      objectTypes: [ObjectBase.Type]?, seedFilePath: URL?
    ) {
      self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
      self.inMemoryIdentifier = inMemoryIdentifier
      self.syncing = syncing
      Self.check(encryptionKey)
      self.encryptionKey = encryptionKey
      self.readOnly = readOnly
      self.schemaVersion = schemaVersion
      self.migrationBlock = migrationBlock
      self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
      self.shouldCompactOnLaunch = shouldCompactOnLaunch
      self.seedFilePath = seedFilePath
      self.objectTypes = objectTypes
    }

    /// The file of the realm; for a realm in memory, the default file.
    var url: URL { fileURL ?? Self.defaultFileURL }

    /// Whether the configuration names no class, so that the file keeps the schema that it has.
    var keepsSchema: Bool { types?.classes.isEmpty ?? false }

    /// Whether nothing in this process writes to the file.
    var isFileReadOnly: Bool { readOnly && syncing == nil }

    /// Stops the program if two settings contradict each other.
    func checkSettings() {
      let settings = [
        (deleteRealmIfMigrationNeeded, "deleteRealmIfMigrationNeeded", "deleted"),
        (shouldCompactOnLaunch != nil, "shouldCompactOnLaunch", "compacted"),
      ]
      for (isSet, name, word) in settings where isSet && readOnly {
        raise(
          "Invalid configuration",
          "a realm that is opened with readOnly = true can't be \(word): leave out \(name) or readOnly.")
      }
      guard inMemoryIdentifier == nil || encryptionKey == nil else {
        raise("Invalid configuration", "a realm in memory is not encrypted: leave out encryptionKey.")
      }
      syncing?.check(self)
    }

    private static func check(_ key: Data?) {
      guard let key, key.count != 64 else { return }
      raise("Invalid encryption key", "it has \(key.count) bytes; give 64, for example from a keychain.")
    }

    // MARK: - The default

    private static let current = Mutex<Configuration?>(nil)

    /// The configuration that `Realm()` opens. Realms that are open keep the configuration that they were opened with.
    public static var defaultConfiguration: Configuration {
      get { current.withLock { $0 } ?? Configuration() }
      set { current.withLock { $0 = newValue } }
    }

    /// `default.realm` in a folder of the program's data; the folder is made when the realm is first opened.
    public static var defaultFileURL: URL {
      let program = ProcessInfo.processInfo.processName
      return dataFolder.appendingPathComponent(program).appendingPathComponent("default.realm")
    }

    private static var dataFolder: URL {
      #if canImport(Darwin)
        FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
      #else
        // The XDG Base Directory Specification says that a relative path is to be ignored.
        if let path = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], path.hasPrefix("/") {
          URL(fileURLWithPath: path)
        } else {
          FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
        }
      #endif
    }
  }
}

extension Realm.Configuration: Equatable {
  /// Whether both configurations open the same realm in the same way. Classes, closures and the seed file are not compared.
  public static func == (left: Self, right: Self) -> Bool {
    left.fileURL == right.fileURL && left.inMemoryIdentifier == right.inMemoryIdentifier
      && left.encryptionKey == right.encryptionKey && left.readOnly == right.readOnly
      && left.schemaVersion == right.schemaVersion
      && left.deleteRealmIfMigrationNeeded == right.deleteRealmIfMigrationNeeded
      && left.keepsDeletedValues == right.keepsDeletedValues
      && left.maximumNumberOfActiveVersions == right.maximumNumberOfActiveVersions
      && isSame(left.syncing, right.syncing)
  }
}

extension Realm.Configuration {
  /// Whether both sync a file in the same way with the same server.
  static func isSame(_ left: (any FileSyncMaker)?, _ right: (any FileSyncMaker)?) -> Bool {
    if let left, let right { left.isSame(as: right) } else { left == nil && right == nil }
  }
}

extension Realm.Configuration: CustomStringConvertible {
  /// The path or name, and the settings, without the encryption key.
  public var description: String {
    let place = fileURL.map { "fileURL = \($0.path)" } ?? "inMemoryIdentifier = \(inMemoryIdentifier ?? "")"
    return "Realm.Configuration { \(place); encrypted = \(encryptionKey != nil); readOnly = \(readOnly); "
      + "schemaVersion = \(schemaVersion); }"
  }
}
