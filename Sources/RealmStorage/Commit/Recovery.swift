/// Finds the version to open, whatever was cut short before.
///
/// Rules (FORMAT.md, "Recovery"; the argument for each crash point stands there):
/// 1. The newest meta page that verifies is taken, and from its root every node born after the version it names as
///    durable is verified: exactly what may be missing. If one fails, the other page is taken.
/// 2. A page that was rejected gets the opened version before the sync of rule 3, or it would come back later.
/// 3. Before anything else is written or published, the file is synced, unless it is the version that the control block
///    knows to be durable. Nothing is rewritten in place.
/// 4. After a failed sync in this boot the cache proves nothing: the control block's durable version is opened.
/// 5. Where a sync was begun and its outcome never noted, an error may have been seen by nobody: what was born after
///    the durable version is written again, as a new version, behind the end of the file (`TransactionGate`).
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
    /// The version surely on disk, and its page; the opened one, but for rule 5.
    var durable: Version
    var durablePage: Int
    /// A page was found damaged, or named a version that is not whole.
    var rejectedPage: Bool
    /// Rule 5: the nodes born after `durable` are in the cache and perhaps nowhere else.
    var mustRewrite: Bool
  }

  /// Rule 1, in memory only. For who may not write.
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
        // A page is passed over for what it names, not because the system has no memory now.
        guard error.isDamage else { throw error }
        firstFailure = firstFailure ?? error
      }
    }
    throw firstFailure ?? MetaPair.noPage(.metaPages, path: storage.path)
  }

  /// Rules 1 to 4, for who holds the writer's lock. Who is alone forgets what dead participants left in the tables.
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
    // Before anything is written: no reader is to begin with a version that is lost.
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

  /// What was found is what all read from now on. The marks go last, and not where rule 5 is still to be done.
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
    // No map of pages that was made before tells what there is now.
    tables.ring.raiseEpoch()
    // Nobody comes to read what is to be written again before it is durable. Who opens the file alone begins with it: others wait until then.
    if !outcome.mustRewrite || block.current.number == 0 { block.current = current }
    guard !outcome.mustRewrite else { return }
    block.unsyncedBytes = 0
    block.sync = .none
    block.inWrite = false
  }

  /// For who may only read, and is the first to: the tables, so that it is seen by those who write later. The file is
  /// left as it is, and the marks say that it is to be recovered.
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
    // A version that was only relaxed is not D because somebody reads it.
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

  /// A sync of this boot has brought the version to the disk, root and all, and nobody has begun to write since.
  private func isKnownDurable(_ outcome: Outcome, _ tables: SharedTables) -> Bool {
    let block = tables.block
    return !block.needsRecovery && !outcome.rejectedPage
      && tables.versions.version(block.durable) == outcome.version
      && meta.pages[block.durable.page]?.version == outcome.version
  }

  /// By the first of this boot to open the file: what it reads is what the disk holds.
  private func claim(_ block: ControlBlock, _ outcome: Outcome) {
    let durable = ControlBlock.Named(number: outcome.version.number, entry: 0, page: outcome.page)
    block.claim(for: storage.identity, boot: storage.boot, durable: durable)
  }

  /// Where others read a later version than the one to open, it is lost: they begin with this one from now on.
  private func withdraw(_ version: Version, in tables: SharedTables) throws(StorageError) {
    let block = tables.block
    guard version.number < block.current.number else { return }
    let isNoted = block.isLost(block.current.number)
    let pins = tables.readers.pins.map { $0.version }
    let holders = Set(pins + [block.durable.number, block.current.number]).sorted()
    block.current = try tables.versions.entry(of: version, holders: holders)
    if !isNoted { block.noteFailure(after: version.number) }
  }

  /// Rule 4.
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

  /// The mark was set before, and goes when what was found is noted (`publish`): where the process dies before, the
  /// outcome is unknown.
  private func sync(_ block: ControlBlock) throws(StorageError) {
    do {
      try storage.sync(.data)
    } catch {
      block.noteSyncFailed()
      throw error
    }
  }

  /// Rule 2. The copy keeps the durable version its page names: until the sync, no more than that is sure.
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
  /// It tells of the bytes in the file, and nothing of what the system can do now.
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
    // Each node has one parent: a second way to it was forged, and many would make the walk endless.
    guard visited.insert(ref.unit).inserted else { throw store.corrupted(.overlap, ref) }
    _ = try access.node(ref).length
    for child in try access.children(of: ref) { try visit(child, access) }
  }
}
