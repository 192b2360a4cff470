extension List: MutableCollection {
  /// The type of a range of the list.
  public typealias SubSequence = Slice<List>

  /// The elements of a range. The slice shows the list itself. Setting it replaces the elements of the range by others, whose
  /// number may differ.
  ///
  /// A range that is not within `0..<count` stops the program.
  public subscript(bounds: Range<Int>) -> Slice<List> {
    get {
      checkRange(bounds)
      return Slice(base: self, bounds: bounds)
    }
    set {
      // A slice that was changed in place shows the list itself, so the list is changed already.
      if newValue.base === self, newValue.startIndex == bounds.lowerBound,
        newValue.endIndex == bounds.upperBound
      {
        return
      }
      replaceSubrange(bounds, with: newValue)
    }
  }

  private func checkRange(_ bounds: Range<Int>) {
    guard bounds.lowerBound >= 0, bounds.upperBound <= count else {
      raise("Index out of range", "there is no range \(bounds) in a list of \(count).")
    }
  }
}

// The standard library has these methods for all mutable collections. It puts elements to their places one by one, which
// embedded objects do not allow because each has one owner. Those methods can't be called for a list in a constant either.
extension List {
  /// Puts the elements into another order.
  ///
  /// - Parameter order: the old index of the element for each new index. It contains each index once.
  private func reorder(_ order: [Int]) {
    change(.reorder(order))
  }

  /// Sorts the elements. The sort is stable: elements that are equal by the order keep their order. A managed list needs a
  /// write transaction. O(n log n).
  ///
  /// - Parameter areInIncreasingOrder: whether the first element comes before the second.
  /// - Throws: what `areInIncreasingOrder` throws. The list is then unchanged.
  public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
    let elements = Array(self)
    reorder(try elements.indices.sorted { try areInIncreasingOrder(elements[$0], elements[$1]) })
  }

  /// Reverses the order of the elements. A managed list needs a write transaction. O(n).
  public func reverse() { reorder((0..<count).reversed()) }

  /// Puts the elements into a random order. A managed list needs a write transaction. O(n).
  public func shuffle() {
    var generator = SystemRandomNumberGenerator()
    shuffle(using: &generator)
  }

  /// Puts the elements into a random order that `generator` decides. A managed list needs a write transaction. O(n).
  public func shuffle<Generator: RandomNumberGenerator>(using generator: inout Generator) {
    reorder((0..<count).shuffled(using: &generator))
  }

  /// Moves the elements for which the condition is true behind all others, and returns the index of the first of them. Both
  /// parts keep their order. A managed list needs a write transaction. O(n).
  ///
  /// - Parameter belongsInSecondPartition: the condition.
  /// - Throws: what the condition throws. The list is then unchanged.
  public func partition(by belongsInSecondPartition: (Element) throws -> Bool) rethrows -> Int {
    let isSecond = try Array(self).map(belongsInSecondPartition)
    let first = isSecond.indices.filter { !isSecond[$0] }
    reorder(first + isSecond.indices.filter { isSecond[$0] })
    return first.count
  }
}

extension List where Element: Comparable {
  /// Sorts the elements in ascending order. The sort is stable. A managed list needs a write transaction. O(n log n).
  public func sort() { sort(by: <) }
}
