/// Checks the address that devices are told in place of the one that they asked.
enum PublicAddress {
  /// The problem with an address; nil if devices can use it: it is `http://` or `https://`, a host, and perhaps a
  /// port.
  static func problem(of text: String) -> String? {
    guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }),
      isPlace(text.dropFirst(scheme.count))
    else {
      return "'\(text.prefix(200))' is no address that devices can be told. Give one as in "
        + "https://sync.example.org, or with a port as in http://192.0.2.7:8080, without a slash at the end."
    }
    return nil
  }

  private static func isPlace(_ text: Substring) -> Bool {
    guard text.hasPrefix("[") else {
      let sides = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return isHost(sides[0]) && (sides.count == 1 || isPort(sides[1]))
    }
    // An address of IPv6.
    guard let end = text.firstIndex(of: "]") else { return false }
    let (address, rest) = (text[..<end].dropFirst(), text[end...].dropFirst())
    let isAddress = address.contains(":") && address.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
    return isAddress && (rest.isEmpty || (rest.first == ":" && isPort(rest.dropFirst())))
  }

  private static func isHost(_ text: Substring) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return text.utf8.count <= 253
      && parts.allSatisfy { part in (1...63).contains(part.utf8.count) && part.allSatisfy(isOfHost) }
  }

  private static func isOfHost(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || character == "-" || character == "_")
  }

  private static func isPort(_ text: Substring) -> Bool {
    text.allSatisfy { $0.isASCII && $0.isNumber } && UInt16(text).map { $0 > 0 } ?? false
  }
}
