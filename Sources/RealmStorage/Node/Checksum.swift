import CRealmPlatform

extension RawSpan {
  /// CRC-32C of the even and of the odd 8-byte words: 64 bits that every torn sector must fool twice.
  ///
  /// No defence against an attacker who chooses content; sealing is. The count of bytes is a multiple of 8.
  var checksum: UInt64 {
    precondition(byteCount % 8 == 0, "a checksum covers whole words")
    return withUnsafeBytes { cp_checksum($0.baseAddress, $0.count) }
  }
}
