/// The elements of a short list as its cell holds them: first their count, then each element (FORMAT.md,
/// "Collections"). None of them may be null.
enum PackedElements {
  /// Calls `body` with each element of a list of links until it returns true.
  ///
  /// - Returns: whether `body` returned true; nil if the bytes, as far as they were read, are no such list.
  @inline(__always)
  static func containsLink<Failure>(
    _ bytes: RawSpan, _ body: (UInt64) throws(Failure) -> Bool
  ) throws(Failure) -> Bool? {
    var place = 0
    guard let count = varint(bytes, &place), count <= UInt64(bytes.byteCount) else { return nil }
    for _ in 0..<count {
      guard let link = varint(bytes, &place) else { return nil }
      if try body(link) { return true }
    }
    return place == bytes.byteCount ? false : nil
  }

  /// Calls `body` with the bytes of each element of a list of strings until it returns true.
  ///
  /// - Returns: whether `body` returned true; nil if the bytes, as far as they were read, are no such list.
  @inline(__always)
  static func containsText(_ bytes: RawSpan, _ body: (RawSpan) -> Bool) -> Bool? {
    var place = 0
    guard let count = varint(bytes, &place), count <= UInt64(bytes.byteCount) else { return nil }
    for _ in 0..<count {
      guard let length = varint(bytes, &place), length <= UInt64(bytes.byteCount - place) else { return nil }
      let end = place + Int(length)
      if body(bytes.extracting(place..<end)) { return true }
      place = end
    }
    return place == bytes.byteCount ? false : nil
  }

  /// A number in groups of seven bits, the lowest group first; nil if it does not end, or has more than 64 bits.
  @inline(__always)
  private static func varint(_ bytes: RawSpan, _ place: inout Int) -> UInt64? {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while place < bytes.byteCount, shift < 64 {
      let byte = bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)
      guard shift < 63 || byte <= 1 else { return nil }
      place += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return value }
      shift += 7
    }
    return nil
  }
}
