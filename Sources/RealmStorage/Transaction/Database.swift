import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A database: one file, many versions, any number of readers and one writer at a time.
///
/// Readers take a `Snapshot`, which never changes and never waits; a `WriteTransaction` makes the next version.
/// Safe to use from any thread. The file is closed when the last reference to the database, its snapshots and its
/// transactions is gone, or by `close()`.
public final class Database: Sendable {
  let store: NodeStore
  private let storage: any Storage
  private let held: HeldVersions
  /// Nil when opened for reading only.
  private let writer: Writer?
  private let gate = Gate()
  /// The schemas read last, with the ref of the tree they stand in, which vouches for them.
  private let knownSchemas = Mutex<(tree: Ref, schemas: [TableSchema])>((.null, []))

  /// How to open a database.
  public struct Options: Sendable {
    /// 64 bytes; nil for a file that is not encrypted.
    public var encryptionKey: [UInt8]?
    /// Never writes to the file, not even to recover it.
    public var isReadOnly = false
    /// Memory for the content of decrypted nodes, in bytes; by default a quarter of the machine's.
    public var decryptedMemory: Int?
    /// Memory for the nodes of an open transaction, in bytes: what is beyond is written before it commits.
    package var spillBytes = 32 << 20
    /// Rows of a cluster at most: with fewer of them small tables have many.
    package var clusterRows = ClusterNode.maximumRows
    /// When nodes are moved so that the file gets smaller, and how many at a time.
    package var compaction = Mover.Options()

    public init(encryptionKey: [UInt8]? = nil, isReadOnly: Bool = false, decryptedMemory: Int? = nil) {
      self.encryptionKey = encryptionKey
      self.isReadOnly = isReadOnly
      self.decryptedMemory = decryptedMemory
    }
  }

  // MARK: - Opening

  /// Opens the file at `path`, making it first where there is none.
  ///
  /// Takes time in proportion to what was written since the last durable commit, whatever the size of the file.
  ///
  /// - Throws: `StorageError`. The content is then as it was; a recovery that was begun is begun again by the next.
  public convenience init(path: String, options: Options = Options()) throws(StorageError) {
    if !options.isReadOnly, !FileStorage.exists(path) {
      let content = try Self.emptyFile(
        key: options.encryptionKey, identity: FileIdentity(device: 0, inode: 0))
      try FileStorage.create(path: path, content: content)
    }
    try self.init(storage: FileStorage(path: path, readOnly: options.isReadOnly), options: options)
  }

  /// Makes a database that lives in memory and is gone with its last reference.
  public convenience init(inMemory name: String = "memory") throws(StorageError) {
    try self.init(creatingIn: MemoryStorage(name: name))
  }

  /// Makes an empty database in a storage that holds nothing.
  package convenience init(creatingIn storage: any Storage, options: Options = Options()) throws(StorageError)
  {
    try storage.write(Self.emptyFile(key: options.encryptionKey, identity: storage.identity), at: 0)
    try storage.sync(.all)
    try self.init(storage: storage, options: options)
  }

  package init(storage: any Storage, options: Options) throws(StorageError) {
    self.storage = storage
    let meta = try MetaPair(storage: storage, key: options.encryptionKey)
    store = try NodeStore(
      storage: storage, cipher: meta.cipher, validators: .all,
      decryptedLimit: options.decryptedMemory ?? Self.quarterOfMemory)
    let recovery = Recovery(storage: storage, store: store, meta: meta)
    guard !storage.isReadOnly, !options.isReadOnly, let shared = storage.control else {
      let found = try recovery.choose()
      held = HeldVersions(
        published: found.version, durable: found.durable.number, durablePage: found.durablePage)
      writer = nil
      return
    }
    let control = ControlBlock(shared)
    let found = try recovery.run(control)
    control.durablePage = found.durablePage
    control.durable = found.durable.number
    control.published = found.version.number
    control.greatest = found.greatest
    if !found.mustRewrite { control.sync = .none }
    held = HeldVersions(
      published: found.version, durable: found.durable.number, durablePage: found.durablePage)
    let last = meta.pages.compactMap { $0 }.max { $0.recoveryTime < $1.recoveryTime }
    writer = try Writer(
      store: store, held: held, control: control, constants: meta.constants, greatest: found.greatest,
      recovery: found.rejectedPage
        ? (Clock.now, found.version.number) : (last?.recoveryTime ?? 0, last?.recoveredTo ?? 0),
      isDirty: !meta.isClean || found.rejectedPage, spillBytes: options.spillBytes,
      clusterRows: options.clusterRows, compaction: options.compaction)
    guard found.mustRewrite else { return }
    do {
      try writer?.rewrite(bornAfter: found.durable)
    } catch {
      // What was found is not sure to be on disk: it must not be closed as if it were.
      writer?.shut()
      throw error
    }
  }

  deinit { close() }

  /// Closes the file, cleanly where it can be written. Nothing can be written any more; snapshots still held stay
  /// readable, and the file stays locked until the last of them is released.
  ///
  /// Called by itself when the last reference goes. What goes wrong here loses nothing: the file is then recovered
  /// when it is opened next.
  public func close() {
    gate.enter()
    defer { gate.leave() }
    try? writer?.closeCleanly()
    writer?.shut()
    if held.close() { storage.close() }
  }

  // MARK: - Reading and writing

  /// The newest published version, held until the snapshot is released. Never waits.
  public func snapshot() -> Snapshot { Snapshot(database: self, version: held.pin()) }

  /// Calls `body` with the newest published version.
  public func read<Result>(_ body: (Snapshot) throws -> Result) rethrows -> Result { try body(snapshot()) }

  /// Begins the one transaction that may write, after those that came before have ended.
  ///
  /// - Precondition: this thread has no open transaction on the same database: it would wait for itself.
  /// - Throws: `.readOnly`, `.poisoned`; the first time also `.corrupted`, where the space of the file can't be told;
  ///   `.limitExceeded` when all version numbers are given.
  public func beginWrite() throws(StorageError) -> WriteTransaction {
    guard let writer else { throw .readOnly(path: storage.path) }
    gate.enter()
    do {
      return WriteTransaction(database: self, writer: writer, base: try writer.begin())
    } catch {
      gate.leave()
      throw error
    }
  }

  /// Calls `body` in a transaction and commits what it did; cancels it when `body` throws.
  ///
  /// - Throws: what `body` throws, or a `StorageError` of the commit: nothing was then written, unless it is one
  ///   after which `beginWrite` throws `.poisoned`.
  public func write<Result>(_ durability: Durability = .full, _ body: (WriteTransaction) throws -> Result)
    throws -> Result
  {
    let transaction = try beginWrite()
    defer { transaction.cancel() }
    let result = try body(transaction)
    if transaction.isOpen { try transaction.commit(durability) }
    return result
  }

  /// The schemas a catalogue names. O(1) while they do not change.
  func schemas(_ catalogue: Catalogue, _ access: borrowing NodeAccess) throws(StorageError) -> [TableSchema] {
    let known = knownSchemas.withLock { $0 }
    if known.tree == catalogue.schema { return known.schemas }
    let schemas = try Tables.schemas(catalogue, access)
    if !catalogue.schema.isDirty { knownSchemas.withLock { $0 = (catalogue.schema, schemas) } }
    return schemas
  }

  func leaveGate() { gate.leave() }
  func unpin(_ version: UInt64) {
    if held.unpin(version) { storage.close() }
  }

  /// Begins reading the version of a snapshot.
  @_lifetime(borrow snapshot)
  func access(_ snapshot: borrowing Snapshot) -> NodeAccess {
    store.access(
      below: snapshot.base.end, isExpired: held.isExpired(snapshot.base.number), borrowing: snapshot)
  }

  /// The newest published version's number.
  public var version: UInt64 { held.current.published.number }

  /// Where the file is, for messages.
  public var path: String { storage.path }

  /// Pages this handle has written that had held something before.
  package var recycledPages: Int {
    gate.enter()
    defer { gate.leave() }
    return writer?.recycledPages ?? 0
  }

  /// Nodes this handle has moved, and how often it made the file shorter.
  package var compacted: (movedNodes: Int, truncations: Int) {
    gate.enter()
    defer { gate.leave() }
    return (writer?.movedNodes ?? 0, writer?.truncations ?? 0)
  }

  // MARK: - Making a file

  /// The two meta pages of an empty, cleanly closed database.
  private static func emptyFile(key: [UInt8]?, identity: FileIdentity) throws(StorageError) -> [UInt8] {
    let fileID = NodeCipher.randomBytes(16)
    let salt = NodeCipher.randomBytes(16)
    var cipher: NodeCipher?
    if let key { cipher = try NodeCipher(key: key, salt: salt, fileID: fileID) }
    let page = MetaPage(
      constants: MetaPage.Constants(
        fileID: fileID, salt: salt, isEncrypted: key != nil,
        keyCheck: cipher?.keyCheck ?? [UInt8](repeating: 0, count: 16)),
      version: Version(number: 1, root: .null, pageCount: 2), greatest: 1, durable: 1, isClean: true,
      time: Clock.now,
      identity: identity)
    let encoded = page.encoded(cipher: cipher)
    return encoded + encoded
  }

  private static var quarterOfMemory: Int { sysconf(CInt(_SC_PHYS_PAGES)) / 4 * sysconf(CInt(_SC_PAGESIZE)) }
}
