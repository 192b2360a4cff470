import Synchronization

/// Which nodes this process has verified: per page, the birth of its nodes and a bit for each unit where one starts.
///
/// A page is written by one commit only, so one birth serves all of its nodes; when the page is recycled its birth
/// differs and all is verified anew. Memory is taken as pages are read: the table is a range of untouched addresses.
///
/// Wait-free. A bit may be lost when two threads meet a recycled page at once (the node is then verified again); none
/// is ever gained, since whoever verified nodes of an older birth held a pin that kept the page from being recycled.
struct SeenNodes: @unchecked Sendable {
  // Sendable: every access is atomic.
  private let words: UnsafeMutablePointer<Atomic<UInt64>>

  init(_ memory: Mapping) {
    // Zeroed memory is a table of atomics that hold zero.
    words = memory.base.assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  static func size(forBytes bytes: Int) -> Int { (bytes + 4095) / 4096 * 16 }

  @inline(__always)
  func contains(unit: UInt64, birth: UInt64) -> Bool {
    let page = Int(truncatingIfNeeded: unit >> 6) * 2
    guard words[page].load(ordering: .acquiring) == birth else { return false }
    return words[page + 1].load(ordering: .sequentiallyConsistent) & (1 << (unit & 63)) != 0
  }

  func insert(unit: UInt64, birth: UInt64) {
    let page = Int(unit >> 6) * 2
    if words[page].load(ordering: .acquiring) != birth {
      words[page + 1].store(0, ordering: .releasing)
      words[page].store(birth, ordering: .releasing)
    }
    words[page + 1].bitwiseOr(1 << (unit & 63), ordering: .acquiringAndReleasing)
  }

  func removeAll(inPages pages: Range<Int>) {
    for page in pages { words[page * 2 + 1].store(0, ordering: .sequentiallyConsistent) }
  }
}
