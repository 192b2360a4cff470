import Foundation
import Service
import Testing

@Suite(.timeLimit(.minutes(3))) struct SocketEndTests {
  /// A WebSocket with a file that has had its first step.
  private func started(_ server: RunningServer, _ user: LoggedIn) async throws -> Client {
    let socket = try await Client.socket(at: server.port, token: user.accessToken)
    _ = try await socket.start(on: 1)
    return socket
  }

  @Test func `a user who is disabled loses the connections, and can connect again once enabled`() async throws
  {
    let place = try Place()
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      let (user, other) = (try await client.logInAnonymously(), try await client.logInAnonymously())
      let (first, second) = (try await started(server, user), try await started(server, user))
      let stranger = try await started(server, other)
      #expect(await !place.ask(.disable(app: "dev", user: user.userId), server).isError)
      #expect(try await first.closeCode() == 4003)
      #expect(try await second.closeCode() == 4003)
      try await stranger.roundTrip(on: 1)
      let refused = SocketRefused(outcome: "401 UserDisabled")
      await #expect(throws: refused) { try await Client.socket(at: server.port, token: user.accessToken) }
      #expect(try await client.refresh(user).outcome == "401 UserDisabled")
      #expect(await !place.ask(.enable(app: "dev", user: user.userId), server).isError)
      #expect(try await client.refresh(user).status == 201)
      _ = try await started(server, user)
    }
  }

  @Test func `a log-out ends only the connections of its session`() async throws {
    let place = try Place()
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      let key = try await place.serverKey("robot", server)
      let user = try await client.logIn("api-key", ["key": key]).decoded(LoggedIn.self)
      let other = try await client.logIn("api-key", ["key": key]).decoded(LoggedIn.self)
      #expect(user.userId == other.userId)
      let (ended, kept) = (try await started(server, user), try await started(server, other))
      #expect(try await client.logOut(user).status == 204)
      #expect(try await ended.closeCode() == 4003)
      try await kept.roundTrip(on: 1)
      #expect(await !place.ask(.logOut(app: "dev", user: other.userId), server).isError)
      #expect(try await kept.closeCode() == 4003)
      #expect(try await client.refresh(other).outcome == "401 InvalidSession")
    }
  }

  @Test func `a user who is deleted loses the connections`() async throws {
    let place = try Place()
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      let (ann, bob) = (try await client.logInAnonymously(), try await client.logInAnonymously())
      let (first, second) = (try await started(server, ann), try await started(server, bob))
      let reply = try await client.ask("DELETE \(Address.delete)", bearer: ann.accessToken)
      #expect(reply.status == 204)
      #expect(try await first.closeCode() == 4003)
      #expect(await !place.ask(.delete(app: "dev", user: bob.userId), server).isError)
      #expect(try await second.closeCode() == 4003)
      #expect(await place.ask(.delete(app: "dev", user: bob.userId), server).isError)
    }
  }

  @Test func `a file that is given up is told to be reset`() async throws {
    let place = try Place()
    try await withServer(place) { server in
      let user = try await Client.connect(to: server.port).logInAnonymously()
      let socket = try await Client.socket(at: server.port, token: user.accessToken)
      let replica = try await socket.start(on: 1).replica
      #expect(await place.ask(.retire(app: "dev", replica: replica &+ 1), server).isError)
      let answer = await place.ask(.retire(app: "dev", replica: replica), server)
      #expect(!answer.isError)
      #expect(answer.lines.first?.contains("\(replica)") == true)
      let error = try await ErrorMessage(socket.message(ErrorMessage.number, on: 1))
      #expect(error.code == 12 && error.action == 4)
      // The file says hello again, and is reset once it has told its version.
      socket.send(Frames.hello(replica), on: 2)
      let welcome = try await WelcomeMessage(socket.message(WelcomeMessage.number, on: 2))
      #expect(welcome.answer == 0)
      socket.send(Frames.start(welcome), on: 2)
      let reset = try await WelcomeMessage(socket.message(WelcomeMessage.number, on: 2))
      #expect(reset.answer == 2)
      #expect(reset.replica != replica && reset.replica != 0)
      let metrics = try await Client.connect(to: server.monitorPort).ask("GET /metrics").text
      #expect(metrics.contains("realm_server_resets{app=\"dev\",cause=\"retired\"} 1\n"))
    }
  }

  @Test func `a server that stops tells when to come back, and the next server has its files`() async throws {
    let place = try Place()
    var known: (user: LoggedIn, replica: UInt64)?
    try await withServer(place) { server in
      let user = try await Client.connect(to: server.port).logInAnonymously()
      let socket = try await started(server, user)
      known = (user, try await socket.hello(on: 2).replica)
      await server.stop(wait: 1000, grace: .milliseconds(500))
      for channel in UInt64(1)...2 {
        let error = try await ErrorMessage(socket.message(ErrorMessage.number, on: channel))
        #expect(error.code == 10 && error.action == 1)
        #expect((500...1000).contains(error.wait))
        let end = try await socket.message()
        #expect(end.channel == channel && end.frame.isEmpty)
      }
      #expect(try await socket.closeCode() == 1001)
      await #expect(throws: (any Error).self) { try await Client.connect(to: server.port) }
      await #expect(throws: (any Error).self) { try await Client.connect(to: server.monitorPort) }
    }
    #expect(!FileManager.default.fileExists(atPath: place.administration.path))
    let (user, replica) = try #require(known)
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      #expect(try await client.refresh(user).status == 201)
      // The keys that sign tokens are the same, and the file is known.
      let socket = try await Client.socket(at: server.port, token: user.accessToken)
      socket.send(Frames.hello(replica), on: 1)
      #expect(try await WelcomeMessage(socket.message(WelcomeMessage.number, on: 1)).answer == 0)
    }
  }
}
