import Synchronization

/// A database: one file with many versions, any number of readers and one writer at a time.
///
/// Readers take a `Snapshot`, which never changes, and reading never waits. A `WriteTransaction` makes the next
/// version. Any thread and any number of processes may use a database at once. The file is closed by `close()`, or when
/// the last reference to the database, its snapshots and its transactions is released.
public final class Database: Sendable {
  let store: NodeStore
  let held: HeldVersions
  private let storage: any Storage
  /// Makes versions; nil if the database is opened for reading only.
  let writer: Writer?
  /// The version that was recovered when the file was opened, if a newer one was not whole because of a crash or
  /// damage; nil if the newest version was whole.
  public let fellBackTo: UInt64?
  /// Whether `close()` removes the files that this handle made beside the database.
  private let leavesNothing = Atomic<Bool>(false)
  /// The schemas that were read last, and the ref of the tree that has them. They are valid as long as that ref is the same.
  private let knownSchemas = Mutex<(tree: Ref, schemas: [TableSchema])>((.null, []))
  /// The last version that this handle has checked for features that it must know to write, or has written itself; 0
  /// before the first.
  private let writableVersion = Atomic<UInt64>(0)

  /// The options for opening a database.
  public typealias Options = DatabaseOptions

  // MARK: - Opening

  /// Opens the file at `path`. If there is none, it makes one. An empty file becomes a database, and keeps its mode and owner.
  ///
  /// Takes time in proportion to what was written since the last durable commit, whatever the size of the file.
  ///
  /// - Throws: `StorageError`. The content of the file is then as it was, and nothing new is left beside it; a recovery
  ///   that had begun is done again at the next opening.
  public convenience init(path: String, options: Options = Options()) throws(StorageError) {
    try self.init(path: path, options: options, calls: NativeSystemCalls())
  }

  package convenience init(
    path: String, options: Options, calls: any SystemCalls
  ) throws(StorageError) {
    let (storage, opening) = try StorageError.startingOver { () throws(StorageError) in
      try Self.open(path, options, calls)
    }
    self.init(storage, opening)
    leavesNothing.store(options.leavesNothing, ordering: .relaxed)
    try begin(options.history)
  }

  private static func open(
    _ path: String, _ options: Options, _ calls: any SystemCalls
  ) throws(StorageError) -> (any Storage, Opening) {
    let file = try openedFile(path, options, calls)
    do throws(StorageError) {
      // Nothing is made beside a file that is not a database.
      try MetaPair.judge(file, key: options.encryptionKey)
    } catch {
      file.close()
      throw error
    }
    let storage = try FileStorage(file)
    return (storage, try open(storage, options))
  }

  /// Opens the file at a path, and makes sure that it has content: it makes a missing file, and writes an empty
  /// database into an empty file.
  private static func openedFile(
    _ path: String, _ options: Options, _ calls: any SystemCalls
  ) throws(StorageError) -> OpenedFile {
    let nowhere = FileIdentity(device: 0, inode: 0)
    // Other processes may make, remove or shorten the file meanwhile.
    for _ in 0..<8 {
      if !options.isReadOnly, !FileStorage.exists(path) {
        let content = try emptyFile(key: options.encryptionKey, identity: nowhere)
        try FileStorage.create(path: path, content: content, calls: calls)
      }
      let file = try OpenedFile(path: path, readOnly: options.isReadOnly, calls: calls)
      do throws(StorageError) {
        if try file.length() > 0 { return file }
        // Another process has shortened a database that is in use.
        guard !file.isOpenElsewhere else {
          throw .truncated(path: path, length: 0, needed: FilePlace.firstNode)
        }
        guard !options.isReadOnly else { throw .emptyFile(path: path) }
        try file.replaceEmpty(with: emptyFile(key: options.encryptionKey, identity: nowhere))
      } catch {
        file.close()
        throw error
      }
      file.close()
    }
    throw .emptyFile(path: path)
  }

  private static func open(_ storage: any Storage, _ options: Options) throws(StorageError) -> Opening {
    do throws(StorageError) {
      let opening = try Opening(storage, options)
      storage.openNote()
      return opening
    } catch {
      storage.removeOwnCompanions()
      storage.close()
      throw error
    }
  }

  /// Removes the file of a database, and `.note` and `.management` beside it.
  ///
  /// - Returns: whether there was anything to remove.
  /// - Throws: `.inUse` if this process or another one has the database open; `.system`.
  public static func removeFiles(path: String) throws(StorageError) -> Bool {
    try FileRemoval.remove(path)
  }

  /// Throws if the file at `path` can't be opened, as far as its meta pages tell. It makes nothing beside the file.
  package static func judge(path: String, encryptionKey: [UInt8]?) throws(StorageError) {
    let file = try OpenedFile(path: path, readOnly: true, calls: NativeSystemCalls())
    defer { file.close() }
    try MetaPair.judge(file, key: encryptionKey)
  }

  /// Makes a database that is only in memory, and exists until its last reference is released.
  ///
  /// - Parameters:
  ///   - name: a name for messages.
  ///   - isSynced: whether changes are recorded, as with `DatabaseOptions.History.synced`.
  public convenience init(inMemory name: String = "memory", isSynced: Bool = false) throws(StorageError) {
    var options = Options()
    options.history = isSynced ? .synced : .local
    try self.init(creatingIn: MemoryStorage(name: name), options: options)
  }

  /// Makes an empty database in a storage that is empty.
  package convenience init(creatingIn storage: any Storage, options: Options = Options()) throws(StorageError)
  {
    try storage.write(Self.emptyFile(key: options.encryptionKey, identity: storage.identity), at: 0)
    try storage.sync(.all)
    try self.init(storage: storage, options: options)
  }

  package convenience init(storage: any Storage, options: Options) throws(StorageError) {
    self.init(storage, try Self.open(storage, options))
    try begin(options.history)
  }

  private init(_ storage: any Storage, _ opening: Opening) {
    self.storage = storage
    store = opening.store
    held = opening.held
    writer = opening.writer
    fellBackTo = opening.fellBackTo
  }

  deinit { close() }

  /// Closes the file, and marks it as cleanly closed if this handle may write. Nothing can be written any more.
  /// Snapshots that still exist stay readable, and the file stays locked until the last of them is released.
  ///
  /// It is called automatically when the last reference is released. An error in it loses nothing: the file is then
  /// recovered when it is opened the next time.
  public func close() {
    guard !storage.isForked else { return }
    // Snapshots that still exist do not keep this lock.
    storage.unlock(.syncAgent)
    writer?.gate.enterUncounted()
    defer { writer?.gate.leave() }
    writer?.gate.close(isLast: isLastOpen)
    if held.close() { leave() }
  }

  /// Whether no other handle has the file open. A process that opens it now waits until the closing is done.
  private var isLastOpen: Bool { !storage.isHeldElsewhere(.presence) }

  /// Whether another handle, of this process or another, has the file open.
  public var isOpenElsewhere: Bool {
    storage.isHeldElsewhere(.presence) || storage.isHeldElsewhere(.unlistedReader)
  }

  /// Sets whether this handle relies on the schema that it has found. A handle that wants to change the schema in
  /// another way than by adding to it looks at `schemaUsers` first. A newly opened handle does not rely on the schema.
  package func setReliesOnSchema(_ relies: Bool) { held.participants.setRelying(relies, held.participant) }

  /// The ids of the processes whose handles rely on the schema, except this handle; 0 stands for a process in another
  /// namespace of process ids.
  package var schemaUsers: [UInt64] { held.participants.relying(exceptFor: held.participant) }

  /// Closes a database that its opener can't use. The files that it made beside the database are removed, unless
  /// another handle has the file open.
  package func abandon() {
    leavesNothing.store(true, ordering: .relaxed)
    close()
  }

  /// Releases the file after the last pin of a closed database is gone.
  private func leave() {
    held.leave()
    if leavesNothing.load(ordering: .relaxed) { storage.removeOwnCompanions() }
    storage.close()
  }

  // MARK: - Reading and writing

  /// A snapshot of the newest published version. Taking it never waits.
  ///
  /// - Throws: `.forked`, `.controlReplaced`, `.truncated`, `.limitExceeded(.readers)`, `.system`.
  public func snapshot() throws(StorageError) -> Snapshot {
    let pinned = try held.pin()
    let snapshot = Snapshot(database: self, version: pinned.version, failures: pinned.failures)
    let length = try storage.length()
    guard length >= pinned.version.end else {
      throw .truncated(path: storage.path, length: length, needed: pinned.version.end)
    }
    try store.reserve(pinned.version.end)
    return snapshot
  }

  /// Calls `body` with a snapshot of the newest published version.
  ///
  /// - Throws: what `snapshot()` and `body` throw.
  public func read<Result>(_ body: (Snapshot) throws -> Result) throws -> Result { try body(snapshot()) }

  /// Begins a write transaction. Only one is open at a time: the call waits until those of other threads and processes
  /// that came before have ended.
  ///
  /// - Precondition: this thread has no open transaction on the same database. Otherwise it waits for itself without
  ///   end.
  /// - Throws: `.readOnly`, `.forked` and `.poisoned`; `.unknownFeature` if the file uses a feature that this version
  ///   of the library does not know and must know to write it; `.limitExceeded` if all version numbers are used up; at
  ///   the first transaction also `.corrupted` if the free space of the file can't be read, and `.system` if no range
  ///   of addresses is left for its nodes.
  public func beginWrite() throws(StorageError) -> WriteTransaction {
    try beginWrite { _ in }
  }

  /// Begins a write transaction, as `beginWrite()` does.
  ///
  /// - Parameter prepare: is called while no other transaction is open, before this one begins.
  func beginWrite(
    _ prepare: (Writer) throws(StorageError) -> Void
  ) throws(StorageError) -> WriteTransaction {
    let writer = try usableWriter()
    writer.gate.enter()
    return try beginInside(writer, prepare)
  }

  /// Begins a write transaction if it need not wait for one of this or another process; otherwise returns nil.
  ///
  /// - Throws: what `beginWrite()` throws.
  public func beginWriteIfFree() throws(StorageError) -> WriteTransaction? {
    let writer = try usableWriter()
    guard try writer.gate.enterIfFree() else { return nil }
    return try beginInside(writer) { _ in }
  }

  /// Makes all published commits durable, including the relaxed ones. It waits for the transaction of another thread,
  /// and for the disk.
  ///
  /// - Throws: what `beginWrite()` throws; `.system`, after which it is unknown which of those commits survive until
  ///   the database is opened again.
  public func flush() throws(StorageError) {
    guard let writer, held.block.current.number != held.block.durable.number else { return }
    guard !storage.isForked else { throw .forked(path: storage.path) }
    writer.gate.enterUncounted()
    defer { writer.gate.leaveAndRest() }
    try writer.gate.makeDurable()
  }

  /// Whether a version is known to survive a loss of power.
  package func isDurable(_ version: UInt64) -> Bool { held.block.durable.number >= version }

  private func usableWriter() throws(StorageError) -> Writer {
    guard let writer else { throw .readOnly(path: storage.path) }
    guard !storage.isForked else { throw .forked(path: storage.path) }
    return writer
  }

  /// Begins a transaction.
  ///
  /// - Precondition: this thread is inside the gate of the writer.
  private func beginInside(
    _ writer: Writer, _ prepare: (Writer) throws(StorageError) -> Void
  ) throws(StorageError) -> WriteTransaction {
    let transaction: WriteTransaction
    do throws(StorageError) {
      // The writer reads the nodes of the version that it begins with, and has to know their form.
      if version > writableVersion.load(ordering: .relaxed), let snapshot = try? snapshot() {
        do throws(StorageError) { try checkWritable(snapshot, snapshot.version) } catch {
          // If a failed sync has lost this version, another one is recovered, and checked below.
          guard case .snapshotExpired = error else { throw error }
        }
      }
      try prepare(writer)
      transaction = WriteTransaction(database: self, writer: writer, try writer.gate.begin())
      held.participants.setWriting(since: Clock.now, held.participant)
    } catch {
      writer.gate.leaveAndRest()
      throw error
    }
    do {
      try checkWritable(transaction, transaction.base.number)
    } catch {
      transaction.cancel()
      throw error
    }
    return transaction
  }

  /// Throws `.unknownFeature` if a version uses a feature that this library must know to write the file and does not
  /// know. O(1) for versions that this handle made.
  private func checkWritable(_ reader: any NodeReader, _ number: UInt64) throws(StorageError) {
    guard writableVersion.load(ordering: .relaxed) != number else { return }
    // Damage is ignored here: whoever reads the damaged part gets the error. It must not hide unknown features beside it.
    guard
      let catalogue = try undamaged({ () throws(StorageError) in try Catalogue(reader.root, reader.access()) }
      )
    else { return }
    let slots = try undamaged { () throws(StorageError) in
      try catalogue.slotsUnknownToWrite(reader.access())
    }
    let all = try undamaged { () throws(StorageError) in try schemas(catalogue, reader.access()) }
    var found = all
    if found == nil {
      found = try undamaged { () throws(StorageError) in
        try Tables.wholeSchemas(catalogue, reader.access())
      }
    }
    let features = (slots ?? []) + (found ?? []).compactMap { $0.unknown.feature }
    if let feature = features.first { throw .unknownFeature(feature, path: storage.path) }
    if slots != nil, all != nil { noteWritable(number) }
  }

  /// Returns the result of `body`; nil if what it reads is damaged.
  private func undamaged<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    do throws(StorageError) {
      return try body()
    } catch {
      guard error.isDamage else { throw error }
      return nil
    }
  }

  /// Notes that a version uses no feature that this library must know to write the file and does not know.
  func noteWritable(_ number: UInt64) { writableVersion.store(number, ordering: .relaxed) }

  /// The features of a version that a library must know to write the file, and that this library does not know.
  func unknownToWrite(_ reader: any NodeReader) throws(StorageError) -> [StorageError.Feature] {
    let access = reader.access()
    let catalogue = try Catalogue(reader.root, access)
    return try catalogue.unknownToWrite(schemas(catalogue, access), access)
  }

  /// Calls `body` in a write transaction, and commits its changes. If `body` throws, the transaction is cancelled. If
  /// `body` ends the transaction itself, nothing more is done.
  ///
  /// - Throws: what `beginWrite()`, `body` and `WriteTransaction.commit(_:)` throw. After an error nothing was written,
  ///   except if its outcome is unknown: then `beginWrite()` throws `.poisoned` from now on.
  public func write<Result>(_ durability: Durability = .full, _ body: (WriteTransaction) throws -> Result)
    throws -> Result
  {
    let transaction = try beginWrite()
    defer { transaction.cancel() }
    let result = try body(transaction)
    if transaction.isOpen { try transaction.commit(durability) }
    return result
  }

  /// The schemas that a catalogue names. O(1) as long as they do not change.
  func schemas(_ catalogue: Catalogue, _ access: borrowing NodeAccess) throws(StorageError) -> [TableSchema] {
    let known = knownSchemas.withLock { $0 }
    if known.tree == catalogue.schema { return known.schemas }
    let schemas = try Tables.schemas(catalogue, access)
    if !catalogue.schema.isDirty { knownSchemas.withLock { $0 = (catalogue.schema, schemas) } }
    return schemas
  }

  /// Releases a version that a snapshot held. After the last one of a closed database, it releases the file.
  func unpin(_ version: UInt64, from purpose: String? = nil) {
    if held.unpin(version, from: purpose) { leave() }
  }

  /// The nodes that a snapshot of a version may read. They are none after a failed sync that may have lost it.
  func reach(of version: Version, seenFailures: UInt64) -> NodeReach {
    store.reach(below: held.isExpired(version.number, seen: seenFailures) ? 0 : version.end)
  }

  /// Waits until this or another process publishes a version later than `version`.
  ///
  /// - Returns: the number of the newest version; nil if none was published within `timeout`.
  /// - Throws: `.forked`.
  public func waitForCommit(after version: UInt64, timeout: Duration) throws(StorageError) -> UInt64? {
    try held.wait(after: version, timeout: timeout)
  }

  /// Waits like `waitForCommit(after:timeout:)`, but returns nil early if it is woken and `isStopped` returns true.
  package func waitForCommit(
    after version: UInt64, timeout: Duration, isStopped: () -> Bool
  ) throws(StorageError) -> UInt64? {
    try held.wait(after: version, timeout: timeout, isStopped: isStopped)
  }

  /// Wakes all threads of all processes that wait for commits.
  package func wakeWaiting() { storage.note?.wake() }

  /// Whether this process is a forked child of the one that opened the file.
  package var isForked: Bool { storage.isForked }

  /// The number of the newest published version.
  public var version: UInt64 { held.block.current.number }

  /// The number of versions that this and other processes read, including the newest one.
  public var activeVersions: Int { Set(held.readers.pins.map { $0.version } + [version]).count }

  /// The size of the file, in bytes.
  ///
  /// - Throws: `.system`.
  package var fileBytes: UInt64 { get throws(StorageError) { try storage.length() } }

  /// The path of the file; for a database in memory its name.
  public var path: String { storage.path }

  /// The number of pages that this handle has written and that had been in use before.
  package var recycledPages: Int {
    writer?.pages.with { $0.space.recycledPages } ?? 0
  }

  /// The number of nodes that this handle has moved, and how often it has shortened the file.
  package var compacted: (movedNodes: Int, truncations: Int) {
    guard let writer else { return (0, 0) }
    writer.gate.enterUncounted()
    defer { writer.gate.leaveAndRest() }
    return (writer.gate.movedNodes, writer.pages.with { $0.truncations })
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

}

/// One version of a database. It never changes, reading it never waits, and its data stays in the file until the
/// snapshot is released. Any number of threads may use it at once.
public final class Snapshot: Sendable {
  let database: Database
  package let base: Version
  /// The number of syncs that had failed when the snapshot was taken.
  let failures: UInt64

  /// The purpose for which the version is held, as reports show it; nil if none was given.
  private let purpose: String?

  init(database: Database, version: Version, failures: UInt64, purpose: String? = nil) {
    self.database = database
    self.failures = failures
    self.purpose = purpose
    base = version
  }

  deinit { database.unpin(base.number, from: purpose) }

  /// Makes another snapshot of the same version. Reports show its purpose (`PinnedVersion.purpose`).
  ///
  /// - Throws: `.forked`.
  public func held(for purpose: String) throws(StorageError) -> Snapshot {
    try database.held.pin(again: base.number, for: purpose)
    return Snapshot(database: database, version: base, failures: failures, purpose: purpose)
  }

  /// The number of the version.
  public var version: UInt64 { base.number }
}

extension Snapshot: NodeReader {
  package var root: Ref { base.root }
  /// What the snapshot may read while it exists. After a failed sync that may have lost the version, every read throws.
  @inline(__always)
  var reach: NodeReach { database.reach(of: base, seenFailures: failures) }
  @_lifetime(borrow self)
  package func access() -> NodeAccess { NodeAccess(reach, keptBy: self) }
}
