/// A second implementation of the checksum of nodes and meta pages, made from its description in `CRealmPlatform.h`. It
/// is the CRC-32C of the even 8-byte words (low half) and of the odd ones (high half).
enum LocalChecksum {
  private static let table = makeTable()

  /// The table for Castagnoli's polynomial, reflected.
  private static func makeTable() -> [UInt32] {
    var table: [UInt32] = []
    for byte in UInt32(0)..<256 {
      var crc = byte
      for _ in 0..<8 { crc = (crc & 1) == 1 ? (crc >> 1) ^ 0x82f6_3b78 : crc >> 1 }
      table.append(crc)
    }
    return table
  }

  static func of(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    let table = Self.table
    var even = UInt32.max
    var odd = UInt32.max
    var position = 0
    for byte in bytes {
      if position & 8 == 0 {
        even = (even >> 8) ^ table[Int((even ^ UInt32(byte)) & 0xff)]
      } else {
        odd = (odd >> 8) ^ table[Int((odd ^ UInt32(byte)) & 0xff)]
      }
      position += 1
    }
    return UInt64(~even) | (UInt64(~odd) << 32)
  }
}
