import Foundation
import RealmStorage
import RealmTestSupport

/// A run of the tool that reads what a test writes, and that a test may end by a signal.
final class ToolProcess {
  private let process = Process()
  private let folder: URL
  private let input: Pipe

  convenience init(_ arguments: [String], key: String? = nil) throws {
    try self.init(Tool.tool, arguments, key: key)
  }

  /// Starts the tool as `nohup` does.
  convenience init(ignoringHangUp arguments: [String]) throws {
    let script = "trap '' HUP; exec \"$0\" \"$@\""
    try self.init(URL(filePath: "/bin/sh"), ["-c", script, Tool.tool.path] + arguments, key: nil)
  }

  private init(_ program: URL, _ arguments: [String], key: String?) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "realm-tool-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    input = Pipe()
    process.executableURL = program
    process.arguments = arguments
    process.environment = key.map { ["REALM_KEY": $0] } ?? [:]
    process.standardInput = input
    process.standardOutput = try Self.file(folder.appending(path: "output"))
    process.standardError = try Self.file(folder.appending(path: "complaint"))
    try process.run()
  }

  deinit {
    if process.isRunning { process.terminate() }
    try? FileManager.default.removeItem(at: folder)
  }

  private static func file(_ url: URL) throws -> FileHandle {
    try Data().write(to: url)
    return try FileHandle(forWritingTo: url)
  }

  var output: String { text("output") }
  var complaint: String { text("complaint") }

  private func text(_ name: String) -> String {
    let bytes = FileManager.default.contents(atPath: folder.appending(path: name).path) ?? Data()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Puts a line on standard input. The tool must still be running.
  func write(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
  }

  /// Waits until a condition holds; false if it does not within 20 seconds, or if the tool ends without it.
  func wait(_ condition: (ToolProcess) -> Bool) -> Bool {
    for _ in 0..<1000 {
      let isRunning = process.isRunning
      if condition(self) { return true }
      if !isRunning { return false }
      Thread.sleep(forTimeInterval: 0.02)
    }
    return false
  }

  /// Stops the tool (`SIGSTOP`) as soon as a condition holds. Returns false if the tool ends before.
  func hold(when condition: () -> Bool) -> Bool {
    while process.isRunning {
      guard condition() else { continue }
      send(SIGSTOP)
      return true
    }
    return false
  }

  func send(_ signal: CInt) { kill(process.processIdentifier, signal) }

  /// Ends the input, and waits for the end of the tool. A tool that a signal ended has the negative number of it as its code.
  func finish() throws -> Tool.Outcome {
    try input.fileHandleForWriting.close()
    guard wait({ !$0.process.isRunning }) else { throw Hung() }
    let isExit = process.terminationReason == .exit
    return Tool.Outcome(
      code: isExit ? process.terminationStatus : -process.terminationStatus, output: output,
      complaint: complaint)
  }

  struct Hung: Error {}

  // MARK: - Whole runs

  /// Runs the tool with a text as its standard input, which is no terminal.
  static func run(_ arguments: [String], input: String = "", key: String? = nil) throws -> Tool.Outcome {
    try run(Tool.tool, arguments, input: input, key: key)
  }

  /// Runs the tool on a disk on which no file can have more than a number of blocks of 512 bytes.
  static func run(_ arguments: [String], blocks: Int) throws -> Tool.Outcome {
    let script = "trap '' XFSZ; ulimit -f \(blocks); exec \"$0\" \"$@\""
    return try run(URL(filePath: "/bin/sh"), ["-c", script, Tool.tool.path] + arguments, input: "", key: nil)
  }

  private static func run(
    _ program: URL, _ arguments: [String], input: String, key: String?
  ) throws -> Tool.Outcome {
    try withTemporaryPath { path in
      try Data(input.utf8).write(to: URL(filePath: path))
      let process = Process()
      process.executableURL = program
      process.arguments = arguments
      process.environment = key.map { ["REALM_KEY": $0] } ?? [:]
      process.standardInput = try FileHandle(forReadingFrom: URL(filePath: path))
      process.standardOutput = try file(URL(filePath: path + ".output"))
      process.standardError = try file(URL(filePath: path + ".complaint"))
      try process.run()
      process.waitUntilExit()
      let isExit = process.terminationReason == .exit
      return Tool.Outcome(
        code: isExit ? process.terminationStatus : -process.terminationStatus,
        output: try String(contentsOfFile: path + ".output", encoding: .utf8),
        complaint: try String(contentsOfFile: path + ".complaint", encoding: .utf8))
    }
  }
}

/// Files beside a file of a test, and files that are made for one.
enum Beside {
  static let digits = Keys.first.map { String(format: "%02x", $0) }.joined()

  static func digits(_ key: [UInt8]?) -> String? { key?.map { String(format: "%02x", $0) }.joined() }

  /// The names of all files in the folder of a file, sorted.
  static func names(_ path: String) throws -> [String] { try FolderListing(around: path).names.sorted() }

  /// Calls `body` with the path of a file that stands alone in its folder, as `ToolSample.makeSmall` makes it.
  static func withSmall(key: [UInt8]? = nil, _ body: (String) throws -> Void) throws {
    try with({ try ToolSample.makeSmall($0, key: key) }, body)
  }

  /// Calls `body` with the path of a file that stands alone in its folder.
  static func with(_ make: (String) throws -> Void, _ body: (String) throws -> Void) throws {
    try withTemporaryPath { source in
      try make(source)
      try withTemporaryPath { path in
        // The library leaves companions beside `source`; they are not copied.
        try FileManager.default.copyItem(atPath: source, toPath: path)
        try body(path)
      }
    }
  }

  /// Calls `body` with the path of a copy of a golden file that stands alone in its folder.
  static func withGolden(_ file: GoldenFile, _ body: (String) throws -> Void) throws {
    try withTemporaryPath { path in
      try Data(file.bytes()).write(to: URL(filePath: path))
      try body(path)
    }
  }

  /// Damages a node of the file.
  static func damage(_ path: String, part: String, node: String, key: [UInt8]? = nil) throws {
    let ref = try DamageTests().node((part: part, node: node), path, key)
    try DamageTests.flip(path, at: ref.offset + UInt64(ref.length) - 8)
    for name in [".note", ".management"] { try? FileManager.default.removeItem(atPath: path + name) }
  }

  /// Writes a text to a file beside a file, and answers its path.
  static func write(_ text: String, _ path: String, ending: String) throws -> String {
    try Data(text.utf8).write(to: URL(filePath: path + ending))
    return path + ending
  }
}
