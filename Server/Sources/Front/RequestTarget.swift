/// The path and the query of a request.
package struct RequestTarget: Equatable, Sendable {
  package let path: [String]
  package let query: [String: String]
  /// The path as the client wrote it, for the log. It holds visible ASCII characters only.
  let written: String

  /// Reads the target: what is behind the method in the first line of a request.
  ///
  /// - Parameter isOptions: true if the method is `OPTIONS`. Its target may be `*`, which is no path.
  package init(_ text: String, isOptions: Bool) throws(Refusal) {
    guard !text.isEmpty, text.utf8.allSatisfy(Self.isAllowed) else { throw .malformed }
    if text == "*" && isOptions {
      (path, query, written) = ([], [:], text)
      return
    }
    let sides = try Self.relative(text).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let writtenPath = sides.first ?? ""
    written = String(writtenPath)
    path = try Self.path(writtenPath)
    query = try sides.count > 1 ? Self.query(sides[1]) : [:]
  }

  /// Whether a byte may be in a target. A `#` may not, because it begins the part of a URL that a client does not send.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    (0x21...0x7e).contains(byte) && byte != UInt8(ascii: "#")
  }

  /// The target without the scheme and the host that a client of a proxy writes in front of the path.
  private static func relative(_ text: String) throws(Refusal) -> Substring {
    if text.hasPrefix("/") { return text[...] }
    let schemes = ["http://", "https://"]
    guard let scheme = schemes.first(where: { text.lowercased().hasPrefix($0) }) else { throw .malformed }
    let rest = text.dropFirst(scheme.count)
    guard let end = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
    return rest[end] == "/" ? rest[end...] : Substring("/\(rest[end...])")
  }

  private static func path(_ text: Substring) throws(Refusal) -> [String] {
    if text == "/" { return [] }
    var path: [String] = []
    for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      guard let text = decoded(part, plusIsSpace: false) else { throw .malformed }
      path.append(text)
    }
    return path
  }

  private static func query(_ text: Substring) throws(Refusal) -> [String: String] {
    var query: [String: String] = [:]
    for pair in text.split(separator: "&") {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let writtenValue = sides.count > 1 ? sides[1] : ""
      guard let name = decoded(sides[0], plusIsSpace: true), query[name] == nil,
        let value = decoded(writtenValue, plusIsSpace: true)
      else { throw .malformed }
      query[name] = value
    }
    return query
  }

  /// A part with bytes in place of each `%` and its two digits; nil if digits are missing, if the bytes are not valid
  /// UTF-8, and if they contain a zero, which would end a text in C.
  static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
    var bytes: [UInt8] = []
    var source = text.utf8.makeIterator()
    while let byte = source.next() {
      if byte == UInt8(ascii: "%") {
        guard let high = source.next().flatMap(digit), let low = source.next().flatMap(digit) else {
          return nil
        }
        bytes.append(high << 4 | low)
      } else if byte == UInt8(ascii: "+") && plusIsSpace {
        bytes.append(UInt8(ascii: " "))
      } else {
        bytes.append(byte)
      }
    }
    return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
