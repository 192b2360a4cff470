/// The map of the pages of the file: which are free, which are live, and which wait for a reader.
///
/// For each page it keeps the version that wrote the page, and how many of its 64-byte units the newest version
/// reaches. There is no such list on disk. A writer that has no map walks the refs of the held versions (`SpaceWalk`).
///
/// Invariants:
/// 1. A page is written by one commit only. It is given out again when nothing that anyone may read lies in it.
/// 2. A page written at `birth` and freed at `freed` may be read by the versions in `birth..<freed` and by no other. It
///    is free once none of them is held: by a reader, by a name, as the published version, as the last durable one, or
///    as one whose commit is in progress.
package struct PageMap {
  /// For each page, its birth in the upper 48 bits and the number of its live units below. Zero if nothing lives there.
  private(set) var pages: [UInt64] = []
  /// The pages that may be given out.
  var free = FreePages()
  /// The number of units that the newest version reaches.
  package private(set) var liveUnits = 0
  /// The pages that wait, each listed under one held version that may read it. The lists are ascending by version.
  private var waiting: [Waiting] = []
  package private(set) var waitingCount = 0
  /// The last version that a sync has reached. Pages that wait for it are free soon, unless others need them too.
  package var durable = UInt64.max
  /// Whether the file could not be made longer when that was last tried.
  package var isConfined = false
  /// The number of pages given out that lay within the file already.
  package var recycledCount = 0
  /// The pages whose live units changed since `takeChanged` was last called, some of them more than once.
  private var changed: [Int] = []
  private static let mostChanged = 1 << 16
  /// The end of the last run that was chosen. The next run is looked for from here, so that runs follow each other
  /// through the file.
  package internal(set) var cursor = 2
  /// The page behind which short-lived nodes are put that stand apart from others.
  var home = 2
  /// The number of pages that a file may have beyond the allowed multiple of its held pages.
  let slack: Int
  /// Whether some pages at the end are left free, because the file is on a disk, which may be full.
  let keepsReserve: Bool

  /// The number of pages that a small commit most often lets wait.
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

  /// The number of pages of the file, including free ones.
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

  /// Notes a node as live. Returns false if one of its pages is not in the file, holds a node of another commit, or
  /// would hold more than fits.
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

  /// Notes that version `freed` no longer reaches a node. Returns false if no such node can stand there. The map is
  /// then not that of this file, and is of no use any more.
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

  /// Notes a node that only older versions reach. Its pages wait for these versions, unless they hold something live or
  /// wait already. Returns false if they lie outside of the file.
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

  /// The pages whose live units changed since the last call, ascending; nil if there are more than `limit`.
  package mutating func takeChanged(atMost limit: Int) -> [Int]? {
    // The memory that a large commit took is given back.
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

  /// Takes over what another writer's commit did to a page. Returns false if this map can't be the one that the other
  /// writer had.
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

  /// Notes all free pages as taken, because they are not known to be free. The next walk finds them free again.
  package mutating func forgetFreePages() { free.removeAll() }

  /// Lets all free pages wait until `settle` is called next.
  package mutating func holdFreePages() {
    for page in 2..<max(pages.count, 2) where isFree(page) {
      free.remove(page)
      // The pages wait for version 0, which nobody holds.
      wait(WaitingPage(page: page, birth: 0, freed: 0), for: 0)
    }
  }

  /// Frees the pages that no held version may read any more. `holders` are all held versions, ascending.
  package mutating func settle(holders: [UInt64]) {
    // Pages that go on waiting are listed under held versions, and need not be looked at again.
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

  /// The index of the first list whose holder is not less than `holder`.
  private func waitingPlace(of holder: UInt64) -> Int {
    waiting.partitioningIndex { $0.holder >= holder }
  }

  // MARK: - Giving out

  /// Gives out pages. The map grows if they lie past the end of the file.
  package mutating func take(_ range: Range<Int>) {
    recycledCount += max(0, min(range.upperBound, pages.count) - range.lowerBound)
    if range.upperBound > pages.count { grow(to: range.upperBound) }
    for page in range {
      precondition(isFree(page), "page \(page) is given out twice")
      free.remove(page)
    }
  }

  /// Notes free pages behind the last page.
  package mutating func extend(by count: Int) { grow(to: pages.count + count) }

  /// Forgets the pages from `count` on, which are all free: the file ends there now.
  package mutating func shrink(to count: Int) {
    precondition(count >= usedEnd, "pages in use are cut off")
    free.shrink(to: count)
    pages.removeLast(pages.count - count)
    cursor = min(cursor, count)
  }

  /// Takes back pages that were given out in vain.
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
