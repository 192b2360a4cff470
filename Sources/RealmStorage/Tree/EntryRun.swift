/// Keys collected to be put into an ordered tree at once, in the order of the keys.
///
/// Putting many keys one by one makes each leaf anew for each of them; a run makes it once.
package final class EntryRun {
  private(set) var heap: [UInt8] = []
  private var entries: [Entry] = []
  private var isSorted = true

  private struct Entry {
    /// The first 16 bytes of the key, highest first: most comparisons end here.
    var head: UInt64
    var second: UInt64
    var start: UInt32
    var length: UInt32
  }

  /// More than this and the run is to be put into its tree.
  package static let maximumBytes = 64 << 20

  package init() {}

  package var count: Int { entries.count }
  package var bytes: Int { heap.count + entries.count * MemoryLayout<Entry>.stride }

  package func append(_ key: [UInt8]) {
    var (head, second) = (UInt64(0), UInt64(0))
    for index in 0..<min(8, key.count) { head |= UInt64(key[index]) << UInt64(56 - 8 * index) }
    for index in 8..<max(8, min(16, key.count)) { second |= UInt64(key[index]) << UInt64(120 - 8 * index) }
    entries.append(
      Entry(head: head, second: second, start: UInt32(heap.count), length: UInt32(key.count)))
    heap.append(contentsOf: key)
    isSorted = false
  }

  /// Takes back the key added last.
  package func removeLast() {
    guard let last = entries.popLast() else { return }
    heap.removeLast(Int(last.length))
  }

  package func removeAll() {
    heap = []
    entries = []
    isSorted = true
  }

  package func sort() {
    guard !isSorted else { return }
    let heap = heap
    entries.sort { left, right in
      if left.head != right.head { return left.head < right.head }
      if left.second != right.second { return left.second < right.second }
      if left.length <= 16 || right.length <= 16 { return left.length < right.length }
      return Self.key(left, heap).compare(Self.key(right, heap)) < 0
    }
    isSorted = true
  }

  @_lifetime(borrow heap)
  private static func key(_ entry: Entry, _ heap: borrowing [UInt8]) -> RawSpan {
    heap.span.bytes.extracting(Int(entry.start)..<Int(entry.start + entry.length))
  }

  /// Where a key stands in `heap`.
  func range(_ index: Int) -> Range<Int> {
    let entry = entries[index]
    return Int(entry.start)..<Int(entry.start + entry.length)
  }

  /// The first of `range` whose key is not less than `key`. The run is sorted.
  func lowerBound(_ key: RawSpan, in range: Range<Int>) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if Self.key(entries[middle], heap).compare(key) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
