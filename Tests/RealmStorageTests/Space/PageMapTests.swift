import RealmTestSupport
import Testing

@testable import RealmStorage

/// The expected state of a page map, derived from the nodes themselves.
private struct PageModel {
  struct Node {
    var units: Range<Int>
    var birth: UInt64
    /// The first version that does not reach the node, or nil while the newest version reaches it.
    var freed: UInt64?

    var pages: ClosedRange<Int> { units.lowerBound / 64...(units.upperBound - 1) / 64 }

    func isReadable(_ holders: [UInt64]) -> Bool {
      guard let freed else { return true }
      return holders.contains { $0 >= birth && $0 < freed }
    }
  }

  var nodes: [Node] = []
  var pins: [UInt64] = []
  var published: UInt64 = 1
  var durable: UInt64 = 1

  /// All held versions, in ascending order.
  var holders: [UInt64] { Set(pins + [published, durable]).sorted() }

  /// The pages that must not be given out.
  var busy: Set<Int> {
    let holders = holders
    var pages: Set<Int> = [0, 1]
    for node in nodes where node.isReadable(holders) { pages.formUnion(node.pages) }
    return pages
  }

  var live: [Node] { nodes.filter { $0.freed == nil } }
  var liveUnits: Int { live.reduce(0) { $0 + $1.units.count } }

  /// The pages that only older versions may read.
  var waiting: Set<Int> {
    var pages = busy
    pages.subtract([0, 1])
    for node in live { pages.subtract(node.pages) }
    return pages
  }

  mutating func forgetUnreadable() {
    let holders = holders
    nodes.removeAll { !$0.isReadable(holders) }
  }
}

@Suite struct PageMapTests {
  private func compare(_ map: PageMap, _ model: PageModel) {
    let busy = model.busy
    let wrong = (0..<map.pageCount).filter { map.isFree($0) == busy.contains($0) }
    #expect(wrong == [])
    #expect(map.freeCount == map.pageCount - busy.count)
    #expect(map.liveUnits == model.liveUnits)
    #expect(map.waitingCount == model.waiting.count)
  }

  /// The layout that a commit of nodes of these sizes would have. The offer of the map is checked first.
  private func checkedLayout(
    _ sizes: [(units: Int, isShortLived: Bool)], in map: inout PageMap, _ model: PageModel, prefersParts: Bool
  ) -> RunLayout {
    let size = RunLayout.size(sizes)
    let place = map.place(size, prefersParts: prefersParts)
    let candidates = place.candidates
    let last = candidates.last
    let start = max(map.usedEnd, candidates.dropLast().map(\.upperBound).max() ?? 0)
    #expect(last == start..<start + size.whole)
    let busy = model.busy
    let offered = candidates.dropLast().flatMap { Array($0) }
    // The run for nodes that stay may begin at the end of the file if the short-lived nodes have a hole of their own.
    let notFree = offered.filter { ($0 >= map.pageCount && !place.isApart) || busy.contains($0) }
    let distinct = Set(offered)
    #expect(notFree == [])
    #expect(distinct.count == offered.count)
    let layout = RunLayout(sizes, place)
    if place.isApart { checkApart(sizes, layout, size) }
    let taken = layout.pieces.flatMap { Array($0) }
    let overwritten = taken.filter { busy.contains($0) }
    #expect(overwritten == [])
    return layout
  }

  /// Expects that the nodes that stay and the short-lived nodes stand in two separate runs.
  private func checkApart(
    _ sizes: [(units: Int, isShortLived: Bool)], _ layout: RunLayout, _ size: RunSize
  ) {
    let pages = { (isShortLived: Bool) -> Set<Int> in
      Set(
        zip(sizes, layout.units).filter { $0.0.isShortLived == isShortLived }.flatMap { node, unit in
          Int(unit) / 64...(Int(unit) + node.units - 1) / 64
        })
    }
    #expect(pages(true).isDisjoint(with: pages(false)))
    #expect(pages(false).count == size.staying)
    #expect(pages(true).count == size.shortLived)
    #expect(layout.pieces.count <= 2)
  }

  private func randomSizes(_ generator: inout SeededGenerator) -> [(units: Int, isShortLived: Bool)] {
    let isLarge = generator.chance(10)
    let count = isLarge ? 80 : 1 + generator.below(6)
    var sizes: [(units: Int, isShortLived: Bool)] = []
    for _ in 0..<count {
      let units = 1 + generator.below(150)
      let isShortLived = generator.chance(40)
      sizes.append((units, isShortLived))
    }
    return sizes
  }

  @Test(arguments: 0..<8)
  func `a page map agrees with a plain model and gives out no page that anyone may read`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var model = PageModel()
    var map = PageMap(pageCount: 2 + generator.below(600))
    for birth in UInt64(2)..<120 {
      let holders = model.holders
      map.settle(holders: holders)
      model.forgetUnreadable()
      compare(map, model)

      let sizes = randomSizes(&generator)
      let layout = checkedLayout(sizes, in: &map, model, prefersParts: generator.chance(50))
      for piece in layout.pieces { map.take(piece) }
      if generator.chance(15) {
        for piece in layout.pieces { map.giveBack(piece) }
        compare(map, model)
        continue
      }
      for (index, size) in sizes.enumerated() {
        let unit = Int(layout.units[index])
        let isClaimed = map.claim(unit: unit, units: size.units, birth: birth)
        #expect(isClaimed)
        model.nodes.append(PageModel.Node(units: unit..<unit + size.units, birth: birth))
      }
      let share = model.liveUnits > 150 * 64 ? 60 : 15
      for index in model.nodes.indices {
        let node = model.nodes[index]
        guard node.freed == nil, node.birth < birth, generator.chance(share) else { continue }
        let isKnown = map.release(
          unit: node.units.lowerBound, units: node.units.count, freed: birth, holders: holders)
        #expect(isKnown)
        model.nodes[index].freed = birth
      }
      compare(map, model)

      model.published = birth
      if generator.chance(60) { model.durable = birth }
      if generator.chance(20) { model.pins.append(birth) }
      if !model.pins.isEmpty, generator.chance(15) {
        model.pins.remove(at: generator.below(model.pins.count))
      }
    }
    #expect(map.recycledCount > 0)
  }

  @Test(arguments: 0..<6)
  func `a page map built from the nodes of held versions equals the map that commits kept up to date`(
    seed: UInt64
  ) {
    var generator = SeededGenerator(seed: seed)
    var model = PageModel()
    var kept = PageMap(pageCount: 2)
    for birth in UInt64(2)..<40 {
      let holders = model.holders
      kept.settle(holders: holders)
      let sizes = randomSizes(&generator)
      let layout = checkedLayout(sizes, in: &kept, model, prefersParts: generator.chance(50))
      for piece in layout.pieces { kept.take(piece) }
      for (index, size) in sizes.enumerated() {
        let unit = Int(layout.units[index])
        _ = kept.claim(unit: unit, units: size.units, birth: birth)
        model.nodes.append(PageModel.Node(units: unit..<unit + size.units, birth: birth))
      }
      for index in model.nodes.indices {
        let node = model.nodes[index]
        guard node.freed == nil, node.birth < birth, generator.chance(30) else { continue }
        let isKnown = kept.release(
          unit: node.units.lowerBound, units: node.units.count, freed: birth, holders: holders)
        #expect(isKnown)
        model.nodes[index].freed = birth
      }
      model.published = birth
      if generator.chance(50) { model.pins.append(birth) }
    }
    let holders = model.holders
    kept.settle(holders: holders)
    model.forgetUnreadable()
    var built = PageMap(pageCount: kept.pageCount)
    for node in model.live {
      let isClaimed = built.claim(unit: node.units.lowerBound, units: node.units.count, birth: node.birth)
      #expect(isClaimed)
    }
    for node in model.nodes.sorted(by: { ($0.freed ?? 0) > ($1.freed ?? 0) }) {
      guard let freed = node.freed else { continue }
      let isHeld = built.hold(
        unit: node.units.lowerBound, units: node.units.count, birth: node.birth, freed: freed,
        holders: holders)
      #expect(isHeld)
    }
    compare(kept, model)
    compare(built, model)
  }

  @Test func `a node that can't stand at the given place is not released`() {
    var map = PageMap(pageCount: 10)
    _ = map.claim(unit: 2 * 64, units: 10, birth: 2)
    let tooMuch = map.release(unit: 2 * 64, units: 11, freed: 3, holders: [])
    let nothing = map.release(unit: 5 * 64, units: 1, freed: 3, holders: [])
    let pastTheEnd = map.release(unit: 10 * 64, units: 1, freed: 3, holders: [])
    let known = map.release(unit: 2 * 64, units: 10, freed: 3, holders: [])
    #expect(!tooMuch)
    #expect(!nothing)
    #expect(!pastTheEnd)
    #expect(known)
  }

  @Test func `a node outside of the file or on a page of another commit is not claimed`() {
    var map = PageMap(pageCount: 10)
    let onMetaPage = map.claim(unit: 64, units: 1, birth: 2)
    let pastTheEnd = map.claim(unit: 9 * 64 + 60, units: 5, birth: 2)
    let first = map.claim(unit: 2 * 64, units: 10, birth: 2)
    let ofAnother = map.claim(unit: 2 * 64 + 10, units: 1, birth: 3)
    let tooMuch = map.claim(unit: 2 * 64, units: 55, birth: 2)
    let second = map.claim(unit: 2 * 64 + 10, units: 54, birth: 2)
    #expect(!onMetaPage)
    #expect(!pastTheEnd)
    #expect(first)
    #expect(!ofAnother)
    #expect(!tooMuch)
    #expect(second)
    #expect(map.liveUnits(ofPage: 2) == 64)
    #expect(map.birth(ofPage: 2) == 2)
  }

  @Test func `nodes that stay and short-lived nodes share a page only if that saves a page`() {
    func pages(_ sizes: [(units: Int, isShortLived: Bool)]) -> (count: Int, units: [UInt64]) {
      let layout = RunLayout(sizes, RunPlace(candidates: [10..<10 + RunLayout.size(sizes).whole]))
      return (layout.pieces.reduce(0) { $0 + $1.count }, layout.units)
    }
    // A page has 64 units, so 128 units fill two pages exactly.
    let together = pages([(units: 100, isShortLived: false), (units: 28, isShortLived: true)])
    #expect(together.count == 2)
    #expect(together.units == [640, 740])
    let apart = pages([(units: 100, isShortLived: false), (units: 29, isShortLived: true)])
    #expect(apart.count == 3)
    #expect(apart.units == [640, 768])
  }

  // MARK: - Places

  /// A map of 2 + `count` pages. The pages of `holes` are free, and live nodes fill all other pages.
  private func map(_ count: Int, holes: [Range<Int>], slack: Int = 0) -> PageMap {
    var map = PageMap(pageCount: 2 + count, slack: slack)
    for page in 2..<2 + count where !holes.contains(where: { $0.contains(page) }) {
      _ = map.claim(unit: page * 64, units: 64, birth: 1)
    }
    return map
  }

  private let commit = RunSize(whole: 4, staying: 3, shortLived: 2)

  @Test func `a hole is taken wherever it lies, and the next commit takes the next hole`() {
    // The map has 320 MiB of pages.
    var map = map(80_000, holes: [70_000..<70_004, 300..<304])
    let first = map.place(commit).candidates[0]
    #expect(first == 300..<304)
    map.take(first)
    let second = map.place(commit).candidates[0]
    #expect(second == 70_000..<70_004)
    map.take(second)
    map.giveBack(first)
    #expect(map.place(commit).candidates[0] == first)
  }

  @Test func `a file with few small holes grows, and a file with many small holes uses them in pieces`() {
    let few = (0..<20).map { 100 + 10 * $0..<103 + 10 * $0 }
    var roomy = map(1_000, holes: few)
    #expect(!roomy.isSpacious)
    #expect(roomy.place(commit).candidates == [1_002..<1_006])
    let many = (0..<120).map { 10 + 8 * $0..<13 + 8 * $0 }
    var spacious = map(1_000, holes: many)
    #expect(spacious.isSpacious)
    let place = spacious.place(commit)
    #expect(place.isApart)
    #expect(place.candidates.dropLast() == [10..<13, 18..<20])
  }

  @Test func `pages that wait only for a sync count as free when the map decides whether the file may grow`()
  {
    var map = map(1_000, holes: [])
    for page in 200..<460 {
      let isKnown = map.release(unit: page * 64, units: 64, freed: 5, holders: [3, 4])
      #expect(isKnown)
    }
    #expect(map.waitingCount == 260)
    #expect(!map.isSpacious)
    map.durable = 3
    #expect(map.isSpacious)
  }

  @Test func `commits without a sync write their short-lived nodes to the same few pages`() {
    var map = map(4_000, holes: [100..<300, 2_000..<2_600])
    var taken: Set<Int> = []
    var last: [Range<Int>] = []
    for birth in UInt64(2)..<100 {
      let candidates = map.place(commit, prefersParts: true).candidates
      for piece in candidates.prefix(2) {
        map.take(piece)
        _ = map.claim(unit: piece.lowerBound * 64, units: piece.count * 64, birth: birth)
      }
      taken.formUnion(candidates[1])
      // The next version does not reach the short-lived nodes of the last one, and no other version is held.
      if let old = last.last {
        let isKnown = map.release(
          unit: old.lowerBound * 64, units: old.count * 64, freed: birth, holders: [birth])
        #expect(isKnown)
      }
      last = Array(candidates.prefix(2))
    }
    #expect(taken.count == 4)
  }

  @Test func `long nodes are not offered holes that are too short for them`() {
    let short = (0..<150).map { 10 + 8 * $0..<14 + 8 * $0 }
    var map = map(2_000, holes: short + [1_500..<1_520, 1_600..<1_620])
    let size = RunSize(whole: 70, staying: 68, shortLived: 2, longest: 17)
    #expect(map.place(size).candidates.dropLast() == [1_500..<1_520, 1_600..<1_620])
    let ofShort = RunSize(whole: 70, staying: 68, shortLived: 2, longest: 3)
    #expect(map.place(ofShort).candidates.first == 10..<14)
  }

  @Test func `a file that can't grow does not split commits into its holes, and nodes are moved earlier`() {
    var map = map(1_000, holes: (0..<120).map { 10 + 8 * $0..<13 + 8 * $0 })
    map.isConfined = true
    #expect(map.place(commit).candidates == [1_002..<1_006])
    #expect(map.place(commit, prefersParts: true).candidates == [1_002..<1_006])
    var longer = self.map(2_000, holes: [])
    longer.extend(by: 708)
    #expect(longer.pressure == .none)
    longer.isConfined = true
    #expect(longer.pressure == .loose)
    longer.extend(by: 1)
    #expect(longer.pressure == .none)
  }

  @Test func `nodes are moved only if enough pages can be cut off`() {
    // The limit of 1.35 times the 2,000 live pages is 2,700 pages.
    func pressure(_ count: Int) -> Mover.Pressure {
      var map = map(2_000, holes: [])
      map.extend(by: count - map.pageCount)
      return map.pressure
    }
    #expect(pressure(2_780) == .none)
    #expect(pressure(2_790) == .loose)
    #expect(pressure(2_950) == .urgent)
  }
}
