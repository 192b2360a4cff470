import Service
import Testing

@Suite(.timeLimit(.minutes(3))) struct DataLimitTests {
  /// Random bytes, which compression does not make fewer.
  private func noise(_ count: Int, _ seed: UInt64) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 33)
    }
  }

  @Test func `an app whose file is full accepts no more data, and otherwise continues`() async throws {
    let place = try Place(["dev": openDefinition("dev", "limits:\n  data: 1 MiB\n")])
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      let user = try await client.logInAnonymously()
      let socket = try await Client.socket(at: server.port, token: user.accessToken)
      let welcome = try await socket.start(on: 1)
      socket.send(Frames.querySet(of: "Note"), on: 1)
      // Uploads that come while there is room are accepted as a whole.
      let much = (1...4).map { noise(400 << 10, $0) }
      socket.send(Frames.upload(1, welcome, data: much), on: 1)
      try await socket.roundTrip(on: 1)
      socket.send(Frames.upload(2, welcome, data: [[1]]), on: 1)
      let error = try await ErrorMessage(socket.message(ErrorMessage.number, on: 1))
      #expect(error.code == 9 && error.action == 1)
      #expect(error.text.contains("limit"))
      #expect(error.wait > 0)
      let end = try await socket.message()
      #expect(end.channel == 1 && end.frame.isEmpty)
      // Existing data can still be read, and the server is healthy.
      _ = try await socket.start(on: 2)
      socket.send(Frames.querySet(of: "Note"), on: 2)
      var bytes = 0
      while bytes < 4 * (400 << 10) {
        bytes += try await socket.message(Frames.stepNumber, on: 2).frame.count
      }
      let monitor = try await Client.connect(to: server.monitorPort)
      #expect(try await monitor.ask("GET /health").status == 200)
    }
  }
}
