/// The leaves that stand in only one of two trees. The cost of finding them is in proportion to what differs.
///
/// Versions share every node that did not change, so the search skips equal refs with all nodes below them.
enum UnsharedLeaves {
  /// The leaves of both trees, without the leaves that stand in both. The leaves of each tree are in the tree's order.
  ///
  /// - Throws: `.corrupted`, also if a tree names one node twice.
  static func find(
    in old: Ref, _ oldAccess: borrowing NodeAccess, and new: Ref, _ newAccess: borrowing NodeAccess,
    isBranch: (Ref) -> Bool
  ) throws(StorageError) -> (old: [Ref], new: [Ref]) {
    var (left, right) = (old.isNull ? [] : [old], new.isNull ? [] : [new])
    // The children of a node have lower levels than the node. So when the loop comes to a level, all refs of that level
    // are already in the two lists.
    while let level = (left + right).filter(isBranch).map(\.level).max() {
      let shared = Set(left).intersection(right)
      let isNext = { (ref: Ref) in isBranch(ref) && ref.level == level }
      left = try expand(left, without: shared, oldAccess, where: isNext)
      right = try expand(right, without: shared, newAccess, where: isNext)
    }
    let shared = Set(left).intersection(right)
    return (left.filter { !shared.contains($0) }, right.filter { !shared.contains($0) })
  }

  private static func expand(
    _ refs: [Ref], without shared: Set<Ref>, _ access: borrowing NodeAccess, where isNext: (Ref) -> Bool
  ) throws(StorageError) -> [Ref] {
    var expanded: [Ref] = []
    for ref in refs where !shared.contains(ref) {
      if isNext(ref) {
        expanded += try access.children(of: ref)
      } else {
        expanded.append(ref)
      }
    }
    // A forged tree may name one node many times, each time by another ref.
    if Set(expanded.map(\.unit)).count < expanded.count { throw access.corrupted(.overlap, expanded[0]) }
    return expanded
  }
}
