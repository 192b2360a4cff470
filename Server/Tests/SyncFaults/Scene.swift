import Foundation
import SyncPrograms

/// Where a row happens: its folder, its random numbers, and what it starts programs by.
final class Scene {
  /// The program realm-server.
  let server: String
  let isQuick: Bool
  let seed: UInt64
  /// The network of the system is slow here.
  let isWithinNetem: Bool
  var random: SeededNumbers
  /// All files are in it. It is removed at the end, unless something went wrong.
  private let root: URL
  private let cleanup: Cleanup
  private var countOfFolders = 0

  /// This program.
  static let executable = Bundle.main.executableURL?.path ?? CommandLine.arguments[0]

  /// An app in which everybody may do everything, and whose files are given up after a minute.
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

  /// - Parameter isGood: what happened is as it should be. Else the files stay, to be looked at.
  func end(isGood: Bool) {
    if isGood {
      try? FileManager.default.removeItem(at: root)
    } else {
      Cleanup.keepsFiles()
      note("The files are in \(root.path).")
    }
    cleanup.end()
  }

  /// A folder that nobody has used yet. It is not made.
  func newFolder(_ name: String) -> URL {
    countOfFolders += 1
    return root.appending(path: "\(countOfFolders)-\(name)")
  }

  /// Starts a server whose log tells when it integrates changes and removes history, which it tries once in a second.
  ///
  /// - Parameters:
  ///   - data: the folder of its data; nil for one of its own.
  ///   - definitions: of its apps, by their ids.
  func startServer(
    data: URL? = nil, definitions: [String: String] = ["dev": Scene.definition]
  ) throws -> ServerProgram {
    try ServerProgram(
      server, in: newFolder("server"), data: data, definitions: definitions,
      options: ["--log", "debug", "--trim-every", "1"])
  }

  /// A client, which is not started yet.
  ///
  /// - Parameters:
  ///   - author: a number that no other client has.
  ///   - address: where it finds the server.
  ///   - files: the folder of its files; nil for one of its own.
  func worker(
    _ author: Int, of address: String, _ durability: Durability = .full, files: URL? = nil
  ) -> WorkerProgram {
    WorkerProgram(
      author, durability, server: address, files: files ?? newFolder("client-\(author)"),
      folder: newFolder("client-\(author)-run"))
  }

  /// Waits for a random time.
  func wait(upTo seconds: Double) throws {
    try Interruption.wait(seconds: seconds * Double(random.below(1000)) / 1000)
  }
}
