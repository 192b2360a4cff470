import Foundation
import Front
import Logging
import NIOCore
import RealmSwift
import Service
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A server, and the apps that use it. All of it is in a folder that goes with it. The server is in this process, or a process of its own where `REALM_SERVER_PROCESS` is 1
/// (`make server-test PROCESS=1`).
///
/// A device is a user of an app: each user has files of its own. Another device of the same user is a configuration with another `fileURL`.
final class SyncWorld: Sendable {
  private enum Server: Sendable {
    case here(RunningServer)
    case elsewhere(ServerProcess)

    var monitorPort: Int {
      switch self {
      case .here(let server): server.monitorPort
      case .elsewhere(let process): process.monitorPort
      }
    }
  }

  private struct State {
    var server: Server?
    /// By the name of the app.
    var apps: [String: App] = [:]
    var countOfKeys = 0
  }

  /// The name of the app that a world has if no other is named.
  static let main = "main"
  /// A definition in which everybody reads and writes everything, and classes come from the devices.
  static let development = "development: true\n"

  /// The server's files are in it, and those of the devices.
  let root: URL
  private let folder: DataFolder
  /// The ids of apps by their names. They differ from world to world, since a process has one `App` for an id.
  private let ids: [String: String]
  private let givenPort = Mutex(0)
  private let state = Mutex(State())

  private init(_ definitions: [String: String]) throws {
    let mark = UUID().uuidString
    root = FileManager.default.temporaryDirectory.appendingPathComponent("sync-\(mark)", isDirectory: true)
    folder = DataFolder(root.appendingPathComponent("server", isDirectory: true).path)
    ids = Dictionary(
      uniqueKeysWithValues: definitions.keys.map { name in (name, "\(name)-\(mark.prefix(13))") })
    for (name, text) in definitions {
      let id = ids[name] ?? name
      try folder.add(id, text: "id: \(id)\n" + Self.completed(text))
    }
  }

  /// Adds all ways to log in, and addresses that need no confirmation, where a definition does not say it.
  private static func completed(_ text: String) -> String {
    var text = text.hasSuffix("\n") ? text : text + "\n"
    let lines = text.split(separator: "\n")
    func names(_ key: String) -> Bool { lines.contains { $0.hasPrefix("\(key):") } }
    if !names("providers") { text += "providers: [anonymous, email-password, api-key]\n" }
    if !names("email") { text += "email:\n  auto-confirm: true\n" }
    return text
  }

  // MARK: - The server

  /// Starts a server with apps.
  ///
  /// - Parameter definitions: what stands in `app.yaml`, without the id, by the names of apps.
  static func start(_ definitions: [String: String]) async throws -> SyncWorld {
    let world = try SyncWorld(definitions)
    for _ in 0..<20 {
      // The system gives no such port to a connection, so that it is free when the server is started again.
      let port = Int.random(in: 10_000..<30_000)
      do {
        try await world.run(port)
        world.givenPort.withLock { $0 = port }
        return world
      } catch let error as IOError where error.errnoCode == EADDRINUSE {
        continue
      } catch let failure as ServerProcess.Failure where failure.isPortTaken {
        continue
      }
    }
    throw Problem(description: "No port is free.")
  }

  private func run(_ port: Int) async throws {
    let server: Server
    if ServerProcess.isAskedFor {
      server = .elsewhere(try await ServerProcess.start(folder, port: port))
    } else {
      server = .here(try await running(port))
    }
    state.withLock { $0.server = server }
  }

  private func running(_ port: Int) async throws -> RunningServer {
    var (front, monitor) = (FrontSettings(port: port), FrontSettings())
    (front.threads, monitor.threads) = (1, 1)
    let settings = RunningServer.Settings(folder: folder, front: front, monitor: monitor)
    return try await RunningServer.start(settings, logger: Self.silent)
  }

  private static let silent = Logging.Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

  var port: Int { givenPort.withLock { $0 } }
  var address: String { "http://127.0.0.1:\(port)" }
  private var server: Server? { state.withLock { $0.server } }
  /// Of `/metrics`; nil where the server does not run.
  var monitorPort: Int? { server?.monitorPort }

  /// Ends the server; its files stay. Connections are refused then.
  func stop() async {
    let server = state.withLock { state in state.server.take() }
    switch server {
    case .here(let server)?: await server.stop(wait: 0, grace: .milliseconds(50))
    case .elsewhere(let process)?: await process.stop()
    case nil: break
    }
  }

  /// Starts the server again, on the same port and with what it had.
  func restart() async throws {
    await stop()
    try await run(port)
  }

  /// Ends all, and removes all files.
  func end() async {
    let apps = state.withLock { Array($0.apps.values) }
    for app in apps {
      for user in app.allUsers.values {
        for session in user.allSessions { session.suspend() }
      }
    }
    await stop()
    try? FileManager.default.removeItem(at: root)
  }

  /// Does what an administrator may ask for.
  @discardableResult
  func administer(_ request: AdministrationRequest) async throws -> [String] {
    let answer: AdministrationAnswer
    switch try #require(server) {
    case .here(let server): answer = await Administration(server.apps, folder).perform(request)
    case .elsewhere: answer = try await Administration.ask(request, folder, logger: Self.silent)
    }
    guard !answer.isError else { throw Problem(description: answer.lines.joined(separator: " ")) }
    return answer.lines
  }

  /// A figure that `/metrics` tells of an app, such as `connections`, `channels` and `replicas`.
  func metric(_ metric: String, of name: String = SyncWorld.main) async throws -> Int {
    let port = try #require(monitorPort)
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/metrics"))
    let (data, _) = try await URLSession.shared.data(from: url)
    let start = "realm_server_\(metric){app=\"\(id(of: name))\""
    let line = String(decoding: data, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(start) }
    return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
  }

  // MARK: - Apps and users

  /// The id of an app on the server.
  func id(of name: String) -> String { ids[name] ?? name }

  /// The app of a name.
  ///
  /// - Parameter change: changes the configuration. It has no effect on an app that was asked for before.
  func app(_ name: String = SyncWorld.main, _ change: (AppConfiguration) -> Void = { _ in }) -> App {
    if let app = state.withLock({ $0.apps[name] }) { return app }
    let configuration = AppConfiguration(baseURL: address)
    configuration.rootDirectory = root.appendingPathComponent("devices", isDirectory: true)
    change(configuration)
    let app = App(id: id(of: name), configuration: configuration)
    state.withLock { $0.apps[name] = app }
    return app
  }

  /// Logs in a user whom nobody else is. It is fast: no password is hashed.
  func user(of name: String = SyncWorld.main) async throws -> User {
    let number = state.withLock { state in
      state.countOfKeys += 1
      return state.countOfKeys
    }
    let lines = try await administer(.serverKey(app: id(of: name), name: "device \(number)"))
    let key = try #require(lines.first?.split(separator: " ").last)
    let app = app(name)
    return try await within { try await app.login(credentials: .serverAPIKey(String(key))) }
  }

  /// Logs in so many users, of whom the last is the current one.
  func users(_ count: Int, of name: String = SyncWorld.main) async throws -> [User] {
    var users: [User] = []
    for _ in 0..<count { users.append(try await user(of: name)) }
    return users
  }

  /// Logs in the anonymous user, who is the same as long as it is logged in.
  func anonymous(of name: String = SyncWorld.main) async throws -> User {
    let app = app(name)
    return try await within { try await app.login(credentials: .anonymous) }
  }

  /// Registers an address, and logs it in. A password takes a while.
  func registered(
    _ email: String, password: String = "correct horse", of name: String = SyncWorld.main
  ) async throws -> User {
    let app = app(name)
    return try await within {
      try await app.emailPasswordAuth.registerUser(email: email, password: password)
      return try await app.login(credentials: .emailPassword(email: email, password: password))
    }
  }

  /// A path in the folder of the devices where nothing is yet.
  func file(_ name: String = UUID().uuidString) -> URL { root.appendingPathComponent("\(name).realm") }

  struct Problem: Error, CustomStringConvertible {
    let description: String
  }
}

/// Makes a world with one app, and ends it whatever happens.
///
/// - Parameter definition: what stands in `app.yaml`, without the id.
@MainActor func withWorld(
  _ definition: String = SyncWorld.development, _ body: @MainActor (SyncWorld) async throws -> Void
) async throws {
  try await withWorld(apps: [SyncWorld.main: definition], body)
}

/// Makes a world with several apps, and ends it whatever happens.
@MainActor func withWorld(
  apps: [String: String], _ body: @MainActor (SyncWorld) async throws -> Void
) async throws {
  let world = try await SyncWorld.start(apps)
  do {
    try await body(world)
  } catch {
    await world.end()
    throw error
  }
  await world.end()
}
