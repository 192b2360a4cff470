import Foundation

/// A command of the system.
enum Command {
  /// Runs a command, and waits for its end. Its output is dropped.
  ///
  /// - Parameter name: The name of the command, which is looked up in the system's folders of commands.
  /// - Returns: The exit status of the command, which is 0 if it succeeded.
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
