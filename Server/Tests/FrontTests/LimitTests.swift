import Front
import Testing

@Suite(.timeLimit(.minutes(2))) struct LimitTests {
  /// The status of the answer to the bytes of a new connection. The function also checks that the connection is closed
  /// afterwards.
  private func status(_ front: Front, _ text: String) async throws -> Int {
    let client = try await RawClient.connect(to: front.port)
    client.send(text)
    let reply = try await client.reply()
    #expect(reply.headers["connection"] == "close")
    #expect(await client.inbox.end().isEmpty)
    return reply.status
  }

  @Test func longHeadersAreRefused() async throws {
    try await withFront { front in
      let long = String(repeating: "a", count: 17 << 10)
      let status1 = try await status(front, RawClient.request("GET /", headers: ["x: \(long)"]))
      #expect(status1 == 431)
      let many = (0..<200).map { "x-\($0): 1" }
      let status2 = try await status(front, RawClient.request("GET /", headers: many))
      #expect(status2 == 431)
      let short = String(repeating: "a", count: 3 << 10)
      let client = try await RawClient.connect(to: front.port)
      #expect(try await client.ask("GET /\(short)", headers: ["x: \(short)"]).status == 404)
    }
  }

  @Test func longURLsAreRefused() async throws {
    try await withFront { front in
      for length in [5 << 10, 20 << 10, 60 << 10] {
        let url = "/" + String(repeating: "a", count: length)
        let status3 = try await status(front, RawClient.request("GET \(url)"))
        #expect(status3 == 414)
      }
    }
  }

  @Test func longBodiesAreRefused() async throws {
    try await withFront(settings: { $0.limits.maximumBody = 100 }) { front in
      let announced = RawClient.request(
        "POST /echo", headers: ["Content-Length: 101", "Expect: 100-continue"])
      let status4 = try await status(front, announced)
      #expect(status4 == 413)
      let endless = RawClient.request("POST /echo", headers: ["Content-Length: 99999999999999999999"])
      let endlessStatus = try await status(front, endless)
      #expect(endlessStatus == 400 || endlessStatus == 413)
      let chunk = "3c\r\n" + String(repeating: "a", count: 60) + "\r\n"
      let chunked = RawClient.request("POST /echo", headers: ["Transfer-Encoding: chunked"])
      let status5 = try await status(front, chunked + chunk + chunk + "0\r\n\r\n")
      #expect(status5 == 413)
      let client = try await RawClient.connect(to: front.port)
      let full = String(repeating: "a", count: 100)
      #expect(try await client.ask("POST /echo", body: full).text == full)
    }
  }

  @Test func aBodyOfAMebibyteComesThrough() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      let body = String(repeating: "0123456789abcdef", count: 1 << 16)
      #expect(try await client.ask("POST /echo", body: body).text == body)
    }
  }

  @Test(arguments: [
    "GET /about HTTP/1.1\r\n\r\n",
    "GET /about HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "GET /a%2 HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a?x=1&x=2 HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET about HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /about HTTP/1.1\r\nHost a\r\n\r\n",
    "GARBAGE\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  ])
  func malformedRequestsAreRefused(text: String) async throws {
    try await withFront { front in
      let status6 = try await status(front, text)
      #expect(status6 == 400)
    }
  }

  @Test func otherRefusalsHaveTheirStatus() async throws {
    try await withFront { front in
      let status7 = try await status(front, RawClient.request("TRACE /about"))
      #expect(status7 == 501)
      let status8 = try await status(front, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(status8 == 501)
      let status9 = try await status(front, RawClient.request("GET /about", headers: ["Expect: more"]))
      #expect(status9 == 417)
      let status10 = try await status(front, "GET / HTTP/2.0\r\nHost: a\r\n\r\n")
      #expect(status10 == 505)
    }
  }

  @Test func aMalformedRequestIsRefusedBehindTheAnswerToTheOneBefore() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      client.send(RawClient.request("GET /status/200") + "GARBAGE\r\n\r\n")
      #expect(try await client.reply().text == "Words.")
      #expect(try await client.reply().status == 400)
      #expect(await client.inbox.end().isEmpty)
    }
  }

  // MARK: - Times

  @Test func aHeadThatDoesNotEndIsRefused() async throws {
    // The time must be long enough for the first request to arrive in time on a busy machine.
    try await withFront(settings: { $0.times.header = .seconds(6) }) { front in
      let client = try await RawClient.connect(to: front.port)
      #expect(try await client.ask("GET /status/200").status == 200)
      client.send("GET /status/200 HT")
      #expect(try await client.reply().status == 408)
      #expect(await client.inbox.end().isEmpty)
    }
  }

  @Test func aBodyThatDoesNotEndIsRefused() async throws {
    try await withFront(settings: { $0.times.body = .milliseconds(100) }) { front in
      let text = RawClient.request("POST /echo", headers: ["Content-Length: 10"]) + "abc"
      let status11 = try await status(front, text)
      #expect(status11 == 408)
    }
  }

  @Test func connectionsThatAreNotUsedAreClosed() async throws {
    try await withFront(settings: { $0.times.header = .milliseconds(100) }) { front in
      let client = try await RawClient.connect(to: front.port)
      #expect(await client.inbox.end().isEmpty)
    }
    try await withFront(settings: { $0.times.idle = .milliseconds(100) }) { front in
      let client = try await RawClient.connect(to: front.port)
      #expect(try await client.ask("GET /status/200").status == 200)
      #expect(await client.inbox.end().isEmpty)
    }
  }

  @Test func aClientThatGoesOnSendingIsCutOff() async throws {
    try await withFront(settings: { $0.times.close = .milliseconds(100) }) { front in
      let client = try await RawClient.connect(to: front.port, stays: true)
      client.send("GARBAGE\r\n\r\n")
      #expect(try await client.reply().status == 400)
      // The system tells the client that the connection is closed only when the client sends more.
      while !client.inbox.isClosed {
        client.send("more")
        try await Task.sleep(for: .milliseconds(10))
      }
    }
  }

  // MARK: - Connections

  /// Asks until a connection is let in, because the front may not know yet that others were closed.
  private func comesIn(_ front: Front) async throws -> Bool {
    for _ in 0..<1000 {
      let client = try await RawClient.connect(to: front.port)
      if (try? await client.ask("GET /status/200"))?.status == 200 { return true }
      try await Task.sleep(for: .milliseconds(5))
    }
    return false
  }

  @Test(arguments: [true, false])
  func oneConnectionTooManyIsClosed(isOfOneAddress: Bool) async throws {
    let change: (inout FrontSettings) -> Void = { settings in
      if isOfOneAddress {
        settings.limits.connectionsPerAddress = 2
      } else {
        settings.limits.connections = 2
      }
    }
    try await withFront(settings: change) { front in
      let clients = [
        try await RawClient.connect(to: front.port), try await RawClient.connect(to: front.port),
      ]
      for client in clients { #expect(try await client.ask("GET /status/200").status == 200) }
      let third = try await RawClient.connect(to: front.port)
      #expect(await third.inbox.end().isEmpty)
      #expect(try await clients[0].ask("GET /status/200").status == 200)
      clients[1].close()
      #expect(try await comesIn(front))
    }
  }

  @Test func theConnectionsOfATrustedProxyAreNotCounted() async throws {
    let change: (inout FrontSettings) -> Void = { settings in
      settings.limits.connectionsPerAddress = 1
      settings.trustedProxies = ["127.0.0.0/8"]
    }
    try await withFront(settings: change) { front in
      var clients: [RawClient] = []
      for _ in 0..<3 {
        let client = try await RawClient.connect(to: front.port)
        #expect(try await client.ask("GET /status/200").status == 200)
        clients.append(client)
      }
      #expect(clients.count == 3)
    }
  }
}
