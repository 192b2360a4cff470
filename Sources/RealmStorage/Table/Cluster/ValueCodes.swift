/// Values in memory with the codes that they got, which are consecutive. A value is found by its hash, or by a
/// comparison with each value while they are few or if `isHashed` is false.
struct ValueCodes {
  /// The code of the first value of this collection.
  let first: Int
  let isHashed: Bool
  private var heap: [UInt8] = []
  /// The end of each value in the heap.
  private var ends: [UInt32] = []
  /// A hash table of the values. A slot has the upper half of the value's hash in its upper half, and the value's place
  /// plus one in its lower half; an empty slot is zero. The array is empty while the values are few, and if `isHashed`
  /// is false.
  private var slots: [UInt64] = []

  /// Up to this many values are searched without a hash table, because most transactions of one row have only one
  /// value.
  private static let few = 8
  /// The seed of the hashes. It is random, so that nobody can choose values that share a slot.
  private static let seed = UInt64.random(in: 0...UInt64.max)

  init(first: Int, isHashed: Bool) {
    self.first = first
    self.isHashed = isHashed
  }

  /// The memory that the values take, in bytes.
  var bytes: Int { heap.count + 4 * ends.count + 8 * slots.count }

  /// The code that the next value gets.
  var next: Int { first + ends.count }

  @_lifetime(borrow self)
  func value(_ code: Int) -> RawSpan { bytes(code - first) }

  @_lifetime(borrow self)
  private func bytes(_ place: Int) -> RawSpan {
    heap.span.bytes.extracting((place == 0 ? 0 : Int(ends[place - 1]))..<Int(ends[place]))
  }

  /// The code of a value; nil if the value is not in this collection.
  func code(of value: RawSpan) -> Int? {
    guard !slots.isEmpty else {
      for place in ends.indices where bytes(place).compare(value) == 0 { return first + place }
      return nil
    }
    let hash = ByteHash.of(value, seed: Self.seed)
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] != 0 {
      let place = Int(slots[slot] & 0xffff_ffff) - 1
      if slots[slot] >> 32 == hash >> 32, bytes(place).compare(value) == 0 { return first + place }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// Gives the next code to a value that has none, and returns the code.
  mutating func add(_ value: RawSpan) -> Int {
    heap.append(value)
    ends.append(UInt32(heap.count))
    if isHashed, !slots.isEmpty || ends.count > Self.few {
      if ends.count * 2 > slots.count { rehash() } else { note(ends.count - 1) }
    }
    return next - 1
  }

  /// Removes the values whose codes are `code` or greater.
  mutating func forget(from code: Int) {
    // The slot that was filled last is the end of its chain. It can be emptied, and all other values are still found.
    while next > code {
      let place = ends.count - 1
      if !slots.isEmpty { slots[slot(of: place)] = 0 }
      ends.removeLast()
      heap.removeLast(heap.count - Int(ends.last ?? 0))
    }
  }

  /// Removes all values, but keeps the memory of their bytes for later values.
  mutating func removeAll() {
    heap.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    slots = []
  }

  private func slot(of place: Int) -> Int {
    var slot = Int(truncatingIfNeeded: ByteHash.of(bytes(place), seed: Self.seed)) & (slots.count - 1)
    while slots[slot] & 0xffff_ffff != UInt64(place + 1) { slot = (slot + 1) & (slots.count - 1) }
    return slot
  }

  private mutating func rehash() {
    slots = .zeros(max(64, slots.count * 2))
    for place in ends.indices { note(place) }
  }

  private mutating func note(_ place: Int) {
    let hash = ByteHash.of(bytes(place), seed: Self.seed)
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = (hash & ~0xffff_ffff) | UInt64(place + 1)
  }
}
