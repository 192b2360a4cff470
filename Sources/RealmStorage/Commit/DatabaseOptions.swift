/// How to open a database.
public struct DatabaseOptions: Sendable {
  /// 64 bytes; nil for a file that is not encrypted.
  public var encryptionKey: [UInt8]?
  /// Never writes to the file, not even to recover it.
  public var isReadOnly = false
  /// Memory for the content of decrypted nodes, in bytes; by default a quarter of the machine's.
  public var decryptedMemory: Int?
  /// Bytes of the file that may be kept for named versions alone (`Database.keepVersion(named:)`): what they need and the newest
  /// version does not. A commit of this handle that finds more kept lets the next one end the oldest of them; reading that
  /// version throws `StorageError.versionEnded` then. Nil, the default, is as much as the newest version takes, and 64 MiB at
  /// least.
  public var namedVersionLimit: Int?
  /// What becomes of changes of rows.
  public enum History: String, Sendable {
    /// They are made, and no more.
    case local
    /// They are recorded in the file, for the files that it is synced with.
    case synced
    /// As the file has it.
    case any
  }
  /// A file that is made is synced or not from then on. Opening one as what it is not throws `StorageError.otherHistory`.
  public var history = History.local
  /// Memory for the nodes of an open transaction, in bytes: what is beyond is written before it commits.
  package var spillBytes = 4 << 20
  /// Removes what this handle made beside the file when it is closed, unless others have the file open then.
  package var leavesNothing = false
  /// Rows of a cluster at most: with fewer of them small tables have many.
  package var clusterRows = ClusterNode.maximumRows
  /// Bytes that a commit writes at most to give back what was dropped of tables, about.
  package var givenBackBytes = 128 << 10
  /// When nodes are moved so that the file gets smaller, and how many at a time.
  package var compaction = Mover.Options()

  /// To read any file.
  package static func reading(_ encryptionKey: [UInt8]?) -> DatabaseOptions {
    var options = DatabaseOptions(encryptionKey: encryptionKey, isReadOnly: true)
    options.history = .any
    return options
  }

  public init(encryptionKey: [UInt8]? = nil, isReadOnly: Bool = false, decryptedMemory: Int? = nil) {
    self.encryptionKey = encryptionKey
    self.isReadOnly = isReadOnly
    self.decryptedMemory = decryptedMemory
  }
}
