import Foundation

/// Runs the built tool as a user would.
enum Tool {
  struct Outcome {
    var code: Int32
    var output: String
    var complaint: String
  }

  static func run(_ arguments: [String], key: String? = nil) throws -> Outcome {
    try run(Self.tool, arguments, key: key)
  }

  /// Runs the tool as a user with few rights; nil if the system has no way to become one, or if such a user can't reach
  /// the tool.
  static func runAsNobody(_ arguments: [String]) throws -> Outcome? {
    guard geteuid() == 0 else { return try run(arguments) }
    let setpriv = URL(filePath: "/usr/bin/setpriv")
    guard FileManager.default.isExecutableFile(atPath: setpriv.path) else { return nil }
    let start = ["--reuid=65534", "--regid=65534", "--clear-groups", Self.tool.path]
    guard try run(setpriv, start + ["--help"]).code == 0 else { return nil }
    return try run(setpriv, start + arguments)
  }

  /// Runs an example through a shell, without some descriptors.
  ///
  /// - Returns: The exit status of the example.
  static func runExample(_ name: String, without closed: [Int], temporaryFolder: String) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    let closing = closed.map { "\($0)>&-" }.joined(separator: " ")
    process.arguments = [
      "-c", "exec \"$0\" \(closing)", tool.deletingLastPathComponent().appending(path: name).path,
    ]
    process.environment = ["TMPDIR": temporaryFolder]
    (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, FileHandle.nullDevice)
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// The place to which a command's output goes.
  enum Stream: String, CaseIterable {
    case fullDisk = "> /dev/full"
    case closed = ">&-"
    /// A pipe whose reader has gone.
    case brokenPipe = ""
    /// A file that is open for reading only.
    case input = "1< /dev/null"
  }

  /// Runs the tool with an output that can't be written; nil if the system has no device that is always full.
  static func run(_ arguments: [String], writingTo stream: Stream, complaints: String = "") throws -> Outcome?
  {
    if stream == .fullDisk, !FileManager.default.fileExists(atPath: "/dev/full") { return nil }
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments =
      ["-c", "exec \"$0\" \"$@\" \(stream.rawValue) \(complaints)", Self.tool.path] + arguments
    process.environment = [:]
    let (output, complaint) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = complaint
    if stream == .brokenPipe { try output.fileHandleForReading.close() }
    try process.run()
    let words = complaint.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let isExit = process.terminationReason == .exit
    return Outcome(
      code: isExit ? process.terminationStatus : -process.terminationStatus, output: "",
      complaint: String(decoding: words, as: UTF8.self))
  }

  private static func run(_ program: URL, _ arguments: [String], key: String? = nil) throws -> Outcome {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.environment = key.map { ["REALM_KEY": $0] } ?? [:]
    let (output, complaint) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = complaint
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let words = complaint.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(
      code: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
      complaint: String(decoding: words, as: UTF8.self))
  }

  /// The path of the executable, which is beside the test bundle.
  static let tool: URL = {
    #if os(macOS)
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
      return (bundle ?? Bundle.main.bundleURL).deletingLastPathComponent().appending(path: "realm")
    #else
      return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "realm")
    #endif
  }()
}
