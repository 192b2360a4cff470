import Foundation
import SyncPrograms

/// The settings that all rows share.
final class Setting {
  /// The path of the program realm-server.
  let server: String
  /// The number of objects of the first download and of the load of S11.
  let objects: Int
  /// The number of times that short rows are measured.
  let rounds: Int
  let idleSeconds: Int
  /// The folder of all files. It is removed at the end.
  private let root: URL
  private let cleanup: Cleanup
  private var countOfFolders = 0

  /// The most seconds that work of several minutes may take.
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

  /// The URL of an unused folder. The folder is not made.
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

  /// Starts a client, which is another process of this program.
  ///
  /// - Parameters:
  ///   - address: The address of the server.
  ///   - arguments: The arguments besides the server and the folder.
  func client(_ role: Client.Role, of address: String, _ arguments: [String] = []) throws -> Program {
    let program = Bundle.main.executableURL?.path ?? CommandLine.arguments[0]
    let folder = newFolder(role.rawValue)
    return try Program(
      "A client (\(role.rawValue))", program,
      ["client", role.rawValue, "--server", address, "--folder", folder.path] + arguments, in: folder)
  }
}
