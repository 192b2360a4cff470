import CRealmZlib

/// Compresses bytes that are stored or sent, as zlib streams (RFC 1950).
package enum Deflate {
  /// Compresses bytes. Returns nil if the result would not be shorter.
  ///
  /// - Parameter level: From 1, which is fast, to 9.
  package static func compressed(_ bytes: [UInt8], level: Int = 1) -> [UInt8]? {
    var length = uLongf(compressBound(uLong(bytes.count)))
    let made = [UInt8](unsafeUninitializedCapacity: Int(length)) { target, count in
      let code = bytes.withUnsafeBufferPointer { source in
        compress2(target.baseAddress, &length, source.baseAddress, uLong(source.count), Int32(level))
      }
      count = code == Z_OK ? Int(length) : 0
    }
    return made.isEmpty || made.count >= bytes.count ? nil : made
  }

  /// Expands a stream. Returns nil unless it is a valid stream of exactly `count` bytes. No more memory than that is
  /// taken, whatever the stream says of itself.
  ///
  /// - Parameter count: The number of bytes before compression, at least 1. A count that the stream can't hold is
  ///   refused before memory is taken.
  package static func expanded(_ bytes: [UInt8], count: Int) -> [UInt8]? {
    // One compressed byte stands for 1,032 bytes at most.
    guard count > 0, count / 1_032 <= bytes.count else { return nil }
    var (length, read) = (uLongf(count), uLong(bytes.count))
    var isWhole = false
    let made = [UInt8](unsafeUninitializedCapacity: count) { target, made in
      let code = bytes.withUnsafeBufferPointer { source in
        uncompress2(target.baseAddress, &length, source.baseAddress, &read)
      }
      isWhole = code == Z_OK && Int(length) == count && Int(read) == bytes.count
      made = isWhole ? count : 0
    }
    return isWhole ? made : nil
  }
}
