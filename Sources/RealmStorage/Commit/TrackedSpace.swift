import Synchronization

/// The page map of a writer, with the version and the epoch that it describes.
///
/// If commits of another process have made the map out of date, it is brought up to date from the ring. If the ring
/// does not lead to the newest version, the file is walked. A walk reads only nodes that hold refs.
struct TrackedSpace: ~Copyable {
  private let store: NodeStore
  private let ring: PageRing
  /// The number of pages that a file may have beyond the allowed multiple of its held pages.
  private let slack: Int
  var map: PageMap?
  /// Whether pages become free. They do not while a reader that is not listed reads the file.
  var recycles = true
  private var version: UInt64 = 0
  private var epoch: UInt64 = 0
  /// The named versions whose nodes the map does not know, because the versions are damaged.
  private var unwalked: [Version] = []
  /// Whether the map was made with all names known and with the version of each name found.
  private var knowsNames = true

  init(store: NodeStore, ring: PageRing, slack: Int) {
    self.store = store
    self.ring = ring
    self.slack = slack
  }

  var pageCount: Int { map?.pageCount ?? 0 }
  /// The page after the last held page.
  var usedEnd: Int { map?.usedEnd ?? 2 }
  var hasWaitingPages: Bool { (map?.waitingCount ?? 0) > 0 }
  var recycledPages: Int { map?.recycledCount ?? 0 }
  var isSpacious: Bool { map?.isSpacious ?? false }
  var liveBytes: Int { (map?.liveUnits ?? 0) * Ref.unit }
  /// Whether nodes are held at places that can't be determined. A walk then leaves no page free.
  var isPartial: Bool { !unwalked.isEmpty || !knowsNames }
  var waitingBytes: Int { (map?.waitingCount ?? 0) * FilePlace.page }
  func waitingBytes(for holder: UInt64) -> Int { (map?.waitingCount(heldBy: holder) ?? 0) * FilePlace.page }

  // MARK: - Following

  /// Brings the map to the newest version, by the ring or by a walk. No page becomes free while a reader that is not
  /// listed reads the file. If a named version is damaged, a walk leaves no page free: the file can be written, and
  /// grows, until the name is dropped.
  ///
  /// - Throws: `.corrupted` if the space of the file can't be determined.
  mutating func follow(
    _ newest: Version, fileLength: UInt64, held: HeldVersions, holders: [UInt64]
  ) throws(StorageError) {
    let pages = Int(clamping: fileLength / UInt64(FilePlace.page))
    let named = held.named.withLock { $0 }
    if named.isComplete != knowsNames || !unwalked.isEmpty && !unwalked.allSatisfy(named.all.contains) {
      map = nil
    }
    if map != nil, epoch == ring.epoch, catchUp(with: newest, holders, limit: pages), usedEnd <= pages {
      let known = pageCount
      if pages > known { map?.extend(by: pages - known) } else if pages < known { map?.shrink(to: pages) }
      return
    }
    let recycled = recycledPages
    map = nil
    epoch = ring.epoch
    map = try walk(newest, pages: pages, held: held, named)
    if !recycles { map?.holdFreePages() }
    _ = map?.takeChanged(atMost: 0)
    map?.recycledCount = recycled
    version = newest.number
  }

  private mutating func catchUp(with newest: Version, _ holders: [UInt64], limit: Int) -> Bool {
    if version == newest.number { return true }
    guard let records = ring.records(from: version, to: newest.number) else { return false }
    settle(holders: holders)
    for record in records {
      // The pages that the record freed wait for the version before it if no page may become free.
      let holders = recycles && knowsNames ? holders : Set(holders + [record.before]).sorted()
      for change in record.changes {
        guard
          change.page < limit,
          map?.follow(
            page: change.page, isNew: change.isNew, liveUnits: change.liveUnits, version: record.version,
            holders: holders) ?? false
        else { return false }
      }
    }
    version = newest.number
    return true
  }

  private mutating func walk(
    _ newest: Version, pages: Int, held: HeldVersions, _ named: NamedVersions
  ) throws(StorageError) -> PageMap {
    // Expired versions are not read any more, and may not be readable.
    let holders = held.holders.filter { !held.block.isLost($0) }
    let kept = named.all
    var older: [(version: Version, isNamed: Bool)] = []
    // False if a held version is not found. Its nodes can't be told from free space then.
    var isComplete = named.isComplete
    for number in holders.reversed() where number != newest.number {
      let own = kept.filter { $0.number == number }
      let listed = held.versions.find(number).flatMap(held.versions.version)
      if listed == nil, own.isEmpty { isComplete = false }
      if let listed, !own.contains(listed) { older.append((listed, false)) }
      older += own.map { ($0, true) }
    }
    (unwalked, knowsNames) = ([], named.isComplete)
    // A named version that ends beyond the file is damaged.
    older.removeAll { version, isNamed in
      guard isNamed, version.pageCount > pages else { return false }
      unwalked.append(version)
      return true
    }
    let count = max(newest.pageCount, pages, older.map { $0.version.pageCount }.max() ?? 0)
    let access = store.access(below: UInt64(count * FilePlace.page))
    var walk = SpaceWalk(store: store, pageCount: count, slack: slack)
    try walk.walkNewest(newest.root, access: access)
    var (next, last) = (newest.number, newest.number)
    for (version, isNamed) in older where version.number < newest.number {
      if version.number < last { (next, last) = (last, version.number) }
      do throws(StorageError) {
        try walk.walkOlder(version.root, next: next, holders: holders, access: access)
      } catch {
        // The file can be written although this version can't be read. No page that the version may need is given out.
        guard isNamed, error.isDamage else { throw error }
        unwalked.append(version)
      }
    }
    var map = walk.map
    if !isComplete || !unwalked.isEmpty { map.forgetFreePages() }
    return map
  }

  // MARK: - Own commits

  /// Frees the waiting pages that no holder needs. While a name can't be read no waiting page becomes free, because the
  /// version that the name keeps may need it.
  mutating func settle(holders: [UInt64]) { if recycles, knowsNames { map?.settle(holders: holders) } }
  /// Notes that the names of a version that was just written can't be read.
  mutating func forgetNames() { knowsNames = false }
  /// Notes the last version that a sync has reached.
  mutating func noteDurable(_ version: UInt64) { map?.durable = version }

  mutating func place(_ size: RunSize, prefersParts: Bool) -> RunPlace {
    guard let place = map?.place(size, prefersParts: prefersParts) else {
      preconditionFailure("pages are asked for without a map of the file")
    }
    return place
  }
  func placeAtEnd(_ size: RunSize) -> RunPlace {
    precondition(map != nil, "pages are asked for without a map of the file")
    return RunPlace(candidates: [pageCount..<pageCount + size.whole])
  }

  var missingReserve: Int { map?.missingReserve ?? 0 }

  /// The holes for `count` pages in a file that can't grow beyond `end`, with the reserve if it may be used.
  mutating func holes(for count: Int, below end: Int, usesReserve: Bool) -> [Range<Int>] {
    // The pages from `end` on were given out in vain and are not in the file.
    if end < pageCount, end >= usedEnd { map?.shrink(to: end) }
    map?.isConfined = true
    return (usesReserve ? map?.holes(below: end) : map?.spareHoles(for: count)) ?? []
  }

  mutating func take(_ pages: Range<Int>) { map?.take(pages) }
  mutating func giveBack(_ pages: Range<Int>) { map?.giveBack(pages) }
  mutating func extend(by count: Int) { map?.extend(by: count) }

  mutating func claim(unit: Int, units: Int, birth: UInt64) -> Bool {
    map?.claim(unit: unit, units: units, birth: birth) ?? false
  }

  /// Frees what a version no longer reaches, and tells other processes what the version did to pages.
  mutating func commit(_ version: Version, after base: UInt64, freed: [Ref], holders: [UInt64]) {
    for ref in freed {
      let isKnown = map?.release(
        unit: Int(ref.unit), units: store.units(ofLength: ref.length), freed: version.number, holders: holders
      )
      // The ring has wrong entries of other processes. The next transaction walks the file.
      if isKnown == false { map = nil }
    }
    self.version = version.number
    guard let changed = map?.takeChanged(atMost: PageRing.mostPages) else {
      ring.raiseEpoch()
      epoch = ring.epoch
      return
    }
    let changes = changed.map { page in
      PageRing.Change(
        page: page, isNew: map?.birth(ofPage: page) == version.number,
        liveUnits: map?.liveUnits(ofPage: page) ?? 0)
    }
    ring.append(PageRing.Record(version: version.number, before: base, changes: changes))
  }
}
