import Synchronization

/// A database: one file, many versions, any number of readers and one writer at a time.
///
/// Readers take a `Snapshot`, which never changes and never waits; a `WriteTransaction` makes the next version.
/// Safe to use from any thread, and by any number of processes at once. The file is closed when the last reference to the database, its snapshots and its
/// transactions is gone, or by `close()`.
public final class Database: Sendable {
  let store: NodeStore
  let held: HeldVersions
  private let storage: any Storage
  /// Nil when opened for reading only.
  let writer: Writer?
  /// The version that was recovered when the file was opened, where one that seemed newer was not whole: what a crash
  /// interrupted, or damage. Nil where there was no such one.
  public let fellBackTo: UInt64?
  /// What was made beside the file goes with this handle.
  private let leavesNothing = Atomic<Bool>(false)
  /// The schemas read last, with the ref of the tree they stand in, which vouches for them.
  private let knownSchemas = Mutex<(tree: Ref, schemas: [TableSchema])>((.null, []))
  /// The version that was looked at last for what must be known to write the file, or was written by this handle since; 0
  /// before the first.
  private let writableVersion = Atomic<UInt64>(0)

  /// How to open a database.
  public typealias Options = DatabaseOptions

  // MARK: - Opening

  /// Opens the file at `path`, making it first where there is none. An empty file becomes a database, with the mode and owner
  /// it has.
  ///
  /// Takes time in proportion to what was written since the last durable commit, whatever the size of the file.
  ///
  /// - Throws: `StorageError`. The content is then as it was, and nothing was made beside the file; a recovery that was begun
  ///   is begun again by the next.
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
      // A file that is not ours gets no company.
      try MetaPair.judge(file, key: options.encryptionKey)
    } catch {
      file.close()
      throw error
    }
    let storage = try FileStorage(file)
    return (storage, try open(storage, options))
  }

  /// The file at a path, with something in it: it is made where there is none, and an empty one becomes a database.
  private static func openedFile(
    _ path: String, _ options: Options, _ calls: any SystemCalls
  ) throws(StorageError) -> OpenedFile {
    let nowhere = FileIdentity(device: 0, inode: 0)
    // Others may make it, remove it and cut it off meanwhile.
    for _ in 0..<8 {
      if !options.isReadOnly, !FileStorage.exists(path) {
        let content = try emptyFile(key: options.encryptionKey, identity: nowhere)
        try FileStorage.create(path: path, content: content, calls: calls)
      }
      let file = try OpenedFile(path: path, readOnly: options.isReadOnly, calls: calls)
      do throws(StorageError) {
        if try file.length() > 0 { return file }
        // Somebody has cut off a database that is in use.
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

  /// Removes a database: its file, `.note` and `.management` beside it. Answers whether there was anything.
  ///
  /// - Throws: `.inUse` where this process or another has it open; `.system`.
  public static func removeFiles(path: String) throws(StorageError) -> Bool {
    try FileRemoval.remove(path)
  }

  /// Throws where the file at `path` can't be opened, as far as its meta pages tell; makes nothing beside it.
  package static func judge(path: String, encryptionKey: [UInt8]?) throws(StorageError) {
    let file = try OpenedFile(path: path, readOnly: true, calls: NativeSystemCalls())
    defer { file.close() }
    try MetaPair.judge(file, key: encryptionKey)
  }

  /// Makes a database that lives in memory and is gone with its last reference.
  ///
  /// - Parameter isSynced: what is written to it is recorded for others (`DatabaseOptions.History`).
  public convenience init(inMemory name: String = "memory", isSynced: Bool = false) throws(StorageError) {
    var options = Options()
    options.history = isSynced ? .synced : .local
    try self.init(creatingIn: MemoryStorage(name: name), options: options)
  }

  /// Makes an empty database in a storage that holds nothing.
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

  /// Closes the file, cleanly where it can be written. Nothing can be written any more; snapshots still held stay
  /// readable, and the file stays locked until the last of them is released.
  ///
  /// Called by itself when the last reference goes. What goes wrong here loses nothing: the file is then recovered
  /// when it is opened next.
  public func close() {
    guard !storage.isForked else { return }
    // Not held as long as snapshots are.
    storage.unlock(.syncAgent)
    writer?.gate.enterUncounted()
    defer { writer?.gate.leave() }
    writer?.gate.close(isLast: isLastOpen)
    if held.close() { leave() }
  }

  /// Nobody else has the file open; whoever opens it next waits until this is done.
  private var isLastOpen: Bool { !storage.isHeldElsewhere(.presence) }

  /// Whether another handle, of this process or another, has the file open.
  public var isOpenElsewhere: Bool {
    storage.isHeldElsewhere(.presence) || storage.isHeldElsewhere(.unlistedReader)
  }

  /// Whether this handle relies on the schema that it has found: who would change it in another way than by adding to it asks `schemaUsers` first.
  /// A handle relies on nothing when it is opened.
  package func setReliesOnSchema(_ relies: Bool) { held.participants.setRelying(relies, held.participant) }

  /// The ids of the processes whose handles rely on the schema, beside this handle; 0 stands for a process in another namespace of process ids.
  package var schemaUsers: [UInt64] { held.participants.relying(exceptFor: held.participant) }

  /// Closes a database that is of no use to who opened it. What was made beside the file for that goes again, unless others
  /// have the file open.
  package func abandon() {
    leavesNothing.store(true, ordering: .relaxed)
    close()
  }

  /// After the last pin of a closed database.
  private func leave() {
    held.leave()
    if leavesNothing.load(ordering: .relaxed) { storage.removeOwnCompanions() }
    storage.close()
  }

  // MARK: - Reading and writing

  /// The newest published version, held until the snapshot is released. Never waits.
  ///
  /// - Throws: `.forked`, `.controlReplaced`, `.truncated`, `.limitExceeded(.readers)`; `.system`.
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

  /// Calls `body` with the newest published version.
  ///
  /// - Throws: what `snapshot` and `body` throw.
  public func read<Result>(_ body: (Snapshot) throws -> Result) throws -> Result { try body(snapshot()) }

  /// Begins the one transaction that may write, after those that came before have ended.
  ///
  /// - Precondition: this thread has no open transaction on the same database: it would wait for itself.
  /// - Throws: `.readOnly`, `.poisoned`; the first time also `.corrupted`, where the space of the file can't be told,
  ///   and `.system`, where no range of addresses is left for its nodes;
  ///   `.limitExceeded` when all version numbers are given; `.unknownFeature` where the file uses something that must be known
  ///   to write it, and this version of the library does not know it.
  public func beginWrite() throws(StorageError) -> WriteTransaction {
    try beginWrite { _ in }
  }

  /// The same.
  ///
  /// - Parameter prepare: is called when nobody else makes a transaction, before this one begins.
  func beginWrite(
    _ prepare: (Writer) throws(StorageError) -> Void
  ) throws(StorageError) -> WriteTransaction {
    let writer = try usableWriter()
    writer.gate.enter()
    return try beginInside(writer, prepare)
  }

  /// Begins a transaction as `beginWrite` does, where that needs no waiting for another transaction, here or in another process;
  /// nil where it does.
  ///
  /// - Throws: what `beginWrite` throws.
  public func beginWriteIfFree() throws(StorageError) -> WriteTransaction? {
    let writer = try usableWriter()
    guard try writer.gate.enterIfFree() else { return nil }
    return try beginInside(writer) { _ in }
  }

  /// Makes all commits that readers see durable, those that were relaxed too.
  ///
  /// Waits for the transaction of another thread, and for the disk.
  ///
  /// - Throws: what `beginWrite` throws; `.system`, after which the outcome of those commits is known only when the
  ///   database is opened again.
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

  /// - Precondition: this thread is inside the writer's gate.
  private func beginInside(
    _ writer: Writer, _ prepare: (Writer) throws(StorageError) -> Void
  ) throws(StorageError) -> WriteTransaction {
    let transaction: WriteTransaction
    do throws(StorageError) {
      // The writer walks over the nodes of the version it begins with, as this version of the library knows them.
      if version > writableVersion.load(ordering: .relaxed), let snapshot = try? snapshot() {
        do throws(StorageError) { try checkWritable(snapshot, snapshot.version) } catch {
          // Of a version that a failed sync has lost another one is recovered, and checked below.
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

  /// Throws where a version has what must be known to write the file, and is not. O(1) for versions that this handle made.
  private func checkWritable(_ reader: any NodeReader, _ number: UInt64) throws(StorageError) {
    guard writableVersion.load(ordering: .relaxed) != number else { return }
    // Damage is met by who reads what is damaged, and told then. It does not hide what is beside it.
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

  /// Answers what `body` reads; nil where that is damaged.
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

  /// Notes that a version has nothing that must be known to write the file, and is not.
  func noteWritable(_ number: UInt64) { writableVersion.store(number, ordering: .relaxed) }

  /// Answers the parts of a version that a library must know to write the file, and that this library does not know.
  func unknownToWrite(_ reader: any NodeReader) throws(StorageError) -> [StorageError.Feature] {
    let access = reader.access()
    let catalogue = try Catalogue(reader.root, access)
    return try catalogue.unknownToWrite(schemas(catalogue, access), access)
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

  func unpin(_ version: UInt64, from purpose: String? = nil) {
    if held.unpin(version, from: purpose) { leave() }
  }

  /// Begins reading the version of a snapshot.
  func reach(of version: Version, seenFailures: UInt64) -> NodeReach {
    store.reach(below: held.isExpired(version.number, seen: seenFailures) ? 0 : version.end)
  }

  /// Waits until a later version than `version` is published, by this process or another.
  ///
  /// - Returns: the newest version's number; nil when the time has passed.
  /// - Throws: `.forked`.
  public func waitForCommit(after version: UInt64, timeout: Duration) throws(StorageError) -> UInt64? {
    try held.wait(after: version, timeout: timeout)
  }

  /// The same; ends early, with nil, when it is woken and `isStopped` answers true.
  package func waitForCommit(
    after version: UInt64, timeout: Duration, isStopped: () -> Bool
  ) throws(StorageError) -> UInt64? {
    try held.wait(after: version, timeout: timeout, isStopped: isStopped)
  }

  /// Wakes who waits for commits, in all processes.
  package func wakeWaiting() { storage.note?.wake() }

  /// This process is a forked child of the one that opened the file.
  package var isForked: Bool { storage.isForked }

  /// The newest published version's number.
  public var version: UInt64 { held.block.current.number }

  /// How many versions are read, by this process and others, the newest included.
  public var activeVersions: Int { Set(held.readers.pins.map { $0.version } + [version]).count }

  /// The size of the file, in bytes.
  ///
  /// - Throws: `.system` where the system does not tell it.
  package var fileBytes: UInt64 { get throws(StorageError) { try storage.length() } }

  /// Where the file is, for messages.
  public var path: String { storage.path }

  /// Pages this handle has written that had held something before.
  package var recycledPages: Int {
    writer?.pages.with { $0.space.recycledPages } ?? 0
  }

  /// Nodes this handle has moved, and how often it made the file shorter.
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

/// One version of a database, which never changes. Held until it is released; reading waits for nobody.
///
/// Safe to use from any number of threads at once.
public final class Snapshot: Sendable {
  let database: Database
  package let base: Version
  /// How many syncs had failed when it was taken.
  let failures: UInt64

  /// What it is held for, where reports tell that.
  private let purpose: String?

  init(database: Database, version: Version, failures: UInt64, purpose: String? = nil) {
    self.database = database
    self.failures = failures
    self.purpose = purpose
    base = version
  }

  deinit { database.unpin(base.number, from: purpose) }

  /// Another snapshot of the same version, whose purpose reports tell (`PinnedVersion.purpose`).
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
  /// What it may read, for as long as it lives. Of a version that can't be believed any more every read throws.
  @inline(__always)
  var reach: NodeReach { database.reach(of: base, seenFailures: failures) }
  @_lifetime(borrow self)
  package func access() -> NodeAccess { NodeAccess(reach, keptBy: self) }
}
