import Front
import Service
import Testing

/// Attacks with the messages of a WebSocket.
@Suite(.timeLimit(.minutes(5))) struct MessageAbuseTests {
  private static func joined(_ parts: [UInt8]...) -> [UInt8] { parts.flatMap { $0 } }

  /// The number of times that the bomb repeats 258 bytes.
  private static let count = 65_000

  /// A stream of zlib that expands to 16 MiB of zeros.
  private static let bomb: (bytes: [UInt8], count: Int) = {
    var bytes: [UInt8] = [0x78, 0x01]
    var (byte, place): (UInt8, UInt8) = (0, 0)
    func append(_ bits: [UInt8]) {
      for bit in bits {
        byte |= bit << place
        place += 1
        if place == 8 {
          bytes.append(byte)
          (byte, place) = (0, 0)
        }
      }
    }
    // The last block uses the fixed codes of RFC 1951. It has a zero, and then repeats the previous byte 258 times,
    // again and again.
    append([1, 1, 0])
    append([0, 0, 1, 1, 0, 0, 0, 0])
    for _ in 0..<count { append([1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]) }
    append([0, 0, 0, 0, 0, 0, 0])
    bytes.append(byte)
    let sum = (1 + 258 * count) % 65_521
    bytes += [UInt8(truncatingIfNeeded: sum >> 8), UInt8(truncatingIfNeeded: sum), 0, 1]
    return (bytes, 1 + 258 * count)
  }()

  @Test func `a flood of pings does not disturb other clients`() async throws {
    try await withServer(Place()) { server in
      try await withNeighbour(server, "a flood of pings") { _ in
        let socket = try await server.newSocket()
        _ = try await socket.start(on: 1)
        let ping: [UInt8] = [0x89, 0x84, 0, 0, 0, 0, 1, 2, 3, 4]
        let many = [[UInt8]](repeating: ping, count: 1000).flatMap { $0 }
        for _ in 0..<10 {
          for _ in 0..<5 { socket.send(many) }
          try await socket.roundTrip(on: 1)
        }
      }
    }
  }

  @Test func `messages that can't be read end their channels, and cost no more than their size`() async throws
  {
    try await withServer(Place()) { server in
      try await withNeighbour(server, "malformed messages and bombs") { _ in
        let socket = try await server.newSocket()
        _ = try await socket.start(on: 1)
        let bomb = Self.bomb
        let frames: [[UInt8]] = [
          // Two numbers that do not end come first,
          [8, 0xff], [6, 1, 1, 1, 0, 0, 0, 0xff, 0xff],
          // then a body that would be too large and a body that is too long for its stream,
          Self.joined([12], Bytes.number(18 << 20), [1, 2, 3]),
          Self.joined([12], Bytes.number(1 << 20), [1, 2, 3]),
          // and then more capabilities and queries than there are bytes.
          Self.joined([2, 1, 1], Bytes.number(1 << 40)), Self.joined([8, 1], Bytes.number(1 << 60)),
        ]
        var channel: UInt64 = 1
        for _ in 0..<50 {
          for frame in frames {
            channel += 1
            socket.send(frame, on: channel)
            #expect(try await ErrorMessage(socket.message(ErrorMessage.number, on: channel)).code == 2)
          }
        }
        for _ in 0..<10 {
          channel += 1
          socket.send(Self.joined([12], Bytes.number(UInt64(bomb.count)), bomb.bytes), on: channel)
          let error = try await ErrorMessage(socket.message(ErrorMessage.number, on: channel))
          // The body was expanded, and its content is not an upload.
          #expect(error.code == 2 && error.text.contains("expanded body"))
        }
        try await socket.roundTrip(on: 1)
      }
    }
  }

  @Test func `a flood of tiny uploads has its turns, and so have all other clients`() async throws {
    try await withServer(Place()) { server in
      try await withNeighbour(server, "a flood of tiny uploads") { _ in
        let socket = try await server.newSocket()
        let welcome = try await socket.start(on: 1)
        socket.send(Frames.querySet(of: "Note"), on: 1)
        let count = 2000
        var upload = ClientUpload(welcome, Changesets.objects("Note", keys: 0..<1, data: [1]))
        for key in 1...count {
          socket.send(upload.frame, on: 1)
          upload = upload.next(Changesets.objects("Note", keys: key..<key + 1, data: [1]))
        }
        // All uploads are accepted and finally decided, so the session continues.
        try await socket.roundTrip(on: 1)
        let isDecided = try await becomes { try await server.metric("log_applied") > count }
        #expect(isDecided)
        try await socket.roundTrip(on: 1)
      }
    }
  }

  @Test func `large uploads are accepted one after the other, and uploads that are too large are refused`()
    async throws
  {
    try await withServer(Place()) { server in
      try await withNeighbour(server, "large uploads") { _ in
        let socket = try await server.newSocket()
        let welcome = try await socket.start(on: 1)
        socket.send(Frames.querySet(of: "Note"), on: 1)
        let data = Noise.mebibyte + Noise.mebibyte + Noise.mebibyte + Noise.mebibyte
        var upload = ClientUpload(welcome, Changesets.objects("Note", keys: 0..<1, data: data))
        for key in 1...4 {
          socket.send(unmasked: Bytes.number(1) + upload.frame)
          #expect(try await socket.decision(of: upload.sequence, on: 1).reasons.isEmpty)
          upload = upload.next(Changesets.objects("Note", keys: key..<key + 1, data: data))
        }
        // The head of a message of more than 24 MiB is enough.
        socket.send([0x82, 0xff, 0, 0, 0, 0, 0x01, 0x80, 0, 0x11, 0, 0, 0, 0])
        #expect(try await socket.closeCode() == 1009)
      }
    }
  }

  @Test func `an address can't make the server keep many unfinished messages`() async throws {
    let change: (inout RunningServer.Settings) -> Void = { settings in
      // The neighbour has the same address, and needs some of the bytes: on a busy machine some of its messages wait at
      // once. A ninth message of a mebibyte must not fit beside eight.
      settings.front.limits.unfinishedBytesPerAddress = (8 << 20) + (768 << 10)
    }
    try await withServer(Place(), settings: change) { server in
      try await withNeighbour(server, "messages that are not whole") { _ in
        let user = try await server.newUser()
        var ends: [UInt16?] = []
        var kept: [Client] = []
        for _ in 0..<12 {
          let socket = try await Client.socket(at: server.port, token: user.accessToken)
          // The client sends one of a message's two mebibytes, and a ping whose answer shows that the server has read
          // it.
          socket.send([0x02, 0xff, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0] + Noise.mebibyte)
          socket.send([0x89, 0x80, 0, 0, 0, 0])
          var frame = try await socket.inbox.next { ServerFrame.taken(from: &$0) }
          // The server may have read the ping together with the bytes above the limit.
          if frame.isPong, kept.count >= 8 {
            frame = try await socket.inbox.next { ServerFrame.taken(from: &$0) }
          }
          if frame.isPong { kept.append(socket) } else { ends.append(frame.code) }
        }
        #expect(kept.count == 8)
        #expect(ends == [1013, 1013, 1013, 1013])
      }
    }
  }
}

extension Client {
  /// Sends a binary message whose mask changes nothing, so that large messages are made fast.
  func send(unmasked payload: [UInt8]) {
    let count = payload.count
    var bytes: [UInt8] = [0x82, 0xff]
    bytes += (0..<8).map { UInt8(count >> (56 - 8 * $0) & 0xff) }
    bytes += [0, 0, 0, 0]
    send(bytes + payload)
  }
}
