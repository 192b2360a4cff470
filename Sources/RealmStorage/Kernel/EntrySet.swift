/// Sequences of bytes, each once, in no more memory than is allowed.
struct EntrySet: ~Copyable {
  enum Outcome {
    case isNew, isKnown
    /// It is not among those that are there, and there is no room for it.
    case hasNoRoom
  }

  private let maximumBytes: Int
  private let seed = UInt64.random(in: .min ... .max)
  /// The length of each in 4 bytes, and its bytes.
  private var heap: [UInt8] = []
  /// Where entries begin in the heap, plus one, by their hashes; 0 where there is none.
  private var table = LargeArray<UInt32>(count: 256)
  private var count = 0

  private static let lengthBytes = 4

  /// - Parameter maximumBytes: of the entries, with 4 for each, which it may pass for one entry only; the table of their places takes half as much at most where they have 16 bytes and more.
  init(maximumBytes: Int) {
    precondition(maximumBytes < Int(UInt32.max), "places in 32 bits")
    self.maximumBytes = maximumBytes
  }

  mutating func insert(_ entry: [UInt8]) -> Outcome {
    let hash = ByteHash.of(entry.span.bytes, seed: seed)
    let mask = table.count - 1
    var slot = Int(truncatingIfNeeded: hash) & mask
    while table[slot] != 0 {
      if has(entry, at: Int(table[slot]) - 1) { return .isKnown }
      slot = (slot &+ 1) & mask
    }
    guard heap.isEmpty || heap.count + Self.lengthBytes + entry.count <= maximumBytes,
      entry.count < Int(UInt32.max) - heap.count
    else { return .hasNoRoom }
    table[slot] = UInt32(heap.count + 1)
    withUnsafeBytes(of: UInt32(entry.count)) { heap.append(contentsOf: $0) }
    heap += entry
    count += 1
    if count > table.count / 4 * 3 { grow() }
    return .isNew
  }

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
    let larger = LargeArray<UInt32>(count: 2 * table.count)
    let mask = larger.count - 1
    var start = 0
    while start < heap.count {
      let first = start + Self.lengthBytes
      let end = first + length(at: start)
      let hash = ByteHash.of(heap.span.bytes.extracting(first..<end), seed: seed)
      var slot = Int(truncatingIfNeeded: hash) & mask
      while larger[slot] != 0 { slot = (slot &+ 1) & mask }
      larger[slot] = UInt32(start + 1)
      start = end
    }
    table = larger
  }
}

extension [UInt8] {
  /// Adds the 16 bytes of a number, in the order of this machine.
  mutating func append(number: UInt128) {
    Swift.withUnsafeBytes(of: number) { append(contentsOf: $0) }
  }
}
