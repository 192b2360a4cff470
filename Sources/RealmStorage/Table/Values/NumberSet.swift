/// A set of whole numbers in memory. If the numbers are close together, as the keys of objects mostly are, it has one
/// bit for each; else it hashes them. The bits of a million such numbers fit into a cache of the processor.
struct NumberSet {
  private(set) var count = 0
  private var least = Int64.max
  private var greatest = Int64.min
  /// The number for which the first bit stands.
  private var base: Int64 = 0
  /// The bits; empty while the numbers are hashed.
  private var bits: [UInt64] = []
  /// The hash table, which is at most half full. A slot without a number has the value `empty`.
  private var slots: [Int64] = []
  private var hasEmpty = false

  private static let empty = Int64.min
  /// The seed is random so that nobody can choose numbers that share a slot.
  private static let seed = UInt64.random(in: 0...UInt64.max)
  /// The number of words of bits that are no waste, even for a few numbers.
  private static let fewWords = 16

  init() {}

  /// Makes a set of keys of rows.
  ///
  /// - Precondition: no two keys are equal.
  init(_ keys: [UInt64]) {
    guard let least = keys.min(), let greatest = keys.max(), greatest <= UInt64(Int64.max) else {
      for key in keys { insert(Int64(bitPattern: key)) }
      return
    }
    // The range of the keys is known, so the memory is allocated once.
    (self.least, self.greatest, count) = (Int64(least), Int64(greatest), keys.count)
    makeRoom(slack: 0)
    for key in keys { put(Int64(key)) }
  }

  /// Whether the numbers are stored as bits, which need less memory than hashed numbers.
  var isCompact: Bool { !bits.isEmpty }

  // The function is inlined, because otherwise a set that is stored in an object would be copied for each call.
  @inline(__always)
  func contains(_ number: Int64) -> Bool {
    if !bits.isEmpty { return place(of: number).map { bits[$0.word] & $0.mask != 0 } ?? false }
    if number == Self.empty { return hasEmpty }
    guard !slots.isEmpty else { return false }
    return slots[slot(of: number)] == number
  }

  /// Appends the indices, in order, of the keys of rows that the set does not have.
  func appendPlacesOfOthers(_ keys: [UInt64], to places: inout [UInt16]) {
    guard bits.isEmpty else {
      return places.appendPlaces(of: keys, without: bits, base: UInt64(bitPattern: base))
    }
    for (place, key) in keys.enumerated() where !contains(Int64(bitPattern: key)) {
      places.append(UInt16(place))
    }
  }

  /// - Precondition: the set does not have the number.
  mutating func insert(_ number: Int64) {
    count += 1
    least = min(least, number)
    greatest = max(greatest, number)
    if !bits.isEmpty {
      if let place = place(of: number) { return bits[place.word] |= place.mask }
    } else if count * 2 <= slots.count {
      return note(number)
    }
    rebuild(with: number)
  }

  @inline(__always)
  private func place(of number: Int64) -> (word: Int, mask: UInt64)? {
    let distance = UInt64(bitPattern: number &- base)
    guard number >= base, distance >> 6 < UInt64(bits.count) else { return nil }
    return (Int(distance >> 6), 1 << (distance & 63))
  }

  /// The slot of the number, or the slot into which it goes.
  @inline(__always)
  private func slot(of number: Int64) -> Int {
    let mixed = (UInt64(bitPattern: number) ^ Self.seed).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
    var slot = Int(truncatingIfNeeded: mixed.high ^ mixed.low) & (slots.count - 1)
    while slots[slot] != number, slots[slot] != Self.empty { slot = (slot + 1) & (slots.count - 1) }
    return slot
  }

  private mutating func note(_ number: Int64) {
    if number == Self.empty { hasEmpty = true } else { slots[slot(of: number)] = number }
  }

  private mutating func rebuild(with number: Int64) {
    let old = self
    // The room before and the room behind the numbers are each about half of their range, so that numbers that continue
    // in either direction rarely cause another rebuild.
    makeRoom(slack: UInt64(bitPattern: greatest &- least) / 2 + 64)
    old.forEach { put($0) }
    put(number)
  }

  /// Allocates memory for all numbers in the form that fits. If bits are used, they take at most one word for each
  /// number, besides the slack before and behind them.
  private mutating func makeRoom(slack: UInt64) {
    let range = UInt64(bitPattern: greatest &- least)
    (bits, slots) = ([], [])
    if range >> 6 < UInt64(max(count, Self.fewWords)) {
      let slack = Int64(slack)
      base = least.subtractingReportingOverflow(slack).overflow ? .min : least - slack
      bits = .zeros(Int((range + 2 * UInt64(slack)) >> 6) + 1)
    } else {
      var capacity = 64
      while capacity < 4 * count { capacity *= 2 }
      slots = [Int64](repeating: Self.empty, count: capacity)
    }
  }

  private mutating func put(_ number: Int64) {
    guard !bits.isEmpty else { return note(number) }
    if let place = place(of: number) { bits[place.word] |= place.mask }
  }

  private func forEach(_ body: (Int64) -> Void) {
    for word in bits.indices {
      var rest = bits[word]
      while rest != 0 {
        body(base &+ Int64(word * 64 + rest.trailingZeroBitCount))
        rest &= rest - 1
      }
    }
    for number in slots where number != Self.empty { body(number) }
    if hasEmpty, bits.isEmpty { body(Self.empty) }
  }
}
