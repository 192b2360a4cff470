import Foundation
import Service
import Testing

@Suite(.timeLimit(.minutes(3))) struct BackupTests {
  private func copy() -> Place {
    Place(FileManager.default.temporaryDirectory.appendingPathComponent("backup-\(UUID().uuidString)"))
  }

  private func backUp(_ place: Place, to copy: Place, _ server: RunningServer) async -> AdministrationAnswer {
    await place.ask(.backup(app: "dev", folder: copy.folder.url.path), server)
  }

  @Test func `another server continues from a copy, with the users and the files`() async throws {
    let (place, copy) = (try Place(), copy())
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      let user = try await client.logInAnonymously()
      let socket = try await Client.socket(at: server.port, token: user.accessToken)
      let replica = try await socket.start(on: 1).replica
      let answer = await backUp(place, to: copy, server)
      #expect(!answer.isError, "\(answer.lines)")
      for file in ["app.yaml", "accounts.realm", "state.realm"] { #expect(copy.has(file), "\(file)") }
      // The server has continued, and now has more than its copy.
      try await socket.roundTrip(on: 1)
      let later = try await client.logInAnonymously()
      let second = try await socket.start(on: 2).replica
      try await withServer(copy) { other in
        let client = try await Client.connect(to: other.port)
        #expect(try await client.refresh(user).status == 201)
        #expect(try await client.refresh(later).outcome == "401 InvalidSession")
        let socket = try await Client.socket(at: other.port, token: user.accessToken)
        socket.send(Frames.hello(replica), on: 1)
        #expect(try await WelcomeMessage(socket.message(WelcomeMessage.number, on: 1)).answer == 0)
        // A file that was registered after the copy is reset.
        socket.send(Frames.hello(second), on: 2)
        let welcome = try await WelcomeMessage(socket.message(WelcomeMessage.number, on: 2))
        socket.send(Frames.start(welcome), on: 2)
        let reset = try await WelcomeMessage(socket.message(WelcomeMessage.number, on: 2))
        #expect(reset.answer == 2)
      }
      try await socket.roundTrip(on: 1)
    }
  }

  @Test func `a copy does not replace another copy`() async throws {
    let (place, copy) = (try Place(), copy())
    try await withServer(place) { server in
      #expect(await !backUp(place, to: copy, server).isError)
      let user = try await Client.connect(to: server.port).logInAnonymously()
      let again = await backUp(place, to: copy, server)
      #expect(again.isError)
      #expect(again.lines.first?.contains(copy.app().path) == true)
      // The first copy has not changed.
      for file in ["app.yaml", "accounts.realm", "state.realm"] { #expect(copy.has(file), "\(file)") }
      try await withServer(copy) { other in
        let client = try await Client.connect(to: other.port)
        #expect(try await client.refresh(user).outcome == "401 InvalidSession")
      }
      // A copy can't replace the app itself either.
      #expect(await backUp(place, to: place, server).isError)
      #expect(place.has("app.yaml") && place.has("state.realm"))
    }
  }

  @Test func `no partial copy stays`() async throws {
    let (place, copy) = (try Place(), copy())
    try await withServer(place) { server in
      // The file that is copied first is missing.
      let definition = place.app().appendingPathComponent("app.yaml")
      let text = try Data(contentsOf: definition)
      try FileManager.default.removeItem(at: definition)
      #expect(await backUp(place, to: copy, server).isError)
      #expect(!FileManager.default.fileExists(atPath: copy.app().path))
      try text.write(to: definition)
      // There is a file at the path of the folder.
      let file = place.folder.url.appendingPathComponent("file")
      try Data("a".utf8).write(to: file)
      let answer = await place.ask(.backup(app: "dev", folder: file.path), server)
      #expect(answer.isError)
      #expect(try Data(contentsOf: file) == Data("a".utf8))
      #expect(await !backUp(place, to: copy, server).isError)
    }
  }

  @Test func `only the owner can read a copy`() async throws {
    let (place, copy) = (try Place(), copy())
    try await withServer(place) { server in
      #expect(await !backUp(place, to: copy, server).isError)
    }
    func mode(_ url: URL) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }
    #expect(try mode(copy.app()) == 0o700)
    for file in ["accounts.realm", "state.realm"] {
      #expect(try mode(copy.app().appendingPathComponent(file)) == 0o600, "\(file)")
    }
  }
}
