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
    /// 64 bytes; nil for a file that is not encrypted.
    public var encryptionKey: Data? {
      didSet { Self.check(encryptionKey) }
    }
    /// The file is not written to, and may lie where it can't be.
    public var readOnly: Bool
    /// Where classes do not fit the tables of the file, it is removed with all that is in it, and made anew. For data that
    /// can be had again. Not together with `readOnly`.
    public var deleteRealmIfMigrationNeeded: Bool
    /// A realm that is copied to `fileURL` when there is no file yet: content that an app comes with. It is to have the
    /// key of `encryptionKey`, and to be open nowhere.
    public var seedFilePath: URL?
    /// The classes to store; nil for all of the program that inherit from `Object`.
    public var objectTypes: [ObjectBase.Type]? {
      get { types?.classes }
      set { types = newValue.map { ObjectTypes(classes: $0) } }
    }
    private var types: ObjectTypes?

    /// Classes may be shared: they never change.
    private struct ObjectTypes: @unchecked Sendable {
      let classes: [ObjectBase.Type]
    }

    public init(
      fileURL: URL? = Self.defaultFileURL, inMemoryIdentifier: String? = nil, encryptionKey: Data? = nil,
      readOnly: Bool = false, deleteRealmIfMigrationNeeded: Bool = false,
      objectTypes: [ObjectBase.Type]? = nil, seedFilePath: URL? = nil
    ) {
      self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
      self.inMemoryIdentifier = inMemoryIdentifier
      Self.check(encryptionKey)
      self.encryptionKey = encryptionKey
      self.readOnly = readOnly
      self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
      self.seedFilePath = seedFilePath
      self.objectTypes = objectTypes
    }

    /// Stops the program where two settings contradict each other.
    func checkSettings() {
      guard readOnly, deleteRealmIfMigrationNeeded else { return }
      raise(
        "Invalid configuration",
        "a realm that is opened with readOnly = true can't be deleted: leave out deleteRealmIfMigrationNeeded or readOnly."
      )
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
      && left.deleteRealmIfMigrationNeeded == right.deleteRealmIfMigrationNeeded
  }
}

extension Realm.Configuration: CustomStringConvertible {
  /// Without the key.
  public var description: String {
    let place = fileURL.map { "fileURL = \($0.path)" } ?? "inMemoryIdentifier = \(inMemoryIdentifier ?? "")"
    return "Realm.Configuration { \(place); encrypted = \(encryptionKey != nil); readOnly = \(readOnly); }"
  }
}
