import NIOCore

/// A frame as a server sends it.
struct ServerFrame: Sendable, Equatable {
  /// The first byte: 0x80 for the last fragment, combined with the kind of the frame.
  let first: UInt8
  let payload: [UInt8]

  /// The code of a close frame.
  var code: UInt16? {
    first == 0x88 && payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : nil
  }

  static func taken(from bytes: inout [UInt8]) -> ServerFrame? {
    guard bytes.count >= 2 else { return nil }
    let short = Int(bytes[1])
    let wide = short == 126 ? 2 : short == 127 ? 8 : 0
    guard bytes.count >= 2 + wide else { return nil }
    let length = wide == 0 ? short : bytes[2..<(2 + wide)].reduce(0) { $0 << 8 | Int($1) }
    guard bytes.count >= 2 + wide + length else { return nil }
    let payload = Array(bytes[(2 + wide)..<(2 + wide + length)])
    let first = bytes[0]
    bytes.removeFirst(2 + wide + length)
    return ServerFrame(first: first, payload: payload)
  }
}

/// Frames in the form in which clients send them.
enum ClientFrame {
  /// - Parameter key: The 4 bytes of the mask. If it is empty, the frame is not masked.
  static func bytes(_ first: UInt8, _ payload: [UInt8], key: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]) -> [UInt8] {
    let mask: UInt8 = key.isEmpty ? 0 : 0x80
    let count = payload.count
    var bytes = [first]
    if count <= 125 {
      bytes.append(mask | UInt8(count))
    } else if count <= 0xffff {
      bytes += [mask | 126, UInt8(count >> 8), UInt8(count & 0xff)]
    } else {
      bytes.append(mask | 127)
      bytes += (0..<8).map { UInt8(count >> (56 - 8 * $0) & 0xff) }
    }
    guard !key.isEmpty else { return bytes + payload }
    bytes += key
    bytes += payload.enumerated().map { $0.element ^ key[$0.offset & 3] }
    return bytes
  }

  static func binary(_ payload: [UInt8]) -> [UInt8] { bytes(0x82, payload) }

  static func close(_ code: UInt16) -> [UInt8] { bytes(0x88, [UInt8(code >> 8), UInt8(code & 0xff)]) }
}

extension RawClient {
  /// The key in the example of RFC 6455.
  static let key = "dGhlIHNhbXBsZSBub25jZQ=="

  static let handshake = [
    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: \(key)",
  ]

  /// Asks for a WebSocket.
  func upgrade(_ path: String = "/socket", headers: [String] = []) async throws -> Reply {
    try await ask("GET \(path)", headers: Self.handshake + headers)
  }

  func frame() async throws -> ServerFrame { try await inbox.next { ServerFrame.taken(from: &$0) } }

  /// A client whose WebSocket is open.
  static func socket(at port: Int) async throws -> RawClient {
    let client = try await connect(to: port)
    guard try await client.upgrade().status == 101 else { throw ConnectionEnded() }
    return client
  }
}
