import Foundation
import RealmTestSupport
import Testing

/// The output of the tool for files that earlier versions of the library wrote.
@Suite(.serialized) struct GoldenDumpTests {
  @Test(.enabled(if: GoldenFile.isWritten), arguments: GoldenFile.Content.allCases)
  func `missing dumps are written if that is asked for`(content: GoldenFile.Content) throws {
    let file = GoldenFile(.one, content, isEncrypted: false)
    guard !FileManager.default.fileExists(atPath: file.dump.path) else { return }
    try Data(Self.dump(file).utf8).write(to: file.dump)
  }

  @Test(arguments: GoldenFile.all) func `a file has the objects and entries that were written to it`(
    file: GoldenFile
  ) throws {
    let lines = try Self.dump(file).split(separator: "\n")
    let kept = try String(contentsOf: file.dump, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == kept.count)
    for (line, expected) in zip(lines, kept) where line != expected {
      Issue.record("\(file): \(line.prefix(200)) is not \(expected.prefix(200))")
      break
    }
  }

  @Test(arguments: GoldenFile.all) func `a file is whole, and its format number is shown`(file: GoldenFile)
    throws
  {
    let check = try Self.run(["check"], file)
    #expect(check.code == 0 && check.complaint == "")
    let info = try Self.run(["info"], file)
    #expect(info.code == 0)
    let number = file.format == .one ? "1" : "0 (draft 4); becomes 1 with the next write"
    #expect(info.output.contains("Format                \(number)\n"), "\(info.output)")
  }

  private static func dump(_ file: GoldenFile) throws -> String {
    let outcome = try run(["dump", "--json"], file)
    try #require(outcome.code == 0 && outcome.complaint == "", "\(file): \(outcome.complaint)")
    return outcome.output
  }

  private static func run(_ arguments: [String], _ file: GoldenFile) throws -> Tool.Outcome {
    var outcome: Tool.Outcome?
    try withTemporaryPath { path in
      try Data(file.bytes()).write(to: URL(filePath: path))
      outcome = try Tool.run(
        arguments + [path], key: file.key?.map { String(format: "%02x", $0) }.joined())
    }
    return try #require(outcome)
  }
}
