extension RandomAccessCollection where Index == Int {
  /// The first place from which on `belongs` holds; it holds nowhere before.
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
  /// Sorts what is most often short, and often in order already.
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
  /// So many zeros. Always specialized: who makes an array by `init(repeating:count:)` may ask the runtime for its type each
  /// time.
  @inline(__always)
  static func zeros(_ count: Int) -> [Element] {
    var zeros: [Element] = []
    zeros.append(contentsOf: repeatElement(0, count: count))
    return zeros
  }
}

extension [UInt64] {
  /// Ascending, each once.
  mutating func sortWithoutRepeats() {
    // What a query has found is: no copy of it is made.
    guard !isAscending else { return }
    sortFew()
    var count = 0
    for index in indices where count == 0 || self[index] != self[count - 1] {
      self[count] = self[index]
      count += 1
    }
    removeLast(self.count - count)
  }

  /// Each greater than the one before.
  private var isAscending: Bool {
    for index in 1..<Swift.max(count, 1) where self[index - 1] >= self[index] { return false }
    return true
  }

  /// Whether `count` numbers that follow one another, from `first` on, stand at a place and behind it.
  func hasSuccessors(of first: UInt64, _ count: Int, at place: Int) -> Bool {
    guard self.count - place >= count, self[place] == first else { return false }
    return withUnsafeBufferPointer { numbers in
      var differences: UInt64 = 0
      for index in 0..<count { differences |= numbers[place + index] ^ (first &+ UInt64(index)) }
      return differences == 0
    }
  }

  /// Index of the first element that is not less, in ascending order.
  func lowerBound(_ value: UInt64) -> Int {
    partitioningIndex { $0 >= value }
  }

  /// Index of the element, in ascending order.
  func binarySearch(_ value: UInt64) -> Int? {
    let index = lowerBound(value)
    return index < count && self[index] == value ? index : nil
  }
}
