/// Builds a page map by walking the refs from the roots of the held versions.
///
/// Only nodes that hold refs are read; the ref of a leaf tells how much space the leaf takes. What the newest version
/// reaches is live. What only an older version reaches waits for that version.
package struct SpaceWalk {
  private let store: NodeStore
  package private(set) var map: PageMap
  private var claimed: UnitMap
  /// The first units of the nodes that were walked, so that nodes shared by several versions are walked once.
  private var seen: Set<UInt64> = []

  package init(store: NodeStore, pageCount: Int, slack: Int) {
    self.store = store
    map = PageMap(
      pageCount: pageCount, slack: slack, keepsReserve: store.storage.gainsFromGrowth)
    claimed = UnitMap(pageCount: pageCount)
  }

  /// Notes all that the newest version reaches.
  ///
  /// - Throws: `.corrupted` if two nodes claim the same bytes; the error of a node that can't be read.
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

  /// Notes what an older version reaches besides. It must be called for the older versions in order, from the newest of
  /// them to the oldest. `next` is the version walked before this one. Nodes of this version that `next` does not reach
  /// were freed by `next` at the latest.
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
