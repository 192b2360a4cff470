import Front
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(3))) struct BackPressureTests {
  /// Waits until a number does not change for a while.
  private func settled(_ number: () async throws -> Int) async throws -> Int {
    var last = try await number()
    while true {
      try await Task.sleep(for: .milliseconds(200))
      let next = try await number()
      if next == last { return next }
      last = next
    }
  }

  @Test func aPausedHandlerStopsTheClient() async throws {
    let telling = TellingSocket { $0.pause() }
    let change: (inout FrontSettings) -> Void = { $0.times.ping = .milliseconds(100) }
    try await withFront(sockets: StubSockets(make: { telling }), settings: change) { front in
      let client = try await RawClient.socket(at: front.port)
      let socket = try #require(await telling.openings.wait(for: 1).first)
      // The messages are more than the buffers of the system hold.
      let message = ByteBuffer(bytes: ClientFrame.binary([UInt8](repeating: 1, count: 1 << 20)))
      for _ in 0..<64 { client.channel.writeAndFlush(message, promise: nil) }
      let waiting = try await settled { try await client.channel.getOption(.bufferedWritableBytes) }
      #expect(waiting > 0)
      #expect(telling.messages.values.isEmpty)
      socket.resume()
      #expect(await telling.messages.wait(for: 64) == [Int](repeating: 1 << 20, count: 64))
    }
  }

  @Test func pausesLoseNoMessages() async throws {
    let telling = TellingSocket { $0.pause() }
    try await withFront(sockets: StubSockets(make: { telling })) { front in
      let client = try await RawClient.socket(at: front.port)
      let socket = try #require(await telling.openings.wait(for: 1).first)
      client.send((1...100).flatMap { ClientFrame.binary([UInt8](repeating: 0, count: $0)) })
      for _ in 0..<100 {
        socket.resume()
        socket.pause()
        socket.resume()
      }
      #expect(await telling.messages.wait(for: 100) == Array(1...100))
    }
  }

  @Test func whatAClientDoesNotTakeIsNotCalledSent() async throws {
    let sent = Tally<Int>()
    let telling = TellingSocket { socket in
      for number in 0..<64 {
        socket.send([UInt8](repeating: 1, count: 1 << 20)) { sent.add(number) }
      }
    }
    let sockets = StubSockets(make: { telling })
    try await withFront(sockets: sockets) { front in
      let client = try await RawClient.connect(to: front.port, reads: false)
      client.send(RawClient.request("GET /socket", headers: RawClient.handshake))
      _ = await telling.openings.wait(for: 1)
      let count = try await settled { sent.values.count }
      #expect(count < 64)
      try await client.channel.setOption(.autoRead, value: true).get()
      #expect(await sent.wait(for: 64) == Array(0..<64))
    }
  }

  @Test func aClientThatTakesNothingIsCutOff() async throws {
    let telling = TellingSocket { socket in
      for _ in 0..<64 { socket.send([UInt8](repeating: 1, count: 1 << 20)) }
    }
    let change: (inout FrontSettings) -> Void = { settings in
      settings.times.ping = .milliseconds(50)
      settings.times.pong = .milliseconds(500)
    }
    try await withFront(sockets: StubSockets(make: { telling }), settings: change) { front in
      let client = try await RawClient.connect(to: front.port, reads: false)
      client.send(RawClient.request("GET /socket", headers: RawClient.handshake))
      _ = await telling.openings.wait(for: 1)
      while telling.closings.values.isEmpty {
        client.send(ClientFrame.bytes(0x89, []))
        try await Task.sleep(for: .milliseconds(20))
      }
      client.close()
    }
  }
}
