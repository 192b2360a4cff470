import Testing

@testable import Front

/// Messages and bodies of requests that begin and do not end.
@Suite(.timeLimit(.minutes(2))) struct UnfinishedTests {
  /// Sends a part of a message and a ping.
  ///
  /// - Returns: The answer once the server has read the part: the pong, or the end of the WebSocket.
  private func sendPart(_ count: Int, _ client: RawClient) async throws -> ServerFrame {
    client.send(ClientFrame.bytes(0x02, [UInt8](repeating: 1, count: count)) + ClientFrame.bytes(0x89, [7]))
    return try await client.frame()
  }

  private static let pong = ServerFrame(first: 0x8a, payload: [7])

  /// Waits until the bytes of a client are counted. The front answers a ping before it counts the bytes that it has read
  /// together with the ping. It reads a second ping, which is sent after that answer, only when it has counted them.
  private func waitForCount(of client: RawClient) async throws {
    client.send(ClientFrame.bytes(0x89, [8]))
    #expect(try await client.frame() == ServerFrame(first: 0x8a, payload: [8]))
  }

  @Test(arguments: [true, false])
  func messagesThatAreNotWholeAreLimitedForAllTogether(isOfOneAddress: Bool) async throws {
    let change: (inout FrontSettings) -> Void = { settings in
      if isOfOneAddress {
        settings.limits.unfinishedBytesPerAddress = 200_000
      } else {
        settings.limits.unfinishedBytes = 200_000
      }
    }
    try await withFront(settings: change) { front in
      let first = try await RawClient.socket(at: front.port)
      #expect(try await sendPart(200_000, first) == Self.pong)
      try await waitForCount(of: first)
      // A short part is still accepted.
      let short = try await RawClient.socket(at: front.port)
      #expect(try await sendPart(10_000, short) == Self.pong)
      let long = try await RawClient.socket(at: front.port)
      var end = try await sendPart(20_000, long)
      // The server may have read the ping together with the part.
      if end == Self.pong { end = try await long.frame() }
      #expect(end.code == 1013)
      #expect(String(decoding: end.payload.dropFirst(2), as: UTF8.self).contains("Try again later"))
      #expect(await long.inbox.end().isEmpty)
      // The other clients continue, and a message that is complete no longer counts.
      short.send(ClientFrame.bytes(0x80, [2]))
      #expect(try await short.frame().payload.count == 10_001)
      first.send(ClientFrame.bytes(0x80, [2]))
      #expect(try await first.frame().payload.count == 200_001)
      let later = try await RawClient.socket(at: front.port)
      #expect(try await sendPart(200_000, later) == Self.pong)
    }
  }

  @Test func aConnectionThatEndsLeavesItsBytesToOthers() async throws {
    let change: (inout FrontSettings) -> Void = { settings in
      settings.limits.unfinishedBytes = 200_000
      // The front closes a connection before it subtracts the connection's bytes. Its only thread does both before it
      // reads from the next one.
      settings.threads = 1
    }
    try await withFront(settings: change) { front in
      for _ in 0..<3 {
        let client = try await RawClient.socket(at: front.port)
        #expect(try await sendPart(200_000, client) == Self.pong)
        // The server answers the close frame of a client before it closes the connection.
        client.send(ClientFrame.close(1000))
        #expect(try await client.frame().code == 1000)
        _ = await client.inbox.end()
      }
    }
  }

  @Test func bodiesOfRequestsThatAreNotAnsweredCount() async throws {
    let http = HeldHTTP()
    try await withFront(http: http, settings: { $0.limits.unfinishedBytes = 150_000 }) { front in
      let body = String(repeating: "a", count: 100_000)
      let first = try await RawClient.connect(to: front.port)
      first.send(RawClient.request("POST /1", body: body))
      _ = await http.arrivals.wait(for: 1)
      let second = try await RawClient.connect(to: front.port)
      let refused = try await second.ask("POST /2", body: body)
      #expect(refused.status == 503)
      #expect(refused.text.contains("Try again later"))
      #expect(await second.inbox.end().isEmpty)
      http.release.open()
      #expect(try await first.reply().text == "1")
      #expect(try await first.ask("POST /3", body: body).text == "3")
    }
  }

  @Test(arguments: [[0x82], [0x82, 0x85, 1, 2, 3, 4, 5], [0x02, 0x81, 0, 0, 0, 0, 1], [0x89]] as [[UInt8]])
  func aMessageThatDoesNotEndIsCutOff(part: [UInt8]) async throws {
    try await withFront(settings: { $0.times.message = .milliseconds(200) }) { front in
      let client = try await RawClient.socket(at: front.port)
      client.send(part)
      #expect(try await client.frame().code == 1008)
      #expect(await client.inbox.end().isEmpty)
    }
  }

  @Test func theTimeOfAMessageEndsWithIt() async throws {
    // The time must be long enough for each message to arrive in time on a busy machine.
    try await withFront(settings: { $0.times.message = .seconds(6) }) { front in
      let client = try await RawClient.socket(at: front.port)
      let began = ContinuousClock.now
      // There is always an unfinished message, for longer than one message may be unfinished.
      client.send(ClientFrame.bytes(0x02, [0]))
      while ContinuousClock.now - began < .seconds(7) {
        client.send(ClientFrame.bytes(0x80, [1]) + ClientFrame.bytes(0x02, [0]))
        #expect(try await client.frame().payload == [0, 1])
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  @Test func eachConnectionCountsWhatItHas() {
    var limits = FrontLimits()
    (limits.unfinishedBytes, limits.unfinishedBytesPerAddress) = (100 << 10, 60 << 10)
    let all = UnfinishedBytes(limits)
    var one = UnfinishedShare(all, [10, 0, 0, 1])
    var same = UnfinishedShare(all, [10, 0, 0, 1])
    var other = UnfinishedShare(all, [10, 0, 0, 2])
    var unknown = UnfinishedShare(all, nil)
    let isOne = one.set(40 << 10)
    let isSame = same.set(30 << 10)
    #expect(isOne && !isSame)
    // The bytes count until they are subtracted.
    let isOther = other.set(40 << 10)
    #expect(!isOther && all.count == 110 << 10)
    let isGone = same.set(0)
    let isUnknown = unknown.set(20 << 10)
    #expect(isGone && isUnknown && all.count == 100 << 10)
    // A smaller count is always accepted.
    let isAllowed = same.set(UnfinishedBytes.allowance)
    let isLess = other.set(39 << 10)
    #expect(isAllowed && isLess)
    for _ in 0..<2 {
      let areGone = [one.set(0), same.set(0), other.set(0), unknown.set(0)]
      #expect(areGone == [true, true, true, true] && all.count == 0)
    }
  }
}
