import Foundation
import RealmStorage
import RealmTestSupport
import Testing

/// Commands that make a file, which a signal ends while they do.
@Suite(.serialized) struct InterruptionTests {
  /// The word with which the name of an unfinished file ends, by command.
  private static let commands = ["copy": "copy", "salvage": "copy", "compact": "compact"]

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP], ["copy", "salvage", "compact"])
  func `a signal leaves no unfinished file, and ends the program as it would without that`(
    signal: CInt, command: String
  ) throws {
    try Beside.with(Self.makeLarge) { path in
      let before = try Data(contentsOf: URL(filePath: path))
      let target = path + ".new"
      let tool = try ToolProcess([command, path] + (command == "compact" ? [] : [target]))
      try tool.hold(when: { Self.names(path).contains { $0.contains(".\(Self.commands[command] ?? "")-") } })
      tool.send(signal)
      tool.send(SIGCONT)
      let outcome = try tool.finish()
      #expect(outcome.code == -signal, "\(outcome)")
      let unfinished = Self.names(path).filter { $0.contains("-") || $0.contains(".new") }
      #expect(unfinished == [])
      #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }
  }

  @Test func `a program that ignores the end of its terminal goes on`() throws {
    try Beside.with(Self.makeLarge) { path in
      let target = path + ".new"
      let tool = try ToolProcess(ignoringHangUp: ["copy", path, target])
      try tool.hold(when: { Self.names(path).contains { $0.contains(".copy-") } })
      tool.send(SIGHUP)
      tool.send(SIGCONT)
      let outcome = try tool.finish()
      #expect(outcome.code == 0, "\(outcome)")
      #expect(FileManager.default.fileExists(atPath: target))
    }
  }

  /// The names in the folder of a file. `Beside.names` takes longer than the tool to copy a file, because it also reads the files.
  private static func names(_ path: String) -> [String] {
    let folder = (path as NSString).deletingLastPathComponent
    return (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
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
