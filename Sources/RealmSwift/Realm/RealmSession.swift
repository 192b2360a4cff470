import Foundation
import RealmStorage

/// A realm as one thread or queue sees it: the version it reads, or its write transaction.
final class RealmSession {
  let file: RealmFile
  let owner: Confinement
  /// The thread that may always use it; none where it belongs to a queue.
  private let home: ThreadID?
  private(set) var transaction: WriteTransaction?
  /// Nil until something is read, and after `invalidate()`.
  private var snapshot: Snapshot? {
    didSet { forgetTables() }
  }
  /// Grows whenever what is read may have changed.
  private(set) var generation: UInt64 = 0
  /// Of handles that are made now.
  var birth: UInt32 { UInt32(truncatingIfNeeded: generation) }
  /// Grows when all handles become invalid.
  private(set) var epoch: UInt64 = 0

  private final class WeakContext {
    weak var context: ObjectContext?
    init(_ context: ObjectContext) { self.context = context }
  }
  // Contexts refer to their session, which must not keep them: it would never go.
  private var contexts: [WeakContext?]
  var pendingLists = PendingLists()
  /// What the open transaction did with each class.
  private var written: [Written]
  private var origin = TransactionOrigin()
  /// Of a block that is a transaction: it keeps the session itself, and so may keep contexts from being made again and
  /// again.
  private var kept: [ObjectContext]?

  /// Tables read in a generation, by class: contexts come and go with the objects that refer to them.
  private var tables: [Table?]
  private var tablesGeneration: UInt64 = .max

  private struct Written {
    var table: WritableTable?
    /// The first row it made.
    var firstRow = UInt64.max
    var fresh: WeakContext?
  }

  init(file: RealmFile, owner: Confinement) {
    self.file = file
    self.owner = owner
    home = owner.home
    contexts = Array(repeating: nil, count: file.schema.bindings.count)
    written = Array(repeating: Written(), count: file.schema.bindings.count)
    tables = Array(repeating: nil, count: file.schema.bindings.count)
  }

  deinit {
    transaction?.cancel()
    transaction = nil
    snapshot = nil
    file.leave(owner, ObjectIdentifier(self))
  }

  @inline(__always)
  func check() {
    // The thread that opened it needs no closer look: it stays the main thread, or the owner.
    if home != ThreadID.current { checkOwner() }
  }

  private func checkOwner() {
    guard owner.isHere else {
      raise(
        "Wrong thread",
        "the realm at \(file.database.path) belongs to \(owner.description); open it where you use it.")
    }
  }

  // MARK: - Classes

  func binding(_ type: ObjectBase.Type) -> ClassBinding { file.schema.binding(type) }

  func context(_ type: ObjectBase.Type) -> ObjectContext { context(binding(type)) }

  /// The context of a class for rows that were there before the open transaction.
  func context(_ binding: ClassBinding) -> ObjectContext {
    if let found = contexts[binding.index]?.context { return found }
    let made = ObjectContext(session: self, binding: binding)
    contexts[binding.index] = WeakContext(made)
    kept?.append(made)
    return made
  }

  /// The context of a row: those that the open transaction makes vanish with it when it is cancelled.
  @inline(__always)
  func context(_ context: ObjectContext, ofRow row: UInt64) -> ObjectContext {
    guard transaction != nil, row >= written[context.binding.index].firstRow else { return context }
    return freshContext(context.binding)
  }

  private func freshContext(_ binding: ClassBinding) -> ObjectContext {
    if let found = written[binding.index].fresh?.context { return found }
    let made = ObjectContext(session: self, binding: binding, origin: origin)
    written[binding.index].fresh = WeakContext(made)
    kept?.append(made)
    return made
  }

  /// The open transaction has made a row.
  func didInsert(_ row: UInt64, _ context: ObjectContext) -> ObjectContext {
    generation &+= 1
    let index = context.binding.index
    written[index].firstRow = min(written[index].firstRow, row)
    return freshContext(context.binding)
  }

  // MARK: - Reading

  /// The table of a class, as of now; nil where there is none.
  func table(_ binding: ClassBinding) throws(StorageError) -> Table? {
    if tablesGeneration == generation, let table = tables[binding.index] { return table }
    let table = try readTable(binding)
    // Reading it may have written lists, which makes a generation.
    if tablesGeneration != generation { forgetTables() }
    tables[binding.index] = table
    tablesGeneration = generation
    return table
  }

  /// What they were read from is not kept for their sake.
  private func forgetTables() {
    for index in tables.indices { tables[index] = nil }
  }

  private func readTable(_ binding: ClassBinding) throws(StorageError) -> Table? {
    guard let schema = binding.table else { return nil }
    if transaction != nil {
      try writeLists()
      return try writable(binding)?.reading()
    }
    if let snapshot { return try snapshot.table(schema.name) }
    let taken = try file.database.snapshot()
    snapshot = taken
    return try taken.table(schema.name)
  }

  /// Moves to the newest version; answers whether there was a newer one.
  func refresh() -> Bool {
    check()
    guard transaction == nil else { return false }
    let old = snapshot
    let newest = reading { () throws(StorageError) in try file.database.snapshot() }
    snapshot = newest
    guard let old, old.version != newest.version else { return false }
    generation &+= 1
    return true
  }

  /// Lets go of the version it reads: handles are invalid from then on.
  func invalidate() {
    check()
    if transaction != nil { cancelWrite() }
    for index in contexts.indices { contexts[index] = nil }
    epoch &+= 1
    snapshot = nil
    generation &+= 1
  }

  /// - Throws: what is damaged first of all that is.
  func verify() throws(StorageError) {
    let looked: Snapshot
    if let snapshot { looked = snapshot } else { looked = try file.database.snapshot() }
    if let problem = IntegrityCheck.run(looked).problem { throw problem }
    // What is read next is what was looked at.
    if transaction == nil, snapshot == nil { snapshot = looked }
  }

  // MARK: - Writing

  func beginWrite() throws {
    check()
    guard transaction == nil else {
      raise(
        "Transaction in a transaction",
        "the realm at \(file.database.path) is in a write transaction already; commit or cancel it first.")
    }
    guard !file.configuration.readOnly else {
      raise("Read-only realm", "\(file.database.path) was opened with readOnly = true; open it without.")
    }
    transaction = try Realm.Error.wrapping { () throws(StorageError) in try file.database.beginWrite() }
    snapshot = nil
    generation &+= 1
  }

  /// Whoever calls it keeps the session until the transaction has ended.
  func keepContexts() { kept = [] }

  func commitWrite() throws {
    check()
    let open = requireTransaction("commit")
    do {
      try writeLists()
      try open.commit()
    } catch {
      open.cancel()
      end(cancelled: true)
      throw Realm.Error(error)
    }
    end(cancelled: false)
  }

  func cancelWrite() {
    check()
    requireTransaction("cancel").cancel()
    end(cancelled: true)
  }

  private func end(cancelled: Bool) {
    transaction = nil
    _ = pendingLists.removeAll()
    origin.isCancelled = cancelled
    origin = TransactionOrigin()
    for index in written.indices { written[index] = Written() }
    kept = nil
    // Where none is to be had now, the next read asks again, and tells why.
    snapshot = try? file.database.snapshot()
    generation &+= 1
  }

  @discardableResult
  func requireTransaction(_ what: @autoclosure () -> String) -> WriteTransaction {
    guard let transaction else {
      raise(
        "Not in a write transaction",
        "to \(what()), begin one on the realm at \(file.database.path): put the change into realm.write { }.")
    }
    return transaction
  }

  /// The table of a class in the open transaction.
  func writable(_ binding: ClassBinding) throws(StorageError) -> WritableTable? {
    if let found = written[binding.index].table { return found }
    guard let transaction, let schema = binding.table else { return nil }
    let table = try transaction.table(schema.name)
    written[binding.index].table = table
    return table
  }

  /// Something was written.
  func didWrite() { generation &+= 1 }

  /// Calls `body` with a class's table in the open transaction. What the engine can't write stops the program, since
  /// changes can't throw: damage, or a full disk or memory while a large transaction is spilled.
  func writing<Result>(
    _ binding: ClassBinding, _ body: (WritableTable) throws(StorageError) -> Result
  ) -> Result {
    reading(
      { () throws(StorageError) in
        guard let table = try writable(binding) else {
          raise("Class not in the realm", "\(binding.model.name) has no table in this realm.")
        }
        defer { didWrite() }
        return try body(table)
      }, orStop: "Unwritable realm")
  }
}
