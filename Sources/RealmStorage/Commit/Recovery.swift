/// Finds the version to open, whatever work was cut short before.
///
/// Rules (FORMAT.md, "Recovery", which also has the argument for each crash point):
/// 1. The newest meta page that verifies is taken. From its root, every node born after the version that the page names
///    as durable is verified: exactly these nodes may be missing. If one of them fails, the other page is taken.
/// 2. The opened version is written over a page that was rejected, before the sync of rule 3. Otherwise the rejected
///    page could come back later.
/// 3. Before anything else is written or published, the file is synced, unless the version is the one that the control
///    block knows to be durable. Nothing is rewritten in place.
/// 4. After a failed sync in this boot the cache proves nothing, so the control block's durable version is opened.
/// 5. If a sync was begun and its outcome was never noted, nobody may have seen its error. What was born after the
///    durable version is then written again, as a new version, behind the end of the file (`TransactionGate`).
struct Recovery {
  let storage: any Storage
  let store: NodeStore
  let meta: MetaPair

  struct Outcome {
    /// The version to open.
    var version: Version
    /// The meta page that names it.
    var page: Int
    var greatest: UInt64
    /// The version that is surely on the disk. Except under rule 5, it is the opened version. `durablePage` is its
    /// page.
    var durable: Version
    var durablePage: Int
    /// Whether a page was found damaged, or named a version that is not whole.
    var rejectedPage: Bool
    /// Whether rule 5 applies: the nodes born after `durable` are in the cache and perhaps not on the disk.
    var mustRewrite: Bool
  }

  /// Applies rule 1, in memory only, so that a handle that may not write can call it too.
  func choose() throws(StorageError) -> Outcome {
    let order = [0, 1].filter { meta.pages[$0] != nil }
      .sorted { meta.pages[$0]!.version.number > meta.pages[$1]!.version.number }
    let length = try storage.length()
    var firstFailure: StorageError?
    for page in order {
      guard let candidate = meta.pages[page] else { continue }
      do throws(StorageError) {
        try verify(candidate, length: length)
        return Outcome(
          version: candidate.version, page: page, greatest: meta.greatest, durable: candidate.version,
          durablePage: page, rejectedPage: page != order[0] || order.count < 2, mustRewrite: false)
      } catch {
        // A page is passed over because of damage, and not because the system has no memory at the moment.
        guard error.isDamage else { throw error }
        firstFailure = firstFailure ?? error
      }
    }
    throw firstFailure ?? MetaPair.noPage(.metaPages, path: storage.path)
  }

  /// Applies rules 1 to 4. The caller holds the writer's lock. If it is alone, what dead participants left in the
  /// tables is forgotten.
  func run(_ tables: SharedTables, isAlone: Bool) throws(StorageError) -> Outcome {
    let block = tables.block
    let isOurs = block.belongs(to: storage.identity, boot: storage.boot)
    let chosen = isOurs && block.sync == .failed ? nil : try choose()
    if !isOurs, let chosen { claim(block, chosen) }
    let isSynced = chosen.map { isKnownDurable($0, tables) } ?? false
    if isAlone {
      block.current = ControlBlock.Named(number: 0, entry: 0)
      tables.clear()
    }
    guard var outcome = chosen else { return try openDurable(tables) }
    // This comes before any write, so that no reader begins with a version that is lost.
    try withdraw(outcome.version, in: tables)
    outcome.greatest = max(outcome.greatest, block.greatest)
    block.greatest = outcome.greatest
    if isOurs, let durable = meta.pages[block.durable.page],
      durable.version.number == block.durable.number
    {
      if block.sync == .inFlight, durable.version.number < outcome.version.number {
        outcome.durable = durable.version
        outcome.durablePage = block.durable.page
        outcome.mustRewrite = true
        return outcome
      }
      // The other page may name the same version and stand in the cache only, now and in every process to come: the sync
      // that was to make it durable failed, and since then the system takes it for clean. So it is the next to be written.
      let isSame = durable.version.number == outcome.version.number
      if isSame, !outcome.rejectedPage { outcome.page = block.durable.page }
    }
    outcome.durable = outcome.version
    outcome.durablePage = outcome.page
    guard !isSynced else { return outcome }
    block.sync = .inFlight
    if outcome.rejectedPage { try overwriteOther(than: outcome.page, greatest: outcome.greatest) }
    try sync(block)
    return outcome
  }

  /// Makes the version that was found the one that all readers get from now on. The marks are cleared last, and not if
  /// rule 5 is still to be done.
  func publish(_ outcome: Outcome, in tables: SharedTables, holders: [UInt64]) throws(StorageError) {
    let block = tables.block
    let versions = tables.versions
    let holders = Set(holders + [outcome.durable.number, outcome.version.number]).sorted()
    var durable = try versions.entry(of: outcome.durable, holders: holders)
    durable.page = outcome.durablePage
    let current = try versions.entry(of: outcome.version, holders: holders)
    block.durable = durable
    block.greatest = outcome.greatest
    block.isDirty = !meta.isClean || outcome.rejectedPage
    // Page maps that were made before are not right any more.
    tables.ring.raiseEpoch()
    // A version that must be written again is not given to new readers until it is durable. If a handle opens the file
    // alone, the version is current at once, because others wait until that handle has finished.
    if !outcome.mustRewrite || block.current.number == 0 { block.current = current }
    guard !outcome.mustRewrite else { return }
    block.unsyncedBytes = 0
    block.sync = .none
    block.inWrite = false
  }

  /// Fills the tables for a handle that opens the file first and may only read it, so that later writers see the
  /// handle. The file is left as it is, and the marks say that it must be recovered.
  func publishUnrecovered(in tables: SharedTables) throws(StorageError) -> Outcome {
    let block = tables.block
    let isOurs = block.belongs(to: storage.identity, boot: storage.boot)
    var outcome = try choose()
    if !isOurs { claim(block, outcome) }
    block.current = ControlBlock.Named(number: 0, entry: 0)
    tables.clear()
    if isOurs, block.sync == .failed {
      guard let sure = meta.pages[block.durable.page], sure.version.number == block.durable.number else {
        throw MetaPair.noPage(.metaPage, path: storage.path)
      }
      outcome.version = sure.version
    }
    // A version of relaxed commits does not become D because somebody reads it.
    let known = block.durable
    let isKnown = isOurs && meta.pages[known.page]?.version.number == known.number
    let page = isKnown ? known.page : outcome.page
    var durable = try tables.versions.add(meta.pages[page]?.version ?? outcome.version, holders: [])
    durable.page = page
    block.durable = durable
    block.current = try tables.versions.entry(of: outcome.version, holders: [durable.number])
    block.greatest = max(block.greatest, outcome.greatest)
    block.inWrite = true
    return outcome
  }

  /// Whether a sync of this boot has brought the version to the disk, with its root, and nobody has begun to write
  /// since.
  private func isKnownDurable(_ outcome: Outcome, _ tables: SharedTables) -> Bool {
    let block = tables.block
    return !block.needsRecovery && !outcome.rejectedPage
      && tables.versions.version(block.durable) == outcome.version
      && meta.pages[block.durable.page]?.version == outcome.version
  }

  /// Claims the block for the first handle of this boot that opens the file. What it reads is what the disk holds.
  private func claim(_ block: ControlBlock, _ outcome: Outcome) {
    let durable = ControlBlock.Named(number: outcome.version.number, entry: 0, page: outcome.page)
    block.claim(for: storage.identity, boot: storage.boot, durable: durable)
  }

  /// If the current version is later than the one to open, it is lost, although others may read it. New readers get the
  /// one to open from now on.
  private func withdraw(_ version: Version, in tables: SharedTables) throws(StorageError) {
    let block = tables.block
    guard version.number < block.current.number else { return }
    let isNoted = block.isLost(block.current.number)
    let pins = tables.readers.pins.map { $0.version }
    let holders = Set(pins + [block.durable.number, block.current.number]).sorted()
    block.current = try tables.versions.entry(of: version, holders: holders)
    if !isNoted { block.noteFailure(after: version.number) }
  }

  /// Applies rule 4.
  private func openDurable(_ tables: SharedTables) throws(StorageError) -> Outcome {
    let block = tables.block
    let page = block.durable.page
    guard let durable = meta.pages[page], durable.version.number == block.durable.number else {
      throw MetaPair.noPage(.metaPage, path: storage.path)
    }
    try withdraw(durable.version, in: tables)
    let greatest = max(meta.greatest, block.greatest)
    try overwriteOther(than: page, greatest: greatest)
    try sync(block)
    return Outcome(
      version: durable.version, page: page, greatest: greatest, durable: durable.version, durablePage: page,
      rejectedPage: true, mustRewrite: false)
  }

  /// Syncs the file. The mark was set before this call. It goes only when what was found is noted (`publish`), because
  /// the outcome is unknown if the process dies before that.
  private func sync(_ block: ControlBlock) throws(StorageError) {
    do {
      try storage.sync(.data)
    } catch {
      block.noteSyncFailed()
      throw error
    }
  }

  /// Applies rule 2. The copy keeps the durable version that its page names, because no later version is sure until the
  /// sync.
  private func overwriteOther(than page: Int, greatest: UInt64) throws(StorageError) {
    guard var copy = meta.pages[page] else { return }
    copy.greatest = greatest
    copy.isClean = false
    copy.identity = storage.identity
    copy.recoveryTime = Clock.now
    copy.recoveredTo = copy.version.number
    try copy.write(on: 1 - page, of: storage, cipher: meta.cipher)
  }

  private func verify(_ page: MetaPage, length: UInt64) throws(StorageError) {
    guard page.version.end <= length else {
      throw .truncated(path: storage.path, length: length, needed: page.version.end)
    }
    // A copy made while the file was in use holds pages of different moments: all of it is checked.
    let isCopy = !page.isClean && page.identity != storage.identity
    let after = isCopy ? 0 : meta.isClean ? page.version.number : page.durable
    var walk = VerificationWalk(access: store, end: page.version.end, after: after)
    try walk.run(page.version.root)
  }
}

extension StorageError {
  /// Whether the error tells of the bytes in the file, and not of what the system can do at the moment.
  var isDamage: Bool {
    switch self {
    case .corrupted, .truncated: true
    default: false
    }
  }
}

/// Verifies the nodes of a version that were born after another.
struct VerificationWalk {
  private let store: NodeStore
  private let end: UInt64
  private let after: UInt64
  private var visited: Set<UInt64> = []

  init(access store: NodeStore, end: UInt64, after: UInt64) {
    self.store = store
    self.end = end
    self.after = after
  }

  mutating func run(_ root: Ref) throws(StorageError) {
    let access = store.access(below: end)
    try visit(root, access)
  }

  private mutating func visit(_ ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    guard !ref.isNull, ref.birth > after else { return }
    // Each node has one parent. A second way to a node was forged, and many such ways would make the walk endless.
    guard visited.insert(ref.unit).inserted else { throw store.corrupted(.overlap, ref) }
    _ = try access.node(ref).length
    for child in try access.children(of: ref) { try visit(child, access) }
  }
}
