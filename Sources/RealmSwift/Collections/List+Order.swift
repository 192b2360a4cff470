extension List: MutableCollection {
  public typealias SubSequence = Slice<List>

  /// The elements of a range, which show the list. To set them puts other elements, as many as there are, in their place.
  ///
  /// - Precondition: the range is one of the list.
  public subscript(bounds: Range<Int>) -> Slice<List> {
    get {
      checkRange(bounds)
      return Slice(base: self, bounds: bounds)
    }
    set {
      // What was changed in its place is there already.
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

// The standard library has the same of all mutable collections. It puts elements to their places one by one, which embedded
// objects do not allow, since each has an owner; and it can't be called for a list in a constant.
extension List {
  /// Puts the elements into other places.
  ///
  /// - Parameter order: of each place, from which it gets its element: each place once.
  private func reorder(_ order: [Int]) {
    change(.reorder(order))
  }

  /// Puts the elements in an order; of those that are equal by it, the first stays first. A managed list is changed in a
  /// write transaction only. O(n log n).
  ///
  /// - Throws: what `areInIncreasingOrder` throws; then nothing is changed.
  public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
    let elements = Array(self)
    reorder(try elements.indices.sorted { try areInIncreasingOrder(elements[$0], elements[$1]) })
  }

  /// Puts the elements in the reverse order. O(n).
  public func reverse() { reorder((0..<count).reversed()) }

  /// Puts the elements in a random order. O(n).
  public func shuffle() {
    var generator = SystemRandomNumberGenerator()
    shuffle(using: &generator)
  }

  /// Puts the elements in an order that a generator decides. O(n).
  public func shuffle<Generator: RandomNumberGenerator>(using generator: inout Generator) {
    reorder((0..<count).shuffled(using: &generator))
  }

  /// Puts the elements of which a condition holds behind all others, and answers where they begin. O(n).
  ///
  /// - Throws: what the condition throws; then nothing is changed.
  public func partition(by belongsInSecondPartition: (Element) throws -> Bool) rethrows -> Int {
    let isSecond = try Array(self).map(belongsInSecondPartition)
    let first = isSecond.indices.filter { !isSecond[$0] }
    reorder(first + isSecond.indices.filter { isSecond[$0] })
    return first.count
  }
}

extension List where Element: Comparable {
  /// Puts the elements in ascending order. O(n log n).
  public func sort() { sort(by: <) }
}
