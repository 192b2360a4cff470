/// Keys in ascending order, one after another in memory, which are to be put into an ordered tree together.
///
/// They stand in the order in which a merge reads them, so that it goes through the memory from start to end.
package struct SortedKeys {
  private(set) var heap: [UInt8] = []
  /// The end of each key in `heap`.
  private var ends: [UInt32] = []

  package init(count: Int, bytes: Int) {
    heap.reserveCapacity(bytes)
    ends.reserveCapacity(count)
  }

  package var count: Int { ends.count }

  /// - Precondition: `key` is not less than any key before it.
  package mutating func append(_ key: RawSpan) {
    heap.append(key)
    ends.append(UInt32(heap.count))
  }

  /// The bytes of `heap` that hold a key.
  @inline(__always)
  func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index]) }

  @_lifetime(borrow self)
  @inline(__always)
  func key(_ index: Int) -> RawSpan { heap.span.bytes.extracting(range(index)) }

  /// The first index in `range` whose key is not less than `key`; the end of `range` if there is none.
  func lowerBound(_ key: RawSpan, in range: Range<Int>) -> Int {
    let head = key.head
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if self.key(middle).compare(key, head: head) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
