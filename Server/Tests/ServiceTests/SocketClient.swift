/// A frame as a server sends it.
struct ServerFrame: Sendable, Equatable {
  /// The first byte: 0x80 for the last fragment, combined with the kind of the frame.
  let first: UInt8
  let payload: [UInt8]

  var isPing: Bool { first == 0x89 }
  var isPong: Bool { first == 0x8a }

  /// True if the frame ends the WebSocket.
  var isClose: Bool { first == 0x88 }

  /// The code of a close frame.
  var code: UInt16? {
    isClose && payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : nil
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

/// The error if the server has ended the WebSocket before the expected message came.
struct SocketClosed: Error, Equatable {
  let code: UInt16?
}

/// The error if the server has not accepted a WebSocket.
struct SocketRefused: Error, Equatable {
  let outcome: String
}

/// The error if the server has ended the session of a channel before the expected message came.
struct SessionEnded: Error {
  let error: ErrorMessage
}

extension Client {
  private static let handshake = [
    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ]

  /// Asks for a WebSocket. If the server refuses it, the connection is of no more use.
  ///
  /// - Parameters:
  ///   - protocols: The header `Sec-WebSocket-Protocol`; nil for none.
  ///   - bearer: The token of the header `Authorization`.
  static func upgrade(
    at port: Int, protocols: String?, bearer: String? = nil, app: String = "dev"
  ) async throws -> (client: Client, reply: Reply) {
    let client = try await connect(to: port)
    let headers = handshake + (protocols.map { ["Sec-WebSocket-Protocol: \($0)"] } ?? [])
    let line = "GET \(Address.app("realm-sync", of: app))"
    return (client, try await client.ask(line, bearer: bearer, headers: headers))
  }

  /// A client whose WebSocket is open.
  static func socket(at port: Int, token: String, app: String = "dev") async throws -> Client {
    let protocols = "realm-sync.1, realm-token.\(token)"
    let (client, reply) = try await upgrade(at: port, protocols: protocols, app: app)
    guard reply.status == 101 else { throw SocketRefused(outcome: reply.outcome) }
    return client
  }

  /// Sends a binary message.
  func send(message payload: [UInt8]) {
    let key: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]
    let count = payload.count
    var bytes: [UInt8] = [0x82]
    bytes.reserveCapacity(count + 14)
    if count <= 125 {
      bytes.append(0x80 | UInt8(count))
    } else if count <= 0xffff {
      bytes += [0x80 | 126, UInt8(count >> 8), UInt8(count & 0xff)]
    } else {
      bytes.append(0x80 | 127)
      bytes += (0..<8).map { UInt8(count >> (56 - 8 * $0) & 0xff) }
    }
    bytes += key
    for (place, byte) in payload.enumerated() { bytes.append(byte ^ key[place & 3]) }
    send(bytes)
  }

  /// Sends a frame of the sync protocol. An empty frame closes the channel.
  func send(_ frame: [UInt8], on channel: UInt64) { send(message: Bytes.number(channel) + frame) }

  /// The next message of the sync protocol.
  func message() async throws -> ChannelMessage {
    while true {
      let frame = try await inbox.next { ServerFrame.taken(from: &$0) }
      if frame.isPing || frame.isPong { continue }
      guard !frame.isClose else { throw SocketClosed(code: frame.code) }
      return try ChannelMessage(frame.payload)
    }
  }

  /// The next message with a number on a channel. Other messages are skipped, except errors of that channel.
  func message(_ number: UInt64, on channel: UInt64) async throws -> ChannelMessage {
    while true {
      let message = try await message()
      guard message.channel == channel else { continue }
      if message.number == number { return message }
      if message.number == ErrorMessage.number { throw SessionEnded(error: try ErrorMessage(message)) }
    }
  }

  /// Opens a channel for a file that was never registered.
  func hello(on channel: UInt64) async throws -> WelcomeMessage {
    send(Frames.hello, on: channel)
    return try await WelcomeMessage(message(WelcomeMessage.number, on: channel))
  }

  /// Opens a channel, and waits for the first step.
  func start(on channel: UInt64) async throws -> WelcomeMessage {
    let welcome = try await hello(on: channel)
    send(Frames.start(welcome), on: channel)
    _ = try await message(Frames.stepNumber, on: channel)
    return welcome
  }

  /// Waits until the server has answered a message on a channel whose session has started.
  func roundTrip(on channel: UInt64) async throws {
    send(Frames.mark(7), on: channel)
    _ = try await message(Frames.markAnswerNumber, on: channel)
  }

  /// The code with which the server ends the WebSocket. Messages before it are skipped.
  func closeCode() async throws -> UInt16? {
    while true {
      let frame = try await inbox.next { ServerFrame.taken(from: &$0) }
      if frame.isClose { return frame.code }
    }
  }
}
