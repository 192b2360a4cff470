extension RandomAccessCollection where Index == Int {
  /// The first place at which `belongs` holds; the end if there is none. It has to hold at all places behind that place
  /// too.
  @inline(__always)
  func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if belongs(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension Array where Element: Comparable {
  /// Sorts an array that is usually short, and often in order already.
  mutating func sortFew() {
    guard count <= 32 else { return sort() }
    for index in 1..<Swift.max(count, 1) {
      let element = self[index]
      var place = index
      while place > 0, element < self[place - 1] {
        self[place] = self[place - 1]
        place -= 1
      }
      self[place] = element
    }
  }
}

extension Array where Element: FixedWidthInteger {
  /// Makes an array of `count` zeros. This function is always specialized, whereas `init(repeating:count:)` may ask the
  /// runtime for the type of the array each time.
  @inline(__always)
  static func zeros(_ count: Int) -> [Element] {
    var zeros: [Element] = []
    zeros.append(contentsOf: repeatElement(0, count: count))
    return zeros
  }
}

extension [UInt64] {
  /// Sorts the numbers, and leaves each one once.
  mutating func sortWithoutRepeats() {
    // The numbers that a query has found ascend already, and then no copy of them is made.
    guard !isAscending else { return }
    sortFew()
    var count = 0
    for index in indices where count == 0 || self[index] != self[count - 1] {
      self[count] = self[index]
      count += 1
    }
    removeLast(self.count - count)
  }

  /// Whether each number is greater than the number before it.
  private var isAscending: Bool {
    for index in 1..<Swift.max(count, 1) where self[index - 1] >= self[index] { return false }
    return true
  }

  /// Whether the `count` numbers from `first` on stand one after another, the first one at `place`.
  func hasSuccessors(of first: UInt64, _ count: Int, at place: Int) -> Bool {
    guard self.count - place >= count, self[place] == first else { return false }
    return withUnsafeBufferPointer { numbers in
      var differences: UInt64 = 0
      for index in 0..<count { differences |= numbers[place + index] ^ (first &+ UInt64(index)) }
      return differences == 0
    }
  }

  /// The index of the first element that is not less than `value`; the end if there is none. The array has to ascend.
  func lowerBound(_ value: UInt64) -> Int {
    partitioningIndex { $0 >= value }
  }

  /// The index of `value`; nil if it is not there. The array has to ascend.
  func binarySearch(_ value: UInt64) -> Int? {
    let index = lowerBound(value)
    return index < count && self[index] == value ? index : nil
  }
}
