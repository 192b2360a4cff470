import Front
import Service
import Testing

/// Attacks by a client that has only a connection or an account.
@Suite(.timeLimit(.minutes(5))) struct ConnectionAbuseTests {
  /// Sends a byte again and again until the task is cancelled.
  private func trickle(_ client: Client) -> Task<Void, any Error> {
    Task {
      while !Task.isCancelled {
        client.send([0x78])
        try await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  /// The status of the answer to a request that never ends.
  private func status(of beginning: [String], _ port: Int) async throws -> Int {
    let client = try await Client.connect(to: port)
    client.send(Array(beginning.map { $0 + "\r\n" }.joined().utf8))
    let trickle = trickle(client)
    defer {
      trickle.cancel()
      client.close()
    }
    return try await client.inbox.next { Reply.taken(from: &$0) }.status
  }

  /// The code that ends a WebSocket whose message never ends.
  private func code(_ port: Int, _ user: LoggedIn) async throws -> Int {
    let socket = try await Client.socket(at: port, token: user.accessToken)
    // The head announces a message of 1,000 bytes.
    socket.send([0x82, 0xfe, 0x03, 0xe8, 0, 0, 0, 0])
    let trickle = trickle(socket)
    defer {
      trickle.cancel()
      socket.close()
    }
    return Int(try await socket.closeCode() ?? 0)
  }

  @Test func `data that comes byte by byte is cut off, and no other client waits for it`() async throws {
    // The times must be long enough for honest data to arrive in time on a busy machine.
    let change: (inout RunningServer.Settings) -> Void = { settings in
      settings.front.times.header = .seconds(6)
      settings.front.times.body = .seconds(6)
      settings.front.times.message = .seconds(6)
    }
    try await withServer(Place(), settings: change) { server in
      try await withNeighbour(server, "bytes that trickle") { _ in
        let (port, user) = (server.port, try await server.newUser())
        let head = ["GET \(Address.app("location")) HTTP/1.1", "Host: localhost"]
        let logIn = "POST \(Address.provider("local-userpass", "login")) HTTP/1.1"
        let body = [logIn, "Host: localhost", "Content-Length: 1000", ""]
        try await withThrowingTaskGroup(of: (Int, Int).self) { group in
          for _ in 0..<20 {
            group.addTask { (try await status(of: head, port), 408) }
            group.addTask { (try await status(of: body, port), 408) }
            group.addTask { (try await code(port, user), 1008) }
          }
          for try await (found, expected) in group { #expect(found == expected) }
        }
      }
    }
  }

  @Test func `one address has a limited number of connections, and connections without a request are closed`()
    async throws
  {
    let change: (inout RunningServer.Settings) -> Void = { settings in
      settings.front.limits.connectionsPerAddress = 60
      settings.front.times.header = .seconds(6)
    }
    try await withServer(Place(), settings: change) { server in
      try await withNeighbour(server, "100 connections at once") { _ in
        var all: [Client] = []
        for _ in 0..<100 { all.append(try await Client.connect(to: server.port)) }
        let clients = all
        let areRefused = try await becomes { clients.count { $0.inbox.isClosed } >= 40 }
        #expect(areRefused)
        let areClosed = try await becomes { clients.allSatisfy { $0.inbox.isClosed } }
        #expect(areClosed)
        let client = try await Client.connect(to: server.port)
        #expect(try await client.ask("GET \(Address.app("location"))").status == 200)
      }
    }
  }

  @Test func `a client that reconnects again and again has a limited number of connections at a time`()
    async throws
  {
    try await withServer(Place()) { server in
      try await withNeighbour(server, "a reconnect loop") { _ in
        let user = try await server.newUser()
        for _ in 0..<200 {
          do {
            let socket = try await Client.socket(at: server.port, token: user.accessToken)
            // This is a message without a channel.
            socket.send(message: [])
            #expect(try await socket.closeCode() == 1002)
            socket.close()
          } catch let refused as SocketRefused {
            // The server does not know yet that the other connections have ended.
            #expect(refused.outcome == "429 TooManyRequests")
            try await Task.sleep(for: .milliseconds(20))
          }
        }
      }
    }
  }

  private static let long = String(repeating: "a", count: 20 << 10)

  private static let requests: [(line: String, header: String, body: String, outcomes: [Int])] = [
    ("GET /", "x: \(long)", "", [431]), ("GET /\(long)", "x: 1", "", [414, 431]),
    ("GET /../../etc/passwd", "x: 1", "", [404]), ("GET /%2e%2e/%2e%2e/etc/passwd", "x: 1", "", [404]),
    ("GET /api/client/v2.0/app/../../../../etc/passwd", "x: 1", "", [404]),
    ("GET /api/client/v2.0/app/%2e%2e%2f%2e%2e%2fetc/location", "x: 1", "", [404]),
    ("GET /api/client/v2.0/app/dev%2f..%2f../location", "x: 1", "", [404]),
    ("GET /api/client/v2.0/app/dev/../../location", "x: 1", "", [404]),
    ("GET /api/client/v2.0/app/dev%00/location", "x: 1", "", [400]),
    (
      "POST \(Address.provider("local-userpass", "login"))", "x: 1", String(repeating: "[", count: 60_000),
      [400]
    ),
    (
      "POST \(Address.provider("local-userpass", "login"))", "x: 1",
      String(repeating: #"{"a":"#, count: 12_000), [400]
    ),
  ]

  @Test func `requests to unknown addresses, and requests that are too long or too deep, are refused`()
    async throws
  {
    try await withServer(Place()) { server in
      try await withNeighbour(server, "wrong requests") { _ in
        for _ in 0..<10 {
          for (line, header, body, outcomes) in Self.requests {
            let client = try await Client.connect(to: server.port)
            let status = try await client.ask(line, headers: [header], body: body).status
            #expect(outcomes.contains(status), "\(line.prefix(60)) \(status)")
            client.close()
          }
        }
      }
    }
  }
}
