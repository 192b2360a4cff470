/// Keys in order, one after another, to be put into an ordered tree at once.
///
/// They stand as they are read, so that a merge goes through memory from its start to its end.
package struct SortedKeys {
  private(set) var heap: [UInt8] = []
  /// Where each key ends in the heap.
  private var ends: [UInt32] = []

  package init(count: Int, bytes: Int) {
    heap.reserveCapacity(bytes)
    ends.reserveCapacity(count)
  }

  package var count: Int { ends.count }

  /// - Precondition: `key` is not less than all before it.
  package mutating func append(_ key: RawSpan) {
    heap.append(key)
    ends.append(UInt32(heap.count))
  }

  /// Where a key stands in `heap`.
  @inline(__always)
  func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index]) }

  @_lifetime(borrow self)
  @inline(__always)
  func key(_ index: Int) -> RawSpan { heap.span.bytes.extracting(range(index)) }

  /// The first of `range` whose key is not less than `key`.
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
