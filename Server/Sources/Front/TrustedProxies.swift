/// The proxies that are believed when they name the address of a client.
package struct TrustedProxies: Sendable {
  private struct AddressRange: Sendable {
    let first: IPAddress
    /// The number of leading bits that are the same in all addresses of the range.
    let bits: Int

    func contains(_ address: IPAddress) -> Bool {
      guard address.bytes.count == first.bytes.count else { return false }
      return (0..<bits).allSatisfy { bit in
        let mask = UInt8(0x80) >> UInt8(bit % 8)
        return address.bytes[bit / 8] & mask == first.bytes[bit / 8] & mask
      }
    }
  }

  private let ranges: [AddressRange]

  /// - Parameter texts: addresses, and ranges of addresses as in `10.0.0.0/8`.
  /// - Throws: `FrontError.badProxy`.
  package init(_ texts: [String]) throws(FrontError) {
    var ranges: [AddressRange] = []
    for text in texts {
      guard let range = Self.range(text) else { throw .badProxy(text) }
      ranges.append(range)
    }
    self.ranges = ranges
  }

  private static func range(_ text: String) -> AddressRange? {
    let sides = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = IPAddress(sides[0]) else { return nil }
    let size = first.bytes.count * 8
    guard sides.count > 1 else { return AddressRange(first: first, bits: size) }
    guard let bits = Int(sides[1]), (0...size).contains(bits) else { return nil }
    return AddressRange(first: first, bits: bits)
  }

  func contains(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

  /// The address of the client of a request.
  ///
  /// Each proxy appends the address that it sees to those that it was sent. So the list is read from its end, and only
  /// as far as the proxies that wrote it are trusted. The client may have made up what is before that.
  ///
  /// - Parameters:
  ///   - peer: the other end of the connection; nil if the system does not tell it.
  ///   - forwarded: the values of the headers `X-Forwarded-For`, in their order.
  package func client(peer: IPAddress?, forwarded: [String]) -> IPAddress? {
    guard var client = peer, contains(client) else { return peer }
    let entries = forwarded.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
    for entry in entries.reversed() {
      guard let address = Self.address(entry) else { break }
      client = address
      if !contains(address) { break }
    }
    return client
  }

  /// Reads an entry. Some proxies write the port behind the address, and brackets around it.
  private static func address(_ entry: Substring) -> IPAddress? {
    let text = entry.filter { $0 != " " && $0 != "\t" }
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      return IPAddress(text[..<end].dropFirst())
    }
    if let address = IPAddress(text) { return address }
    let sides = text.split(separator: ":", omittingEmptySubsequences: false)
    return sides.count == 2 ? IPAddress(sides[0]) : nil
  }
}
