/// The differences between two ordered trees. The cost of finding them is in proportion to what changed.
///
/// Only the entries of leaves that stand in one tree and not in the other are compared. A split, a merge or a moved
/// node is no difference.
package struct TreeDiff {
  package enum Difference: Equatable, Sendable {
    case inserted(key: [UInt8])
    case removed(key: [UInt8])
    case changed(key: [UInt8])

    package var key: [UInt8] {
      switch self {
      case .inserted(let key), .removed(let key), .changed(let key): key
      }
    }
  }

  /// The differences from `old` to `new`, in the order of their keys.
  ///
  /// `areEqual` compares two values that name different refs, because a long value may have been written again or
  /// moved.
  package static func differences(
    from old: Ref, _ oldAccess: borrowing NodeAccess, to new: Ref, _ newAccess: borrowing NodeAccess,
    areEqual: (TreeValue, TreeValue) throws(StorageError) -> Bool
  ) throws(StorageError) -> [Difference] {
    let leaves = try UnsharedLeaves.find(in: old, oldAccess, and: new, newAccess) { $0.isBranch }
    return try compare(leaves.old, oldAccess, leaves.new, newAccess, areEqual)
  }

  private static func compare(
    _ old: [Ref], _ oldAccess: borrowing NodeAccess, _ new: [Ref], _ newAccess: borrowing NodeAccess,
    _ areEqual: (TreeValue, TreeValue) throws(StorageError) -> Bool
  ) throws(StorageError) -> [Difference] {
    var differences: [Difference] = []
    var (left, right) = (EntryList(old), EntryList(new))
    while true {
      let (leftKey, rightKey) = (try left.key(oldAccess), try right.key(newAccess))
      guard let leftKey else {
        guard let rightKey else { return differences }
        differences.append(.inserted(key: rightKey))
        right.advance()
        continue
      }
      let order = rightKey.map { leftKey.span.bytes.compare($0.span.bytes) } ?? -1
      if order < 0 {
        differences.append(.removed(key: leftKey))
        left.advance()
      } else if order > 0, let rightKey {
        differences.append(.inserted(key: rightKey))
        right.advance()
      } else {
        if try !left.hasSameValue(as: right, oldAccess, newAccess, areEqual) {
          differences.append(.changed(key: leftKey))
        }
        left.advance()
        right.advance()
      }
    }
  }
}

/// The entries of several leaves that stand in order.
private struct EntryList {
  private let leaves: [Ref]
  private var leaf = 0
  private var index = 0

  init(_ leaves: [Ref]) { self.leaves = leaves }

  mutating func key(_ access: borrowing NodeAccess) throws(StorageError) -> [UInt8]? {
    while leaf < leaves.count {
      let node = try OrderedTree.leaf(leaves[leaf], access)
      if index < node.count { return node.key(index) }
      leaf += 1
      index = 0
    }
    return nil
  }

  mutating func advance() { index += 1 }

  func hasSameValue(
    as other: EntryList, _ access: borrowing NodeAccess, _ otherAccess: borrowing NodeAccess,
    _ areEqual: (TreeValue, TreeValue) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    let value = try OrderedTree.leaf(leaves[leaf], access).value(index)
    let otherValue = try OrderedTree.leaf(other.leaves[other.leaf], otherAccess).value(other.index)
    if value.bytes.compare(otherValue.bytes) != 0 { return false }
    if value.ref == otherValue.ref { return true }
    return try areEqual(value, otherValue)
  }
}
