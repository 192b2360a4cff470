/// Tells files of the original Realm from other files that are not ours, so that the error can say what such a file is.
///
/// Such a file begins with 24 bytes: two refs of 8 bytes each, `T-DB`, two format numbers of a byte each, a byte of
/// zero, and flags. Bit 0 of the flags says which of the two refs and format numbers counts.
enum OriginalFile {
  /// The format number, from the first bytes of a file; 0 if none is set, nil if the file is not one of the original
  /// Realm.
  static func format(_ start: [UInt8]) -> UInt8? {
    guard start.count >= 20, start[16..<20].elementsEqual("T-DB".utf8) else { return nil }
    let flags = start.count > 23 ? start[23] : 0
    let place = 20 + Int(flags & 1)
    return place < start.count ? start[place] : 0
  }

  /// Whether a file could be an encrypted file of the original Realm. Such a file has whole pages, and the first page
  /// begins with 4 bytes of a counter and 28 bytes that look random, unlike text or a row of few values.
  static func mayBeEncrypted(_ start: [UInt8], length: UInt64) -> Bool {
    guard length >= 2 * UInt64(FilePlace.page), length % UInt64(FilePlace.page) == 0, start.count >= 32 else {
      return false
    }
    let code = start[4..<32]
    return Set(code).count >= 18 && code.contains { $0 >= 0x80 } && code.contains { $0 < 0x20 || $0 == 0x7f }
  }
}
