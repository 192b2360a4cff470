import Foundation

/// A command of the system's.
enum Command {
  /// Runs a command, and waits for its end. What it prints is not seen.
  ///
  /// - Parameter name: is looked for where the system has its commands.
  /// - Returns: its status: 0 where it has done what it was to do.
  static func status(_ name: String, _ arguments: [String]) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
