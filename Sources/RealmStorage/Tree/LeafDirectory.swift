import Synchronization

/// The leaves of a keyed tree that never changes, in one array. One search in it replaces the descent through the
/// branches.
///
/// The directory is made from the branches when the number of lookups pays for it. A lookup in it finds the same leaf
/// as a descent.
final class LeafDirectory: Sendable {
  private let entries: [Entry]
  /// The factors by which the place of a key is guessed. The distance of the key from the least key of the second leaf
  /// is shifted right by `shift`, multiplied by `scale` and divided by 2^32. If the keys were given in order, the guess
  /// is right.
  private let shift: UInt64
  private let scale: UInt64

  private struct Entry {
    var leastKey: UInt64
    var leaf: Ref
  }

  /// The most leaves of a directory. It takes 40 bytes for each leaf.
  private static let maximumCount = 1 << 16

  /// Returns nil if the tree has too many leaves, has only one or two, or is forged so that its keys do not ascend.
  private init?(_ root: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    var entries: [Entry] = []
    guard try Self.append(root, least: 0, to: &entries, access), entries.count > 2 else { return nil }
    // The first leaf has no least key of its own, so the guess starts at the second leaf.
    let range = entries[entries.count - 1].leastKey - entries[1].leastKey
    shift = UInt64(max(0, 32 - range.leadingZeroBitCount))
    scale = (UInt64(entries.count - 2) << 32) / max(range >> shift, 1)
    self.entries = entries
  }

  /// - Parameter least: the least key that the branch above gives for `ref`. It also holds for the first leaf below
  ///   `ref`.
  private static func append(
    _ ref: Ref, least: UInt64, to entries: inout [Entry], _ access: borrowing NodeAccess
  ) throws(StorageError) -> Bool {
    guard ref.isKeyedBranch else {
      if let last = entries.last, last.leastKey >= least { return false }
      entries.append(Entry(leastKey: least, leaf: ref))
      return entries.count <= maximumCount
    }
    let branch = KeyedBranch(try access.node(ref))
    for index in 0..<branch.count {
      let key = index == 0 ? least : branch.leastKey(index)
      guard try append(branch.child(index), least: key, to: &entries, access) else { return false }
    }
    return true
  }

  /// See `KeyedTree.leafAndRange`.
  @inline(__always)
  fileprivate func leafAndRange(for key: UInt64) -> (ref: Ref, least: UInt64, next: UInt64) {
    let last = entries.count &- 1
    let distance = key &- entries[1].leastKey
    // For a key outside of the range of least keys the guess may be any number.
    let guess = 1 &+ Int(truncatingIfNeeded: ((distance &>> shift) &* scale) &>> 32)
    var place = guess > 0 && guess < last ? guess : last
    if _slowPath(entries[place].leastKey > key || (place < last && entries[place &+ 1].leastKey <= key)) {
      place = search(key)
    }
    let entry = entries[place]
    return (entry.leaf, entry.leastKey, place < last ? entries[place &+ 1].leastKey : 0)
  }

  /// The last entry whose least key is not greater than `key`. There is always one, because the least key of the first
  /// entry is zero.
  @inline(never)
  private func search(_ key: UInt64) -> Int {
    var (first, count) = (0, entries.count)
    while count > 1 {
      let half = count &>> 1
      if entries[first &+ half].leastKey <= key { first = first &+ half }
      count = count &- half
    }
    return first
  }

  /// A keyed tree in which keys are looked up, and its directory, if it has been made.
  struct Lookup: ~Copyable, Sendable {
    let root: Ref
    private let directory = Atomic<Unmanaged<LeafDirectory>?>(nil)
    /// The number of lookups that are left until the directory is made.
    private let left: Atomic<Int>

    /// - Parameter leaves: the approximate number of leaves.
    init(_ root: Ref, leaves: Int) {
      self.root = root
      left = Atomic(max(leaves / 4, 100))
    }

    deinit { directory.load(ordering: .acquiring)?.release() }

    /// See `KeyedTree.leafAndRange`.
    @inline(__always)
    func leafAndRange(
      for key: UInt64, _ access: borrowing NodeAccess
    ) throws(StorageError) -> (ref: Ref, least: UInt64, next: UInt64) {
      if let directory = directory.load(ordering: .acquiring) {
        return directory.lend { $0.leafAndRange(for: key) }
      }
      return try descend(to: key, access)
    }

    @inline(never)
    private func descend(
      to key: UInt64, _ access: borrowing NodeAccess
    ) throws(StorageError) -> (ref: Ref, least: UInt64, next: UInt64) {
      // Threads that count at the same time may lose counts. That does no harm.
      let left = left.load(ordering: .relaxed) &- 1
      if left >= 0 { self.left.store(left, ordering: .relaxed) }
      if left == 0 { makeDirectory(access) }
      return try KeyedTree.leafAndRange(for: key, in: root, access)
    }

    private func makeDirectory(_ access: borrowing NodeAccess) {
      // An error of reading is ignored here, because the lookup that needs the node reports it.
      guard root.isKeyedBranch, let made = (try? LeafDirectory(root, access)) ?? nil else { return }
      let kept = Unmanaged.passRetained(made)
      let isFirst = directory.compareExchange(
        expected: nil, desired: kept, ordering: .acquiringAndReleasing
      ).exchanged
      if !isFirst { kept.release() }
    }
  }
}
