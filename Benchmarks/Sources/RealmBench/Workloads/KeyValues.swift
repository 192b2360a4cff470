/// Keys of 24 bytes and values of 150 bytes, as good as random, like those of redb's published benchmark
/// (https://github.com/cberner/redb, crates/redb-bench).
enum KeyValues {
  static let keyBytes = 24
  static let valueBytes = 150

  struct Pair {
    var key: [UInt8]
    var value: [UInt8]
  }

  static func key(_ index: Int) -> [UInt8] { bytes(keyBytes, seed: 2 * UInt64(index)) }
  static func pair(_ index: Int) -> Pair {
    Pair(key: key(index), value: bytes(valueBytes, seed: 2 * UInt64(index) + 1))
  }

  private static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
    // Consecutive seeds would give sequences that overlap, because the first number of one would be the seed of the
    // other.
    var seeds = SplitMix64(seed: seed)
    var random = SplitMix64(seed: seeds.next() ^ 3)
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      var (word, left) = (UInt64(0), 0)
      for index in 0..<count {
        if left == 0 { (word, left) = (random.next(), 8) }
        buffer[index] = UInt8(truncatingIfNeeded: word)
        (word, left) = (word >> 8, left - 1)
      }
      filled = count
    }
  }
}

/// Pairs in batches, so that they are never all in memory at once.
struct PairSource {
  private var indices: Range<Int>
  /// The time for making the batches in seconds, which does not count as the engine's time.
  private(set) var seconds = 0.0

  init(_ indices: Range<Int>) { self.indices = indices }

  /// The next pairs; nil after the last.
  mutating func next() -> [KeyValues.Pair]? {
    guard !indices.isEmpty else { return nil }
    let batch = indices.prefix(10_000)
    indices = batch.endIndex..<indices.upperBound
    var pairs: [KeyValues.Pair] = []
    seconds += Measure.seconds { pairs = batch.map(KeyValues.pair) }
    return pairs
  }
}
