import NIOHTTP1

extension HTTPResponse {
  /// The head of the response.
  ///
  /// - Parameter isOld: true if the client speaks HTTP/1.0, in which a connection ends unless both sides say otherwise.
  func head(keepsAlive: Bool, isOld: Bool) -> HTTPResponseHead {
    var all = HTTPHeaders()
    all.add(name: "date", value: HTTPDate.now)
    if let contentType, Self.isValue(contentType) { all.add(name: "content-type", value: contentType) }
    for header in headers where isSendable(header) { all.add(name: header.name, value: header.value) }
    all.add(name: "content-length", value: String(body.count))
    if !keepsAlive {
      all.add(name: "connection", value: "close")
    } else if isOld {
      all.add(name: "connection", value: "keep-alive")
    }
    return HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: sentStatus), headers: all)
  }

  var sentStatus: Int { (200...599).contains(status) ? status : 500 }

  /// Whether HTTP allows the response a body.
  var mayHaveBody: Bool { sentStatus != 204 && sentStatus != 304 }

  private static let ownHeaders: Set<String> = [
    "connection", "content-length", "content-type", "date", "transfer-encoding",
  ]

  /// Whether a header may be sent. A value with a line break may not, because it would begin another header or another
  /// response.
  private func isSendable(_ header: (name: String, value: String)) -> Bool {
    HTTPToken.isToken(header.name) && Self.isValue(header.value)
      && !Self.ownHeaders.contains(header.name.lowercased())
  }

  private static func isValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
  }
}

/// The form of the names of headers and of subprotocols.
enum HTTPToken {
  static func isToken(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: marks.contains(byte)
    }
  }

  private static let marks = Set("!#$%&'*+-.^_`|~".utf8)
}
