import Foundation

/// Runs a command for each message. The command gets the JSON of `Message.json()` as its standard input. Its standard
/// output is lost. Its standard error goes to that of the server.
public struct CommandMessenger: Messenger {
  private let program: URL
  private let arguments: [String]
  private let timeLimit: Duration

  /// - Parameters:
  ///   - command: the absolute path of the program, and its arguments. No shell is used.
  ///   - timeLimit: the time that the command may take. After it the command is told to end, and is killed two seconds
  ///     later.
  /// - Throws: `AccountError.Code.invalidParameter` for a command without an absolute path, or with a zero byte.
  public init(command: [String], timeLimit: Duration = .seconds(10)) throws {
    guard let path = command.first, path.hasPrefix("/"),
      !command.contains(where: { $0.utf8.contains(0) })
    else {
      throw AccountError(
        .invalidParameter, "The command for messages is not valid. Begin with a program's absolute path.")
    }
    program = URL(fileURLWithPath: path)
    arguments = Array(command.dropFirst())
    self.timeLimit = timeLimit
  }

  /// Runs the command, and returns when it has ended.
  ///
  /// - Throws: `AccountError.Code.serviceUnavailable` if the command could not be started, did not end in time, or
  ///   ended with another status than 0.
  public func deliver(_ message: Message) async throws {
    let (ends, end) = AsyncStream.makeStream(of: Bool.self)
    let running = try RunningCommand(program, arguments, input: message.json()) { isSuccess in
      end.yield(isSuccess)
      end.finish()
    }
    let limit = Task { [timeLimit] in
      try await Task.sleep(for: timeLimit)
      running.end()
      try await Task.sleep(for: .seconds(2))
      running.kill()
    }
    // The end is awaited in a task of its own. Otherwise a caller that is cancelled would leave the command without a
    // time limit.
    let isSuccess = await Task {
      for await isSuccess in ends { return isSuccess }
      return false
    }.value
    limit.cancel()
    guard isSuccess else {
      throw AccountError(.serviceUnavailable, "The command for messages failed or took too long. Check it.")
    }
  }
}

/// A command that was started.
private final class RunningCommand: @unchecked Sendable {
  // This is Sendable because a process that was started is only asked whether it runs, and sent signals.
  private let process = Process()

  /// - Parameter whenEnded: called once when the command has ended. It is told whether the command has succeeded.
  init(
    _ program: URL, _ arguments: [String], input: Data, whenEnded: @escaping @Sendable (Bool) -> Void
  ) throws {
    process.executableURL = program
    process.arguments = arguments
    // All of the input is in the pipe before the command starts, because a message is smaller than any pipe. A write to
    // a command that has ended would raise a signal that ends the server.
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: input)
    try pipe.fileHandleForWriting.close()
    process.standardInput = pipe.fileHandleForReading
    process.standardOutput = FileHandle.nullDevice
    process.terminationHandler = { process in
      whenEnded(process.terminationReason == .exit && process.terminationStatus == 0)
    }
    do {
      try process.run()
    } catch {
      throw AccountError(.serviceUnavailable, "The command for messages can't be started. Check its path.")
    }
    try? pipe.fileHandleForReading.close()
  }

  /// Tells the command to end.
  func end() { if process.isRunning { process.terminate() } }

  /// Ends the command, whatever it does.
  func kill() { if process.isRunning { sendKill(to: process.processIdentifier) } }
}

// A class that has a function of this name can't call the system's function, so this is outside.
private func sendKill(to process: Int32) { kill(process, SIGKILL) }
