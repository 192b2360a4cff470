import CPlatform

/// Numbers with the places of what they stand for, to be sorted.
package struct NumberSort {
  private var items: [cp_sort_item]

  /// The places 0..<count, in order.
  package init(count: Int) {
    items = (0..<count).map { cp_sort_item(low: 0, high: 0, place: UInt64($0)) }
  }

  @inline(__always)
  package func place(_ index: Int) -> Int { Int(items[index].place) }

  @inline(__always)
  package func number(_ index: Int) -> UInt128 {
    UInt128(items[index].high) << 64 | UInt128(items[index].low)
  }

  @inline(__always)
  package mutating func setNumber(_ index: Int, _ number: UInt128) {
    items[index].low = UInt64(truncatingIfNeeded: number)
    items[index].high = UInt64(truncatingIfNeeded: number >> 64)
  }

  @inline(__always)
  package mutating func setPlace(_ index: Int, _ place: Int) { items[index].place = UInt64(place) }

  /// Sorts some by their numbers; those with one number keep their order.
  package mutating func sort(_ range: Range<Int>) {
    precondition(range.upperBound <= items.count, "a range outside of what is sorted")
    items.withUnsafeMutableBufferPointer { items in
      withUnsafeTemporaryAllocation(of: cp_sort_item.self, capacity: range.count) { scratch in
        guard let first = items.baseAddress, let other = scratch.baseAddress else { return }
        cp_sort(first + range.lowerBound, other, range.count)
      }
    }
  }
}
