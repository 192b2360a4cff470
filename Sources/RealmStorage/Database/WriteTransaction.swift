/// Makes the next version of a database. Readers do not see its changes before it is committed; the transaction itself does.
///
/// One thread at a time may use it. If it is neither committed nor cancelled, it is cancelled when it is released.
public final class WriteTransaction {
  private let database: Database
  let writer: Writer
  private let begun: TransactionGate.Begun
  /// The version from which the transaction started.
  package let base: Version
  /// The catalogue as changed so far, without the changes of open trees.
  @exclusivity(unchecked) package private(set) var root: Ref
  /// The named trees that were opened, with their roots as changed so far.
  @exclusivity(unchecked) var openTrees: [(name: String, root: Ref)] = []
  /// The opened tables; nil before the first one is opened.
  @exclusivity(unchecked) private var openTables: OpenTables?
  /// The recorder of a synced file; nil before the first table is opened, and for a file that is not synced.
  @exclusivity(unchecked) private(set) var changelog: ChangelogRecorder?
  /// The number of named slots that were added, less those that were removed.
  private var addedSlots = 0
  /// Whether the transaction is neither committed nor cancelled yet.
  @exclusivity(unchecked) public private(set) var isOpen = true

  init(database: Database, writer: Writer, _ begun: TransactionGate.Begun) {
    self.database = database
    self.writer = writer
    self.begun = begun
    base = begun.base
    root = base.root
  }

  deinit { cancel() }

  package var editor: NodeEditor {
    precondition(isOpen, "WriteTransaction: it has ended; begin another with Database.beginWrite()")
    return begun.editor
  }

  /// Commits the changes as the next version, and ends the transaction. Without changes no version is made.
  ///
  /// - Parameter durability: whether the commit survives a loss of power when this function returns.
  /// - Returns: the number of the version that shows the changes, or of a later one. Transactions of several threads that wait
  ///   for the disk become one version.
  /// - Throws: `StorageError`. The transaction is cancelled then. After `.system` of a failed sync its outcome is unknown until
  ///   the database is opened again.
  /// - Precondition: the transaction is open.
  @discardableResult
  public func commit(_ durability: Durability = .full) throws(StorageError) -> UInt64 {
    try seal(durability).wait()
  }

  /// A snapshot of the version with which the transaction began. If that version is a commit of another thread that waits for the
  /// disk, this function waits too.
  ///
  /// - Throws: what `Database.snapshot()` throws; `.poisoned` if that commit failed.
  package func baseSnapshot() throws(StorageError) -> Snapshot {
    try writer.gate.waitForSealed()
    // No other transaction has committed since.
    return try database.snapshot()
  }

  /// Ends the transaction with its changes complete, as the first half of a commit. The next transaction may begin with them.
  /// They are durable, and shown to readers, after `SealedTransaction.wait()` has returned.
  ///
  /// - Throws: `StorageError`. The transaction is cancelled then.
  package func seal(_ durability: Durability = .full) throws(StorageError) -> SealedTransaction {
    precondition(isOpen, "WriteTransaction.commit: the transaction has ended already")
    do throws(StorageError) {
      return SealedTransaction(writer, try sealTrees(durability))
    } catch {
      writer.gate.rest()
      throw error
    }
  }

  private func sealTrees(_ durability: Durability) throws(StorageError) -> SealedTransaction.Fate {
    defer { end() }
    editor.endHolds()
    try storeChangelog()
    // `settle` does not do this: readers of a transaction that continues hold the roots of its tables.
    try openTables?.giveBack(begun.givenBackBytes)
    let added = try storeTrees() + storeTables() + addedSlots
    guard root != base.root else { return writer.gate.basis.map { .basis($0) } ?? .known(base.number) }
    let pending = try writer.gate.seal(root: root, tables: openTables, added: added, durability: durability)
    database.noteWritable(pending.number)
    return .own(pending)
  }

  /// Drops the changes, and ends the transaction. It does nothing if the transaction has ended.
  public func cancel() {
    guard isOpen else { return }
    editor.endHolds()
    end()
    writer.gate.rest()
  }

  /// The named tree with a name. A tree that does not exist is made when it is first written to.
  ///
  /// - Throws: `.limitExceeded` for a name that is empty or longer than 255 bytes; `.corrupted`.
  /// - Precondition: the transaction is open.
  public func tree(_ name: String) throws(StorageError) -> WritableTree {
    if let index = openTrees.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
      return WritableTree(transaction: self, index: index)
    }
    guard (1...Catalogue.maximumNameLength).contains(name.utf8.count) else {
      throw .limitExceeded(
        .nameLength(name.utf8.count, maximum: Catalogue.maximumNameLength), path: editor.store.storage.path)
    }
    openTrees.append((name, try NamedTrees.root(of: name, in: self)))
    return WritableTree(transaction: self, index: openTrees.count - 1)
  }

  /// The tables as changed so far.
  func tables() throws(StorageError) -> OpenTables {
    // The next transaction may use them by now.
    precondition(isOpen, "WriteTransaction: it has ended; begin another with Database.beginWrite()")
    if let openTables { return openTables }
    let tables = if let kept = writer.gate.takeTables(of: base) { kept } else { try readTables() }
    if tables.hasNamedSlots, let changelog = try StoredChangelog(Catalogue(root, access()), access()) {
      let recorder = ChangelogRecorder(changelog, editor)
      self.changelog = recorder
      tables.record(into: recorder)
    }
    openTables = tables
    return tables
  }

  private func readTables() throws(StorageError) -> OpenTables {
    let access = access()
    let catalogue = try Catalogue(base.root, access)
    return OpenTables(
      catalogue: catalogue, schemas: try database.schemas(catalogue, access),
      clusterRows: begun.clusterRows, givenNestedIDs: begun.givenNestedIDs, editor: editor)
  }

  /// Attaches a recorder. From now on it is told each change of rows, and each table and column that is added.
  ///
  /// Without a recorder recording costs nothing. With one, each change also reads the old value; changes of many rows at once
  /// stay one change. While a recorder is attached, other changes of the schema throw `.schemaChangeWhileRecording`. Changes of
  /// named trees and hidden tables are not recorded.
  ///
  /// - Precondition: no other recorder is attached, and the transaction is open.
  /// - Throws: `.corrupted`.
  public func record(into recorder: any ChangeRecorder) throws(StorageError) {
    precondition(isOpen, "WriteTransaction.record: the transaction has ended")
    let tables = try tables()
    precondition(
      tables.recording?.recorder == nil, "WriteTransaction.record: a recorder is attached already")
    try tables.record(into: recorder)
  }

  /// Whether a recorder is attached.
  public var isRecorded: Bool { openTables?.recording?.recorder != nil }

  /// Applies recorded changes in their order: all changes of a transaction, including the derived ones, or their inverses
  /// (`ChangeList.inverse`).
  ///
  /// Nothing else is changed: for example, links to a deleted row are not removed, because their removal was recorded too. Rows
  /// get the keys that they had, even if they were deleted since, and lists and maps in mixed values get their ids. Links may
  /// lead to rows that a later change makes: they are checked after the last change.
  ///
  /// The values of rows are in the order of the columns. So changes must not be applied if they were recorded before a column was
  /// removed.
  ///
  /// - Precondition: the transaction is open.
  /// - Throws: `.changeDoesNotFit` if a change does not fit the database: a table, column, row, element or key is missing or
  ///   exists already, a value has another type, a position is out of bounds, or a link leads nowhere after the last change;
  ///   `.notSyncable` in a synced file; `.duplicateKey`, `.limitExceeded`, `.corrupted`. The transaction can't be committed then,
  ///   except after `.notSyncable`.
  public func apply(_ changes: some Sequence<RowChange>) throws(StorageError) {
    precondition(isOpen, "WriteTransaction.apply: the transaction has ended")
    let tables = try tables()
    guard changelog == nil else {
      throw .notSyncable(.appliedChange, table: "changes", column: nil, path: database.path)
    }
    try tables.apply(changes)
  }

  /// The number that `setSchemaVersion(_:)` has set last; 0 before the first call.
  public func schemaVersion() throws(StorageError) -> UInt64 { try Catalogue(root, access()).schemaVersion }

  /// Stores a number with the version. It is the version of a program's own schema, and means nothing to the engine.
  public func setSchemaVersion(_ number: UInt64) throws(StorageError) {
    var catalogue = try Catalogue(root, access())
    guard catalogue.schemaVersion != number else { return }
    catalogue.schemaVersion = number
    if !root.isNull { editor.free(root) }
    root = catalogue.write(editor)
  }

  /// Changes the catalogue: everything that the version has besides tables and named trees.
  ///
  /// - Parameter added: the number of entries that are added, less those that are removed.
  func changeCatalogue(
    added: Int, _ change: (inout Catalogue, NodeEditor) throws(StorageError) -> Void
  ) throws(StorageError) {
    var catalogue = try Catalogue(root, access())
    try change(&catalogue, editor)
    if !root.isNull { editor.free(root) }
    root = catalogue.write(editor)
    addedSlots += added
  }

  /// Stores all changes so far under the root, as a commit does. The transaction continues.
  func settle() throws(StorageError) {
    try storeChangelog()
    _ = try storeTrees()
    _ = try storeTables()
  }

  /// Makes a version that was built apart the content of an empty database.
  ///
  /// - Precondition: the database is empty, and nothing of the transaction was opened.
  func begin(with root: Ref) {
    precondition(base.root.isNull && openTrees.isEmpty && openTables == nil, "the database is not empty")
    self.root = root
  }

  /// Makes the file a synced one.
  ///
  /// - Precondition: the database is empty, and nothing of the transaction was opened.
  func becomeSynced() throws(StorageError) {
    precondition(base.root.isNull && openTrees.isEmpty && openTables == nil, "the database is not empty")
    try changeCatalogue(added: 1) { (catalogue, editor) throws(StorageError) in
      try NamedSlots.set(
        .knownToWrite, ChangelogState().bytes, for: ChangelogSlot.name, in: &catalogue, editor)
    }
  }

  /// Stores what was recorded under the root.
  private func storeChangelog() throws(StorageError) {
    guard let openTables, let changelog else { return }
    try openTables.completeRecording()
    var catalogue = try Catalogue(root, access())
    guard try changelog.maker.store(in: &catalogue) else { return }
    if !root.isNull { editor.free(root) }
    root = catalogue.write(editor)
  }

  /// Stores the tables under the root.
  ///
  /// - Returns: the number of rows that were added, less those that were removed.
  private func storeTables() throws(StorageError) -> Int {
    guard let openTables else { return 0 }
    var catalogue = try Catalogue(root, access())
    guard let added = try openTables.store(in: &catalogue) else { return 0 }
    if !root.isNull { editor.free(root) }
    root = catalogue.write(editor)
    return added
  }

  /// Stores the named trees under the root.
  ///
  /// - Returns: the number of entries that were added, less those that were removed.
  private func storeTrees() throws(StorageError) -> Int {
    var added = 0
    for (name, tree) in openTrees {
      let before = try NamedTrees.root(of: name, in: self)
      guard tree != before else { continue }
      added += count(tree) - count(before)
      root = try NamedTrees.set(tree, name: name, in: root, editor)
    }
    return added
  }

  /// The number of entries of a tree; 0 if the tree is damaged, since its readers get the error.
  private func count(_ tree: Ref) -> Int {
    Int(clamping: (try? OrderedTree.count(tree, access())) ?? 0)
  }

  private func end() {
    isOpen = false
    let held = writer.context.held
    held.participants.setWriting(since: 0, held.participant)
    writer.gate.leave()
  }
}

extension WriteTransaction: NodeReader {
  @_lifetime(borrow self)
  package func access() -> NodeAccess { editor.access() }
}
