import Definition
import Foundation
import Front
import Testing

@testable import Service

@Suite(.timeLimit(.minutes(3))) struct StartTests {
  private func start(_ place: Place) async throws -> RunningServer {
    try await RunningServer.start(place.settings, logger: .silent)
  }

  @Test func `wrong rights are reported with their places, and no file stays open`() async throws {
    let text = """
      id: tasks
      fields:
        Task: [owner]
      rights:
        Task:
          read: owner == $user.id
          write: color == 'red'
          delete: owner ==
      providers: [anonymous]

      """
    let place = try Place(["tasks": text])
    let file = place.app("tasks").appendingPathComponent("app.yaml").path
    let error = await #expect(throws: DefinitionProblems.self) { try await start(place) }
    let problems = try #require(error).problems
    #expect(problems.map(\.file) == [file, file])
    #expect(problems.map(\.line) == [7, 8])
    #expect(problems.map(\.column) == [12, 13])
    #expect(problems[0].what.contains("color"))
    #expect(problems[0].description.hasPrefix("\(file):7:12: "))
    // No file was made, and the folder is free.
    #expect(!place.has("state.realm", of: "tasks"))
    let right = text.replacingOccurrences(of: "color == 'red'", with: "false").replacingOccurrences(
      of: "owner ==\n", with: "owner == $user.id\n")
    try Data(right.utf8).write(to: URL(fileURLWithPath: file))
    try await withServer(place) { server in
      _ = try await Client.connect(to: server.port).logInAnonymously(to: "tasks")
    }
  }

  @Test func `a mistake in one app leaves no file of another app open`() async throws {
    let place = try Place(["alpha": openDefinition("alpha"), "beta": openDefinition("other")])
    let problem = await #expect(throws: DataFolder.Problem.self) { try await start(place) }
    let text = try #require(problem).description
    #expect(text.contains("'other'") && text.contains("'beta'") && text.contains("app.yaml"))
    let file = place.app("beta").appendingPathComponent("app.yaml")
    try Data(openDefinition("beta").utf8).write(to: file)
    try await withServer(place) { server in
      #expect(server.apps.map(\.id) == ["alpha", "beta"])
    }
  }

  @Test func `a folder is used by one server at a time`() async throws {
    let place = try Place()
    try await withServer(place) { server in
      let problem = await #expect(throws: DataFolder.Problem.self) { try await start(place) }
      let text = try #require(problem).description
      #expect(text.contains(place.folder.url.path) && text.contains("in use"))
      // The first server continues.
      let client = try await Client.connect(to: server.port)
      let user = try await client.logInAnonymously()
      _ = try await Client.socket(at: server.port, token: user.accessToken).start(on: 1)
    }
    try await withServer(place) { _ in }
  }

  @Test(arguments: [
    "", "sync.example.org", "https://", "https:///", "ftp://sync.example.org", "HTTPS://sync.example.org",
    "https://sync.example.org/", "https://sync.example.org/path", "https://sync.example.org?x",
    "https://ann@sync.example.org", "https://sync example.org", "https://sync..example.org",
    "https://sync.example.org:", "https://sync.example.org:0", "https://sync.example.org:65536",
    "https://sync.example.org:+1", "https://[::1", "https://[]", "https://[::1]1",
    "https://s\u{f6}.example.org",
  ])
  func `an address that devices can't use ends the start, and no file stays open`(address: String)
    async throws
  {
    let place = try Place()
    let problem = await #expect(throws: DataFolder.Problem.self) {
      try await withServer(place, settings: { $0.publicAddress = address }) { _ in }
    }
    let text = try #require(problem).description
    #expect(text.contains("--public-address") && text.contains("https://sync.example.org"))
    #expect(!place.has("state.realm"))
  }

  @Test func `addresses that devices can use have a host, and may have a port`() {
    let addresses = [
      "https://sync.example.org", "http://localhost", "http://localhost:8080", "https://192.0.2.7:65535",
      "https://[2001:db8::7]", "http://[::1]:8080", "http://server_1.local",
    ]
    for address in addresses { #expect(PublicAddress.problem(of: address) == nil, "\(address)") }
  }

  @Test func `the port accepts all connections that an app allows`() async throws {
    let limits = "limits:\n  connections: 20\n  connections-per-user: 20\n"
    let place = try Place(["dev": openDefinition("dev", limits)])
    try await withServer(place, settings: { $0.front.limits.connections = 2 }) { server in
      let client = try await Client.connect(to: server.port)
      let user = try await client.logInAnonymously()
      var sockets: [Client] = []
      for _ in 0..<20 {
        sockets.append(try await Client.socket(at: server.port, token: user.accessToken))
      }
      // Requests are still accepted besides them.
      #expect(try await client.profile(user.accessToken).status == 200)
      _ = try await sockets[19].start(on: 1)
    }
  }

  @Test func `a folder without an app says how to make one`() async throws {
    let place = try Place([:])
    let problem = await #expect(throws: DataFolder.Problem.self) { try await start(place) }
    let text = try #require(problem).description
    #expect(text.contains(place.folder.url.path) && text.contains("realm-server init"))
  }

  @Test func `a port that is in use ends the start, and the folder is free again`() async throws {
    let (first, second) = (try Place(), try Place())
    try await withServer(first) { server in
      await #expect(throws: (any Error).self) {
        try await withServer(second, settings: { $0.front.port = server.port }) { _ in }
      }
      await #expect(throws: (any Error).self) {
        try await withServer(second, settings: { $0.monitor.port = server.monitorPort }) { _ in }
      }
      try await withServer(second) { other in
        #expect(other.port != server.port)
      }
    }
  }

  @Test func `only the owner can read the files that the server makes`() async throws {
    let place = try Place()
    func mode(_ url: URL) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }
    try await withServer(place) { _ in
      let mode1 = try mode(place.folder.url)
      #expect(mode1 == 0o700)
      let mode2 = try mode(place.app())
      #expect(mode2 == 0o700)
      let mode3 = try mode(place.administration)
      #expect(mode3 == 0o600)
      let mode4 = try mode(place.app().appendingPathComponent("accounts.realm"))
      #expect(mode4 == 0o600)
    }
  }

  @Test func `the property of the partition can't be changed`() async throws {
    let place = try Place(["dev": openDefinition("dev", "partition: realm_id\n")])
    try await withServer(place) { _ in }
    let file = place.app().appendingPathComponent("app.yaml")
    try Data(openDefinition("dev", "partition: owner\n").utf8).write(to: file)
    let error = await #expect(throws: (any Error).self) { try await start(place) }
    #expect("\(try #require(error))".contains("'realm_id'"))
    try Data(openDefinition("dev", "partition: realm_id\n").utf8).write(to: file)
    try await withServer(place) { _ in }
  }
}
