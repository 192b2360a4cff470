/// Which units of a file are claimed by a node: two nodes that claim one unit were not written by this engine.
package struct UnitMap {
  /// A bit for each unit of each page.
  private var pages: [UInt64]

  package init(pageCount: Int) { pages = Array(repeating: 0, count: pageCount) }

  /// False when another node claimed some of the units, or they lie outside of the file.
  package mutating func claim(unit: Int, units: Int) -> Bool {
    guard UInt64(unit * Ref.unit) >= FilePlace.firstNode, unit + units <= pages.count * FilePlace.unitsPerPage
    else {
      return false
    }
    for unit in unit..<unit + units {
      let (page, bit) = (unit / FilePlace.unitsPerPage, UInt64(1) << UInt64(unit % FilePlace.unitsPerPage))
      if pages[page] & bit != 0 { return false }
      pages[page] |= bit
    }
    return true
  }
}
