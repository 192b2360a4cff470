import Foundation
import Front
import Testing

@Suite(.timeLimit(.minutes(2))) struct RequestTests {
  private func about(_ reply: Reply) throws -> EchoHTTP.About {
    try JSONDecoder().decode(EchoHTTP.About.self, from: Data(reply.body))
  }

  @Test func aServiceGetsAllOfARequest() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      let reply = try await client.ask(
        "POST /about/a%20b/%C3%A4?x=1%2B1&y=a+b&z", headers: ["authorization: bearer abc.def"], body: "12345")
      #expect(reply.status == 200)
      #expect(reply.headers["content-type"] == "application/json")
      #expect(reply.headers["date"]?.hasSuffix(" GMT") == true)
      let expected = EchoHTTP.About(
        method: "POST", path: ["about", "a b", "ä"], query: ["x": "1+1", "y": "a b", "z": ""],
        address: "127.0.0.1", bearer: "abc.def", body: 5)
      #expect(try about(reply) == expected)
    }
  }

  @Test func requestsOfOneConnectionAreAnsweredInTheirOrder() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      client.send((0..<50).map { RawClient.request("POST /echo", body: "number \($0)") }.joined())
      for number in 0..<50 {
        #expect(try await client.reply().text == "number \(number)")
      }
    }
  }

  @Test func requestsAreReadHoweverTheyAreCut() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      for byte in RawClient.request("POST /echo", body: "some words").utf8 { client.send([byte]) }
      #expect(try await client.reply().text == "some words")
    }
  }

  @Test func aBodyMayComeInChunks() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      client.send(RawClient.request("POST /echo", headers: ["Transfer-Encoding: chunked"]))
      client.send("5\r\nthree\r\n")
      client.send("6\r\n words\r\n0\r\n\r\n")
      #expect(try await client.reply().text == "three words")
    }
  }

  @Test func aClientThatExpectsAWordGetsItBeforeItSendsTheBody() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      client.send(RawClient.request("POST /echo", headers: ["Expect: 100-continue", "Content-Length: 4"]))
      #expect(try await client.reply().status == 100)
      client.send("body")
      #expect(try await client.reply().text == "body")
      #expect(try await client.ask("GET /about", headers: ["Expect: 100-continue"]).status == 200)
    }
  }

  @Test func aResponseToHeadHasNoBody() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      let head = try await client.ask("HEAD /status/200")
      #expect(head.status == 200)
      #expect(head.headers["content-length"] == "6")
      #expect(try await client.ask("GET /status/204").body.isEmpty)
      #expect(try await client.ask("GET /status/304").body.isEmpty)
      #expect(try await client.ask("GET /status/200").text == "Words.")
    }
  }

  @Test func whatAServiceRefusesReachesTheClient() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      let reply = try await client.ask("OPTIONS /only-get")
      #expect(reply.status == 405)
      #expect(reply.headers["allow"] == "GET")
      #expect(try await client.ask("GET /nowhere").status == 404)
      #expect(try await client.ask("OPTIONS *").status == 404)
      #expect(try await client.ask("GET /status/99").status == 500)
    }
  }

  @Test func headersThatWouldBreakTheResponseAreLeftOut() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      let reply = try await client.ask("GET /bad-headers")
      #expect(reply.headers["x-good"] == "1")
      #expect(reply.headers["x-bad"] == nil)
      #expect(reply.headers["x-worse"] == nil)
      #expect(reply.headers["content-length"] == "0")
    }
  }

  @Test func aClientEndsAConnectionByAHeader() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      let reply = try await client.ask("GET /status/200", headers: ["Connection: close"])
      #expect(reply.headers["connection"] == "close")
      #expect(await client.inbox.end().isEmpty)
    }
  }

  @Test func olderClientsAreServed() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      client.send("GET /status/200 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      let reply = try await client.reply()
      #expect(reply.text == "Words.")
      #expect(reply.headers["connection"] == "keep-alive")
      client.send("GET /status/200 HTTP/1.0\r\n\r\n")
      #expect(try await client.reply().headers["connection"] == "close")
      #expect(await client.inbox.end().isEmpty)
    }
  }

  @Test func aTargetMayNameTheHost() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      let reply = try await client.ask("GET http://localhost/about/x?y=1")
      #expect(try about(reply).path == ["about", "x"])
      #expect(try await client.ask("GET http://localhost").status == 404)
    }
  }

  @Test func anotherProtocolIsNotTaken() async throws {
    try await withFront { front in
      let client = try await RawClient.connect(to: front.port)
      let reply = try await client.ask("GET /status/200", headers: ["Connection: Upgrade", "Upgrade: h2c"])
      #expect(reply.text == "Words.")
      #expect(reply.headers["connection"] == "close")
      #expect(await client.inbox.end().isEmpty)
    }
  }

  @Test func aClosedConnectionCancelsItsRequest() async throws {
    let http = HeldHTTP()
    try await withFront(http: http) { front in
      let client = try await RawClient.connect(to: front.port)
      client.send(RawClient.request("GET /held"))
      #expect(await http.arrivals.wait(for: 1) == [["held"]])
      client.close()
      #expect(await http.cancellations.wait(for: 1) == [true])
    }
  }

  @Test func aRequestWaitsForTheOneBeforeIt() async throws {
    let http = HeldHTTP()
    try await withFront(http: http) { front in
      let client = try await RawClient.connect(to: front.port)
      client.send(RawClient.request("GET /1") + RawClient.request("GET /2"))
      #expect(await http.arrivals.wait(for: 1) == [["1"]])
      http.release.open()
      #expect(try await client.reply().text == "1")
      #expect(try await client.reply().text == "2")
      #expect(http.arrivals.values == [["1"], ["2"]])
    }
  }

  @Test func aSecondFrontHasItsOwnService() async throws {
    try await withFront(sockets: NoSockets()) { front in
      try await withFront { other in
        #expect(front.port != other.port)
        let client = try await RawClient.connect(to: front.port)
        #expect(try await client.upgrade().status == 404)
        let otherClient = try await RawClient.connect(to: other.port)
        #expect(try await otherClient.upgrade().status == 101)
      }
    }
  }
}
