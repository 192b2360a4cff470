import TestSupport
import Testing

@testable import RealmStorage

/// What a page map is to say, told from the nodes themselves.
private struct PageModel {
  struct Node {
    var units: Range<Int>
    var birth: UInt64
    /// The first version that does not reach it; nil while the newest does.
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

  /// All held versions, ascending.
  var holders: [UInt64] { Set(pins + [published, durable]).sorted() }

  /// Pages that must not be given out.
  var busy: Set<Int> {
    let holders = holders
    var pages: Set<Int> = [0, 1]
    for node in nodes where node.isReadable(holders) { pages.formUnion(node.pages) }
    return pages
  }

  var live: [Node] { nodes.filter { $0.freed == nil } }
  var liveUnits: Int { live.reduce(0) { $0 + $1.units.count } }

  /// Pages that only older versions may read.
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

  /// The pages a commit of nodes of these sizes would take, after a check of what the map offers.
  private func checkedLayout(
    _ sizes: [(units: Int, isShortLived: Bool)], in map: PageMap, _ model: PageModel
  ) -> RunLayout {
    let count = RunLayout.pageCount(sizes)
    let candidates = map.candidates(count)
    let last = candidates.last
    let start = max(map.usedEnd, candidates.dropLast().map(\.upperBound).max() ?? 0)
    #expect(last == start..<start + count)
    let busy = model.busy
    let offered = candidates.dropLast().flatMap { Array($0) }
    let notFree = offered.filter { $0 >= map.pageCount || busy.contains($0) }
    let distinct = Set(offered)
    #expect(notFree == [])
    #expect(distinct.count == offered.count)
    let layout = RunLayout(sizes, candidates: candidates)
    let taken = layout.pieces.flatMap { Array($0) }
    let overwritten = taken.filter { busy.contains($0) }
    #expect(overwritten == [])
    return layout
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
  func `a map agrees with a naive one and gives out no page that anyone may read`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var model = PageModel()
    var map = PageMap(pageCount: 2 + generator.below(600))
    for birth in UInt64(2)..<120 {
      let holders = model.holders
      map.settle(holders: holders)
      model.forgetUnreadable()
      compare(map, model)

      let sizes = randomSizes(&generator)
      let layout = checkedLayout(sizes, in: map, model)
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
  func `a map built from the nodes of held versions is the one that was kept`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var model = PageModel()
    var kept = PageMap(pageCount: 2)
    for birth in UInt64(2)..<40 {
      let holders = model.holders
      kept.settle(holders: holders)
      let sizes = randomSizes(&generator)
      let layout = checkedLayout(sizes, in: kept, model)
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

  @Test func `a node that can't stand where it is said to is not released`() {
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

  @Test func `a node outside of the file or on another commit's page is not claimed`() {
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

  @Test func `nodes that stay share a page with those that do not only where that saves one`() {
    func pages(_ sizes: [(units: Int, isShortLived: Bool)]) -> (count: Int, units: [UInt64]) {
      let count = RunLayout.pageCount(sizes)
      let layout = RunLayout(sizes, candidates: [10..<10 + count])
      return (layout.pieces.reduce(0) { $0 + $1.count }, layout.units)
    }
    // A page has 64 units.
    let together = pages([(units: 100, isShortLived: false), (units: 28, isShortLived: true)])
    #expect(together.count == 2)
    #expect(together.units == [640, 740])
    let apart = pages([(units: 100, isShortLived: false), (units: 29, isShortLived: true)])
    #expect(apart.count == 3)
    #expect(apart.units == [640, 768])
  }
}
