/// Keys that are collected to be put into an ordered tree together, in the order of the keys.
///
/// If many keys are put into a tree one by one, each of them makes its leaf anew. A run makes the leaf once.
package final class EntryRun {
  private var heap: [UInt8] = []
  private var entries: [Entry] = []

  private struct Entry {
    /// The first 16 bytes of the key are in `head` and `second`, the first byte in the highest bits. Most comparisons
    /// are decided by these two numbers.
    var head: UInt64
    var second: UInt64
    var start: UInt32
    var length: UInt32
  }

  /// The size in bytes above which the run is to be put into its tree.
  package static let maximumBytes = 32 << 20

  /// The bytes of entries that a transaction may hold in memory if it spills above `bytes` of nodes: eight times as
  /// many, at most 32 MiB. With fewer entries more trees would be made, which have to be joined later.
  static func room(spillingAbove bytes: Int) -> Int { bytes < maximumBytes / 8 ? 8 * bytes : maximumBytes }

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
  }

  /// Removes the key that was added last.
  package func removeLast() {
    guard let last = entries.popLast() else { return }
    heap.removeLast(Int(last.length))
  }

  package func removeAll() {
    heap = []
    entries = []
  }

  /// All keys in ascending order.
  package func sorted() -> SortedKeys {
    let heap = heap
    let entries = entries.sorted { left, right in
      if left.head != right.head { return left.head < right.head }
      if left.second != right.second { return left.second < right.second }
      if left.length <= 16 || right.length <= 16 { return left.length < right.length }
      return Self.key(left, heap).compare(Self.key(right, heap)) < 0
    }
    var keys = SortedKeys(count: entries.count, bytes: heap.count)
    for entry in entries { keys.append(Self.key(entry, heap)) }
    return keys
  }

  @_lifetime(borrow heap)
  private static func key(_ entry: Entry, _ heap: borrowing [UInt8]) -> RawSpan {
    heap.span.bytes.extracting(Int(entry.start)..<Int(entry.start + entry.length))
  }
}
