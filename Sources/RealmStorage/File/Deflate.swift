import CRealmZlib

/// Compresses bytes that are stored or sent, as zlib streams (RFC 1950).
package enum Deflate {
  /// Nil where the bytes would not become fewer.
  ///
  /// - Parameter level: 1, which is fast, to 9.
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

  /// Nil for what is no stream of just so many bytes, whatever it says of itself: no more memory is taken than that.
  ///
  /// - Parameter count: how many bytes there were, one at least. More than the stream can hold are refused before memory is taken.
  package static func expanded(_ bytes: [UInt8], count: Int) -> [UInt8]? {
    // A byte stands for 1,032 at most.
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
