/// The units of a file that are claimed by nodes. Two nodes that claim one unit were not written by this engine.
package struct UnitMap {
  /// One bit for each unit of each page.
  private var pages: [UInt64]

  package init(pageCount: Int) { pages = Array(repeating: 0, count: pageCount) }

  /// Claims units for a node. Returns false if another node claimed some of them, or if they lie outside of the file.
  package mutating func claim(unit: Int, units: Int) -> Bool {
    guard UInt64(unit * Ref.unit) >= FilePlace.firstNode, unit + units <= pages.count * FilePlace.unitsPerPage
    else {
      return false
    }
    var (first, rest) = (unit, units)
    while rest > 0 {
      let (page, bit) = (first / FilePlace.unitsPerPage, first % FilePlace.unitsPerPage)
      let part = min(rest, FilePlace.unitsPerPage - bit)
      let mask: UInt64 = (~0 >> UInt64(FilePlace.unitsPerPage - part)) << UInt64(bit)
      if pages[page] & mask != 0 { return false }
      pages[page] |= mask
      first += part
      rest -= part
    }
    return true
  }
}
