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
  private var snapshot: Snapshot?
  /// Grows whenever what is read may have changed.
  private(set) var generation: UInt64 = 0
  /// Grows when all handles become invalid.
  private(set) var epoch: UInt64 = 0

  private final class WeakContext {
    weak var context: ObjectContext?
    init(_ context: ObjectContext) { self.context = context }
  }
  private var contexts: [WeakContext?]
  /// Of the open transaction: the contexts it uses, and those of the objects it made.
  private var used: [ObjectContext?]
  private var fresh: [ObjectContext?]
  var pendingLists = PendingLists()

  init(file: RealmFile, owner: Confinement) {
    self.file = file
    self.owner = owner
    home = owner.home
    contexts = Array(repeating: nil, count: file.schema.bindings.count)
    used = Array(repeating: nil, count: file.schema.bindings.count)
    fresh = used
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
    return made
  }

  /// The context of a row: those that the open transaction makes vanish with it when it is cancelled.
  @inline(__always)
  func context(_ context: ObjectContext, ofRow row: UInt64) -> ObjectContext {
    guard transaction != nil, let fresh = fresh[context.binding.index], row >= fresh.firstRow else {
      return context
    }
    return fresh
  }

  /// The open transaction has made a row.
  func didInsert(_ row: UInt64, _ context: ObjectContext) -> ObjectContext {
    generation &+= 1
    let index = context.binding.index
    if let fresh = fresh[index] { return fresh }
    let made = ObjectContext(session: self, binding: context.binding)
    made.firstRow = row
    fresh[index] = made
    return made
  }

  // MARK: - Reading

  /// The table of a class, as of now; nil where there is none.
  func table(_ binding: ClassBinding) throws(StorageError) -> Table? {
    guard let schema = binding.table else { return nil }
    if transaction != nil {
      try writeLists()
      return try writable(binding)?.reading()
    }
    if let snapshot { return try snapshot.table(schema.name) }
    let taken = file.database.snapshot()
    snapshot = taken
    return try taken.table(schema.name)
  }

  /// Moves to the newest version; answers whether there was a newer one.
  func refresh() -> Bool {
    check()
    guard transaction == nil else { return false }
    let newest = file.database.snapshot()
    defer { snapshot = newest }
    guard snapshot?.version != newest.version else { return false }
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
    if cancelled { for context in fresh { context?.isCancelled = true } }
    for index in used.indices {
      used[index]?.writable = nil
      used[index] = nil
      fresh[index] = nil
    }
    snapshot = file.database.snapshot()
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
    let context = context(binding)
    if let found = context.writable { return found }
    guard let transaction, let schema = binding.table else { return nil }
    let table = try transaction.table(schema.name)
    context.writable = table
    used[binding.index] = context
    return table
  }

  /// Something was written.
  func didWrite() { generation &+= 1 }

  /// Calls `body` with a class's table in the open transaction. What the engine can't write stops the program, since
  /// changes can't throw: damage, or a full disk or memory while a large transaction is spilled.
  func writing<Result>(
    _ binding: ClassBinding, _ body: (WritableTable) throws(StorageError) -> Result
  ) -> Result {
    reading { () throws(StorageError) in
      guard let table = try writable(binding) else {
        raise("Class not in the realm", "\(binding.model.name) has no table in this realm.")
      }
      defer { didWrite() }
      return try body(table)
    }
  }
}
