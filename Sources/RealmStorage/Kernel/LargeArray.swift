import CRealmPlatform

/// Numbers by their place, which are zero at first, in memory of the process's allocator. So a second sort takes the
/// memory of the first one; new memory takes as long to get as the sorting. If there are many numbers, new memory lies
/// in large pages, in which scattered accesses are faster.
struct LargeArray<Element: BitwiseCopyable>: ~Copyable {
  let count: Int
  private let elements: UnsafeMutablePointer<Element>

  init(count: Int) {
    precondition(count >= 0 && MemoryLayout<Element>.alignment <= 16, "what the allocator aligns")
    let (bytes, isTooMuch) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
    guard !isTooMuch, let memory = cp_allocate_zeros(bytes) else {
      preconditionFailure("there is no memory for \(count) numbers")
    }
    self.count = count
    elements = memory.bindMemory(to: Element.self, capacity: count)
  }

  deinit { cp_deallocate(elements) }

  @inline(__always)
  subscript(_ place: Int) -> Element {
    get {
      check(place)
      return elements[place]
    }
    nonmutating set {
      check(place)
      elements[place] = newValue
    }
  }

  @inline(__always)
  private func check(_ place: Int) { precondition(place >= 0 && place < count, "no such place") }

  /// The address of an element, which is valid as long as the array lives.
  @inline(__always)
  func address(of place: Int) -> UnsafeMutablePointer<Element> {
    check(place)
    return elements + place
  }
}
