/// A set of sequences of bytes, in no more memory than is allowed.
struct EntrySet: ~Copyable {
  enum Outcome {
    case isNew, isKnown
    /// The entry is not in the set, and there is no room for it.
    case hasNoRoom
  }

  private let maximumBytes: Int
  private let seed = UInt64.random(in: .min ... .max)
  /// The entries one after another: the length of each in 4 bytes, then its bytes.
  private var heap: [UInt8] = []
  /// The hash table. The low 32 bits of a slot are the place in the heap where an entry begins, plus one. The high 32
  /// bits are those of the entry's hash, which tell most entries that differ apart. An empty slot is 0.
  private var table = LargeArray<UInt64>(count: 256)
  private var count = 0

  private static let lengthBytes = 4
  private static let many = 1 << 16

  /// - Parameter maximumBytes: the greatest number of bytes for the entries, with 4 more for each. Only the first entry
  ///   may exceed it. If entries have 17 bytes or more, the hash table takes at most about as much again.
  init(maximumBytes: Int) {
    precondition(maximumBytes < Int(UInt32.max), "places in 32 bits")
    self.maximumBytes = maximumBytes
  }

  /// Removes all entries, and keeps the memory.
  mutating func removeAll() {
    heap.removeAll(keepingCapacity: true)
    if count > 0 { for slot in 0..<table.count { table[slot] = 0 } }
    count = 0
  }

  mutating func insert(_ entry: [UInt8]) -> Outcome {
    let hash = ByteHash.of(entry.span.bytes, seed: seed)
    let mask = table.count - 1
    var slot = Int(truncatingIfNeeded: hash) & mask
    while true {
      let known = table[slot]
      if known == 0 { break }
      if known >> 32 == hash >> 32, has(entry, at: Self.start(known)) { return .isKnown }
      slot = (slot &+ 1) & mask
    }
    guard heap.isEmpty || heap.count + Self.lengthBytes + entry.count <= maximumBytes,
      entry.count < Int(UInt32.max) - heap.count
    else { return .hasNoRoom }
    table[slot] = (hash >> 32) << 32 | UInt64(heap.count + 1)
    let needed = heap.count + Self.lengthBytes + entry.count
    if needed > heap.capacity, needed > Self.many {
      // The room is reserved at once, because an array that grows exists twice for a while, and because memory that is
      // not written yet takes no space.
      heap.reserveCapacity(max(needed, maximumBytes))
    }
    withUnsafeBytes(of: UInt32(entry.count)) { heap.append(contentsOf: $0) }
    heap += entry
    count += 1
    if count > table.count / 4 * 3 { grow() }
    return .isNew
  }

  private static func start(_ known: UInt64) -> Int { Int(UInt32(truncatingIfNeeded: known)) - 1 }

  private func length(at start: Int) -> Int {
    Int(heap.span.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt32.self))
  }

  private func has(_ entry: [UInt8], at start: Int) -> Bool {
    guard length(at: start) == entry.count else { return false }
    let first = start + Self.lengthBytes
    let (bytes, other) = (entry.span.bytes, heap.span.bytes.extracting(first..<first + entry.count))
    var at = 0
    while at + 8 <= bytes.byteCount {
      let word = bytes.unsafeLoadUnaligned(fromByteOffset: at, as: UInt64.self)
      guard word == other.unsafeLoadUnaligned(fromByteOffset: at, as: UInt64.self) else { return false }
      at += 8
    }
    while at < bytes.byteCount {
      let byte = bytes.unsafeLoad(fromByteOffset: at, as: UInt8.self)
      guard byte == other.unsafeLoad(fromByteOffset: at, as: UInt8.self) else { return false }
      at += 1
    }
    return true
  }

  private mutating func grow() {
    let larger = LargeArray<UInt64>(count: 2 * table.count)
    let mask = larger.count - 1
    var start = 0
    while start < heap.count {
      let first = start + Self.lengthBytes
      let end = first + length(at: start)
      let hash = ByteHash.of(heap.span.bytes.extracting(first..<end), seed: seed)
      var slot = Int(truncatingIfNeeded: hash) & mask
      while larger[slot] != 0 { slot = (slot &+ 1) & mask }
      larger[slot] = (hash >> 32) << 32 | UInt64(start + 1)
      start = end
    }
    table = larger
  }
}

extension [UInt8] {
  /// Adds the 16 bytes of a number, in the byte order of this machine.
  mutating func append(number: UInt128) {
    Swift.withUnsafeBytes(of: number) { append(contentsOf: $0) }
  }
}
