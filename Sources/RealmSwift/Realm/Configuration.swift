public import Foundation
import Synchronization

extension Realm {
  /// How to open a realm.
  public struct Configuration: Sendable {
    /// The file. Setting it clears `inMemoryIdentifier`.
    public var fileURL: URL? {
      didSet { if fileURL != nil { inMemoryIdentifier = nil } }
    }
    /// Names a realm without a file, which lives as long as it is open. Setting it clears `fileURL`.
    public var inMemoryIdentifier: String? {
      didSet { if inMemoryIdentifier != nil { fileURL = nil } }
    }
    /// What keeps it the same as a server's; nil for a realm that is not synced.
    var syncing: (any FileSyncMaker)?
    /// 64 bytes; nil for a file that is not encrypted.
    public var encryptionKey: Data? {
      didSet { Self.check(encryptionKey) }
    }
    /// The file is not written to, and may lie where it can't be. A realm that is synced is made and changed by what comes from its server,
    /// and its subscriptions may be changed; its objects are not written by the program.
    public var readOnly: Bool
    /// The version of the classes. It grows whenever properties are added, removed or changed; a file never goes back to
    /// a lower one. Classes and indexes may come and go without.
    public var schemaVersion: UInt64
    /// Called in the transaction that brings a file of a lower version to `schemaVersion`; not for a file that is new. It gets what changes objects, and
    /// the version that the file had. What it throws leaves the file as it was, and is thrown by who opens the realm.
    ///
    /// The file is made to fit the classes with or without a block. A property with another type keeps the values that convert to it without loss, as a number to a text; others
    /// become zero, or nil where there may be nil. So do nils of a property that becomes required. Where a type has no zero, as an enumeration without such a case, the value that the
    /// class declares stands for it.
    public var migrationBlock: MigrationBlock?
    /// Told how much of a migration is done, from 0 to 1, on the thread that opens the realm: at most once for each hundredth of the objects that
    /// the file had, and once with 1 at the end. What the block goes through counts, the first time for each class.
    public var migrationProgress: (@Sendable (Double) -> Void)?
    /// Where classes do not fit the tables of the file, or `schemaVersion` is another, the file is removed with all that is
    /// in it, and made anew. For data that can be had again. Not together with `readOnly`.
    public var deleteRealmIfMigrationNeeded: Bool
    /// Asked when the file is first opened, and nobody else has it open, with the bytes of the file and those that are used:
    /// true to make the file as small as what it holds. Not together with `readOnly`.
    public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?
    /// A realm that is copied to `fileURL` when there is no file yet: content that an app comes with. It is to have the
    /// key of `encryptionKey`, and to be open nowhere.
    public var seedFilePath: URL?
    /// A write transaction is refused while more versions than so many are read; nil or 0 for any number. Versions that are
    /// read keep their space.
    public var maximumNumberOfActiveVersions: UInt?
    /// An object that is deleted answers with the values it had when its realm was last refreshed, instead of stopping the program: for
    /// views that still show it for a moment. Its links are nil then, its collections empty, and `isInvalidated` is true; it
    /// can't be written.
    ///
    /// Values are copied when a realm moves to a version without the object, and only where there is a reference to it. Each object
    /// that a program gets hold of takes a lock of its class, when it comes and when it goes. All realms of a file in one process have the same setting.
    public var keepsDeletedValues = false
    /// The classes to store; nil for all of the program that inherit from `Object`. With none of them, `[]`, a file is opened with the
    /// classes and the schema version that it has, for dynamic objects: `Realm.dynamicObjects(_:)`.
    public var objectTypes: [ObjectBase.Type]? {
      get { types?.classes }
      set { types = newValue.map { ObjectTypes(classes: $0) } }
    }
    private var types: ObjectTypes?

    /// Classes may be shared: they never change.
    private struct ObjectTypes: @unchecked Sendable {
      let classes: [ObjectBase.Type]
    }

    /// All of a configuration. The initializer that programs use is described in the room of device sync.
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

    /// Where the file is, or would be, were this no realm in memory.
    var url: URL { fileURL ?? Self.defaultFileURL }

    /// It names no class: the file keeps the schema it has.
    var keepsSchema: Bool { types?.classes.isEmpty ?? false }

    /// The file is not written to, by nobody of this process.
    var isFileReadOnly: Bool { readOnly && syncing == nil }

    /// Stops the program where two settings contradict each other.
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

    /// What `Realm()` opens. Realms that are open keep the configuration they were opened with.
    public static var defaultConfiguration: Configuration {
      get { current.withLock { $0 } ?? Configuration() }
      set { current.withLock { $0 = newValue } }
    }

    /// `default.realm` in a folder of this program's data, which is made when the realm is.
    public static var defaultFileURL: URL {
      let program = ProcessInfo.processInfo.processName
      return dataFolder.appendingPathComponent(program).appendingPathComponent("default.realm")
    }

    private static var dataFolder: URL {
      #if canImport(Darwin)
        FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
      #else
        // XDG Base Directory Specification: a relative path is to be ignored.
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
  /// Whether both open the same realm in the same way, whatever its classes.
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
  /// Whether both keep a file the same as one of the same server.
  static func isSame(_ left: (any FileSyncMaker)?, _ right: (any FileSyncMaker)?) -> Bool {
    if let left, let right { left.isSame(as: right) } else { left == nil && right == nil }
  }
}

extension Realm.Configuration: CustomStringConvertible {
  /// Without the key.
  public var description: String {
    let place = fileURL.map { "fileURL = \($0.path)" } ?? "inMemoryIdentifier = \(inMemoryIdentifier ?? "")"
    return "Realm.Configuration { \(place); encrypted = \(encryptionKey != nil); readOnly = \(readOnly); "
      + "schemaVersion = \(schemaVersion); }"
  }
}
