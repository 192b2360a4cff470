import Front
import Logging
import Testing

@Suite(.timeLimit(.minutes(2))) struct StopTests {
  private func start(
    _ http: any HTTPService, _ sockets: any SocketService = StubSockets()
  ) async throws -> Front {
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    return try await Front.start(FrontSettings(), http: http, sockets: sockets, logger: logger)
  }

  @Test func requestsUnderWayAreAnswered() async throws {
    let http = HeldHTTP()
    let front = try await start(http)
    let (busy, idle) = (
      try await RawClient.connect(to: front.port), try await RawClient.connect(to: front.port)
    )
    busy.send(RawClient.request("GET /held"))
    _ = await http.arrivals.wait(for: 1)
    let stop = Task { await front.stop(grace: .seconds(60)) }
    // The front has begun to stop when it has closed the connection that had no request.
    #expect(await idle.inbox.end().isEmpty)
    http.release.open()
    let reply = try await busy.reply()
    #expect(reply.text == "held")
    #expect(reply.headers["connection"] == "close")
    await stop.value
    #expect(http.cancellations.values.isEmpty)
    await #expect(throws: (any Error).self) { try await RawClient.connect(to: front.port) }
  }

  @Test func webSocketsAreToldAndMayEndThemselves() async throws {
    let telling = TellingSocket()
    let front = try await start(EchoHTTP(), StubSockets(make: { telling }))
    let client = try await RawClient.socket(at: front.port)
    let stop = Task { await front.stop(grace: .seconds(60)) }
    #expect(try await client.frame().code == 1001)
    client.send(ClientFrame.close(1001))
    #expect(await client.inbox.end().isEmpty)
    await stop.value
    #expect(telling.closings.values == [true])
  }

  @Test func whatIsLeftAfterTheGraceIsClosed() async throws {
    let (http, telling) = (HeldHTTP(), TellingSocket())
    let front = try await start(http, StubSockets(make: { telling }))
    let (client, socket) = (
      try await RawClient.connect(to: front.port), try await RawClient.socket(at: front.port)
    )
    client.send(RawClient.request("GET /held"))
    _ = await http.arrivals.wait(for: 1)
    await front.stop(grace: .milliseconds(100))
    #expect(await client.inbox.end().isEmpty)
    #expect(await http.cancellations.wait(for: 1) == [true])
    #expect(telling.closings.values == [true])
    _ = await socket.inbox.end()
    await front.stop(grace: .seconds(60))
  }

  @Test func aSocketMayBeUsedWhenTheFrontIsGone() async throws {
    let telling = TellingSocket()
    let front = try await start(EchoHTTP(), StubSockets(make: { telling }))
    let client = try await RawClient.socket(at: front.port)
    let socket = try #require(await telling.openings.wait(for: 1).first)
    await front.stop(grace: .zero)
    socket.send([1])
    socket.pause()
    socket.resume()
    socket.close()
    _ = await client.inbox.end()
    #expect(telling.closings.values == [true])
  }

  @Test func aPortInUseIsAnError() async throws {
    let front = try await start(EchoHTTP())
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    await #expect(throws: (any Error).self) {
      try await Front.start(FrontSettings(port: front.port), http: EchoHTTP(), logger: logger)
    }
    var settings = FrontSettings()
    settings.trustedProxies = ["10.0.0.0/33"]
    await #expect(throws: FrontError.badProxy("10.0.0.0/33")) {
      try await Front.start(settings, http: EchoHTTP(), logger: logger)
    }
    await front.stop(grace: .zero)
  }
}
