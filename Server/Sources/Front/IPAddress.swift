/// An address of IPv4 or of IPv6.
///
/// An IPv4 address that is written as an IPv6 address, as a socket for both gives it, equals the IPv4 address.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  /// The bytes of the address: 4 or 16.
  let bytes: [UInt8]

  package init?(_ text: some StringProtocol) {
    let text = Substring(text)
    guard let bytes = text.contains(":") ? Self.longBytes(text) : Self.shortBytes(text) else { return nil }
    self.bytes = bytes.count == 16 && bytes.prefix(12) == Self.mapped ? Array(bytes.suffix(4)) : bytes
  }

  /// The bytes with which IPv4 addresses begin when they are written as IPv6 addresses.
  private static let mapped: ArraySlice<UInt8> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

  /// The part of the address that a client can't choose: the whole address in IPv4, and the first 64 bits in IPv6,
  /// where a client chooses the other 64 bits itself.
  var network: [UInt8] { bytes.count == 4 ? bytes : Array(bytes.prefix(8)) }

  private static func shortBytes(_ text: Substring) -> [UInt8]? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
      let hasNeedlessZero = part.count > 1 && part.first == "0"
      guard isDigits(part, upTo: 3, base: 10), !hasNeedlessZero, let byte = UInt8(part) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  private static func longBytes(_ text: Substring) -> [UInt8]? {
    var groups = text.split(separator: ":", omittingEmptySubsequences: false)
    guard groups.count >= 3 else { return nil }
    // "::" makes two empty groups at the beginning or the end, and elsewhere one.
    if groups[0].isEmpty {
      guard groups[1].isEmpty else { return nil }
      groups.removeFirst()
    }
    if groups[groups.count - 1].isEmpty && groups.count > 1 {
      guard groups[groups.count - 2].isEmpty else { return nil }
      groups.removeLast()
    }
    var (front, back): ([UInt8], [UInt8]) = ([], [])
    var hasGap = false
    for (place, group) in groups.enumerated() {
      if group.isEmpty {
        guard !hasGap else { return nil }
        hasGap = true
        continue
      }
      guard let bytes = groupBytes(group, isLast: place == groups.count - 1) else { return nil }
      if hasGap { back += bytes } else { front += bytes }
    }
    let count = front.count + back.count
    guard hasGap ? count <= 14 : count == 16 else { return nil }
    return front + [UInt8](repeating: 0, count: 16 - count) + back
  }

  private static func groupBytes(_ group: Substring, isLast: Bool) -> [UInt8]? {
    if isLast && group.contains(".") { return shortBytes(group) }
    guard isDigits(group, upTo: 4, base: 16), let value = UInt16(group, radix: 16) else { return nil }
    return [UInt8(value >> 8), UInt8(value & 0xff)]
  }

  /// Whether a text has only digits. This is checked because the conversions of the standard library accept a sign too.
  private static func isDigits(_ text: Substring, upTo maximum: Int, base: Int) -> Bool {
    (1...maximum).contains(text.utf8.count)
      && text.allSatisfy { $0.isASCII && ($0.hexDigitValue.map { $0 < base } ?? false) }
  }

  package var description: String {
    if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
    let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    let texts = groups.map { String($0, radix: 16) }
    guard let gap = Self.longestGap(groups) else { return texts.joined(separator: ":") }
    return texts[..<gap.lowerBound].joined(separator: ":") + "::"
      + texts[gap.upperBound...].joined(separator: ":")
  }

  /// The longest run of two or more zeros; the first one if several are equally long.
  private static func longestGap(_ groups: [UInt16]) -> Range<Int>? {
    var longest = 0..<1
    var start = 0
    for end in 1...groups.count {
      if groups[end - 1] != 0 {
        start = end
      } else if end - start > longest.count {
        longest = start..<end
      }
    }
    return longest.count > 1 ? longest : nil
  }
}
