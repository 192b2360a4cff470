#if Sync
  import NIOCore
  import NIOHTTP1
  import RealmSyncClient
  import Testing

  /// WebSockets over the system's network.
  @Suite(.timeLimit(.minutes(5))) struct NIOSocketTests {
    private static func request(
      _ server: RawServer, _ change: (inout SocketRequest) -> Void = { _ in }
    ) -> SocketRequest {
      var request = SocketRequest(
        url: "ws://127.0.0.1:\(server.port)/a?b=c", subprotocols: ["one", "two"], pingPeriod: 0)
      change(&request)
      return request
    }

    /// Calls `body` with an open WebSocket, the recorder of its events and the server's end of its connection.
    private static func withSocket(
      _ body: (any SyncSocket, SocketRecorder, RawConnection) async throws -> Void
    ) async throws {
      try await withServer { server in
        let recorder = SocketRecorder()
        let socket = recorder.connect(request(server))
        let connection = try await server.socket()
        try await recorder.opened()
        try await body(socket, recorder, connection)
        socket.close()
        _ = try await recorder.end()
        let ends = recorder.events.filter { event in if case .closed = event { true } else { false } }
        #expect(ends.count == 1)
      }
    }

    /// How a WebSocket ends if the server answers its handshake with some bytes.
    private static func end(
      answering make: (RawConnection, RawRequest) async throws -> [UInt8]
    ) async throws -> SocketEnd? {
      let recorder = SocketRecorder()
      try await withServer { server in
        let socket = recorder.connect(request(server))
        let connection = try await server.connection()
        let asked = try await connection.request()
        connection.send(try await make(connection, asked))
        connection.close()
        _ = try await recorder.end()
        socket.close()
      }
      return recorder.events.count == 1 ? recorder.ending : nil
    }

    private static func isDamaged(_ end: SocketEnd?) -> Bool {
      if case .problem(.damaged)? = end { true } else { false }
    }

    // MARK: - The handshake

    @Test func `a handshake offers the subprotocols in their order`() async throws {
      try await withServer { server in
        let recorder = SocketRecorder()
        let socket = recorder.connect(
          Self.request(server) { $0.headers = [NetworkHeader("Authorization", "Bearer word")] })
        let connection = try await server.connection()
        let request = try await connection.request()
        #expect(request.line == "GET /a?b=c HTTP/1.1")
        #expect(request.headers["host"] == "127.0.0.1:\(server.port)")
        #expect(request.headers["upgrade"] == "websocket")
        #expect(request.headers["connection"] == "Upgrade")
        #expect(request.headers["sec-websocket-version"] == "13")
        #expect(request.headers["sec-websocket-protocol"] == "one, two")
        #expect(request.headers["authorization"] == "Bearer word")
        #expect(request.headers["content-length"] == nil)
        #expect(recorder.events.isEmpty)
        connection.send(try await connection.acceptance(of: request))
        try await recorder.opened()
        socket.close()
        let found1 = try await connection.frame().code
        #expect(found1 == 1000)
        connection.send(ServerFrame.close(1000))
        let found2 = try await recorder.end()
        #expect(found2 == .closedHere)
        #expect(recorder.events == [.opened, .closed(.closedHere)])
      }
    }

    @Test func `messages that are sent before the handshake is done wait for it`() async throws {
      try await withServer { server in
        let recorder = SocketRecorder()
        let socket = recorder.connect(Self.request(server))
        for number in 0..<100 { socket.send([UInt8(number)]) }
        let connection = try await server.socket()
        for number in 100..<200 { socket.send([UInt8(number)]) }
        for number in 0..<200 {
          let found3 = try await connection.frame()
          #expect(found3 == ClientFrame(first: 0x82, payload: [UInt8(number)]))
        }
        socket.close()
        // The test first reads the end that the client sends. The answer to it could otherwise overtake it.
        let code = try await connection.frame().code
        #expect(code == 1000)
        connection.send(ServerFrame.close(1000))
        let found4 = try await recorder.end()
        #expect(found4 == .closedHere)
      }
    }

    @Test func `bytes that follow the handshake directly are read`() async throws {
      try await withServer { server in
        let recorder = SocketRecorder()
        let socket = recorder.connect(Self.request(server))
        let messages = ServerFrame.binary([10, 13, 10]) + ServerFrame.binary([])
        let frames = messages + ServerFrame.close(4001, "Why.")
        let connection = try await server.socket(then: frames)
        connection.close()
        let found5 = try await recorder.end()
        #expect(found5 == .code(4001, "Why."))
        #expect(recorder.events.first == .opened)
        #expect(recorder.messages == [[10, 13, 10], []])
        #expect(recorder.events.count == 4)
        socket.send([1])
        socket.close()
      }
    }

    @Test(arguments: [200, 301, 401, 403, 404, 500, 503])
    func `another status than 101 refuses the WebSocket`(status: Int) async throws {
      let end = try await Self.end { _, _ in
        Array("HTTP/1.1 \(status) Words\r\nX-One: 1\r\nContent-Length: 6\r\n\r\na\r\n\r\nb".utf8)
      }
      guard case .refused(let answer)? = end else {
        Issue.record("The WebSocket was not refused.")
        return
      }
      #expect(answer.status == status)
      #expect(answer.headers.contains(NetworkHeader("X-One", "1")))
      #expect(answer.body == Array("a\r\n\r\nb".utf8))
    }

    @Test func `a refusal that is too long or breaks off is still a refusal`() async throws {
      let head = Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 1000000\r\n\r\n".utf8)
      for count in [0, 100, 65_536, 200_000] {
        let end = try await Self.end { _, _ in head + [UInt8](repeating: 10, count: count) }
        guard case .refused(let answer)? = end else {
          Issue.record("The WebSocket was not refused.")
          continue
        }
        #expect(answer.status == 403)
        #expect(answer.body.count == min(count, 65_536))
      }
    }

    @Test func `an answer that does not fit the handshake is damaged`() async throws {
      let changes: [(inout HTTPHeaders) -> Void] = [
        { $0.replaceOrAdd(name: "Sec-WebSocket-Accept", value: "x") },
        { $0.remove(name: "Sec-WebSocket-Accept") },
        { $0.remove(name: "Upgrade") },
        { $0.replaceOrAdd(name: "Connection", value: "close") },
        { $0.remove(name: "Sec-WebSocket-Protocol") },
        { $0.replaceOrAdd(name: "Sec-WebSocket-Protocol", value: "three") },
        { $0.add(name: "Sec-WebSocket-Protocol", value: "two") },
        { $0.add(name: "Sec-WebSocket-Extensions", value: "x") },
      ]
      for (place, change) in changes.enumerated() {
        let end = try await Self.end { connection, request in
          try await connection.acceptance(of: request, change)
        }
        #expect(Self.isDamaged(end), "change \(place)")
      }
      let other = try await Self.end { _, _ in Array("SSH-2.0-OpenSSH_9.6\r\n".utf8) }
      #expect(Self.isDamaged(other))
    }

    @Test func `the server may choose any of the offered subprotocols`() async throws {
      let end = try await withOpened { $0.replaceOrAdd(name: "Sec-WebSocket-Protocol", value: "two") }
      #expect(end == .code(1005, ""))
    }

    /// How a WebSocket ends if the server answers its handshake and then closes it without a code.
    private func withOpened(_ change: (inout HTTPHeaders) -> Void) async throws -> SocketEnd {
      let recorder = SocketRecorder()
      try await withServer { server in
        let socket = recorder.connect(Self.request(server))
        let connection = try await server.connection()
        let asked = try await connection.request()
        connection.send(try await connection.acceptance(of: asked, change) + ServerFrame.bytes(0x88, []))
        _ = try await recorder.end()
        socket.close()
      }
      return try await recorder.end()
    }

    @Test func `no WebSocket opens if nobody answers`() async throws {
      try await withServer { server in
        let recorder = SocketRecorder()
        let socket = recorder.connect(Self.request(server) { $0.connectTimeout = 300 })
        let connection = try await server.connection()
        let found6 = try await recorder.problem()?.kind
        #expect(found6 == "timedOut")
        try await connection.end()
        socket.close()
      }
      let server = try await RawServer.start()
      await server.stop()
      let recorder = SocketRecorder()
      let socket = recorder.connect(Self.request(server))
      let found7 = try await recorder.problem()?.kind
      #expect(found7 == "unreachable")
      socket.close()
    }

    @Test func `a request that can't be sent is refused without a connection`() async throws {
      try await withServer { server in
        let changes: [(inout SocketRequest) -> Void] = [
          { $0.url = "http://127.0.0.1/" }, { $0.url = "ws://" },
          { $0.headers = [NetworkHeader("X", "1\r\nY: 2")] },
          { $0.headers = [NetworkHeader("Sec-WebSocket-Key", "1")] },
          { $0.subprotocols = ["one", "secret word"] }, { $0.subprotocols = [""] },
        ]
        for change in changes {
          let recorder = SocketRecorder()
          let socket = recorder.connect(Self.request(server, change))
          socket.send([1])
          let problem = try await recorder.problem()
          #expect(problem?.kind == "invalidAddress")
          #expect(problem?.description.contains("secret") != true)
          #expect(recorder.events.count == 1)
        }
        #expect(server.count == 0)
      }
    }

    @Test func `a WebSocket goes through TLS`() async throws {
      try await withServer(tls: TestCertificate.server()) { server in
        try await TestCertificate.withFile { file in
          let recorder = SocketRecorder()
          let socket = recorder.connect(
            Self.request(server) {
              $0.url = "wss://localhost:\(server.port)/"
              $0.certificate = file
            })
          let message = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
          let connection = try await server.socket(then: ServerFrame.binary(message))
          let found8 = try await recorder.messages(1)
          #expect(found8 == [message])
          socket.send(message)
          let found9 = try await connection.frame().payload
          #expect(found9 == message)
          socket.close()
          let found10 = try await connection.frame().code
          #expect(found10 == 1000)
          connection.send(ServerFrame.close(1000))
          let found11 = try await recorder.end()
          #expect(found11 == .closedHere)
        }
      }
    }

    // MARK: - Messages

    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536, 3 << 20])
    func `a message of any length is sent and received`(count: Int) async throws {
      try await Self.withSocket { socket, recorder, connection in
        let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        socket.send(message)
        let found12 = try await connection.frame()
        #expect(found12 == ClientFrame(first: 0x82, payload: message))
        connection.send(ServerFrame.binary(message))
        let found13 = try await recorder.messages(1)
        #expect(found13 == [message])
      }
    }

    @Test func `fragments are joined, and pings between them are answered`() async throws {
      try await Self.withSocket { _, recorder, connection in
        let frames = [
          ServerFrame.bytes(0x02, [1, 2]), ServerFrame.bytes(0x89, [7]), ServerFrame.bytes(0x00, []),
          ServerFrame.bytes(0x8a, []), ServerFrame.bytes(0x80, [3]),
        ]
        for byte in frames.joined() {
          connection.send([byte])
          try await Task.sleep(for: .milliseconds(1))
        }
        let found14 = try await recorder.messages(1)
        #expect(found14 == [[1, 2, 3]])
        let found15 = try await connection.frame()
        #expect(found15 == ClientFrame(first: 0x8a, payload: [7]))
      }
    }

    struct WrongFrame: Sendable {
      let bytes: [UInt8]
      let code: UInt16
    }

    private static let wrongFrames: [WrongFrame] = [
      WrongFrame(bytes: ServerFrame.bytes(0x81, [0x74]), code: 1003),
      WrongFrame(bytes: ServerFrame.bytes(0x01, []), code: 1003),
      WrongFrame(bytes: ServerFrame.head(0x82, SocketLimit.message + 1), code: 1009),
      WrongFrame(bytes: ServerFrame.head(0x82, .max), code: 1009),
      WrongFrame(bytes: [0x02, 1, 1] + ServerFrame.head(0x80, SocketLimit.message), code: 1009),
      WrongFrame(bytes: [0x82, 0x81, 1, 2, 3, 4, 5], code: 1002),
      WrongFrame(bytes: ServerFrame.bytes(0xc2, [1]), code: 1002),
      WrongFrame(bytes: ServerFrame.bytes(0x83, [1]), code: 1002),
      WrongFrame(bytes: ServerFrame.bytes(0x80, [1]), code: 1002),
      WrongFrame(bytes: ServerFrame.bytes(0x02, [1]) + ServerFrame.binary([1]), code: 1002),
      WrongFrame(bytes: ServerFrame.bytes(0x09, []), code: 1002),
      WrongFrame(bytes: ServerFrame.bytes(0x89, [UInt8](repeating: 0, count: 126)), code: 1002),
      WrongFrame(bytes: [0x82, 126, 0, 1, 0], code: 1002),
      WrongFrame(bytes: [0x82, 127] + [UInt8](repeating: 0xff, count: 8), code: 1002),
      WrongFrame(bytes: ServerFrame.bytes(0x88, [3]), code: 1002),
      WrongFrame(bytes: ServerFrame.close(1006), code: 1002),
      WrongFrame(bytes: [0x88, 3, 3, 0xe8, 0xff], code: 1007),
    ]

    @Test(arguments: wrongFrames)
    func `a wrong frame closes the WebSocket`(wrong: WrongFrame) async throws {
      try await Self.withSocket { _, recorder, connection in
        connection.send(ServerFrame.binary([1]) + wrong.bytes + ServerFrame.binary([2]))
        let found16 = try await connection.frame().code
        #expect(found16 == wrong.code)
        let found17 = try await recorder.problem()?.kind
        #expect(found17 == "damaged")
        #expect(recorder.messages == [[1]])
        // The client ends the connection, although the server does not close it.
        try await connection.end()
      }
    }

    // MARK: - The end

    @Test(arguments: [1000, 1001, 1011, 3000, 4001, 4999] as [UInt16])
    func `the code of the server's close frame is reported and answered`(code: UInt16) async throws {
      try await Self.withSocket { socket, recorder, connection in
        connection.send(ServerFrame.close(code, "Why ä."))
        let found18 = try await recorder.end()
        #expect(found18 == .code(code, "Why ä."))
        let found19 = try await connection.frame().code
        #expect(found19 == code)
        socket.send([1])
        try await connection.end()
        #expect(connection.nextFrame() == nil)
      }
    }

    @Test func `a connection that breaks is lost`() async throws {
      try await Self.withSocket { _, recorder, connection in
        connection.send(ServerFrame.binary([1]) + [0x82, 100, 1, 2])
        connection.close()
        let found20 = try await recorder.problem()?.kind
        #expect(found20 == "lost")
        #expect(recorder.messages == [[1]])
      }
    }

    @Test func `the client does not wait for a server that does not answer a close frame`() async throws {
      try await Self.withSocket { socket, recorder, connection in
        socket.send([1])
        socket.close()
        socket.send([2])
        socket.close()
        let found21 = try await connection.frame().payload
        #expect(found21 == [1])
        let found22 = try await connection.frame().code
        #expect(found22 == 1000)
        connection.send(ServerFrame.binary([3]))
        let found23 = try await recorder.end()
        #expect(found23 == .closedHere)
        #expect(recorder.messages.isEmpty)
        try await connection.end()
        #expect(connection.nextFrame() == nil)
      }
    }

    @Test func `a WebSocket can be closed before it is open`() async throws {
      try await withServer { server in
        let recorder = SocketRecorder()
        let socket = recorder.connect(Self.request(server))
        let connection = try await server.connection()
        _ = try await connection.request()
        socket.close()
        let found24 = try await recorder.end()
        #expect(found24 == .closedHere)
        try await connection.end()
        let second = SocketRecorder()
        second.connect(Self.request(server)).close()
        let found25 = try await second.end()
        #expect(found25 == .closedHere)
      }
    }

    @Test func `a WebSocket without references is closed`() async throws {
      try await withServer { server in
        let recorder = SocketRecorder()
        var socket: (any SyncSocket)? = recorder.connect(Self.request(server))
        let connection = try await server.socket()
        try await recorder.opened()
        socket?.send([1])
        socket = nil
        let found26 = try await connection.frame().payload
        #expect(found26 == [1])
        let found27 = try await connection.frame().code
        #expect(found27 == 1000)
        connection.send(ServerFrame.close(1000))
        let found28 = try await recorder.end()
        #expect(found28 == .closedHere)
      }
    }

    // MARK: - Pings

    @Test func `a server that no longer answers pings is given up`() async throws {
      try await withServer { server in
        let recorder = SocketRecorder()
        let socket = recorder.connect(
          Self.request(server) {
            $0.pingPeriod = 50
            $0.pongTimeout = 1500
          })
        let connection = try await server.connection()
        let request = try await connection.request()
        connection.answerPings(true)
        connection.send(try await connection.acceptance(of: request))
        // The 60 pings together take longer than the client waits for one pong.
        try await eventually("60 pings") { connection.pings >= 60 ? () : nil }
        #expect(recorder.events == [.opened])
        connection.answerPings(false)
        let found29 = try await recorder.problem()?.kind
        #expect(found29 == "timedOut")
        try await connection.end()
        socket.close()
      }
    }

    // MARK: - Back-pressure

    @Test func `the client stops reading while too many messages wait to be worked on`() async throws {
      try await Self.withSocket { socket, recorder, connection in
        // The 64 messages are more than the buffers of the system hold. Each counts as a mebibyte.
        let message = [UInt8](repeating: 1, count: (1 << 20) - SocketLimit.messageCost)
        for _ in 0..<64 { connection.send(ServerFrame.binary(message)) }
        _ = try await recorder.messages(3)
        try await Task.sleep(for: .seconds(1))
        // The third message is the one that exceeds the limit of waiting bytes.
        #expect(recorder.messages.count == 3)
        #expect(try await connection.channel.getOption(.bufferedWritableBytes) > 0)
        for number in 3..<64 {
          socket.taken(1 << 20)
          let found30 = try await recorder.messages(number + 1).count
          #expect(found30 == number + 1)
        }
      }
    }

    @Test func `messages that came before the end are reported, even if none was worked on`() async throws {
      try await Self.withSocket { _, recorder, connection in
        // The client reads nothing behind the third message. The rest fits into any buffer, so the server can close.
        let message = [UInt8](repeating: 1, count: (1 << 20) - SocketLimit.messageCost)
        for _ in 0..<3 { connection.send(ServerFrame.binary(message)) }
        connection.send(ServerFrame.binary([2]) + ServerFrame.binary([3]) + ServerFrame.close(4001))
        connection.close()
        let found31 = try await recorder.end()
        #expect(found31 == .code(4001, ""))
        #expect(recorder.messages.count == 5)
      }
    }

    @Test func `many empty messages stop the reading too, since each takes memory`() async throws {
      try await Self.withSocket { socket, recorder, connection in
        let most = SocketLimit.bytesAhead / SocketLimit.messageCost + 1
        let all = 3 * most
        connection.send((0..<all).flatMap { _ in ServerFrame.binary([]) })
        let found35 = try await recorder.messages(most).count
        #expect(found35 == most)
        // When the messages are worked on, the client reads the same number again, and no more.
        socket.taken(most * SocketLimit.messageCost)
        let found36 = try await recorder.messages(2 * most).count
        #expect(found36 == 2 * most)
        socket.taken(most * SocketLimit.messageCost)
        let found37 = try await recorder.messages(all).count
        #expect(found37 == all)
      }
    }

    @Test func `a WebSocket whose messages wait can be closed`() async throws {
      try await Self.withSocket { socket, recorder, connection in
        let message = [UInt8](repeating: 1, count: (1 << 20) - SocketLimit.messageCost)
        for _ in 0..<4 { connection.send(ServerFrame.binary(message)) }
        let found32 = try await recorder.messages(3).count
        #expect(found32 == 3)
        socket.close()
        let found33 = try await connection.frame().code
        #expect(found33 == 1000)
        connection.send(ServerFrame.close(1000))
        let found34 = try await recorder.end()
        #expect(found34 == .closedHere)
        #expect(recorder.messages.count == 3)
      }
    }
  }
#endif
