import Foundation
import RealmStorage
import Synchronization
import Testing

@testable import RealmSwift

/// An app of a test, with its own id and folder, and a server in memory.
final class AppWorld: Sendable {
  static let ann = Credentials.emailPassword(email: "ann@example.org", password: "first password")
  static let ben = Credentials.emailPassword(email: "ben@example.org", password: "second password")

  let id = "app-\(UUID().uuidString)"
  let server = FakeServer()
  let root: URL

  init() {
    root = FileManager.default.temporaryDirectory.appendingPathComponent("apps-\(UUID().uuidString)")
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  var paths: SyncPaths { SyncPaths(root, appID: id) }

  /// The app as a starting program gets it.
  func app(_ change: (AppConfiguration) -> Void = { _ in }) -> App {
    let configuration = AppConfiguration(baseURL: "https://sync.test", transport: server)
    configuration.rootDirectory = root
    change(configuration)
    return App(id: id, opening: configuration.settings)
  }

  /// Starts the app and ends it again.
  func restart() { _ = app() }

  /// Makes the file of a user, with an object in it.
  ///
  /// - Parameter isChanged: True if the file has changes that no server has.
  func makeFile(of user: User, isChanged: Bool = false) throws -> String {
    let path = paths.file(of: user.id, .flexible).path
    user.note(realmPath: path)
    try AppWorld.makeFile(path, isChanged: isChanged)
    return path
  }

  static func makeFile(_ path: String, isChanged: Bool) throws {
    var options = DatabaseOptions()
    options.history = .synced
    let database = try Database(path: path, options: options)
    if isChanged {
      let schema = TableSchema("Thing", columns: [Column("id", .int64, index: .unique)])
      try database.write { _ = try $0.createTable(schema) }
    }
    database.close()
  }

  func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// The names of the files that were moved away.
  var recovered: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: paths.recovered)) ?? []
    return names.filter { $0.hasSuffix(".realm") }
  }
}

/// Notes the calls that sessions of a user get.
final class Told: UserSync {
  private let all = Mutex<[String]>([])

  var events: [String] { all.withLock { $0 } }
  func userDidLogIn() { all.withLock { $0.append("logIn") } }
  func userDidLogOut(because reason: String?) { all.withLock { $0.append("logOut") } }
  func userWasRemoved() { all.withLock { $0.append("removed") } }
  func routeDidChange() { all.withLock { $0.append("route") } }
}

extension User {
  /// Notes the calls that the user's sessions get from now on.
  func listen() -> Told {
    let told = Told()
    sync.withLock { $0 = told }
    return told
  }
}

/// The `AppError` that `body` throws; nil if it throws none.
func appError(_ body: () async throws -> Void) async -> AppError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? AppError
  }
}
