import Foundation
import RealmStorage
import Synchronization

/// A realm as one thread, queue or actor sees it: the version that it reads, or its write transaction.
///
/// A frozen session stands for a version that never changes, whatever thread reads it (`FrozenReaders`).
final class RealmSession {
  let file: RealmFile
  let owner: Scheduler
  /// The thread that may always use the session; `nobody` if there is no such thread, as for a queue.
  private let home: ThreadID
  /// Whether the compiler guarantees that objects of the session are used only where it belongs.
  private let isKeptByCompiler: Bool
  /// The sessions with which threads read the version of this frozen session; nil for other sessions.
  let readers: FrozenReaders?
  /// The frozen session whose version this session reads on one thread; nil for others. It keeps this session.
  let shared: UncountedReference<RealmSession>?
  /// Runs blocks where the session is used.
  let inbox: SchedulerInbox
  /// The write transactions that begin later; nil before the first one is asked for.
  var pendingWrites: AsyncWrites?
  private(set) var transaction: WriteTransaction? {
    didSet { isWriting = transaction != nil }
  }
  @exclusivity(unchecked) private(set) var isWriting = false
  /// The generation in which the open transaction began.
  private var transactionGeneration: UInt64 = 0
  /// The fate of the open transaction, for references to objects that it made.
  private(set) lazy var fate = TransactionFate()
  /// The version that is read; nil until something is read, in a transaction, and after `invalidate()`.
  private var snapshot: Snapshot? {
    didSet {
      forgetTables()
      areTableModelsChecked = false
      if let snapshot { follow(snapshot) }
    }
  }
  /// The version to which handles of deleted objects were refreshed last, or with which the open transaction began. It
  /// is nil if the realm does not keep the values of deleted objects.
  private(set) var followed: Snapshot?
  /// A number that grows whenever something that is read may have changed.
  @exclusivity(unchecked) private(set) var generation: UInt64 = 0 {
    didSet { broadGeneration = generation }
  }
  /// The last generation with other changes than those of single values, which `written` notes.
  @exclusivity(unchecked) private var broadGeneration: UInt64 = 0
  /// The classes of all realms of the session. Its objects are of these classes.
  private(set) var schema = RealmSchema([], isDefault: false)
  /// The view for the session's objects. It has all classes, and the configuration that opened the session first.
  private var whole: RealmView?
  /// The classes of realms that were opened in the open transaction, which made or changed tables for them.
  private(set) var provisional: [(schema: RealmSchema, list: ClassList)] = []
  /// The classes of realms whose transaction was cancelled, and the indexes of those classes that lost their table.
  private var lost: (schemas: [RealmSchema], indices: Set<Int>) = ([], [])
  /// The schema version of the last version of the file that was found to fit the classes.
  lazy var schemaVersion = file.schemaVersion
  /// The number of times that a cancelled transaction has taken classes from the session.
  @exclusivity(unchecked) private(set) var losses = 0
  /// The contexts of the classes, which live as long as the session.
  @exclusivity(unchecked) private var contexts: [ObjectContext?] = []
  /// The context of the class that was looked up last.
  @exclusivity(unchecked) private var lastContext:
    (type: ObjectIdentifier, context: UncountedReference<ObjectContext>)?
  /// Counts the handles and lives that refer to the session from outside. The session is freed with the last of them.
  let holders = HolderCount()
  /// The last life. It has a lock because any thread may compare objects and ask for their realm.
  private let lastLife = Mutex(WeakLife())

  private struct WeakLife { weak var life: SessionLife? }
  /// Whether the session keeps the file open.
  private(set) var isCounted = true
  /// The notes of a migration, in the session with which it writes; nil in other sessions.
  var migration: MigrationNotes?
  /// The tables as classes of dynamic objects, as they were when these classes were last asked for.
  var tableModels: TableModels?
  /// Whether `tableModels` is known to agree with the tables that the session sees.
  var areTableModelsChecked = false
  /// Tells which handles may still be used.
  @exclusivity(unchecked) private var validity = HandleValidity()
  /// The record of the open transaction's changes to each table, by the slot of the table.
  @exclusivity(unchecked) private var written: [Written] = []

  private struct Written {
    var table: WritableTable?
    /// The key of the first row that the transaction made; the largest number if it made none.
    var firstRow = UInt64.max
    /// For each column, the generation in which one of its values was last set and nothing else changed. A column
    /// beyond the end was never set in this way.
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

  /// Makes a session with which a migration reads or writes, on the thread that opens the file. The session has a
  /// version, or the migration's transaction, which it does not end.
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

  /// Notes that the table of a class has other columns now. The session looks it up again, and objects of it that were
  /// found before become invalid.
  func forgetWritten(_ binding: ClassBinding) {
    makeRoom(for: binding)
    written[binding.slot] = Written()
    validity.cancel(from: 0, ofClass: binding.slot, births: 0...generation)
    generation &+= 1
  }

  /// Ends the session of a migration, and lets go of the version and the transaction, which the migration lent.
  func endMigration() {
    (transaction, snapshot, followed) = (nil, nil, nil)
    (tableModels, migration) = (nil, nil)
    written = written.map { _ in Written() }
    generation &+= 1
    validity.invalidateAll(before: generation)
  }

  /// Makes a frozen session.
  ///
  /// - Parameter snapshot: the version; nil for a session that only names objects and reads nothing.
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

  /// Makes the session with which one thread reads the version of a frozen session.
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

  /// Whether the version that is read never changes, so that nothing can be written.
  var isFrozen: Bool { readers != nil || shared != nil }

  /// Whether the session has no version, and only names rows and collections that move between sessions.
  var namesOnly: Bool { readers?.namesOnly ?? false }

  /// The session that the current thread uses: the thread's reader of a frozen session, or else this session.
  @inline(__always)
  var here: RealmSession {
    guard let readers else { return self }
    return UncountedReference.known(readers.number)?.counted ?? readers.reader(of: self)
  }

  /// The session to which realms and handles refer. If this session reads a frozen version on one thread, it is the
  /// frozen session. Otherwise it is this session.
  var ofHandles: RealmSession { shared?.counted ?? self }

  deinit {
    if transaction != nil { fate.cancel() }
    transaction?.cancel()
    transaction = nil
    pendingWrites?.end()
    readers?.end()
    // The session must not hold a version when the file is closed.
    forgetTables()
    (snapshot, followed) = (nil, nil)
    if shared == nil, isCounted { file.leave(ObjectIdentifier(self)) }
  }

  /// Returns the first life of a new session. From now on, the session exists until its last holder goes.
  static func begin(_ session: RealmSession) -> SessionLife {
    UncountedReference(session).retain()
    return session.life
  }

  /// A life that keeps the session. The caller must have another life or a handle.
  var life: SessionLife {
    if let shared { return shared.counted.life }
    return lastLife.withLock { last in
      if let life = last.life { return life }
      let made = SessionLife(self)
      last.life = made
      return made
    }
  }

  /// Removes a holder that has gone, on any thread. The session is freed with the last one.
  @inline(__always)
  func removeHolder() { if holders.remove() { UncountedReference(self).release() } }

  @inline(__always)
  func check() {
    // The home thread needs no further check, because it stays the main thread or the owner.
    if home != ThreadID.known { checkOwner() }
  }

  /// Whether it is known without asking the scheduler that the current thread may use the session.
  @inline(__always)
  var isAtHome: Bool { home == ThreadID.known || isKeptByCompiler }

  /// Everything that was found in this generation or a later one is valid.
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

  /// The class that is stored in the table of a slot; nil if the session has no such class.
  func binding(ofSlot slot: Int) -> ClassBinding? { schema.bindings.first { $0.slot == slot } }

  /// The view for the session's objects. It has the classes of all realms of the session.
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
    // This makes `takesIn` check the schema of the file again, because the classes are new.
    schemaVersion = file.schemaVersion
    for binding in added.bindings { makeRoom(for: binding) }
    whole = RealmView(whole?.configuration ?? configuration, joined, self)
  }

  /// Notes classes whose tables may exist only in the open transaction.
  func noteProvisional(_ schema: RealmSchema, _ list: ClassList) {
    provisional.append((schema, list))
    areTableModelsChecked = false
    generation &+= 1
  }

  func isLost(_ schema: RealmSchema) -> Bool {
    lost.schemas.contains { $0 === schema } || schema.bindings.contains { lost.indices.contains($0.index) }
  }

  /// Keeps the classes of realms that were opened in a transaction, or forgets them if it was cancelled.
  private func endProvisional(cancelled: Bool) {
    let ended = provisional
    guard !ended.isEmpty else { return }
    provisional = []
    guard cancelled else {
      for (schema, list) in ended { file.classes.keep(schema, list) }
      return
    }
    // Classes that were known before the transaction stay known.
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

  /// The binding of a class. For dynamic objects it is the class of their table.
  func binding(_ model: ObjectModel) -> ClassBinding {
    guard model.isDynamic else { return binding(model.type) }
    guard let found = model.family?.binding(named: model.name) else {
      preconditionFailure("a table's class is among those of its file")
    }
    return found
  }

  /// Makes room in `written` for a class.
  func makeRoom(for binding: ClassBinding) {
    while written.count <= binding.slot { written.append(Written()) }
  }

  /// The context of a class. No reference is counted, because the session keeps the context.
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

  /// Whether an object or collection that was found in the generation `birth` may not be used any more, because its
  /// realm was invalidated or because the transaction that made it was cancelled.
  @inline(__always)
  func isInvalid(_ row: UInt64?, birth: UInt64, _ binding: ClassBinding) -> Bool {
    birth < validity.surelyValid && validity.isInvalid(row, birth: birth, ofClass: binding.slot)
  }

  /// The contexts of the classes of which something was read.
  var knownContexts: [ObjectContext] { contexts.compactMap { $0 } }

  // MARK: - Reading

  /// Makes `version` the one whose values are kept for handles of objects that are deleted later.
  private func follow(_ version: Snapshot) {
    guard file.configuration.keepsDeletedValues, !isFrozen else { return }
    if let followed, followed.version != version.version { keepLastValues(from: followed, to: version) }
    followed = version
  }

  /// Makes contexts forget their tables, because a table keeps its version.
  private func forgetTables() {
    for context in contexts { context?.forgetTable() }
  }

  /// The table of a class as the session sees it now; nil if there is none.
  func readTable(_ binding: ClassBinding) throws(StorageError) -> Table? {
    guard let schema = binding.table else { return nil }
    if transaction != nil { return try writable(binding)?.reading() }
    let table = try currentSnapshot().table(schema.name)
    if let table, !binding.fits(table.schema, isSynced: file.isSynced) {
      raise("Changed schema", changedSchema(try currentSnapshot().schemaVersion()))
    }
    return table
  }

  /// The version that is read outside of transactions. If there is none yet, the newest version is taken.
  func currentSnapshot() throws(StorageError) -> Snapshot {
    if let snapshot { return snapshot }
    precondition(shared == nil, "what only names objects reads nothing")
    let taken = try file.database.snapshot()
    snapshot = taken
    return taken
  }

  /// Moves the session to the newest version. Returns whether it moved from an older one.
  func refresh() -> Bool {
    check()
    inbox.lookForLoop()
    observers?.willMove()
    guard transaction == nil, !isFrozen, isCounted else { return false }
    return reading { () throws(StorageError) in try refresh(to: file.database.snapshot()) }
  }

  /// Moves the session to a version that the caller has taken. Returns whether it moved from an older one.
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

  /// Whether the session moves to newer versions by itself. This works if its thread, queue or actor can be called.
  var autorefresh = true {
    didSet {
      guard autorefresh, !oldValue else { return }
      observers?.catchUp()
      file.didCommit(nil)
    }
  }

  /// Called when another session has committed. It moves the session, or tells its observers that it is behind.
  func autorefreshNow() {
    // If the session has read nothing, its first read takes the newest version anyway.
    guard autorefresh else { return observers?.isBehind() ?? () }
    if snapshot != nil, observers?.movesSession != true { _ = refresh() }
  }

  /// Lets go of the version that is read, and cancels an open transaction. Handles become invalid.
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
          // `pendingWrites` may have the lock already, because a transaction that begins later asked for it.
          if let taken = pendingWrites?.takeOrGiveUp() { return taken }
          return try file.database.beginWrite()
        }
      }
    }
  }

  /// Tells observers what others have written, and begins a transaction on the version of which they were told. If
  /// others write during each of three attempts, the transaction may begin on a later version than that.
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
      // The later version may be a commit that still waits for the disk. This call waits until it can be shown.
      _ = try? begun.baseSnapshot()
      begun.cancel()
      (transaction, snapshot) = (nil, shown)
      generation &+= 1
    }
    return try begin()
  }

  /// Begins the transaction that `body` returns. Returns false if `body` returns nil.
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
    // This comes before another transaction can give the same keys to rows.
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
    // If no version can be taken now, the next read tries again and reports the reason.
    snapshot = try? file.database.snapshot()
    generation &+= 1
    if cancelled { fate.cancel() } else { file.didCommit(self) }
    fate = TransactionFate()
    observers?.didMove()
    pendingWrites?.didEnd(self)
  }

  /// The table of a class in the open transaction; nil if there is no transaction or no such table.
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

  /// Notes that a value of one column was written and that nothing else changed.
  private func didWrite(_ column: Int, of binding: ClassBinding) {
    let broad = broadGeneration
    generation &+= 1
    broadGeneration = broad
    while written[binding.slot].columns.count <= column { written[binding.slot].columns.append(0) }
    written[binding.slot].columns[column] = generation
  }

  /// Whether a search that read only some columns of a class would still find what it found in a generation.
  func isCurrent(_ found: UInt64, _ columns: [Int], of binding: ClassBinding) -> Bool {
    guard found >= broadGeneration else { return false }
    let written = written[binding.slot].columns
    return columns.allSatisfy { !written.indices.contains($0) || written[$0] <= found }
  }

  /// Calls `body` with the table of a class in the open transaction. An error of the engine stops the program, because
  /// changes of objects can't throw. Such errors are damage, a lack of memory, a disk that fails while the nodes of a
  /// large transaction are spilled, and the failure of the commit on which such a transaction builds. A full disk alone
  /// is no such error: nodes that find no room on the disk stay in memory, and the commit tries to write them again.
  ///
  /// - Parameter column: the only column whose values change; nil if other things change too. The column holds neither
  ///   links nor values of any type.
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
