import Front
import Testing

@Suite(.timeLimit(.minutes(3))) struct SocketTests {
  // MARK: - The handshake

  @Test func theHandshakeIsThatOfTheStandard() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      let reply = try await client.upgrade()
      #expect(reply.status == 101)
      #expect(reply.headers["upgrade"] == "websocket")
      #expect(reply.headers["connection"]?.lowercased() == "upgrade")
      // The expected value is the example in RFC 6455, section 1.3.
      #expect(reply.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
      #expect(reply.headers["sec-websocket-protocol"] == nil)
      #expect(reply.headers["sec-websocket-extensions"] == nil)
    }
  }

  @Test func aConnectionBecomesAWebSocketBehindOtherRequests() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      #expect(try await client.ask("GET /status/200").status == 200)
      client.send(RawClient.request("GET /status/200") + RawClient.request("GET /status/200"))
      client.send(RawClient.request("GET /socket", headers: RawClient.handshake))
      client.send(ClientFrame.binary([1, 2, 3]))
      #expect(try await client.reply().status == 200)
      #expect(try await client.reply().status == 200)
      #expect(try await client.reply().status == 101)
      #expect(try await client.frame() == ServerFrame(first: 0x82, payload: [1, 2, 3]))
    }
  }

  @Test func theServiceChoosesAmongTheProtocolsOfTheClient() async throws {
    let sockets = StubSockets()
    try await withFront(sockets: sockets) { front in
      let lists = ["Sec-WebSocket-Protocol: realm.1, token.abc", "Sec-WebSocket-Protocol: other"]
      let client = try await RawClient.connect(to: front.port)
      let reply = try await client.upgrade("/first", headers: lists)
      #expect(reply.status == 101)
      #expect(reply.headers["sec-websocket-protocol"] == "realm.1")
      #expect(sockets.asked.values == [["realm.1", "token.abc", "other"]])
      let other = try await RawClient.connect(to: front.port)
      #expect(try await other.upgrade("/unlisted", headers: lists).status == 500)
    }
  }

  @Test func aServiceRefusesBeforeTheHandshake() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      let reply = try await client.upgrade("/elsewhere")
      #expect(reply.status == 403)
      #expect(reply.text == "No.")
      #expect(await client.inbox.end().isEmpty)
    }
  }

  @Test func wrongHandshakesAreRefused() async throws {
    let sockets = StubSockets()
    try await withFront(sockets: sockets) { front in
      let changes: [(from: String, to: String, status: Int)] = [
        ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8", 426),
        ("Sec-WebSocket-Version: 13", "X: 1", 426),
        ("Sec-WebSocket-Key: \(RawClient.key)", "Sec-WebSocket-Key: short", 400),
        ("Sec-WebSocket-Key: \(RawClient.key)", "X: 1", 400),
        ("Upgrade: websocket", "Upgrade: websocket\r\nSec-WebSocket-Protocol: a b", 400),
        ("Upgrade: websocket", "Upgrade: websocket\r\nContent-Length: 1", 400),
        ("GET", "POST", 400),
      ]
      for change in changes {
        let honest = RawClient.request("GET /socket", headers: RawClient.handshake)
        let client = try await RawClient.connect(to: front.port)
        client.send(honest.replacing(change.from, with: change.to))
        let reply = try await client.reply()
        #expect(reply.status == change.status, "\(change.to)")
        #expect(reply.headers["sec-websocket-version"] == (change.status == 426 ? "13" : nil))
      }
      #expect(sockets.asked.values.isEmpty)
    }
  }

  // MARK: - Messages

  @Test(arguments: [0, 1, 125, 126, 65535, 65536, 1 << 20])
  func messagesOfAnyLengthComeBack(length: Int) async throws {
    try await withFront { front in
      let client = try await RawClient.socket(at: front.port)
      let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 >> 8) }
      for _ in 0..<2 {
        client.send(ClientFrame.binary(message))
        let frame = try await client.frame()
        #expect(frame.first == 0x82)
        #expect(frame.payload == message)
      }
    }
  }

  @Test func fragmentsAreJoinedAndControlMayStandBetweenThem() async throws {
    try await withFront { front in
      let client = try await RawClient.socket(at: front.port)
      client.send(ClientFrame.bytes(0x02, [1, 2]))
      client.send(ClientFrame.bytes(0x89, [9]))
      client.send(ClientFrame.bytes(0x00, []))
      client.send(ClientFrame.bytes(0x00, [3]))
      client.send(ClientFrame.bytes(0x80, [4, 5]))
      #expect(try await client.frame() == ServerFrame(first: 0x8a, payload: [9]))
      #expect(try await client.frame() == ServerFrame(first: 0x82, payload: [1, 2, 3, 4, 5]))
    }
  }

  @Test func framesAreReadHoweverTheyAreCut() async throws {
    try await withFront { front in
      let client = try await RawClient.socket(at: front.port)
      for byte in ClientFrame.binary(Array(0..<200)) + ClientFrame.binary([7]) { client.send([byte]) }
      #expect(try await client.frame().payload == Array(0..<200))
      #expect(try await client.frame().payload == [7])
    }
  }

  @Test func pingsAreAnsweredAndSent() async throws {
    try await withFront(settings: { $0.times.ping = .milliseconds(50) }) { front in
      let client = try await RawClient.socket(at: front.port)
      client.send(ClientFrame.bytes(0x89, Array("word".utf8)))
      client.send(ClientFrame.bytes(0x8a, []))
      var seen: Set<UInt8> = []
      while seen.count < 2 {
        let frame = try await client.frame()
        #expect(frame.payload == (frame.first == 0x8a ? Array("word".utf8) : []))
        seen.insert(frame.first)
      }
      #expect(seen == [0x89, 0x8a])
    }
  }
}
