import CPlatform

/// Numbers with the places of what they stand for, to be sorted.
package struct NumberSort: ~Copyable {
  private let items: LargeArray<cp_sort_item>
  /// Room for as many, from the first sort of many on.
  private var scratch: LargeArray<cp_sort_item>

  /// Fewer are sorted beside the stack.
  private static let many = 4096

  /// The places 0..<count, in order.
  package init(count: Int) {
    precondition(count <= UInt32.max, "\(count) rows are too many to be sorted in memory")
    items = LargeArray(count: count)
    scratch = LargeArray(count: 0)
    for place in 0..<count { setPlace(place, place) }
  }

  @inline(__always)
  package func place(_ index: Int) -> Int { Int(items[index].place) }

  @inline(__always)
  package func number(_ index: Int) -> UInt128 {
    let item = items[index]
    return UInt128(item.high) << 64 | UInt128(item.low)
  }

  @inline(__always)
  package mutating func setNumber(_ index: Int, _ number: UInt128) {
    let item = items.address(of: index)
    item.pointee.low = UInt64(truncatingIfNeeded: number)
    item.pointee.high = UInt64(truncatingIfNeeded: number >> 64)
  }

  @inline(__always)
  package mutating func setPlace(_ index: Int, _ place: Int) {
    items.address(of: index).pointee.place = UInt64(place)
  }

  /// What stands at the places, in their order now.
  ///
  /// - Precondition: they are places of `values`.
  package func values(of values: [UInt64]) -> [UInt64] {
    let count = items.count
    return [UInt64](unsafeUninitializedCapacity: count) { sorted, filled in
      // The processor reads many at once where nothing but the bounds stands between them.
      values.withUnsafeBufferPointer { values in
        for index in 0..<count {
          let place = Int(items[index].place)
          precondition(place < values.count, "a place outside of what is sorted")
          sorted[index] = values[place]
        }
      }
      filled = count
    }
  }

  /// Sorts some by their numbers; those with one number keep their order.
  package mutating func sort(_ range: Range<Int>) {
    precondition(range.upperBound <= items.count, "a range outside of what is sorted")
    guard range.count > 1 else { return }
    let first = items.address(of: range.lowerBound)
    guard range.count > Self.many else {
      return withUnsafeTemporaryAllocation(of: cp_sort_item.self, capacity: range.count) { scratch in
        cp_sort(first, scratch.baseAddress, range.count)
      }
    }
    if scratch.count < range.count { scratch = LargeArray(count: items.count) }
    cp_sort(first, scratch.address(of: 0), range.count)
  }
}
