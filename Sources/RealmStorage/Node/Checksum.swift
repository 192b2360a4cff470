import CRealmPlatform

extension RawSpan {
  /// The CRC-32C of the even 8-byte words and that of the odd ones: 64 bits. A torn sector is missed only if it fools
  /// both.
  ///
  /// This is no defence against an attacker who chooses the content; sealing is.
  ///
  /// - Precondition: The number of bytes is a multiple of 8.
  var checksum: UInt64 {
    precondition(byteCount % 8 == 0, "a checksum covers whole words")
    return withUnsafeBytes { cp_checksum($0.baseAddress, $0.count) }
  }
}
