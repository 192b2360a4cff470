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

/// A server, and the apps that use it. All files are in a folder that is removed with the world. The server runs in
/// this process, or in a separate process if `REALM_SERVER_PROCESS` is 1 (`make server-test PROCESS=1`).
///
/// A device is a user of an app, because each user has separate files. Another device of the same user is a
/// configuration with another `fileURL`.
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
    /// The apps, by their names.
    var apps: [String: App] = [:]
    var countOfKeys = 0
  }

  /// The name of the app in a world that names no other.
  static let main = "main"
  /// A definition in which all users read and write everything, and devices define the classes.
  static let development = "development: true\n"

  /// The folder of the files of the server and the devices.
  let root: URL
  private let folder: DataFolder
  /// The ids of apps, by their names. They differ in each world, because a process has one `App` for an id.
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

  /// Adds all providers of log-ins, and addresses without confirmation, to a definition that lacks these keys.
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
  /// - Parameter definitions: The content of `app.yaml` without the id, by the names of apps.
  static func start(_ definitions: [String: String]) async throws -> SyncWorld {
    let world = try SyncWorld(definitions)
    for _ in 0..<20 {
      // The system gives no port in this range to a connection, so the port is free when the server starts again.
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
  /// The port of `/metrics`; nil if the server does not run.
  var monitorPort: Int? { server?.monitorPort }

  /// Ends the server. Its files stay, and connections are refused.
  func stop() async {
    let server = state.withLock { state in state.server.take() }
    switch server {
    case .here(let server)?: await server.stop(wait: 0, grace: .milliseconds(50))
    case .elsewhere(let process)?: await process.stop()
    case nil: break
    }
  }

  /// Starts the server again on the same port and with the same files.
  func restart() async throws {
    await stop()
    try await run(port)
  }

  /// Ends the apps and the server, and removes all files.
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

  /// Makes a request of an administrator.
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

  /// A figure of an app in `/metrics`, such as `connections`, `channels` and `replicas`.
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

  /// The app with a name.
  ///
  /// - Parameter change: Changes the configuration. It has no effect on an app that was returned before.
  func app(_ name: String = SyncWorld.main, _ change: (AppConfiguration) -> Void = { _ in }) -> App {
    if let app = state.withLock({ $0.apps[name] }) { return app }
    let configuration = AppConfiguration(baseURL: address)
    configuration.rootDirectory = root.appendingPathComponent("devices", isDirectory: true)
    change(configuration)
    let app = App(id: id(of: name), configuration: configuration)
    state.withLock { $0.apps[name] = app }
    return app
  }

  /// Logs in a new user. This is fast, because no password is hashed.
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

  /// Logs in `count` new users. The last one is the current user.
  func users(_ count: Int, of name: String = SyncWorld.main) async throws -> [User] {
    var users: [User] = []
    for _ in 0..<count { users.append(try await user(of: name)) }
    return users
  }

  /// Logs in the anonymous user, which is the same user as long as it is logged in.
  func anonymous(of name: String = SyncWorld.main) async throws -> User {
    let app = app(name)
    return try await within { try await app.login(credentials: .anonymous) }
  }

  /// Registers an address, and logs the user in. Hashing the password takes a while.
  func registered(
    _ email: String, password: String = "correct horse", of name: String = SyncWorld.main
  ) async throws -> User {
    let app = app(name)
    return try await within {
      try await app.emailPasswordAuth.registerUser(email: email, password: password)
      return try await app.login(credentials: .emailPassword(email: email, password: password))
    }
  }

  /// An unused path in the folder of the devices.
  func file(_ name: String = UUID().uuidString) -> URL { root.appendingPathComponent("\(name).realm") }

  struct Problem: Error, CustomStringConvertible {
    let description: String
  }
}

/// Makes a world with one app for `body`, and ends it in every case.
///
/// - Parameter definition: The content of `app.yaml` without the id.
@MainActor func withWorld(
  _ definition: String = SyncWorld.development, _ body: @MainActor (SyncWorld) async throws -> Void
) async throws {
  try await withWorld(apps: [SyncWorld.main: definition], body)
}

/// Makes a world with several apps for `body`, and ends it in every case.
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
