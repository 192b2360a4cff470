/// The content that a workload read, as a number. It does not depend on the order in which rows were read.
struct Answer: Equatable {
  private(set) var value: UInt64 = 0

  init() {}
  init(_ number: Int) { value = UInt64(number) }

  /// Makes an answer of rounded sums, because sums of doubles depend on the order in which they are added up.
  init(rounding numbers: (Double, Double)) {
    value = UInt64((numbers.0 / 1_000).rounded()) << 32 | UInt64((numbers.1 * 1_000_000).rounded())
  }

  mutating func add(_ number: Int64) { value &+= UInt64(bitPattern: number) }
  mutating func add(_ number: Double) { value &+= number.bitPattern }

  /// Adds the length, the first and the last byte of a text. A program that has read a text must have touched these. No
  /// other bytes are read, so that the engine is measured.
  mutating func add(_ text: UnsafeRawBufferPointer) {
    value &+= UInt64(text.count)
    if let first = text.first, let last = text.last { value &+= UInt64(first) &<< 32 &+ UInt64(last) &<< 16 }
  }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  mutating func add(_ other: Answer) { value &+= other.value }

  mutating func add(_ row: RowHash) { value &+= row.value }
}

/// A hash of a row's values, in the order of the columns.
struct RowHash {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ number: UInt64) {
    value = (value ^ number) &* 0x9e37_79b9_7f4a_7c15
    value ^= value &>> 29
  }

  mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }
  mutating func add(_ number: Double) { add(number.bitPattern) }

  mutating func add(_ text: UnsafeRawBufferPointer) {
    add(UInt64(text.count))
    for byte in text { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  mutating func addNull() { add(UInt64(0x6e75_6c6c)) }

  init() {}

  init(_ person: Person) {
    add(person.id)
    add(person.name)
    add(person.email)
    add(person.age)
    add(person.score)
    add(Int64(person.active ? 1 : 0))
    add(person.created)
    add(person.city)
    if let bio = person.bio { add(bio) } else { addNull() }
  }
}
