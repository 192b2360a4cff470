/// A fixed number of elements that are never shared. So a change of one need not check whether the elements are shared,
/// as a change of an array does.
struct FixedArray<Element>: ~Copyable {
  let count: Int
  private let elements: UnsafeMutablePointer<Element>

  init(_ elements: [Element]) {
    count = elements.count
    self.elements = .allocate(capacity: max(1, count))
    for (place, element) in elements.enumerated() { (self.elements + place).initialize(to: element) }
  }

  deinit {
    elements.deinitialize(count: count)
    elements.deallocate()
  }

  @inline(__always)
  var indices: Range<Int> { 0..<count }

  @inline(__always)
  subscript(_ place: Int) -> Element {
    unsafeAddress {
      precondition(place >= 0 && place < count, "no such place")
      return UnsafePointer(elements + place)
    }
    nonmutating unsafeMutableAddress {
      precondition(place >= 0 && place < count, "no such place")
      return elements + place
    }
  }
}
