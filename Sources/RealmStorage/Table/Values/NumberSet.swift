/// Whole numbers in memory: a bit for each while they stand close together, as numbers of objects mostly do, else
/// hashed. Bits of a million such numbers fit a cache.
struct NumberSet {
  private(set) var count = 0
  private var least = Int64.max
  private var greatest = Int64.min
  /// The number of the first bit.
  private var base: Int64 = 0
  /// Empty while the numbers are hashed.
  private var bits: [UInt64] = []
  /// At most half full; `empty` where there is none.
  private var slots: [Int64] = []
  private var hasEmpty = false

  private static let empty = Int64.min
  /// So that nobody can choose numbers that share a slot.
  private static let seed = UInt64.random(in: 0...UInt64.max)
  /// Words of bits that are no waste, however few numbers there are.
  private static let fewWords = 16

  init() {}

  /// Of keys of rows that differ.
  init(_ keys: [UInt64]) {
    guard let least = keys.min(), let greatest = keys.max(), greatest <= UInt64(Int64.max) else {
      for key in keys { insert(Int64(bitPattern: key)) }
      return
    }
    // Their range is known: room is made once.
    (self.least, self.greatest, count) = (Int64(least), Int64(greatest), keys.count)
    makeRoom(slack: 0)
    for key in keys { put(Int64(key)) }
  }

  /// Bits need less memory than numbers.
  var isCompact: Bool { !bits.isEmpty }

  // Inlined: else a set that stands in an object would be copied for each call.
  @inline(__always)
  func contains(_ number: Int64) -> Bool {
    if !bits.isEmpty { return place(of: number).map { bits[$0.word] & $0.mask != 0 } ?? false }
    if number == Self.empty { return hasEmpty }
    guard !slots.isEmpty else { return false }
    return slots[slot(of: number)] == number
  }

  /// Adds the places, in order, of those of some keys of rows that the set lacks.
  func appendPlacesOfOthers(_ keys: [UInt64], to places: inout [UInt16]) {
    guard bits.isEmpty else {
      return places.appendPlaces(of: keys, without: bits, base: UInt64(bitPattern: base))
    }
    for (place, key) in keys.enumerated() where !contains(Int64(bitPattern: key)) {
      places.append(UInt16(place))
    }
  }

  /// - Precondition: the set lacks the number.
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

  /// Where the number is, or where it goes.
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
    // As much room before and behind as there is between, so that numbers that go on either way rarely come here.
    makeRoom(slack: UInt64(bitPattern: greatest &- least) / 2 + 64)
    old.forEach { put($0) }
    put(number)
  }

  /// Room for all there are, in the form that fits: no more than a word of bits for each number, but for the slack before and
  /// behind them.
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
