import Front
import Service
import Testing

/// Attacks by a client that lies about a file or guesses a password.
@Suite(.timeLimit(.minutes(5))) struct IdentityAbuseTests {
  /// A session that has started and shows notes.
  private func started(_ server: RunningServer) async throws -> (socket: Client, welcome: WelcomeMessage) {
    let socket = try await server.newSocket()
    let welcome = try await socket.start(on: 1)
    socket.send(Frames.querySet(of: "Note"), on: 1)
    return (socket, welcome)
  }

  private static let note = Changesets.objects("Note", keys: 1..<2, data: [1])

  @Test func `the claims of a file are checked`() async throws {
    try await withServer(Place()) { server in
      try await withNeighbour(server, "lies about files") { neighbour in
        for _ in 0..<5 {
          // The client was never told of this base.
          var (socket, welcome) = try await started(server)
          var upload = ClientUpload(welcome, Self.note)
          upload.base += 1_000_000
          socket.send(upload.frame, on: 1)
          #expect(try await ErrorMessage(socket.message(ErrorMessage.number, on: 1)).code == 4)
          // The changeset does not follow the previous one.
          (socket, welcome) = try await started(server)
          upload = ClientUpload(welcome, Self.note)
          upload.previous = [UInt8](repeating: 1, count: 32)
          socket.send(upload.frame, on: 1)
          #expect(try await ErrorMessage(socket.message(ErrorMessage.number, on: 1)).code == 12)
          // The query set was never sent.
          (socket, welcome) = try await started(server)
          upload = ClientUpload(welcome, Self.note)
          upload.querySet = 77
          socket.send(upload.frame, on: 1)
          #expect(try await ErrorMessage(socket.message(ErrorMessage.number, on: 1)).code == 4)
          // Another file has made the element.
          (socket, welcome) = try await started(server)
          upload = ClientUpload(welcome, Changesets.element(of: "Pile"))
          upload.replicas = [0, neighbour.welcome.replica]
          socket.send(upload.frame, on: 1)
          #expect(try await ErrorMessage(socket.message(ErrorMessage.number, on: 1)).code == 12)
          // The file belongs to another user.
          socket = try await server.newSocket()
          socket.send(Frames.hello(neighbour.welcome.replica), on: 1)
          #expect(try await ErrorMessage(socket.message(ErrorMessage.number, on: 1)).code == 7)
          // The channel was never opened.
          socket.send(Frames.mark(1), on: 2)
          #expect(try await ErrorMessage(socket.message(ErrorMessage.number, on: 2)).code == 4)
        }
      }
    }
  }

  @Test func `a file that claims to be ahead of the server is reset`() async throws {
    try await withServer(Place()) { server in
      try await withNeighbour(server, "cursors of the future") { _ in
        for _ in 0..<5 {
          let socket = try await server.newSocket()
          let welcome = try await socket.hello(on: 1)
          var frame: [UInt8] = [6]
          for number in [welcome.logVersion + 1_000_000, welcome.tag, welcome.session] {
            frame += Bytes.number(number)
          }
          frame += [0, 0, 0, 0, 0]
          socket.send(frame, on: 1)
          let reset = try await WelcomeMessage(socket.message(WelcomeMessage.number, on: 1))
          #expect(reset.answer == 2 && reset.replica != welcome.replica)
          #expect(reset.logVersion < welcome.logVersion + 1_000_000)
        }
      }
    }
  }

  @Test func `a stamp in the future is reduced to the present`() async throws {
    try await withServer(Place()) { server in
      try await withNeighbour(server, "stamps of the future") { _ in
        let day: UInt64 = 86_400_000
        for ahead in [day, 365 * day, (1 << 48) - 1] as [UInt64] {
          let (socket, welcome) = try await started(server)
          var upload = ClientUpload(welcome, Self.note)
          upload.time = min(welcome.time + ahead, (1 << 48) - 1)
          socket.send(upload.frame, on: 1)
          let decided = try await socket.decision(of: 1, on: 1)
          #expect(decided.time < welcome.time + day)
        }
      }
    }
  }

  @Test func `a class without rights can't be written or read`() async throws {
    let definition = """
      id: dev
      rights:
        Diary:
          read: true
          write: true
      providers: [anonymous]

      """
    try await withServer(Place(["dev": definition])) { server in
      try await withNeighbour(server, "classes without rights") { _ in
        let socket = try await server.newSocket()
        let welcome = try await socket.start(on: 1)
        socket.send(Frames.querySet(of: "Secret"), on: 1)
        var upload = ClientUpload(welcome, Changesets.objects("Secret", keys: 1..<2, data: [1]))
        for key in 2...50 {
          socket.send(upload.frame, on: 1)
          #expect(try await socket.decision(of: upload.sequence, on: 1).reasons == [3])
          upload = upload.next(Changesets.objects("Secret", keys: key..<key + 1, data: [1]))
        }
      }
    }
  }

  // MARK: - Log-ins

  /// The outcomes of many log-ins with wrong passwords at the same time, each for another account.
  private func outcomes(_ count: Int, _ port: Int, addresses: Bool) async throws -> [String: Int] {
    try await withThrowingTaskGroup(of: String.self) { group in
      for number in 0..<count {
        group.addTask {
          let client = try await Client.connect(to: port)
          defer { client.close() }
          let body = #"{"username":"user\#(number)@example.com","password":"wrong-password"}"#
          let header = addresses ? ["X-Forwarded-For: 10.0.\(number / 200).\(number % 200 + 1)"] : []
          let address = Address.provider("local-userpass", "login")
          return try await client.ask("POST \(address)", headers: header, body: body).outcome
        }
      }
      var found: [String: Int] = [:]
      for try await outcome in group { found[outcome, default: 0] += 1 }
      return found
    }
  }

  @Test func `one address has a limited number of wrong passwords`() async throws {
    try await withServer(Place()) { server in
      try await withNeighbour(server, "wrong passwords of one address") { _ in
        let found = try await outcomes(100, server.port, addresses: false)
        #expect(found == ["401 InvalidPassword": 50, "429 TooManyRequests": 50])
      }
    }
  }

  /// How many log-ins arrive during one check depends on the machine. So a test of `Passwords` covers how many wait and
  /// that more are refused.
  @Test func `many log-ins of many addresses are all answered, and a neighbour continues`() async throws {
    let change: (inout RunningServer.Settings) -> Void = { $0.front.trustedProxies = ["127.0.0.1"] }
    try await withServer(Place(), settings: change) { server in
      try await withNeighbour(server, "log-ins of many addresses") { _ in
        let found = try await outcomes(150, server.port, addresses: true)
        #expect(found.values.reduce(0, +) == 150)
        #expect(Set(found.keys).isSubset(of: ["401 InvalidPassword", "503 ServiceUnavailable"]))
        #expect(found["401 InvalidPassword", default: 0] > 0)
      }
    }
  }
}
