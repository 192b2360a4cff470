/// Numbers by their place, zero at first. Many of them lie in memory of large pages, which who goes to and fro in finds
/// faster, and which is there in fewer steps.
struct LargeArray<Element: BitwiseCopyable>: ~Copyable {
  let count: Int
  private let elements: UnsafeMutablePointer<Element>
  /// Of many.
  private let mapping: Mapping?

  /// Bytes from which on a mapping is worth its making.
  private static var least: Int { 4 << 20 }

  init(count: Int) {
    self.count = count
    let bytes = count * MemoryLayout<Element>.stride
    if bytes >= Self.least, let mapping = Mapping.anonymous(bytes) {
      mapping.preferLargePages()
      self.mapping = mapping
      elements = mapping.base.bindMemory(to: Element.self, capacity: count)
    } else {
      mapping = nil
      let memory = UnsafeMutableRawPointer.allocate(
        byteCount: bytes, alignment: MemoryLayout<Element>.alignment)
      memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
      elements = memory.bindMemory(to: Element.self, capacity: count)
    }
  }

  deinit { if mapping == nil { elements.deallocate() } }

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

  /// The address of an element, for the length of the array's life.
  @inline(__always)
  func address(of place: Int) -> UnsafeMutablePointer<Element> {
    check(place)
    return elements + place
  }
}
