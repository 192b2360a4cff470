/// Builds a page map by walking refs from the roots of the versions that are held.
///
/// Only nodes that hold refs are read; what a leaf takes, its ref tells. What the newest version reaches is live; what
/// only an older one reaches waits for it.
package struct SpaceWalk {
  private let store: NodeStore
  package private(set) var map: PageMap
  private var claimed: UnitMap
  /// First units of the nodes walked, to skip what versions share.
  private var seen: Set<UInt64> = []

  package init(store: NodeStore, pageCount: Int, slack: Int) {
    self.store = store
    map = PageMap(
      pageCount: pageCount, slack: slack, keepsReserve: store.storage.gainsFromGrowth)
    claimed = UnitMap(pageCount: pageCount)
  }

  /// Notes all that the newest version reaches.
  ///
  /// - Throws: `.corrupted` when two nodes claim the same bytes or one can't be read.
  package mutating func walkNewest(_ root: Ref, access: borrowing NodeAccess) throws(StorageError) {
    guard !root.isNull else { return }
    let units = store.units(ofLength: root.length)
    guard claimed.claim(unit: Int(root.unit), units: units),
      map.claim(unit: Int(root.unit), units: units, birth: root.birth)
    else {
      throw store.corrupted(.overlap, root)
    }
    seen.insert(root.unit)
    for child in try access.children(of: root) { try walkNewest(child, access: access) }
  }

  /// Notes what an older version reaches besides; called from the newest of them to the oldest. `next` is the version
  /// walked before it: nodes it does not share were freed by then at the latest.
  package mutating func walkOlder(
    _ root: Ref, next: UInt64, holders: [UInt64], access: borrowing NodeAccess
  ) throws(StorageError) {
    guard !root.isNull, seen.insert(root.unit).inserted else { return }
    guard
      map.hold(
        unit: Int(root.unit), units: store.units(ofLength: root.length), birth: root.birth, freed: next,
        holders: holders)
    else { throw store.corrupted(.overlap, root) }
    for child in try access.children(of: root) {
      try walkOlder(child, next: next, holders: holders, access: access)
    }
  }
}
