import Foundation
import RealmStorage
import Synchronization

/// A realm as one thread, queue or actor sees it: the version that it reads, or its write transaction.
///
/// A frozen session is the name of a version that never changes, whatever thread reads it (`FrozenReaders`).
final class RealmSession {
  let file: RealmFile
  let owner: Scheduler
  /// The thread that may always use the session; `nobody` if the session belongs to a queue.
  private let home: ThreadID
  /// Whether the compiler guarantees that objects of the session are used where it belongs.
  private let isKeptByCompiler: Bool
  /// For a frozen session: the sessions with which threads read its version.
  let readers: FrozenReaders?
  /// For a session that reads a frozen version on one thread: the frozen session, which keeps it.
  let shared: UncountedReference<RealmSession>?
  /// Takes blocks that are to run where the session is used.
  let inbox: SchedulerInbox
  /// Transactions that begin later; nil before the first one.
  var pendingWrites: AsyncWrites?
  private(set) var transaction: WriteTransaction? {
    didSet { isWriting = transaction != nil }
  }
  @exclusivity(unchecked) private(set) var isWriting = false
  /// The generation in which the open transaction began.
  private var transactionGeneration: UInt64 = 0
  /// The fate of the open transaction, for references to objects that it made.
  private(set) lazy var fate = TransactionFate()
  /// The version that is read; nil until something is read, and after `invalidate()`.
  private var snapshot: Snapshot? {
    didSet {
      forgetTables()
      areTableModelsChecked = false
      if let snapshot { follow(snapshot) }
    }
  }
  /// The version that handles of deleted objects have been refreshed to, if they keep their values; in a transaction, the version
  /// that it began with.
  private(set) var followed: Snapshot?
  /// Grows whenever what is read may have changed.
  @exclusivity(unchecked) private(set) var generation: UInt64 = 0 {
    didSet { broadGeneration = generation }
  }
  /// The last generation in which more changed than values of single properties, which `written` knows.
  @exclusivity(unchecked) private var broadGeneration: UInt64 = 0
  /// The classes of all realms of the session. Its objects are of these classes.
  private(set) var schema = RealmSchema([], isDefault: false)
  /// The realm of the session's objects: it has all classes, and the configuration that the session was opened with first.
  private var whole: RealmView?
  /// The classes of realms that were opened in the open transaction, and needed tables.
  private(set) var provisional: [(schema: RealmSchema, list: ClassList)] = []
  /// The classes of realms whose transaction was cancelled, and the indexes of the classes that are bound to no table any more.
  private var lost: (schemas: [RealmSchema], indices: Set<Int>) = ([], [])
  /// The schema version of the last version of the file that the classes were seen to fit.
  lazy var schemaVersion = file.schemaVersion
  /// The number of times that classes were lost.
  @exclusivity(unchecked) private(set) var losses = 0
  /// The contexts of the classes, which live as long as the session.
  @exclusivity(unchecked) private var contexts: [ObjectContext?] = []
  /// The context of the class that was asked for last.
  @exclusivity(unchecked) private var lastContext:
    (type: ObjectIdentifier, context: UncountedReference<ObjectContext>)?
  /// Counts the handles and lives that refer to the session from outside. The session is there until none is left.
  let holders = HolderCount()
  /// Guarded by a lock, since objects may be compared, and asked for their realm, on any thread.
  private let lastLife = Mutex(WeakLife())

  private struct WeakLife { weak var life: SessionLife? }
  /// Whether the session keeps the file open.
  private(set) var isCounted = true
  /// For a session with which a migration writes: what the migration notes.
  var migration: MigrationNotes?
  /// The tables as classes of dynamic objects, as they were when these were last asked for.
  var tableModels: TableModels?
  /// Whether `tableModels` are known to be the tables that the session sees.
  var areTableModelsChecked = false
  /// Tells which handles may still be used.
  @exclusivity(unchecked) private var validity = HandleValidity()
  /// What the open transaction did with each table.
  @exclusivity(unchecked) private var written: [Written] = []

  private struct Written {
    var table: WritableTable?
    /// The first row that the transaction made.
    var firstRow = UInt64.max
    /// By the position of a column: the generation in which one of its values was last set alone. Columns beyond the end were
    /// never set.
    var columns: [UInt64] = []
  }

  init(file: RealmFile, owner: Scheduler) {
    self.file = file
    self.owner = owner
    home = owner.home ?? .nobody
    isKeptByCompiler = owner.isKeptByCompiler
    (readers, shared) = (nil, nil)
    inbox = SchedulerInbox(owner)
  }

  /// Makes a session with which a migration reads or writes, on the thread that opens the file. It has a version, or the
  /// migration's transaction, which it does not end.
  init(migrating file: RealmFile, _ version: Snapshot, _ transaction: WriteTransaction?) {
    self.file = file
    owner = .current
    home = owner.home ?? .nobody
    isKeptByCompiler = false
    (readers, shared) = (nil, nil)
    inbox = SchedulerInbox(owner)
    self.transaction = transaction
    snapshot = transaction == nil ? version : nil
    isWriting = transaction != nil
    isCounted = false
    adopt(schema, file.configuration)
  }

  /// Notes that the table of a class has other columns now: the table is asked for again, and objects of it that were found
  /// before are invalid.
  func forgetWritten(_ binding: ClassBinding) {
    makeRoom(for: binding)
    written[binding.slot] = Written()
    validity.cancel(from: 0, ofClass: binding.slot, births: 0...generation)
    generation &+= 1
  }

  /// Ends the session of a migration, which lent it the version and the transaction.
  func endMigration() {
    (transaction, snapshot, followed) = (nil, nil, nil)
    (tableModels, migration) = (nil, nil)
    written = written.map { _ in Written() }
    generation &+= 1
    validity.invalidateAll(before: generation)
  }

  /// Makes a frozen session.
  ///
  /// - Parameter snapshot: the version; nil for a session that only names objects, and reads nothing.
  init(
    file: RealmFile, freezing snapshot: Snapshot?, _ schema: RealmSchema, _ configuration: Realm.Configuration
  ) {
    self.file = file
    owner = .anyone
    home = .nobody
    isKeptByCompiler = false
    readers = FrozenReaders(snapshot)
    shared = nil
    inbox = SchedulerInbox(owner)
    generation = 1
    self.schema = schema
    whole = RealmView(configuration, schema, self)
  }

  /// Makes the session that reads the version of a frozen session on one thread.
  init(reading frozen: RealmSession, _ version: Snapshot?, on thread: ThreadID) {
    file = frozen.file
    owner = .thread(thread)
    home = thread
    isKeptByCompiler = false
    readers = nil
    shared = UncountedReference(frozen)
    inbox = frozen.inbox
    generation = frozen.generation
    schema = frozen.schema
    snapshot = version
  }

  /// Whether nothing that the session reads ever changes, so that nothing can be written.
  var isFrozen: Bool { readers != nil || shared != nil }

  /// Whether the session has no version: it only names rows and collections on their way from one session to another.
  var namesOnly: Bool { readers?.namesOnly ?? false }

  /// The session that the current thread uses: for a frozen session the reader of the thread, otherwise this one.
  @inline(__always)
  var here: RealmSession {
    guard let readers else { return self }
    return UncountedReference.known(readers.number)?.counted ?? readers.reader(of: self)
  }

  /// The session that realms and handles refer to: for a session that reads a frozen version on one thread the frozen session,
  /// otherwise this one.
  var ofHandles: RealmSession { shared?.counted ?? self }

  deinit {
    if transaction != nil { fate.cancel() }
    transaction?.cancel()
    transaction = nil
    pendingWrites?.end()
    readers?.end()
    // The version must not be held when the file is closed.
    forgetTables()
    (snapshot, followed) = (nil, nil)
    if shared == nil, isCounted { file.leave(ObjectIdentifier(self)) }
  }

  /// Returns the first holder of a new session, which is there from now on until the last holder goes.
  static func begin(_ session: RealmSession) -> SessionLife {
    UncountedReference(session).retain()
    return session.life
  }

  /// A life that keeps the session. The caller has another life, or a handle.
  var life: SessionLife {
    if let shared { return shared.counted.life }
    return lastLife.withLock { last in
      if let life = last.life { return life }
      let made = SessionLife(self)
      last.life = made
      return made
    }
  }

  /// A holder has gone, on any thread.
  @inline(__always)
  func removeHolder() { if holders.remove() { UncountedReference(self).release() } }

  @inline(__always)
  func check() {
    // The thread that opened the session needs no further check: it stays the main thread, or the owner.
    if home != ThreadID.known { checkOwner() }
  }

  /// Whether the current thread is known to be one that may always use the session.
  @inline(__always)
  var isAtHome: Bool { home == ThreadID.known || isKeptByCompiler }

  /// The first generation since which everything that was found is valid.
  @inline(__always)
  var surelyValid: UInt64 { validity.surelyValid }

  private func checkOwner() {
    guard owner.isHere else {
      raise(
        "Wrong thread",
        "the realm at \(file.database.path) belongs to \(owner.description); open it where you use it, and take its objects there "
          + "by freeze() or ThreadSafeReference(to:).")
    }
  }

  // MARK: - Classes

  /// - Precondition: a realm of the session stores the class. Otherwise the program stops.
  func binding(_ type: ObjectBase.Type) -> ClassBinding {
    guard let found = schema.find(type) else { schema.stopMissing(type, path: file.database.path) }
    return found
  }

  /// The class that is stored in a table; nil if no class of the session is.
  func binding(ofSlot slot: Int) -> ClassBinding? { schema.bindings.first { $0.slot == slot } }

  /// The realm of the session's objects. It has the classes of all its realms.
  var view: RealmView {
    if let shared { return shared.counted.view }
    guard let whole else { preconditionFailure("a session that was opened with nothing has no objects") }
    return whole
  }

  /// Adds classes to those of the session.
  func adopt(_ added: RealmSchema, _ configuration: Realm.Configuration) {
    let joined = whole == nil || schema === added ? added : schema.joined(with: added)
    if whole != nil, joined === schema { return }
    schema = joined
    // Whether the file's schema fits these classes, too, is checked again.
    schemaVersion = file.schemaVersion
    for binding in added.bindings { makeRoom(for: binding) }
    whole = RealmView(whole?.configuration ?? configuration, joined, self)
  }

  /// Notes classes whose tables may be there only in the open transaction.
  func noteProvisional(_ schema: RealmSchema, _ list: ClassList) {
    provisional.append((schema, list))
    areTableModelsChecked = false
    generation &+= 1
  }

  func isLost(_ schema: RealmSchema) -> Bool {
    lost.schemas.contains { $0 === schema } || schema.bindings.contains { lost.indices.contains($0.index) }
  }

  /// Keeps or forgets the classes of realms that were opened in the transaction that has ended.
  private func endProvisional(cancelled: Bool) {
    let ended = provisional
    guard !ended.isEmpty else { return }
    provisional = []
    guard cancelled else {
      for (schema, list) in ended { file.classes.keep(schema, list) }
      return
    }
    // Classes that were known before the transaction stay.
    let gone = ended.flatMap(\.schema.bindings).filter { !file.classes.isKnown($0) }.map(\.index)
    lost.schemas += ended.map(\.schema)
    lost.indices.formUnion(gone)
    losses += 1
    lastContext = nil
    schema = RealmSchema(
      schema.bindings.filter { !lost.indices.contains($0.index) }, isDefault: schema.isDefault)
    whole = whole.map { RealmView($0.configuration, schema, self) }
  }

  func context(_ type: ObjectBase.Type) -> ObjectContext { contextOfHandles(type).counted }

  /// The class as it is stored; for dynamic objects, the class of their table.
  func binding(_ model: ObjectModel) -> ClassBinding {
    guard model.isDynamic else { return binding(model.type) }
    guard let found = model.family?.binding(named: model.name) else {
      preconditionFailure("a table's class is among those of its file")
    }
    return found
  }

  /// Prepares to note what is written of a class.
  func makeRoom(for binding: ClassBinding) {
    while written.count <= binding.slot { written.append(Written()) }
  }

  /// The context of a class, without counting a reference. The session keeps it.
  @inline(__always)
  func contextOfHandles(_ type: ObjectBase.Type) -> UncountedReference<ObjectContext> {
    if let lastContext, lastContext.type == ObjectIdentifier(type) { return lastContext.context }
    return otherContext(type)
  }

  @inline(never)
  private func otherContext(_ type: ObjectBase.Type) -> UncountedReference<ObjectContext> {
    let context = UncountedReference(context(binding(type)))
    lastContext = (ObjectIdentifier(type), context)
    return context
  }

  func context(_ binding: ClassBinding) -> ObjectContext {
    if let readers { return readers.context(binding, of: self) }
    while contexts.count <= binding.index { contexts.append(nil) }
    if let found = contexts[binding.index] { return found }
    makeRoom(for: binding)
    let made = ObjectContext(session: self, binding: binding)
    contexts[binding.index] = made
    return made
  }

  /// Notes that the open transaction has made a row.
  func didInsert(_ row: UInt64, _ binding: ClassBinding) {
    generation &+= 1
    written[binding.slot].firstRow = min(written[binding.slot].firstRow, row)
  }

  /// Whether an object or collection that was found in a generation may not be used any more, since its realm was invalidated, or
  /// the transaction that made it was cancelled.
  @inline(__always)
  func isInvalid(_ row: UInt64?, birth: UInt64, _ binding: ClassBinding) -> Bool {
    birth < validity.surelyValid && validity.isInvalid(row, birth: birth, ofClass: binding.slot)
  }

  /// The contexts of the classes of which something was read.
  var knownContexts: [ObjectContext] { contexts.compactMap { $0 } }

  // MARK: - Reading

  /// Makes a version the one whose values handles of deleted objects keep.
  private func follow(_ version: Snapshot) {
    guard file.configuration.keepsDeletedValues, !isFrozen else { return }
    if let followed, followed.version != version.version { keepLastValues(from: followed, to: version) }
    followed = version
  }

  /// Lets contexts forget their tables, which would keep a version.
  private func forgetTables() {
    for context in contexts { context?.forgetTable() }
  }

  /// The table of a class as it is now; nil if there is none.
  func readTable(_ binding: ClassBinding) throws(StorageError) -> Table? {
    guard let schema = binding.table else { return nil }
    if transaction != nil { return try writable(binding)?.reading() }
    let table = try currentSnapshot().table(schema.name)
    if let table, !binding.fits(table.schema, isSynced: file.isSynced) {
      raise("Changed schema", changedSchema(try currentSnapshot().schemaVersion()))
    }
    return table
  }

  /// The version that is read outside of transactions.
  func currentSnapshot() throws(StorageError) -> Snapshot {
    if let snapshot { return snapshot }
    precondition(shared == nil, "what only names objects reads nothing")
    let taken = try file.database.snapshot()
    snapshot = taken
    return taken
  }

  /// Moves to the newest version. Returns whether it moved from an older one.
  func refresh() -> Bool {
    check()
    inbox.lookForLoop()
    observers?.willMove()
    guard transaction == nil, !isFrozen, isCounted else { return false }
    return reading { () throws(StorageError) in try refresh(to: file.database.snapshot()) }
  }

  /// Moves to a version that the caller has taken. Returns whether it moved from an older one.
  func refresh(to newest: Snapshot) throws(StorageError) -> Bool {
    let old = snapshot
    let version = try newest.schemaVersion()
    guard try takesIn(version, { () throws(StorageError) in try newest.schemas() }) else {
      // The session stays at the version that the classes fit.
      Logger.shared.log(.error, changedSchema(version))
      return false
    }
    snapshot = newest
    guard let old, old.version != newest.version else { return false }
    generation &+= 1
    observers?.didMove()
    return true
  }

  /// Whether the open transaction has changed something.
  var hasWritten: Bool { isWriting && generation != transactionGeneration }

  /// The version that is read; nil if nothing was read yet, and while a transaction is open.
  var shownVersion: Snapshot? { transaction == nil ? snapshot : nil }

  /// The version that the open transaction began with.
  var baseVersion: Snapshot? { try? transaction?.baseSnapshot() }

  /// The observers of the session; nil before the first one.
  var observers: (any SessionWatcher)?

  /// Whether the session moves to newer versions by itself, if its thread, queue or actor can be called.
  var autorefresh = true {
    didSet {
      guard autorefresh, !oldValue else { return }
      observers?.catchUp()
      file.didCommit(nil)
    }
  }

  /// Another session has committed.
  func autorefreshNow() {
    // A session that has read nothing reads the newest version when it first reads.
    guard autorefresh else { return observers?.isBehind() ?? () }
    if snapshot != nil, observers?.movesSession != true { _ = refresh() }
  }

  /// Lets go of the version that is read. Handles are invalid from then on.
  func invalidate() {
    check()
    checkCounted("be invalidated")
    checkThawed("be invalidated; it is let go of when the last that refers to it goes")
    if transaction != nil { cancelWrite() }
    (snapshot, followed) = (nil, nil)
    generation &+= 1
    validity.invalidateAll(before: generation)
    observers?.didInvalidate()
  }

  /// - Throws: the first damage that is found.
  func verify() throws(StorageError) {
    let looked: Snapshot
    if let snapshot { looked = snapshot } else { looked = try file.database.snapshot() }
    if let problem = IntegrityCheck.run(looked).problem { throw problem }
    // The next read uses the version that was checked.
    if transaction == nil, snapshot == nil { snapshot = looked }
  }

  // MARK: - Writing

  /// - Parameter most: the number of versions that may be in use; nil or 0 for any number.
  func beginWrite(whereVersions most: UInt?) throws {
    checkWritable()
    guard transaction == nil else {
      raise(
        "Transaction in a transaction",
        "the realm at \(file.database.path) is in a write transaction already; commit or cancel it first.")
    }
    try checkActiveVersions(most)
    try passingOnFailure {
      try tellingBefore {
        try begin { () throws(StorageError) in
          // A transaction that waits for its turn has asked for the lock, and may have it.
          if let taken = pendingWrites?.takeOrGiveUp() { return taken }
          return try file.database.beginWrite()
        }
      }
    }
  }

  /// Tells observers what others have written, and begins a transaction on the version that they were told of. After three
  /// attempts, in each of which others wrote in between, the transaction may have a little more.
  func tellingBefore(_ begin: () throws -> Bool) throws -> Bool {
    for _ in 0..<3 {
      observers?.willWrite()
      guard transaction == nil else {
        raise(
          "Transaction in a transaction",
          "an observer of the realm at \(file.database.path) left a write transaction open; commit or cancel it where it began."
        )
      }
      let shown = shownVersion
      guard try begin() else { return false }
      guard observers?.movesSession == true, let shown, transaction?.base.number != shown.version,
        let begun = transaction
      else {
        return true
      }
      // It may be a commit that still waits for the disk. This waits for it, so that it can be shown.
      _ = try? begun.baseSnapshot()
      begun.cancel()
      (transaction, snapshot) = (nil, shown)
      generation &+= 1
    }
    return try begin()
  }

  /// Begins the transaction that `body` returns. Returns false if it returns none.
  @discardableResult
  func begin(_ body: () throws(StorageError) -> WriteTransaction?) throws -> Bool {
    let begun = try Realm.Error.wrapping { () throws(StorageError) -> (WriteTransaction, UInt64)? in
      guard let begun = try body() else { return nil }
      do throws(StorageError) {
        return (begun, try begun.schemaVersion())
      } catch {
        begun.cancel()
        throw error
      }
    }
    guard let (begun, version) = begun else { return false }
    let isTakenIn = try Realm.Error.wrapping { () throws(StorageError) in
      try takesIn(version) { () throws(StorageError) in try begun.schemas() }
    }
    guard isTakenIn else {
      begun.cancel()
      throw Realm.Error(.schemaMismatch, changedSchema(version), path: file.database.path)
    }
    if file.configuration.keepsDeletedValues {
      follow(reading { () throws(StorageError) in try begun.baseSnapshot() })
    }
    transaction = begun
    snapshot = nil
    generation &+= 1
    transactionGeneration = generation
    return true
  }

  func commitWrite(_ durability: Durability = .full) throws {
    check()
    checkCounted("commit; opening the realm does")
    let open = requireTransaction("commit", isEnd: true)
    try checkSubscriptions(open)
    do {
      try open.commit(durability)
    } catch {
      open.cancel()
      end(cancelled: true)
      Logger.shared.log(.error, "A commit failed: \(error)")
      throw Realm.Error(error)
    }
    end(cancelled: false)
    Logger.shared.log(.debug, "\(file.database.path): version \(file.database.version) is committed.")
  }

  /// The classes of which the open transaction has made objects.
  var madeClasses: [ClassBinding] {
    (schema.bindings + (tableModels?.bindings ?? [])).filter {
      written.indices.contains($0.slot) && written[$0.slot].firstRow != .max
    }
  }

  func cancelWrite() {
    check()
    checkCounted("cancel; throw an error in the block instead")
    let open = requireTransaction("cancel", isEnd: true)
    // This comes before another transaction may give the same keys.
    fate.cancel()
    open.cancel()
    end(cancelled: true)
  }

  private func end(cancelled: Bool) {
    transaction = nil
    endProvisional(cancelled: cancelled)
    for index in written.indices {
      if cancelled, written[index].firstRow != .max {
        validity.cancel(
          from: written[index].firstRow, ofClass: index, births: transactionGeneration...generation)
      }
      written[index] = Written()
    }
    // If no version can be had now, the next read tries again and reports the reason.
    snapshot = try? file.database.snapshot()
    generation &+= 1
    if cancelled { fate.cancel() } else { file.didCommit(self) }
    fate = TransactionFate()
    observers?.didMove()
    pendingWrites?.didEnd(self)
  }

  /// The table of a class in the open transaction.
  func writable(_ binding: ClassBinding) throws(StorageError) -> WritableTable? {
    if let found = written[binding.slot].table { return found }
    guard let transaction, let schema = binding.table else { return nil }
    let table = try transaction.table(schema.name)
    if let table,
      table.schema.id != schema.id
        || !binding.fits(table.schema, isSynced: file.isSynced, isMigrating: !isCounted)
    {
      raise("Changed schema", changedSchema(try transaction.schemaVersion()))
    }
    written[binding.slot].table = table
    return table
  }

  /// Notes that something was written.
  func didWrite() { generation &+= 1 }

  /// Notes that a value of one column was written, and that nothing else changed with it.
  private func didWrite(_ column: Int, of binding: ClassBinding) {
    let broad = broadGeneration
    generation &+= 1
    broadGeneration = broad
    while written[binding.slot].columns.count <= column { written[binding.slot].columns.append(0) }
    written[binding.slot].columns[column] = generation
  }

  /// Whether what was found in a generation by some columns of a class would be found unchanged now.
  func isCurrent(_ found: UInt64, _ columns: [Int], of binding: ClassBinding) -> Bool {
    guard found >= broadGeneration else { return false }
    let written = written[binding.slot].columns
    return columns.allSatisfy { !written.indices.contains($0) || written[$0] <= found }
  }

  /// Calls `body` with the table of a class in the open transaction. An error of the engine stops the program, since changes of
  /// objects can't throw. Such errors are damage, a full memory, a disk that fails while the nodes of a large transaction are
  /// spilled, and the failure of the commit that such a transaction builds on. A full disk alone is no such error: nodes that
  /// find no room on the disk stay in memory, and the commit tries again to write them.
  ///
  /// - Parameter column: the only column whose values change; nil if other things change as well. It neither links nor holds
  ///   values of any type.
  func writing<Result>(
    _ binding: ClassBinding, column: Int? = nil, _ body: (WritableTable) throws(StorageError) -> Result
  ) -> Result {
    reading(
      { () throws(StorageError) in
        guard let table = try writable(binding) else {
          raise("Class not in the realm", "\(binding.model.name) has no table in this realm.")
        }
        defer { if let column { didWrite(column, of: binding) } else { didWrite() } }
        return try body(table)
      }, orStop: "Unwritable realm")
  }
}
