/// The options for opening a database.
public struct DatabaseOptions: Sendable {
  /// The encryption key, of 64 bytes; nil for a file that is not encrypted.
  public var encryptionKey: [UInt8]?
  /// Whether the file is opened for reading only. Nothing is written then, and the file is not recovered either.
  public var isReadOnly = false
  /// The memory for decrypted nodes, in bytes; nil, the default, for a quarter of the machine's memory.
  public var decryptedMemory: Int?
  /// The largest number of bytes that the file may hold for named versions alone (`Database.keepVersion(named:)`): what they need
  /// and the newest version does not. If a commit of this handle finds more, the next one ends the oldest named version; reading
  /// that version throws `StorageError.versionEnded` then. Nil, the default, stands for the size of the newest version, and for
  /// at least 64 MiB.
  public var namedVersionLimit: Int?
  /// Whether changes of rows are recorded for device sync.
  public enum History: String, Sendable {
    /// Changes are not recorded: the file is not synced.
    case local
    /// Changes are recorded in the file, so that they can be synced with other files.
    case synced
    /// The file decides. A new file is not synced.
    case any
  }
  /// Whether the file is synced. This is decided for ever when the file is made. Opening a file with the other value throws
  /// `StorageError.otherHistory`.
  public var history = History.local
  /// The memory for the nodes of an open transaction, in bytes. Further nodes are written before the commit.
  package var spillBytes = 4 << 20
  /// Whether closing the handle removes the files that it made beside the database, unless another handle has the file open.
  package var leavesNothing = false
  /// The largest number of rows in a cluster. A smaller number gives small tables many clusters, for tests.
  package var clusterRows = ClusterNode.maximumRows
  /// About the largest number of bytes that a commit writes to give back the space of dropped columns and tables.
  package var givenBackBytes = 128 << 10
  /// When nodes are moved so that the file gets smaller, and how many at a time.
  package var compaction = Mover.Options()

  /// Options for reading any file, synced or not.
  package static func reading(_ encryptionKey: [UInt8]?) -> DatabaseOptions {
    var options = DatabaseOptions(encryptionKey: encryptionKey, isReadOnly: true)
    options.history = .any
    return options
  }

  /// Makes options. Each parameter is described at the property of the same name.
  public init(encryptionKey: [UInt8]? = nil, isReadOnly: Bool = false, decryptedMemory: Int? = nil) {
    self.encryptionKey = encryptionKey
    self.isReadOnly = isReadOnly
    self.decryptedMemory = decryptedMemory
  }
}
