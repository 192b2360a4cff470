import Foundation
import Service
import Testing

@Suite(.timeLimit(.minutes(3))) struct SocketTests {
  private func outcome(
    _ port: Int, _ protocols: String?, bearer: String? = nil, app: String = "dev"
  ) async throws -> String {
    try await Client.upgrade(at: port, protocols: protocols, bearer: bearer, app: app).reply.outcome
  }

  @Test func `a WebSocket needs a token of the app and the right subprotocol`() async throws {
    let place = try Place(["dev": openDefinition(), "other": openDefinition("other")])
    try await withServer(place) { server in
      let (client, port) = (try await Client.connect(to: server.port), server.port)
      let user = try await client.logInAnonymously()
      let other = try await client.logInAnonymously(to: "other")
      let (token, stranger) = (user.accessToken, other.accessToken)
      #expect(try await outcome(port, "realm-sync.1") == "401 InvalidSession")
      #expect(try await outcome(port, "realm-sync.1, realm-token.") == "401 InvalidSession")
      #expect(try await outcome(port, "realm-sync.1, realm-token.a.b.c") == "401 InvalidSession")
      #expect(try await outcome(port, "realm-sync.1, realm-token.\(stranger)") == "401 InvalidSession")
      #expect(try await outcome(port, "realm-sync.1", bearer: stranger) == "401 InvalidSession")
      let refresh = user.refreshToken
      #expect(try await outcome(port, "realm-sync.1, realm-token.\(refresh)") == "401 InvalidSession")
      #expect(try await outcome(port, nil, bearer: token) == "400 BadRequest")
      #expect(try await outcome(port, "realm-token.\(token)") == "400 BadRequest")
      #expect(try await outcome(port, "realm-sync.2, realm-token.\(token)") == "400 BadRequest")
      let unknown = try await outcome(port, "realm-sync.1, realm-token.\(token)", app: "nothing")
      #expect(unknown == "404 AppNotFound")
      #expect(try await client.logOut(user).status == 204)
      #expect(try await outcome(port, "realm-sync.1, realm-token.\(token)") == "401 InvalidSession")
      #expect(try await outcome(port, "realm-sync.1, realm-token.\(stranger)", app: "other") == "101")
    }
  }

  @Test func `a token is read from the list of subprotocols, or from the header`() async throws {
    try await withServer(Place()) { server in
      let token = try await Client.connect(to: server.port).logInAnonymously().accessToken
      let lists: [(String, String?)] = [
        ("realm-sync.1, realm-token.\(token)", nil), ("realm-token.\(token), realm-sync.1", nil),
        ("realm-sync.2, realm-sync.1", token),
      ]
      for (list, bearer) in lists {
        let (client, reply) = try await Client.upgrade(at: server.port, protocols: list, bearer: bearer)
        #expect(reply.status == 101)
        // The answer names only this subprotocol, so the token is not sent back.
        #expect(reply.headers["sec-websocket-protocol"] == "realm-sync.1")
        #expect(try await client.hello(on: 1).answer == 1)
      }
    }
  }

  @Test func `files have channels, each with its own session`() async throws {
    try await withServer(Place()) { server in
      let user = try await Client.connect(to: server.port).logInAnonymously()
      let socket = try await Client.socket(at: server.port, token: user.accessToken)
      let first = try await socket.hello(on: 1)
      #expect(first.version == 1)
      #expect(first.answer == 1)
      #expect(first.replica != 0 && first.logVersion > 0)
      let second = try await socket.start(on: 2)
      #expect(second.answer == 1)
      #expect(second.replica != first.replica)
      // The first file also continues.
      socket.send(Frames.start(first), on: 1)
      _ = try await socket.message(Frames.stepNumber, on: 1)
      try await socket.roundTrip(on: 1)
      try await socket.roundTrip(on: 2)
      // A file that comes back on another channel is known.
      socket.send([], on: 1)
      socket.send(Frames.hello(first.replica), on: 3)
      let known = try await WelcomeMessage(socket.message(WelcomeMessage.number, on: 3))
      #expect(known.answer == 0)
    }
  }

  @Test func `the file of another user is refused`() async throws {
    try await withServer(Place()) { server in
      let client = try await Client.connect(to: server.port)
      let owner = try await client.logInAnonymously()
      let socket = try await Client.socket(at: server.port, token: owner.accessToken)
      let replica = try await socket.start(on: 1).replica
      let other = try await client.logInAnonymously()
      let thief = try await Client.socket(at: server.port, token: other.accessToken)
      thief.send(Frames.hello(replica), on: 1)
      let error = try await ErrorMessage(thief.message(ErrorMessage.number, on: 1))
      #expect(error.code == 7)
      try await socket.roundTrip(on: 1)
    }
  }

  @Test func `a damaged frame ends only its channel`() async throws {
    try await withServer(Place()) { server in
      let user = try await Client.connect(to: server.port).logInAnonymously()
      let socket = try await Client.socket(at: server.port, token: user.accessToken)
      _ = try await socket.start(on: 1)
      _ = try await socket.start(on: 2)
      // The frames are a query set whose number does not end, a hello that was already sent, and an unknown message.
      let frames: [(bytes: [UInt8], code: UInt64)] = [([8, 0xff], 2), (Frames.hello, 4), ([40], 3)]
      for (place, frame) in frames.enumerated() {
        let channel = UInt64(3 + place)
        _ = try await socket.start(on: channel)
        socket.send(frame.bytes, on: channel)
        let error = try await ErrorMessage(socket.message(ErrorMessage.number, on: channel))
        #expect(error.code == frame.code)
        #expect(error.action == 5)
        let end = try await socket.message()
        #expect(end.channel == channel && end.frame.isEmpty)
        // Messages on a closed channel are ignored.
        socket.send(Frames.mark(1), on: channel)
        try await socket.roundTrip(on: 1)
      }
      // Here the first message of a channel is damaged.
      socket.send([8, 0xff], on: 9)
      #expect(try await ErrorMessage(socket.message(ErrorMessage.number, on: 9)).code == 2)
      try await socket.roundTrip(on: 2)
      // A message that may be skipped is skipped.
      socket.send([41, 1, 2, 3], on: 2)
      try await socket.roundTrip(on: 2)
    }
  }

  @Test func `a message without a channel ends the WebSocket`() async throws {
    try await withServer(Place()) { server in
      let user = try await Client.connect(to: server.port).logInAnonymously()
      let payloads: [[UInt8]] = [[], [0], [0, 2, 1, 1, 0, 0, 0], [0x80], [0xff, 0xff]]
      for payload in payloads {
        let socket = try await Client.socket(at: server.port, token: user.accessToken)
        _ = try await socket.hello(on: 1)
        socket.send(message: payload)
        #expect(try await socket.closeCode() == 1002, "\(payload)")
      }
    }
  }

  @Test func `a user registers ten files a minute, and refused channels do not count`() async throws {
    try await withServer(Place()) { server in
      let user = try await Client.connect(to: server.port).logInAnonymously()
      let socket = try await Client.socket(at: server.port, token: user.accessToken)
      // The first message of a channel must be a hello. It can't be a message that may be skipped.
      for first in [1, 51, 101] as [UInt64] {
        let channels = first..<first + 50
        for channel in channels { socket.send([41], on: channel) }
        for channel in channels {
          #expect(try await ErrorMessage(socket.message(ErrorMessage.number, on: channel)).code == 4)
          #expect(try await socket.message().frame.isEmpty)
        }
      }
      for channel in UInt64(151)...160 { _ = try await socket.hello(on: channel) }
      socket.send(Frames.hello, on: 161)
      let error = try await ErrorMessage(socket.message(ErrorMessage.number, on: 161))
      #expect(error.code == 9 && error.action == 1 && error.wait > 0)
    }
  }

  @Test func `the connections of a user and of an app are limited`() async throws {
    let limits = "limits:\n  connections-per-user: 2\n  connections: 3\n"
    try await withServer(Place(["dev": openDefinition("dev", limits)])) { server in
      let port = server.port
      let client = try await Client.connect(to: port)
      let (ann, bob) = (try await client.logInAnonymously(), try await client.logInAnonymously())
      let first = try await Client.socket(at: port, token: ann.accessToken)
      let second = try await Client.socket(at: port, token: ann.accessToken)
      let many = "429 TooManyRequests"
      #expect(try await outcome(port, "realm-sync.1, realm-token.\(ann.accessToken)") == many)
      let third = try await Client.socket(at: port, token: bob.accessToken)
      #expect(try await outcome(port, "realm-sync.1, realm-token.\(bob.accessToken)") == many)
      // One connection is closed, and one is lost.
      first.send([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8])
      #expect(try await first.closeCode() == 1000)
      let fourth = try await socket(at: port, whenAcceptedFor: ann)
      #expect(try await outcome(port, "realm-sync.1, realm-token.\(ann.accessToken)") == many)
      third.close()
      let fifth = try await socket(at: port, whenAcceptedFor: bob)
      #expect(try await outcome(port, "realm-sync.1, realm-token.\(bob.accessToken)") == many)
      for socket in [second, fourth, fifth] { _ = try await socket.hello(on: 1) }
    }
  }

  /// Asks until a connection is accepted, because the server learns of an end a little later.
  private func socket(at port: Int, whenAcceptedFor user: LoggedIn) async throws -> Client {
    var accepted: Client?
    _ = try await becomes {
      accepted = try? await Client.socket(at: port, token: user.accessToken)
      return accepted != nil
    }
    return try #require(accepted)
  }
}
