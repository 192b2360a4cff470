import Foundation
import Logging
import Service
import Testing

@Suite(.timeLimit(.minutes(3))) struct AdministrationTests {
  @Test func `roles and custom data are set and shown`() async throws {
    let place = try Place()
    try await withServer(place) { server in
      let user = try await Client.connect(to: server.port).logInAnonymously()
      let id = user.userId
      let roles = await place.ask(.roles(app: "dev", user: id, ["editor", "admin"]), server)
      #expect(!roles.isError)
      #expect(roles.lines.first?.contains("editor, admin") == true)
      let listed = await place.ask(.users(app: "dev", after: nil), server)
      #expect(listed.lines == ["\(id)  -  anon-user  roles: editor,admin"])
      #expect(await place.ask(.users(app: "dev", after: id), server) == AdministrationAnswer([]))
      #expect(await place.ask(.users(app: "dev", after: "nobody"), server).isError)
      #expect(await !place.ask(.customData(app: "dev", user: id, #"{"team":"red"}"#), server).isError)
      for wrong in ["", "{", "[]", "1", "{} {}", String(repeating: "a", count: 5000)] {
        #expect(await place.ask(.customData(app: "dev", user: id, wrong), server).isError, "\(wrong)")
      }
      #expect(await !place.ask(.customData(app: "dev", user: id, nil), server).isError)
      #expect(await place.ask(.roles(app: "dev", user: id, [""]), server).isError)
      // The rights of users change from the next connection on.
      let socket = try await Client.socket(at: server.port, token: user.accessToken)
      _ = try await socket.start(on: 1)
    }
  }

  @Test func `unknown users and apps are reported`() async throws {
    let place = try Place()
    try await withServer(place) { server in
      let nobody = "0123456789abcdef01234567"
      let requests: [AdministrationRequest] = [
        .disable(app: "dev", user: nobody), .enable(app: "dev", user: nobody),
        .delete(app: "dev", user: nobody), .logOut(app: "dev", user: nobody),
        .confirm(app: "dev", user: nobody),
        .roles(app: "dev", user: nobody, []), .customData(app: "dev", user: nobody, nil),
        .password(app: "dev", user: nobody, "a long secret"), .disable(app: "dev", user: "../dev"),
      ]
      for request in requests {
        let answer = await place.ask(request, server)
        #expect(answer.isError && answer.lines.first?.contains("UserNotFound") == true)
      }
      let answer = await place.ask(.users(app: "other", after: nil), server)
      #expect(answer.isError)
      #expect(answer.lines.first?.contains("'other'") == true && answer.lines.first?.contains("dev") == true)
    }
  }

  @Test func `the password of a user is set, which ends all sessions`() async throws {
    let place = try Place()
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      let fields = ["email": "ann@example.com", "password": "a long secret"]
      #expect(try await client.post(Address.provider("local-userpass", "register"), fields).status == 201)
      let logIn = ["username": "ann@example.com", "password": "another secret"]
      let listed = await place.ask(.users(app: "dev", after: nil), server)
      let user = String(try #require(listed.lines.first).prefix(24))
      let set = await place.ask(.password(app: "dev", user: user, "another secret"), server)
      #expect(!set.isError)
      #expect(!set.lines.joined().contains("another secret"))
      #expect(try await client.logIn("local-userpass", logIn).status == 200)
    }
  }

  @Test func `a key of the server logs in, and its name can be used once`() async throws {
    let place = try Place()
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      let key = try await place.serverKey("robot", server)
      #expect(try await client.logIn("api-key", ["key": key]).status == 200)
      #expect(await place.ask(.serverKey(app: "dev", name: "robot"), server).isError)
    }
  }

  @Test func `a running server is asked, and otherwise the folder is used`() async throws {
    let place = try Place(["dev": openDefinition()])
    var known: LoggedIn?
    let all = AdministrationRequest.users(app: "dev", after: nil)
    try await withServer(place) { server in
      let user = try await Client.connect(to: server.port).logInAnonymously()
      known = user
      let answer = try await Administration.ask(all, place.folder, logger: .silent)
      #expect(!answer.isError)
      #expect(answer.lines.map { String($0.prefix(24)) } == [user.userId])
    }
    let user = try #require(known)
    let listed = try await Administration.ask(all, place.folder, logger: .silent)
    #expect(listed.lines.map { String($0.prefix(24)) } == [user.userId])
    let disable = AdministrationRequest.disable(app: "dev", user: user.userId)
    #expect(try await !Administration.ask(disable, place.folder, logger: .silent).isError)
    // The folder is free again.
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      #expect(try await client.refresh(user).outcome == "401 UserDisabled")
    }
  }

  @Test func `a command waits for a server that holds the folder without an address`() async throws {
    let place = try Place()
    try await withServer(place) { _ in }
    let all = AdministrationRequest.users(app: "dev", after: nil)
    var lock = try place.folder.hold()
    #expect(lock != nil)
    let folder = place.folder
    async let answer = Administration.ask(all, folder, logger: .silent)
    try await Task.sleep(for: .milliseconds(300))
    withExtendedLifetime(lock) {}
    lock = nil
    #expect(try await !answer.isError)
  }

  @Test func `administration requests keep their format`() throws {
    let requests: [AdministrationRequest] = [
      .backup(app: "dev", folder: "/tmp/a"), .retire(app: "dev", replica: 1 << 62),
      .users(app: "dev", after: nil), .roles(app: "dev", user: "a", ["b"]),
      .customData(app: "dev", user: "a", nil), .customData(app: "dev", user: "a", "{}"),
      .password(app: "dev", user: "a", "b"), .serverKey(app: "dev", name: "a"),
    ]
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    for request in requests {
      let data = try encoder.encode(request)
      let read = try JSONDecoder().decode(AdministrationRequest.self, from: data)
      #expect(try encoder.encode(read) == data)
    }
  }

  @Test func `the files of a server are checked while no server runs`() async throws {
    let place = try Place()
    try await withServer(place) { server in
      let user = try await Client.connect(to: server.port).logInAnonymously()
      _ = try await Client.socket(at: server.port, token: user.accessToken).start(on: 1)
      let findings = try place.folder.checkFiles()
      #expect(findings.count == 1 && findings[0].isGood)
    }
    let findings = try place.folder.checkFiles()
    #expect(findings.count == 2)
    for finding in findings { #expect(finding.isGood, "\(finding.text)") }
    // The check holds no file afterwards.
    try await withServer(place) { _ in }
  }
}
