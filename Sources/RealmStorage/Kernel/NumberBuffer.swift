/// Numbers that are made one after another before they are used. So the code that makes them and the code that uses
/// them are loops without a call for each number.
struct NumberBuffer: ~Copyable {
  private var numbers = LargeArray<UInt128>(count: 0)
  private(set) var count = 0

  /// Removes all numbers, and makes room for `room` numbers.
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

  /// Replaces each number by another one.
  @inline(__always)
  mutating func replaceEach(_ other: (UInt128) -> UInt128) {
    for index in 0..<count { numbers[index] = other(numbers[index]) }
  }
}
