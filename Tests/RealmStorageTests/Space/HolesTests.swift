import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct HolesTests {
  @Test(arguments: 0..<40)
  func `the search for holes finds the same holes as a search page by page`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let pageCount = 2 + generator.below(700)
    var map = PageMap(pageCount: pageCount)
    // The map has long holes, short holes, and perhaps pages of stretches that are being emptied.
    var page = 2
    while page < pageCount {
      let used = min(pageCount, page + 1 + generator.below(generator.chance(50) ? 3 : 90))
      if generator.chance(50) {
        for page in page..<used { _ = map.claim(unit: page * 64, units: 1, birth: 1) }
      }
      page = used
    }
    if generator.chance(50) { _ = map.chooseEmptied(size: 16, run: 8, pinned: 0) }
    func isUsable(_ page: Int) -> Bool { map.isFree(page) && !map.isEmptied(page: page) }
    for length in [1, 2, 3, 5, 8, 31, 63, 64, 65, 130] {
      let first = (2..<max(2, pageCount - length + 1)).first { (($0)..<($0 + length)).allSatisfy(isUsable) }
      #expect(
        map.hole(of: length) == first.map { $0..<$0 + length }, "\(length) of \(pageCount), seed \(seed)")
      var sum = 0
      var holes: [Range<Int>] = []
      var start: Int?
      var usable = 0
      for page in 2...pageCount {
        if page < pageCount, isUsable(page) {
          usable += 1
        } else {
          if usable >= length { sum += usable }
          usable = 0
        }
        if page < pageCount, map.isFree(page) {
          start = start ?? page
        } else if let begin = start {
          if page - begin >= length { holes.append(begin..<page) }
          start = nil
        }
      }
      #expect(map.pagesInHoles(of: length, atMost: pageCount) == sum)
      var found: [Range<Int>] = []
      map.free.forEachRun(of: length, in: 2..<pageCount) { found.append($0) }
      #expect(found == holes)
    }
  }
}
