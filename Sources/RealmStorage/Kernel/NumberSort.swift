import CRealmPlatform

/// Numbers to be sorted, each with the place of what it stands for.
package struct NumberSort: ~Copyable {
  private let items: LargeArray<cp_sort_item>
  /// Room for as many items as were sorted at once, if these were more than `many`.
  private var scratch: LargeArray<cp_sort_item>

  /// The greatest number of items that are sorted with temporary memory instead of `scratch`.
  private static let many = 4096

  /// Makes numbers that are zero, all with place 0.
  package init(count: Int) {
    precondition(count <= UInt32.max, "\(count) rows are too many to be sorted in memory")
    items = LargeArray(count: count)
    scratch = LargeArray(count: 0)
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

  @inline(__always)
  package mutating func put(_ number: UInt128, _ place: Int, at index: Int) {
    items[index] = cp_sort_item(
      low: UInt64(truncatingIfNeeded: number), high: UInt64(truncatingIfNeeded: number >> 64),
      place: UInt64(truncatingIfNeeded: place))
  }

  /// Puts the numbers of some places at the indices that equal the places.
  mutating func put(_ numbers: borrowing NumberBuffer, places: Range<Int>) {
    for index in 0..<places.count {
      put(numbers[index], places.lowerBound &+ index, at: places.lowerBound &+ index)
    }
  }

  /// Puts the numbers of some places at the indices that a deal gives them.
  mutating func put(_ numbers: borrowing NumberBuffer, places: Range<Int>, by deal: inout NumberDeal) {
    for index in 0..<places.count {
      let number = numbers[index]
      put(number, places.lowerBound &+ index, at: deal.index(of: number))
    }
  }

  /// Puts two numbers for each of some places at the index that a deal gives to the first one. The second number stands
  /// in the lowest `room` bits, and above them stands the distance of the first number from `least`.
  mutating func put(
    _ ones: borrowing NumberBuffer, _ twos: borrowing NumberBuffer, least: UInt128, room: UInt128,
    places: Range<Int>, by deal: inout NumberDeal
  ) {
    for index in 0..<places.count {
      let one = ones[index]
      put((one &- least) &<< room | twos[index], places.lowerBound &+ index, at: deal.index(of: one))
    }
  }

  /// The places in their present order, counted from `first`.
  package func places(from first: UInt64) -> [UInt64] {
    let count = items.count
    return [UInt64](unsafeUninitializedCapacity: count) { sorted, filled in
      for index in 0..<count { sorted[index] = first &+ items[index].place }
      filled = count
    }
  }

  /// Puts the values that stand at the places into the present order of the places.
  ///
  /// - Precondition: the places are those of `values`, each one once.
  package func arrange(_ values: inout [UInt64]) {
    let count = items.count
    precondition(count == values.count, "as many values as there are to be sorted")
    if let first = values.first, values.indices.allSatisfy({ values[$0] == first &+ UInt64($0) }) {
      values = places(from: first)
      return
    }
    values = [UInt64](unsafeUninitializedCapacity: count) { sorted, filled in
      // The processor reads many values at once, because only the check of the bounds stands between the reads.
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

  /// Sorts the items of a range by their numbers. Items with equal numbers keep their order.
  package mutating func sort(_ range: Range<Int>) {
    precondition(range.upperBound <= items.count, "a range outside of what is sorted")
    guard range.count > 1 else { return }
    let first = items.address(of: range.lowerBound)
    guard range.count > Self.many else {
      return withUnsafeTemporaryAllocation(of: cp_sort_item.self, capacity: range.count) { scratch in
        cp_sort(first, scratch.baseAddress, range.count)
      }
    }
    if scratch.count < range.count {
      scratch = LargeArray(count: min(range.count + range.count / 4, items.count))
    }
    cp_sort(first, scratch.address(of: 0), range.count)
  }
}
