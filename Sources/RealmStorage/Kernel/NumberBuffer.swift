/// Numbers that are made one after another before they are used: what makes them and what uses them are loops without a call
/// for each.
struct NumberBuffer: ~Copyable {
  private var numbers = LargeArray<UInt128>(count: 0)
  private(set) var count = 0

  /// Forgets what there is, and takes so many.
  mutating func begin(_ room: Int) {
    count = 0
    if numbers.count < room { numbers = LargeArray(count: room) }
  }

  /// - Precondition: there is room.
  @inline(__always)
  mutating func append(_ number: UInt128) {
    numbers[count] = number
    count &+= 1
  }

  @inline(__always)
  subscript(_ index: Int) -> UInt128 { numbers[index] }

  /// Puts others in their place.
  @inline(__always)
  mutating func replaceEach(_ other: (UInt128) -> UInt128) {
    for index in 0..<count { numbers[index] = other(numbers[index]) }
  }
}
