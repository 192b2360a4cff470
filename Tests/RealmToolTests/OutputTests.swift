import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmTool

/// Output that can't be written, for every command.
@Suite struct OutputTests {
  private static func commands(_ path: String, _ number: Int) -> [[String]] {
    [
      ["info", path], ["check", path], ["schema", path], ["schema", "--json", path], ["stats", path],
      ["stats", "--json", path], ["dump", path], ["dump", "--json", path], ["dump", "--keep-going", path],
      ["dump", "--keep-going", "--json", path], ["copy", path, "\(path)-\(number)"], ["compact", path],
      ["--help"], ["--version"], [], ["help", "dump"], ["dump", "--help"],
      ["--generate-completion-script", "bash"],
    ]
  }

  @Test(arguments: Tool.Stream.allCases)
  func `output that can't be written is reported on one line, and the exit code is 4`(stream: Tool.Stream)
    throws
  {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      for (number, arguments) in Self.commands(path, self.number(of: stream)).enumerated() {
        guard let outcome = try Tool.run(arguments, writingTo: stream) else { continue }
        let comment = Comment(rawValue: "\(number) \(arguments) \(stream): \(outcome)")
        #expect(outcome.code == 4, comment)
        #expect(outcome.complaint.hasPrefix("Standard output can't be written: "), comment)
        #expect(outcome.complaint.split(separator: "\n").count == 1, comment)
        let reason =
          switch stream {
          case .fullDisk: "No space left on device"
          case .closed, .input: "it is closed, or open for reading only"
          case .brokenPipe: "who reads it has closed the pipe"
          }
        #expect(outcome.complaint.contains(reason), comment)
        let isDone = FileManager.default.fileExists(atPath: path + "-\(self.number(of: stream))")
        if arguments.first == "copy" {
          // If the output is closed, no copy is begun.
          #expect(isDone == (stream != .closed), comment)
          #expect(outcome.complaint.contains("The copy was made.") == isDone, comment)
        }
      }
      #expect(try Tool.run(["check", path]).code == 0)
    }
  }

  private func number(of stream: Tool.Stream) -> Int { Tool.Stream.allCases.firstIndex(of: stream) ?? 0 }

  @Test func `a dump that is larger than the buffer also ends with 4 if its reader goes away`() throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try database.write { transaction in
        let tree = try transaction.tree("large")
        for number in 0..<3000 {
          try tree.set([UInt8](repeating: 65, count: 100), for: Array("\(number)".utf8))
        }
      }
      let whole = try Tool.run(["dump", path])
      #expect(whole.code == 0 && whole.output.utf8.count > 4 * OutputBuffer.size)
      #expect(whole.output.split(separator: "\n").count == 3000)
      let outcome = try Tool.run(["dump", path], writingTo: .brokenPipe)
      #expect(outcome?.code == 4 && outcome?.complaint.contains("has closed the pipe") == true)
    }
  }

  @Test func `damage is reported together with output that can't be written, whose exit code counts`() throws
  {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      let file = try FileHandle(forUpdating: URL(filePath: path))
      try file.seek(toOffset: 100)
      try file.write(contentsOf: Data([0xff]))
      try file.close()
      #expect(try Tool.run(["check", path]).code == 1)
      let outcome = try Tool.run(["check", path], writingTo: .brokenPipe)
      #expect(outcome?.code == 4 && outcome?.complaint.contains("Damage was found.") == true)
    }
  }

  @Test func `the exit code alone reports the problem if complaints can't be written either`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      for complaints in ["2>&-", "2> /dev/full"] {
        #expect(try Tool.run(["dump", path], writingTo: .brokenPipe, complaints: complaints)?.code == 4)
        #expect(try Tool.run(["dump", path], writingTo: .closed, complaints: complaints)?.code == 4)
      }
      #expect(try Tool.run(["check", path]).code == 0, "the file is as it was")
    }
  }

  @Test func `help lists the exit codes, and the version is that of the library and the format`() throws {
    let help = try Tool.run(["--help"])
    #expect(help.code == 0 && help.complaint == "")
    for code in 0...4 { #expect(help.output.contains("\(code) "), "\(help.output)") }
    let version = try Tool.run(["--version"])
    #expect(version.code == 0)
    #expect(version.output.hasPrefix("realm \(LibraryVersion.current), file format \(MetaPage.format)"))
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let changes = try String(contentsOf: root.appending(path: "CHANGELOG.md"), encoding: .utf8)
    let newest = changes.split(separator: "\n").first { $0.hasPrefix("## ") }
    #expect(newest?.hasPrefix("## \(LibraryVersion.current)") == true, "\(newest ?? "")")
  }
}
