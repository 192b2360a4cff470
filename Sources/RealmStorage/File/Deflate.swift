import CZlib

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
  /// - Parameter count: how many bytes there were. The caller has checked that they are not too many.
  package static func expanded(_ bytes: [UInt8], count: Int) -> [UInt8]? {
    guard count >= 0 else { return nil }
    var (length, read) = (uLongf(count), uLong(bytes.count))
    // One byte more: zlib takes no empty target.
    let made = [UInt8](unsafeUninitializedCapacity: count + 1) { target, made in
      let code = bytes.withUnsafeBufferPointer { source in
        uncompress2(target.baseAddress, &length, source.baseAddress, &read)
      }
      made = code == Z_OK && read == uLong(bytes.count) ? Int(length) : 0
    }
    return made.count == count && read == uLong(bytes.count) ? made : nil
  }
}
