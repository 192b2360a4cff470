import NIOHTTP1

/// A valid first half of the handshake of a WebSocket (RFC 6455, section 4.2.1).
struct Handshake: Sendable {
  /// The subprotocols that the client lists in `Sec-WebSocket-Protocol`.
  let protocols: [String]

  static func isAsked(by head: HTTPRequestHead) -> Bool {
    head.headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
      && head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
  }

  init(_ head: HTTPRequestHead) throws(Refusal) {
    guard head.method == .GET, !head.isOld, !head.hasBody else { throw .malformed }
    guard head.headers["sec-websocket-version"] == ["13"] else { throw .otherVersion }
    let keys = head.headers["sec-websocket-key"]
    guard keys.count == 1, Self.isKey(keys[0]) else { throw .malformed }
    let protocols = head.headers[canonicalForm: "sec-websocket-protocol"]
    guard protocols.allSatisfy({ HTTPToken.isToken($0) }) else { throw .malformed }
    self.protocols = protocols.map(String.init)
  }

  /// Whether a text is a key: 16 bytes in base64.
  private static func isKey(_ text: String) -> Bool {
    text.utf8.count == 24 && text.hasSuffix("==")
      && text.utf8.dropLast(2).allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"): true
        default: false
        }
      }
  }
}
