import Foundation

/// Runs the built tool as a user would.
enum Tool {
  struct Outcome {
    var code: Int32
    var output: String
    var complaint: String
  }

  static func run(_ arguments: [String], key: String? = nil) throws -> Outcome {
    let process = Process()
    process.executableURL = Self.tool
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

  /// The executable stands beside the test bundle.
  private static let tool: URL = {
    #if os(macOS)
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
      return (bundle ?? Bundle.main.bundleURL).deletingLastPathComponent().appending(path: "realm")
    #else
      return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "realm")
    #endif
  }()
}
