import Synchronization

/// Takes commits to the disk. One thread at a time leads (`CommitGroup`): a thread that waits for a version leads if no
/// other thread does. The leader never enters the gate of transactions.
///
/// Rules (FORMAT.md, "Commit"):
/// 1. The nodes of a version are written, then the meta page that does not name the durable version D, then the file is
///    synced once. If one transaction has more than 1 MiB of nodes, they are synced before the version is pending. A
///    meta page that names exactly this version then vouches for itself, and the commit is durable when it returns,
///    whatever durability was asked for.
/// 2. The meta page of the durable version is not written before a newer version is durable, and no meta page is
///    written while a sync is in flight.
/// 3. A full commit is published after its sync, a relaxed commit when its meta page is written.
/// 4. If a write of nodes fails, its transactions fail and nothing else changes. If a write of a meta page or a sync
///    fails, the outcome of all pending versions is unknown. The writer is then poisoned until the file is opened
///    again, and this happens before any waiting thread gets its result.
final class CommitLeader: Sendable {
  private let context: WriterContext
  private let pages: GatedState<PageWriter>

  init(_ context: WriterContext, _ pages: GatedState<PageWriter>) {
    self.context = context
    self.pages = pages
  }

  private var control: ControlBlock { context.control }
  private var storage: any Storage { context.storage }

  // MARK: - Waiting, and leading if no other thread does

  /// Waits until the transaction's version is durable or published, as its durability asks. The caller is outside the
  /// gate. Returns the number of the version.
  func finish(_ pending: CommitGroup.Pending) throws(StorageError) -> UInt64 {
    try context.checkFork()
    return try context.group.finish(pending, lead: lead)
  }

  /// Waits for the fate of the commit that a transaction without changes was built on. Returns the number of a version
  /// that shows what the transaction has seen.
  func waitForFate(of basis: CommitGroup.Pending) throws(StorageError) -> UInt64 {
    try context.checkFork()
    return try context.group.fate(of: basis, lead: lead)
  }

  /// Waits until no commit is in progress.
  func waitUntilIdle() { context.group.waitUntilIdle(lead: lead) }

  // MARK: - Leading

  private func lead() {
    do throws(StorageError) {
      try writeSealed()
      try publish(context.group.written)
      context.group.settle(.success(()))
    } catch {
      context.group.settle(.failure(context.fail(error)))
    }
  }

  /// Writes the sealed transactions and the meta page that names them. If the nodes can't be written, the sealed
  /// transactions fail, and the versions that were written before go on.
  ///
  /// - Throws: the reason why the meta page could not be written.
  private func writeSealed() throws(StorageError) {
    guard let sealed = context.group.takeSealed() else { return }
    try pages.with { (pages) throws(StorageError) in
      let draft: PageWriter.Draft
      do throws(StorageError) { draft = try pages.writeNodes(of: sealed) } catch {
        return context.group.fail(error)
      }
      // The meta page is written as soon as the nodes are. If a sync is asked for, the disk works on both while they
      // are noted.
      var failure: StorageError?
      do throws(StorageError) {
        try name(draft.version, durable: control.durable.number)
        if sealed.isFull { storage.startWriting(FilePlace.page, at: UInt64(nextMetaPage * FilePlace.page)) }
      } catch {
        failure = error
      }
      context.group.note(pages.note(draft, isNamed: failure == nil))
      if let failure { throw failure }
    }
  }

  /// Makes versions durable if one of them must be synced or one of their transactions asks for it, and makes the
  /// newest of them current for readers.
  private func publish(_ covered: [CommitGroup.Written]) throws(StorageError) {
    guard let newest = covered.last else { return }
    try context.checkPoison()
    let before = control.unsyncedBytes
    control.unsyncedBytes += covered.reduce(0) { $0 + $1.unsyncedBytes }
    if !newest.isNamed {
      try name(
        newest.version, durable: newest.isSynced ? newest.version.number : control.durable.number)
    }
    let syncs = covered.contains { $0.mustSync || $0.isFull }
    if syncs {
      try sync(keepsMark: newest.isRewriting)
    } else {
      startWriting(after: before, below: newest.version.end)
    }
    let named = try context.held.publish(newest.version, also: context.group.holders)
    if syncs { context.held.setDurable(named, page: nextMetaPage) }
  }

  /// Starts to write unsynced commits to the disk, so that a later sync has to wait only for the last of them.
  ///
  /// - Parameter before: the bytes that no sync had reached before the newest commit.
  private func startWriting(after before: Int, below end: UInt64) {
    guard control.unsyncedBytes / Self.writingStep > before / Self.writingStep else { return }
    let start = UInt64(2 * FilePlace.page)
    storage.startWriting(Int(end - start), at: start)
  }
  private static let writingStep = 4 << 20

  // MARK: - For a thread inside the gate, while no commit is in progress

  /// Makes the nodes that were just written durable, before a meta page names them.
  func syncNodes(keepsMark: Bool) throws(StorageError) {
    do { try sync(keepsMark: keepsMark) } catch { throw context.fail(error) }
  }

  /// Makes the published version durable if it is not D. The meta page that does not name D names it.
  func syncPublished() throws(StorageError) {
    guard control.current.number != control.durable.number else { return }
    try syncNodes(keepsMark: false)
    context.held.setDurable(control.current, page: nextMetaPage)
  }

  /// Makes both meta pages name the published version, and marks them clean.
  func markClean() throws(StorageError) {
    let published = try context.held.published()
    let other = nextMetaPage
    do {
      control.inWrite = true
      try write(published, on: other, durable: control.durable.number, isClean: true)
      try sync(keepsMark: false)
      context.held.setDurable(control.current, page: other)
      try write(published, on: 1 - other, durable: published.number, isClean: true)
      try sync(keepsMark: false)
    } catch {
      throw context.fail(error)
    }
    control.isDirty = false
    control.inWrite = false
  }

  // MARK: - Meta pages and syncs

  /// The meta page that does not name D.
  private var nextMetaPage: Int { 1 - control.durable.page }

  private func name(_ version: Version, durable: UInt64) throws(StorageError) {
    control.isDirty = true
    try write(version, on: nextMetaPage, durable: durable, isClean: false)
  }

  private func write(
    _ version: Version, on page: Int, durable: UInt64, isClean: Bool
  ) throws(StorageError) {
    try context.meta.write(version, on: page, durable: durable, isClean: isClean, context)
  }

  /// Syncs the file. Only the leader, or a thread inside the gate while nothing is pending, calls this, so that one
  /// sync runs at a time. The system reports a failed sync only once.
  ///
  /// - Parameter keepsMark: whether the mark *in flight* stays because recovery is still to be done (`Recovery`, rule
  ///   5).
  private func sync(keepsMark: Bool) throws(StorageError) {
    // After a failed sync, the next sync would succeed and prove nothing.
    guard control.sync != .failed else { throw .poisoned(path: storage.path) }
    control.sync = .inFlight
    do {
      try storage.sync(.data)
    } catch {
      control.noteSyncFailed()
      throw error
    }
    if !keepsMark { control.sync = .none }
    control.unsyncedBytes = 0
  }
}
