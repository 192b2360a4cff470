import Front
import Testing

@Suite(.timeLimit(.minutes(2))) struct SocketEndTests {
  // MARK: - Wrong frames

  struct WrongFrame: Sendable {
    let bytes: [UInt8]
    let code: UInt16

    init(_ bytes: [UInt8], _ code: UInt16) { (self.bytes, self.code) = (bytes, code) }

    static func fragments(_ first: [UInt8], _ second: [UInt8], _ code: UInt16) -> WrongFrame {
      WrongFrame(first + second, code)
    }
  }

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  private static let wrongFrames: [WrongFrame] = [
    WrongFrame(ClientFrame.bytes(0x81, [0x74]), 1003),
    WrongFrame(ClientFrame.bytes(0x01, []), 1003),
    WrongFrame(ClientFrame.bytes(0x82, [1], key: []), 1002),
    WrongFrame(ClientFrame.bytes(0xc2, [1]), 1002),
    WrongFrame(ClientFrame.bytes(0x83, [1]), 1002),
    WrongFrame(ClientFrame.bytes(0x80, [1]), 1002),
    .fragments(ClientFrame.bytes(0x02, [1]), ClientFrame.binary([1]), 1002),
    WrongFrame(ClientFrame.bytes(0x09, []), 1002),
    WrongFrame(ClientFrame.bytes(0x89, zeros(126)), 1002),
    WrongFrame([0x82, 0xfe, 0, 1, 1, 2, 3, 4, 0], 1002),
    WrongFrame([0x82, 0xff, 0, 0, 0, 0, 0, 0, 0, 1], 1002),
    WrongFrame([0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 1002),
    WrongFrame(ClientFrame.binary(zeros(1001)), 1009),
    WrongFrame([0x82, 0xff, 0, 0, 1, 0, 0, 0, 0, 0], 1009),
    .fragments(ClientFrame.bytes(0x02, zeros(900)), ClientFrame.bytes(0x80, zeros(101)), 1009),
    WrongFrame(ClientFrame.bytes(0x88, [3]), 1002),
    WrongFrame(ClientFrame.close(999), 1002),
    WrongFrame(ClientFrame.close(1006), 1002),
    WrongFrame(ClientFrame.bytes(0x88, [3, 0xe8, 0xff]), 1007),
  ]

  @Test(arguments: wrongFrames)
  func wrongFramesCloseTheWebSocket(wrong: WrongFrame) async throws {
    let telling = TellingSocket()
    let sockets = StubSockets(make: { telling })
    try await withFront(sockets: sockets, settings: { $0.limits.maximumMessage = 1000 }) { front in
      let client = try await RawClient.socket(at: front.port)
      client.send(wrong.bytes)
      // The bytes after a wrong frame have no effect.
      client.send(ClientFrame.binary([1]))
      #expect(try await client.frame().code == wrong.code)
      #expect(await client.inbox.end().isEmpty)
      #expect(await telling.closings.wait(for: 1) == [true])
      #expect(telling.messages.values.isEmpty)
    }
  }

  @Test func aMessageOfTheGreatestLengthIsTaken() async throws {
    try await withFront(settings: { $0.limits.maximumMessage = 1000 }) { front in
      let client = try await RawClient.socket(at: front.port)
      let message = [UInt8](repeating: 7, count: 1000)
      client.send(ClientFrame.bytes(0x02, Array(message[..<999])))
      client.send(ClientFrame.bytes(0x80, [7]))
      #expect(try await client.frame().payload == message)
    }
  }

  // MARK: - The end

  @Test func aClientEndsTheWebSocket() async throws {
    let telling = TellingSocket()
    try await withFront(sockets: StubSockets(make: { telling })) { front in
      let client = try await RawClient.socket(at: front.port)
      client.send(ClientFrame.binary([1]) + ClientFrame.close(4001))
      #expect(try await client.frame().code == 4001)
      #expect(await client.inbox.end().isEmpty)
      #expect(await telling.closings.wait(for: 1) == [true])
      #expect(telling.messages.values == [1])
      let other = try await RawClient.socket(at: front.port)
      other.send(ClientFrame.bytes(0x88, []))
      #expect(try await other.frame() == ServerFrame(first: 0x88, payload: []))
      #expect(await other.inbox.end().isEmpty)
    }
  }

  @Test func theServiceEndsTheWebSocket() async throws {
    let telling = TellingSocket { socket in
      socket.send([1])
      socket.close(code: 4003, reason: String(repeating: "ä", count: 100))
      socket.send([2])
    }
    try await withFront(sockets: StubSockets(make: { telling })) { front in
      let client = try await RawClient.socket(at: front.port)
      #expect(try await client.frame().payload == [1])
      let last = try await client.frame()
      #expect(last.code == 4003)
      // A character is never cut.
      #expect(last.payload.count == 2 + 122)
      client.send(ClientFrame.binary([1]) + ClientFrame.close(4003))
      #expect(await client.inbox.end().isEmpty)
      #expect(await telling.closings.wait(for: 1) == [true])
      #expect(telling.messages.values.isEmpty)
    }
  }

  @Test func aClientThatDoesNotAnswerIsCutOff() async throws {
    let ending = TellingSocket { $0.close(code: 1, reason: "") }
    let change: (inout FrontSettings) -> Void = { $0.times.close = .milliseconds(100) }
    try await withFront(sockets: StubSockets(make: { ending }), settings: change) { front in
      let client = try await RawClient.socket(at: front.port)
      #expect(try await client.frame().code == 1011)
      #expect(await client.inbox.end().isEmpty)
    }
    let silent: (inout FrontSettings) -> Void = { settings in
      settings.times.ping = .milliseconds(50)
      settings.times.pong = .milliseconds(150)
    }
    let telling = TellingSocket()
    try await withFront(sockets: StubSockets(make: { telling }), settings: silent) { front in
      let client = try await RawClient.socket(at: front.port)
      _ = await client.inbox.end()
      #expect(await telling.closings.wait(for: 1) == [true])
    }
  }
}
