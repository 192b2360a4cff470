/// Values in memory, and the codes given to them in order; found by hashing, or one by one while they are few.
struct ValueCodes {
  /// The code of the first value here.
  let first: Int
  let isHashed: Bool
  private var heap: [UInt8] = []
  /// Where each value ends in the heap.
  private var ends: [UInt32] = []
  /// By the hash of the value: its upper half, and the value's place, one more; zero where there is none. Empty while the
  /// values are few.
  private var slots: [UInt64] = []

  /// So few are not worth a table of their hashes: most transactions of one row have one.
  private static let few = 8
  /// So that nobody can choose values that share a slot.
  private static let seed = UInt64.random(in: 0...UInt64.max)

  init(first: Int, isHashed: Bool) {
    self.first = first
    self.isHashed = isHashed
  }

  /// What they take in memory.
  var bytes: Int { heap.count + 4 * ends.count + 8 * slots.count }

  /// The code that the next value gets.
  var next: Int { first + ends.count }

  @_lifetime(borrow self)
  func value(_ code: Int) -> RawSpan { bytes(code - first) }

  @_lifetime(borrow self)
  private func bytes(_ place: Int) -> RawSpan {
    heap.span.bytes.extracting((place == 0 ? 0 : Int(ends[place - 1]))..<Int(ends[place]))
  }

  /// The code of a value that is here.
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

  /// Gives the next code to a value that has none; answers it.
  mutating func add(_ value: RawSpan) -> Int {
    heap.append(value)
    ends.append(UInt32(heap.count))
    if isHashed, !slots.isEmpty || ends.count > Self.few {
      if ends.count * 2 > slots.count { rehash() } else { note(ends.count - 1) }
    }
    return next - 1
  }

  /// Takes back the codes from `code` on.
  mutating func forget(from code: Int) {
    // The slot noted last is the end of its chain: it can be emptied and all others are still found.
    while next > code {
      let place = ends.count - 1
      if !slots.isEmpty { slots[slot(of: place)] = 0 }
      ends.removeLast()
      heap.removeLast(heap.count - Int(ends.last ?? 0))
    }
  }

  /// Forgets all values, and keeps the memory of their bytes for those to come.
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
