/// The head and the body of an HTTP message, parsed like an HTTP reader that accepts more than ours.
public struct HTTPText: Sendable {
  /// The words of the first line, at least three.
  public let first: [String]
  public let headers: [(name: String, value: String)]
  public let body: [UInt8]

  /// Reads a message. The result is nil if there is no first line, and if a header has a name that every HTTP reader
  /// refuses.
  public init?(_ bytes: [UInt8]) {
    var rest = bytes[...]
    var headers: [(name: String, value: String)] = []
    let words = Self.line(&rest).split(separator: 0x20)
    guard words.count >= 3 else { return nil }
    first = words.map { String(decoding: $0, as: UTF8.self) }
    while !rest.isEmpty {
      let line = Self.line(&rest)
      if line.isEmpty { break }
      guard let colon = line.firstIndex(of: 0x3a), colon > line.startIndex,
        line[..<colon].allSatisfy(Self.isOfNames)
      else { return nil }
      let name = String(decoding: line[..<colon], as: UTF8.self)
      let value = String(decoding: line[(colon + 1)...].drop { $0 == 0x20 }, as: UTF8.self)
      headers.append((name: name, value: value))
    }
    self.headers = headers
    body = Array(rest)
  }

  /// Removes a line from the front, and returns it without its end.
  private static func line(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let end = rest.firstIndex(of: 10) ?? rest.endIndex
    var line = rest[..<end]
    rest = end < rest.endIndex ? rest[(end + 1)...] : []
    if line.last == 13 { line.removeLast() }
    return line
  }

  private static func isOfNames(_ byte: UInt8) -> Bool {
    (0x21...0x7e).contains(byte) && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
  }
}
