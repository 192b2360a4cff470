import Foundation
import RealmStorage
import RealmTestSupport
import Testing

/// Signals to commands that are making a file.
@Suite(.serialized) struct InterruptionTests {
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP], ["copy", "salvage", "compact"])
  func `a signal ends a command, and leaves no unfinished file`(signal: CInt, command: String) throws {
    try Beside.with(Self.makeLarge) { path in
      // On a busy machine the signal may come when the command is done.
      for _ in 0..<20 {
        defer { try? FileManager.default.removeItem(atPath: path + ".new") }
        let before = try Data(contentsOf: URL(filePath: path))
        let tool = try ToolProcess([command, path] + (command == "compact" ? [] : [path + ".new"]))
        guard tool.hold(when: { Self.isMakingFile(path) }) else { continue }
        tool.send(signal)
        tool.send(SIGCONT)
        let outcome = try tool.finish()
        #expect(!Self.isMakingFile(path))
        if outcome.code == -signal {
          #expect(!FileManager.default.fileExists(atPath: path + ".new"))
          #expect(try Data(contentsOf: URL(filePath: path)) == before)
          return
        }
        #expect(outcome.code == 0, "\(outcome)")
      }
      Issue.record("No signal came before the end of the command.")
    }
  }

  @Test func `a program that ignores the end of its terminal goes on`() throws {
    try Beside.with(Self.makeLarge) { path in
      let tool = try ToolProcess(ignoringHangUp: ["copy", path, path + ".new"])
      if tool.hold(when: { Self.isMakingFile(path) }) {
        tool.send(SIGHUP)
        tool.send(SIGCONT)
      }
      let outcome = try tool.finish()
      #expect(outcome.code == 0, "\(outcome)")
      #expect(FileManager.default.fileExists(atPath: path + ".new"))
    }
  }

  /// True if an unfinished file stands in the folder of a file. `Beside.names` also reads the files, which takes longer than the tool
  /// needs to copy one.
  private static func isMakingFile(_ path: String) -> Bool {
    let folder = (path as NSString).deletingLastPathComponent
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.contains { $0.contains(".copy-") || $0.contains(".compact-") }
  }

  /// A file whose copy takes some time.
  private static func makeLarge(_ path: String) throws {
    var generator = SeededGenerator(seed: 1)
    let database = try Database(path: path)
    defer { database.close() }
    let value = (0..<100_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    try database.write { transaction in
      let tree = try transaction.tree("large")
      for number in 0..<600 { try tree.set(value, for: Array("\(number)".utf8)) }
    }
  }
}
