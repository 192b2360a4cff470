import Foundation
import SyncPrograms

/// What all rows have in common.
final class Setting {
  /// The program realm-server.
  let server: String
  /// Of the first download, and of the load of S11.
  let objects: Int
  /// How often short rows are measured.
  let rounds: Int
  let idleSeconds: Int
  /// All files are in it. It is removed at the end.
  private let root: URL
  private let cleanup: Cleanup
  private var countOfFolders = 0

  /// What takes minutes may take so many seconds.
  static let patience = 1800.0

  init(server: String, objects: Int, rounds: Int, idleSeconds: Int) throws {
    (self.server, self.objects, self.rounds, self.idleSeconds) = (server, objects, rounds, idleSeconds)
    root = FileManager.default.temporaryDirectory.appending(path: "sync-load-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    cleanup = try Cleanup(removing: root)
  }

  func end() {
    try? FileManager.default.removeItem(at: root)
    cleanup.end()
  }

  /// A folder that nobody has used yet. It is not made.
  func newFolder(_ name: String) -> URL {
    countOfFolders += 1
    return root.appending(path: "\(countOfFolders)-\(name)")
  }

  /// Runs a server with an empty folder while `body` runs.
  func withServer<Result>(_ body: (ServerProgram) throws -> Result) throws -> Result {
    let program = try ServerProgram(server, in: newFolder("server"), options: ["--log", "warning"])
    defer { program.end() }
    return try body(program)
  }

  /// Starts a client: this program once more.
  ///
  /// - Parameters:
  ///   - address: of the server.
  ///   - arguments: beside the server and the folder.
  func client(_ role: Client.Role, of address: String, _ arguments: [String] = []) throws -> Program {
    let program = Bundle.main.executableURL?.path ?? CommandLine.arguments[0]
    let folder = newFolder(role.rawValue)
    return try Program(
      "A client (\(role.rawValue))", program,
      ["client", role.rawValue, "--server", address, "--folder", folder.path] + arguments, in: folder)
  }
}
