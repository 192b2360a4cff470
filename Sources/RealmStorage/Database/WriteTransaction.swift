/// Makes the next version of a database. Readers do not see its changes before it is committed; it does.
///
/// Used by one thread at a time. A transaction that is neither committed nor cancelled is cancelled when it goes.
public final class WriteTransaction {
  private let database: Database
  let writer: Writer
  private let begun: TransactionGate.Begun
  /// The version the transaction started from.
  package let base: Version
  /// The catalogue, as changed so far but for the open trees.
  @exclusivity(unchecked) package private(set) var root: Ref
  /// The named trees asked for, with their roots as changed so far.
  @exclusivity(unchecked) var openTrees: [(name: String, root: Ref)] = []
  /// The tables asked for; nil before the first.
  @exclusivity(unchecked) private var openTables: OpenTables?
  /// Of a synced file, once tables were asked for.
  @exclusivity(unchecked) private(set) var changelog: ChangelogRecorder?
  /// Named slots that there are more than before.
  private var addedSlots = 0
  /// Neither committed nor cancelled yet.
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
  /// - Returns: the number of the version that shows the changes, or a later one. Transactions of several threads that
  ///   wait for the disk become one version.
  /// - Throws: `StorageError`. The transaction is then cancelled; after `.system` of a sync its outcome is known only
  ///   when the database is opened again.
  @discardableResult
  public func commit(_ durability: Durability = .full) throws(StorageError) -> UInt64 {
    try seal(durability).wait()
  }

  /// The version that the transaction began with. Where that is the commit of another thread that waits for the disk, this waits with it.
  ///
  /// - Throws: what `Database.snapshot` throws; `.poisoned` where that commit failed.
  package func baseSnapshot() throws(StorageError) -> Snapshot {
    try writer.gate.waitForSealed()
    // Nobody else has committed since.
    return try database.snapshot()
  }

  /// The first half of a commit: the changes are complete, and the next transaction may begin with them. They are as
  /// sure as was asked, and shown to readers, once what it answers has been waited for.
  ///
  /// - Throws: `StorageError`. The transaction is then cancelled.
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
    // Not in `settle`: who reads the tables of a transaction that goes on holds their roots.
    try openTables?.giveBack(begun.givenBackBytes)
    let added = try storeTrees() + storeTables() + addedSlots
    guard root != base.root else { return writer.gate.basis.map { .basis($0) } ?? .known(base.number) }
    let pending = try writer.gate.seal(root: root, tables: openTables, added: added, durability: durability)
    database.noteWritable(pending.number)
    return .own(pending)
  }

  /// Forgets the changes and ends the transaction. Does nothing when it has ended.
  public func cancel() {
    guard isOpen else { return }
    editor.endHolds()
    end()
    writer.gate.rest()
  }

  /// The tree of that name, made when it is first written to.
  ///
  /// - Throws: `.limitExceeded` for a name that is empty or longer than 255 bytes; `.corrupted`.
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

  /// The tables, as changed so far.
  ///
  /// - Throws: `.corrupted`.
  func tables() throws(StorageError) -> OpenTables {
    // The next transaction may have them by now.
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

  /// Tells a recorder each change that is made of rows from now on, and each table and column that is added.
  ///
  /// Without a recorder nothing is recorded, which costs nothing. With one each change also reads what stood before it; bulk changes stay bulk
  /// changes. While a recorder is attached other changes of the schema throw `.schemaChangeWhileRecording`. Named trees and hidden tables are not recorded.
  ///
  /// - Precondition: no other recorder is attached, and the transaction has not ended.
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

  /// Applies changes that were recorded, in their order: all of a transaction, those that are derived too, or their inverses
  /// (`ChangeList.inverse`).
  ///
  /// Nothing follows from a change here, as links that go with a row: that was recorded too. Rows get the keys they had, also those that were deleted since, and
  /// lists and maps in mixed values their ids. Links may lead to rows that a later change makes: they are looked at after the last one.
  ///
  /// Values of rows stand in the order of the columns, so nothing is to be applied that was recorded before a column was removed.
  ///
  /// - Throws: `.changeDoesNotFit` for a change of a table, column, row, element or key that is not there or is there already, a value of another
  ///   type, a position out of bounds, and for links that lead nowhere after the last change; `.duplicateKey`, `.limitExceeded`, `.corrupted`. The
  ///   transaction can't be committed then.
  public func apply(_ changes: some Sequence<RowChange>) throws(StorageError) {
    precondition(isOpen, "WriteTransaction.apply: the transaction has ended")
    let tables = try tables()
    guard changelog == nil else {
      throw .notSyncable(.appliedChange, table: "changes", column: nil, path: database.path)
    }
    try tables.apply(changes)
  }

  /// The number that was set last by `setSchemaVersion`; 0 until then.
  public func schemaVersion() throws(StorageError) -> UInt64 { try Catalogue(root, access()).schemaVersion }

  /// Notes a number with the version: that of a program's own schema, which means nothing to the engine.
  public func setSchemaVersion(_ number: UInt64) throws(StorageError) {
    var catalogue = try Catalogue(root, access())
    guard catalogue.schemaVersion != number else { return }
    catalogue.schemaVersion = number
    if !root.isNull { editor.free(root) }
    root = catalogue.write(editor)
  }

  /// Changes what the version holds besides tables and named trees.
  ///
  /// - Parameter added: entries that there are more then.
  func changeCatalogue(
    added: Int, _ change: (inout Catalogue, NodeEditor) throws(StorageError) -> Void
  ) throws(StorageError) {
    var catalogue = try Catalogue(root, access())
    try change(&catalogue, editor)
    if !root.isNull { editor.free(root) }
    root = catalogue.write(editor)
    addedSlots += added
  }

  /// Puts all that was changed so far under the root, as a commit does. The transaction goes on.
  func settle() throws(StorageError) {
    try storeChangelog()
    _ = try storeTrees()
    _ = try storeTables()
  }

  /// Takes all of a version that was built apart in place of what there is.
  ///
  /// - Precondition: there is nothing, and nothing was asked for.
  func begin(with root: Ref) {
    precondition(base.root.isNull && openTrees.isEmpty && openTables == nil, "the database is not empty")
    self.root = root
  }

  /// Makes the file a synced one.
  ///
  /// - Precondition: there is nothing, and nothing was asked for.
  func becomeSynced() throws(StorageError) {
    precondition(base.root.isNull && openTrees.isEmpty && openTables == nil, "the database is not empty")
    try changeCatalogue(added: 1) { (catalogue, editor) throws(StorageError) in
      try NamedSlots.set(
        .knownToWrite, ChangelogState().bytes, for: ChangelogSlot.name, in: &catalogue, editor)
    }
  }

  /// Puts what was recorded under the root.
  private func storeChangelog() throws(StorageError) {
    guard let openTables, let changelog else { return }
    try openTables.completeRecording()
    var catalogue = try Catalogue(root, access())
    guard try changelog.maker.store(in: &catalogue) else { return }
    if !root.isNull { editor.free(root) }
    root = catalogue.write(editor)
  }

  /// Answers how many rows there are more than before.
  private func storeTables() throws(StorageError) -> Int {
    guard let openTables else { return 0 }
    var catalogue = try Catalogue(root, access())
    guard let added = try openTables.store(in: &catalogue) else { return 0 }
    if !root.isNull { editor.free(root) }
    root = catalogue.write(editor)
    return added
  }

  /// Answers how many entries there are more than before.
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

  /// What can't be told is met by who reads the tree.
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
