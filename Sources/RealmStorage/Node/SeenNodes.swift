import Synchronization

/// The nodes that this process has verified. For each page, it has the birth of the page's nodes and a bit for each
/// unit at which a verified node starts.
///
/// Only one commit writes a page, so one birth serves all of its nodes. When the page is recycled, its birth differs
/// and all its nodes are verified again. The table is a range of untouched addresses, so it takes memory only as pages
/// are read.
///
/// All methods are wait-free. A bit may be lost when two threads find a recycled page at once; the node is then
/// verified again. No bit is ever set wrongly, because a thread that verified nodes of an older birth held a pin that
/// kept the page from being recycled.
struct SeenNodes: @unchecked Sendable {
  // Sendable: every access is atomic.
  private let words: UnsafeMutablePointer<Atomic<UInt64>>

  init(_ memory: Mapping) {
    // Zeroed memory is a table of atomics whose values are zero.
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
