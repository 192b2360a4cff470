import Foundation
import SyncPrograms

/// The surroundings of a row: its folder, its random numbers, and the settings with which it starts programs.
final class Scene {
  /// The path of the program realm-server.
  let server: String
  let isQuick: Bool
  let seed: UInt64
  /// True if this program runs in a slow network of the system.
  let isWithinNetem: Bool
  var random: SeededNumbers
  /// The folder of all files. It is removed at the end, unless there was a problem.
  private let root: URL
  private let cleanup: Cleanup
  private var countOfFolders = 0

  /// The path of this program.
  static let executable = Bundle.main.executableURL?.path ?? CommandLine.arguments[0]

  /// An app in which all users may do everything, and whose files are given up after a minute.
  static let definition = """
    id: dev
    development: true
    providers: [anonymous]
    maximum-offline-time: 1 minute

    """

  init(server: String, isQuick: Bool, seed: UInt64, isWithinNetem: Bool) throws {
    (self.server, self.isQuick, self.seed, self.isWithinNetem) = (server, isQuick, seed, isWithinNetem)
    random = SeededNumbers(seed: seed)
    root = FileManager.default.temporaryDirectory.appending(path: "sync-faults-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    cleanup = try Cleanup(removing: root)
  }

  /// - Parameter isGood: True if there was no problem. If there was one, the files stay for inspection.
  func end(isGood: Bool) {
    if isGood {
      try? FileManager.default.removeItem(at: root)
    } else {
      Cleanup.keepsFiles()
      note("The files are in \(root.path).")
    }
    cleanup.end()
  }

  /// The URL of an unused folder. The folder is not made.
  func newFolder(_ name: String) -> URL {
    countOfFolders += 1
    return root.appending(path: "\(countOfFolders)-\(name)")
  }

  /// Starts a server whose log shows when it integrates changes and removes history. It tries to remove history once a
  /// second.
  ///
  /// - Parameters:
  ///   - data: The folder of the server's data; nil for a new one.
  ///   - definitions: The definitions of the apps, by the ids of the apps.
  func startServer(
    data: URL? = nil, definitions: [String: String] = ["dev": Scene.definition]
  ) throws -> ServerProgram {
    try ServerProgram(
      server, in: newFolder("server"), data: data, definitions: definitions,
      options: ["--log", "debug", "--trim-every", "1"])
  }

  /// A client that is not started yet.
  ///
  /// - Parameters:
  ///   - author: A number that no other client has.
  ///   - address: The address at which the client finds the server.
  ///   - files: The folder of the client's files; nil for a new one.
  func worker(
    _ author: Int, of address: String, _ durability: Durability = .full, files: URL? = nil
  ) -> WorkerProgram {
    WorkerProgram(
      author, durability, server: address, files: files ?? newFolder("client-\(author)"),
      folder: newFolder("client-\(author)-run"))
  }

  /// Waits for a random time of at most `seconds`.
  func wait(upTo seconds: Double) throws {
    try Interruption.wait(seconds: seconds * Double(random.below(1000)) / 1000)
  }
}
