/// A fast hash of bytes, for tables in memory. It is spread by a seed, so that nobody can choose bytes that collide.
///
/// The hash is not stored, because it may differ from one build to the next.
package enum ByteHash {
  @inline(__always)
  package static func of(_ bytes: RawSpan, seed: UInt64) -> UInt64 {
    let count = bytes.byteCount
    var hash = mix(seed ^ UInt64(count), 0x9e37_79b9_7f4a_7c15)
    var at = 0
    while at + 8 <= count {
      hash = mix(hash ^ bytes.unsafeLoadUnaligned(fromByteOffset: at, as: UInt64.self), 0xd6e8_feb8_6659_fd93)
      at += 8
    }
    if at < count { hash = mix(hash ^ tail(bytes, from: at), 0xa076_1d64_78bd_642f) }
    return hash
  }

  /// The last bytes, which are fewer than 8, as a word. If there are bytes before them, some of these are in the word
  /// too.
  @inline(__always)
  private static func tail(_ bytes: RawSpan, from at: Int) -> UInt64 {
    let count = bytes.byteCount
    if count >= 8 { return bytes.unsafeLoadUnaligned(fromByteOffset: count - 8, as: UInt64.self) }
    if count >= 4 {
      let low = bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
      return UInt64(low) | UInt64(bytes.unsafeLoadUnaligned(fromByteOffset: count - 4, as: UInt32.self)) << 32
    }
    var word: UInt64 = 0
    for index in at..<count {
      word = word << 8 | UInt64(bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt8.self))
    }
    return word
  }

  @inline(__always)
  private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }
}
