/// Which pages of the file are free, which are live, and which wait for a reader.
///
/// Per page it keeps the version that wrote it and how many of its 64-byte units the newest version reaches. There is
/// no such list on disk: a writer that has none walks the refs of the versions that are held (`SpaceWalk`).
///
/// Invariants:
/// 1. A page is written by one commit only. It is given out again when nothing that anyone may read lies in it.
/// 2. A page written at `birth` and freed at `freed` may be read by the versions in `birth..<freed` and by no other.
///    It is free once none of them is held: by a reader, as published, as the last durable one, or on its way.
package struct PageMap {
  /// Birth in the upper 48 bits, live units below. Zero: nothing lives there.
  private(set) var pages: [UInt64] = []
  /// What may be given out.
  var free = FreePages()
  /// Units the newest version reaches.
  package private(set) var liveUnits = 0
  /// Pages that wait, listed under one held version of those that may read them; ascending.
  private var waiting: [Waiting] = []
  package private(set) var waitingCount = 0
  /// The last version that a sync has reached: what waits for it is free soon, but where others need it too.
  package var durable = UInt64.max
  /// The file could not be made longer when that was tried last.
  package var isConfined = false
  /// Pages given out that had held something before.
  package var recycledCount = 0
  /// Pages whose live units changed since they were asked for last, some of them more than once.
  private var changed: [Int] = []
  private static let mostChanged = 1 << 16
  /// Where the last run ends that was chosen: the next is looked for from here, so that runs follow each other through
  /// the file.
  package internal(set) var cursor = 2
  /// Short-lived nodes that stand apart from others are put behind this page.
  var home = 2
  /// Pages a file may have beyond its share of what is held.
  let slack: Int
  /// Whether some pages at the end are left free: there is a disk, which may be full.
  let keepsReserve: Bool

  /// As many as a small commit most often lets wait.
  private static let pagesOfCommit = 12

  private struct Waiting {
    var holder: UInt64
    var pages: [WaitingPage]
  }

  private struct WaitingPage {
    var page: Int
    var birth: UInt64
    var freed: UInt64
  }

  /// A map of `pageCount` pages of which all but the meta pages are free.
  package init(pageCount: Int, slack: Int = (1 << 20) / FilePlace.page, keepsReserve: Bool = false) {
    self.slack = slack
    self.keepsReserve = keepsReserve
    grow(to: max(pageCount, 2))
    free.remove(0)
    free.remove(1)
  }

  /// Pages of the file, free ones included.
  package var pageCount: Int { pages.count }
  package func liveUnits(ofPage page: Int) -> Int { Int(pages[page] & 0xffff) }
  package func birth(ofPage page: Int) -> UInt64 { pages[page] >> 16 }
  package var freeCount: Int { free.freeCount }
  package func isFree(_ page: Int) -> Bool { free.contains(page) }
  package func waitingCount(heldBy version: UInt64) -> Int {
    let place = waitingPlace(of: version)
    return place < waiting.count && waiting[place].holder == version ? waiting[place].pages.count : 0
  }

  // MARK: - Live units

  /// Notes a node as live. False when another commit's node stands in one of its pages, or more than fits.
  package mutating func claim(unit: Int, units: Int, birth: UInt64) -> Bool {
    var unit = unit
    let end = unit + units
    while unit < end {
      let page = unit / FilePlace.unitsPerPage
      let part = min(end, (page + 1) * FilePlace.unitsPerPage) - unit
      guard page < pages.count, page >= 2 else { return false }
      let (old, live) = (pages[page] >> 16, Int(pages[page] & 0xffff))
      guard live == 0 || old == birth, live + part <= FilePlace.unitsPerPage else { return false }
      if isFree(page) { free.remove(page) }
      pages[page] = birth << 16 | UInt64(live + part)
      noteChange(of: page)
      unit += part
    }
    liveUnits += units
    return true
  }

  /// Notes that version `freed` no longer reaches a node. False where no such node can stand there: then the map does
  /// not tell of this file, and is of no use any more.
  package mutating func release(unit: Int, units: Int, freed: UInt64, holders: [UInt64]) -> Bool {
    var unit = unit
    let end = unit + units
    while unit < end {
      let page = unit / FilePlace.unitsPerPage
      let part = min(end, (page + 1) * FilePlace.unitsPerPage) - unit
      guard page < pages.count else { return false }
      let live = Int(pages[page] & 0xffff)
      guard live >= part else { return false }
      pages[page] -= UInt64(part)
      noteChange(of: page)
      if live == part {
        let birth = pages[page] >> 16
        pages[page] = 0
        settle(WaitingPage(page: page, birth: birth, freed: freed), holders: holders)
      }
      unit += part
    }
    liveUnits -= units
    return true
  }

  /// Notes a node that only older versions reach: its pages wait for them, unless they hold something live or wait
  /// already. False when they lie outside of the file.
  package mutating func hold(unit: Int, units: Int, birth: UInt64, freed: UInt64, holders: [UInt64]) -> Bool {
    let (first, last) = (unit / FilePlace.unitsPerPage, (unit + units - 1) / FilePlace.unitsPerPage)
    guard first >= 2, last < pages.count else { return false }
    for page in first...last where isFree(page) {
      free.remove(page)
      settle(WaitingPage(page: page, birth: birth, freed: freed), holders: holders)
    }
    return true
  }

  // MARK: - Changes

  private mutating func noteChange(of page: Int) {
    if changed.last != page, changed.count <= Self.mostChanged { changed.append(page) }
  }

  /// The pages whose live units changed since the last call, ascending; nil where there are more than `limit`.
  package mutating func takeChanged(atMost limit: Int) -> [Int]? {
    // What a large commit took is given back.
    defer { changed.removeAll(keepingCapacity: changed.count <= limit) }
    guard changed.count <= Self.mostChanged else { return nil }
    changed.sortFew()
    var pages: [Int] = []
    pages.reserveCapacity(min(limit, changed.count))
    for page in changed where page != pages.last {
      if pages.count == limit { return nil }
      pages.append(page)
    }
    return pages
  }

  /// Takes over what another writer's commit did to a page. False where this map can't be what that one knew.
  package mutating func follow(
    page: Int, isNew: Bool, liveUnits live: Int, version: UInt64, holders: [UInt64]
  )
    -> Bool
  {
    guard page >= 2, live <= FilePlace.unitsPerPage, page < 1 << 35 else { return false }
    if page >= pages.count { extend(by: page + 1 - pages.count) }
    if isNew {
      guard isFree(page), live > 0 else { return false }
      free.remove(page)
      pages[page] = version << 16 | UInt64(live)
      liveUnits += live
      return true
    }
    let (birth, before) = (pages[page] >> 16, Int(pages[page] & 0xffff))
    guard live < before else { return false }
    liveUnits -= before - live
    pages[page] = live == 0 ? 0 : birth << 16 | UInt64(live)
    if live == 0 { settle(WaitingPage(page: page, birth: birth, freed: version), holders: holders) }
    return true
  }

  // MARK: - Waiting pages

  /// Takes no page for free that is not known to be: they are found free again by the next walk.
  package mutating func forgetFreePages() { free.removeAll() }

  /// Lets all free pages wait until `settle` is called next.
  package mutating func holdFreePages() {
    for page in 2..<max(pages.count, 2) where isFree(page) {
      free.remove(page)
      // Held by a version that nobody holds.
      wait(WaitingPage(page: page, birth: 0, freed: 0), for: 0)
    }
  }

  /// Frees the pages whose last possible reader is gone. `holders` are all held versions, ascending.
  package mutating func settle(holders: [UInt64]) {
    // What waits on is listed under versions that are held, which need not be looked at again.
    var place = 0
    while place < waiting.count {
      guard holders.binarySearch(waiting[place].holder) == nil else {
        place += 1
        continue
      }
      let pages = waiting.remove(at: place).pages
      waitingCount -= pages.count
      for page in pages { settle(page, holders: holders) }
    }
  }

  private mutating func settle(_ page: WaitingPage, holders: [UInt64]) {
    let index = holders.lowerBound(page.birth)
    if index < holders.count, holders[index] < page.freed {
      wait(page, for: holders[index])
    } else {
      free.insert(page.page)
    }
  }

  private mutating func wait(_ page: WaitingPage, for holder: UInt64) {
    let place = waitingPlace(of: holder)
    if place == waiting.count || waiting[place].holder != holder {
      waiting.insert(Waiting(holder: holder, pages: []), at: place)
      waiting[place].pages.reserveCapacity(Self.pagesOfCommit)
    }
    waiting[place].pages.append(page)
    waitingCount += 1
  }

  /// Of the first that is not less.
  private func waitingPlace(of holder: UInt64) -> Int {
    waiting.partitioningIndex { $0.holder >= holder }
  }

  // MARK: - Giving out

  /// Gives out pages, growing the file where they lie past its end.
  package mutating func take(_ range: Range<Int>) {
    recycledCount += max(0, min(range.upperBound, pages.count) - range.lowerBound)
    if range.upperBound > pages.count { grow(to: range.upperBound) }
    for page in range {
      precondition(isFree(page), "page \(page) is given out twice")
      free.remove(page)
    }
  }

  /// Notes free pages behind the last one.
  package mutating func extend(by count: Int) { grow(to: pages.count + count) }

  /// Forgets the pages from `count` on, which are all free: the file ends there now.
  package mutating func shrink(to count: Int) {
    precondition(count >= usedEnd, "pages in use are cut off")
    free.shrink(to: count)
    pages.removeLast(pages.count - count)
    cursor = min(cursor, count)
  }

  /// Takes back pages given out in vain.
  package mutating func giveBack(_ range: Range<Int>) {
    for page in range {
      pages[page] = 0
      free.insert(page)
    }
  }

  private mutating func grow(to count: Int) {
    isConfined = false
    pages.append(contentsOf: repeatElement(0, count: count - pages.count))
    free.grow(to: count)
  }
}
