import RealmTestSupport
import Testing

@testable import RealmStorage

/// Compares the set of free pages with a list of all pages.
@Suite struct FreePagesTests {
  private struct Model {
    var free: [Bool] = []
    var emptied: [Bool] = []

    func firstRun(of length: Int, in range: Range<Int>, emptied isEmptied: Bool) -> Range<Int>? {
      var start: Int?
      for page in range {
        guard free[page], emptied[page] == isEmptied else {
          start = nil
          continue
        }
        start = start ?? page
        if let start, page + 1 - start == length { return start..<page + 1 }
      }
      return nil
    }

    var usedEnd: Int { (free.lastIndex(of: false) ?? 0) + 1 }
  }

  @Test(arguments: Slow.seeds(6, slow: 24))
  func `just the runs of free pages are found, however pages are taken and freed between the searches`(
    seed: UInt64
  ) {
    var generator = SeededGenerator(seed: seed)
    var (pages, model) = (FreePages(), Model())
    func grow(by count: Int) {
      pages.grow(to: pages.count + count)
      model.free += Array(repeating: true, count: count)
      model.emptied += Array(repeating: false, count: count)
    }
    func set(_ page: Int, free: Bool) {
      guard page >= 2, page < model.free.count, model.free[page] != free else { return }
      free ? pages.insert(page) : pages.remove(page)
      model.free[page] = free
    }
    grow(by: 2)
    for page in 0..<2 {
      pages.remove(page)
      model.free[page] = false
    }
    grow(by: 1 + generator.below(4_000))
    // The share of free pages is small or large.
    let density = [2, 20, 50, 98][generator.below(4)]
    for page in 2..<pages.count { set(page, free: generator.below(100) < density) }
    for step in 0..<600 {
      let start = 2 + generator.below(max(1, pages.count - 2))
      switch generator.below(20) {
      case 0: grow(by: generator.below(generator.chance(30) ? 700 : 40))
      case 1:
        let count = max(3, pages.usedEnd, pages.count - generator.below(600))
        pages.shrink(to: count)
        model.free.removeLast(model.free.count - count)
        model.emptied.removeLast(model.emptied.count - count)
      case 2:
        for page in start..<min(pages.count, start + generator.below(400)) {
          pages.setEmptied(page, true)
          model.emptied[page] = true
        }
      case 3:
        pages.emptyNothing()
        model.emptied = model.emptied.map { _ in false }
      case 4:
        // A run of free pages crosses the border of two blocks, and the pages around it are taken.
        let border = 512 * (1 + generator.below(4))
        for page in border - 60..<border + 60 { set(page, free: false) }
        for page in border - generator.below(50)..<border + generator.below(50) { set(page, free: true) }
      case 5...9:
        let length = generator.below(generator.chance(10) ? 900 : 12)
        for page in start..<start + length { set(page, free: false) }
      case 10...14:
        let length = generator.below(generator.chance(10) ? 900 : 12)
        let isBackwards = generator.chance(50)
        for page in start..<start + length {
          set(isBackwards ? 2 * start + length - 1 - page : page, free: true)
        }
      default: break
      }
      for _ in 0..<3 {
        let length = [1, 2, 3, 4, 5, 8, 20, 63, 64, 65, 100, 500, 513, 700][generator.below(14)]
        // Ranges begin and end at the borders of blocks, and right before and behind these.
        let border = 512 * (1 + generator.below(4)) - 20 + generator.below(40)
        let bounds = [2, pages.count, generator.below(pages.count + 1), 512, 1024, border]
          .filter { $0 <= pages.count }
        let (one, other) = (bounds[generator.below(bounds.count)], bounds[generator.below(bounds.count)])
        let range = min(one, other)..<max(one, other)
        let isEmptied = generator.chance(10)
        #expect(
          pages.firstRun(of: length, in: range, emptied: isEmptied)
            == model.firstRun(of: length, in: range, emptied: isEmptied),
          "\(length) in \(range) of \(pages.count), step \(step), seed \(seed)")
      }
      #expect(pages.usedEnd == model.usedEnd, "step \(step), seed \(seed)")
      #expect(pages.freeCount == model.free.count { $0 }, "step \(step), seed \(seed)")
    }
  }

  @Test func `a search that begins within a run still lets later searches find the whole run`() {
    var pages = FreePages()
    pages.grow(to: 1_536)
    for page in 0..<pages.count where !(492..<515).contains(page) { pages.remove(page) }
    #expect(pages.firstRun(of: 10, in: 507..<1_536) == nil)
    #expect(pages.firstRun(of: 23, in: 2..<1_536) == 492..<515)
  }

  @Test func `a search without result lets later searches skip blocks in which no page became free since`() {
    // Every other page is free.
    var pages = FreePages()
    pages.grow(to: 1 << 20)
    for page in stride(from: 0, to: pages.count, by: 2) { pages.remove(page) }
    #expect(pages.firstRun(of: 2, in: 2..<pages.count) == nil)
    #expect(pages.longest.count { $0 >= 2 } == 0)
    pages.insert(70_000)
    #expect(pages.longest.count { $0 >= 2 } == 1)
    #expect(pages.firstRun(of: 2, in: 2..<pages.count) == 69_999..<70_001)
    #expect(pages.firstRun(of: 4, in: 2..<pages.count) == nil)
    #expect(pages.longest.count { $0 >= 3 } == 1)
  }
}
