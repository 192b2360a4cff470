import Foundation
import Service
import Synchronization

/// The program `realm-server` as a separate process, which is started as an administrator starts it.
final class ServerProcess: @unchecked Sendable {
  // Sendable: the process is set up before anybody has this, and asked and ended by calls that any thread may make.

  struct Failure: Error, CustomStringConvertible {
    let description: String
    /// True if another program listens on the port.
    var isPortTaken: Bool { description.contains("Address already in use") }
  }

  /// True if worlds use servers in separate processes instead of servers in this process.
  static let isAskedFor = ProcessInfo.processInfo.environment["REALM_SERVER_PROCESS"] == "1"

  let monitorPort: Int
  private let process: Process

  private init(_ process: Process, monitorPort: Int) {
    (self.process, self.monitorPort) = (process, monitorPort)
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  /// Starts a server, and waits until it listens.
  ///
  /// - Parameter folder: The folder of the server's data.
  /// - Throws: `Failure`, with the output of the program.
  static func start(_ folder: DataFolder, port: Int) async throws -> ServerProcess {
    guard FileManager.default.isExecutableFile(atPath: program.path) else {
      throw Failure(description: "There is no program \(program.path). Run make server-test PROCESS=1.")
    }
    let (process, said) = (Process(), Said())
    process.executableURL = program
    process.arguments = [
      "--data", folder.url.path, "--port", "\(port)", "--monitor-port", "0", "--come-back", "1", "--log",
      "error",
    ]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = said.pipe()
    process.standardError = said.pipe()
    try process.run()
    let end = ContinuousClock.now + .seconds(30)
    while true {
      if let monitorPort = said.monitorPort { return ServerProcess(process, monitorPort: monitorPort) }
      guard !said.isOver, ContinuousClock.now < end else {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        throw Failure(description: "realm-server does not listen on port \(port). It says: \(said.text)")
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Asks the server to end, and waits for its end.
  func stop() async {
    if process.isRunning { process.terminate() }
    let end = ContinuousClock.now + .seconds(20)
    while process.isRunning, ContinuousClock.now < end {
      do { try await Task.sleep(for: .milliseconds(5)) } catch { break }
    }
    guard process.isRunning else { return }
    kill(process.processIdentifier, SIGKILL)
    while process.isRunning { await Task.yield() }
  }

  /// The path of the program, which is beside the test bundle.
  private static let program: URL = {
    #if os(macOS)
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
      return (bundle ?? Bundle.main.bundleURL).deletingLastPathComponent().appending(path: "realm-server")
    #else
      return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "realm-server")
    #endif
  }()
}

/// The output of a program so far.
private final class Said: Sendable {
  private struct State {
    var text = ""
    /// The number of open pipes.
    var pipes = 0
  }
  private let state = Mutex(State())

  var text: String { state.withLock { $0.text } }
  /// True if the program has ended.
  var isOver: Bool { state.withLock { $0.pipes == 0 } }

  /// The port of `/metrics`; nil before the program has printed it.
  var monitorPort: Int? {
    let line = text.split(separator: "\n").first {
      $0.hasPrefix("Health and metrics: ") && $0.contains("/health")
    }
    return line?.split(separator: "/").lazy.compactMap { $0.split(separator: ":").last.flatMap { Int($0) } }
      .first
  }

  /// A pipe whose input is added to the output.
  func pipe() -> Pipe {
    let pipe = Pipe()
    state.withLock { $0.pipes += 1 }
    pipe.fileHandleForReading.readabilityHandler = { [self] file in
      let data = file.availableData
      state.withLock { state in
        state.text += String(decoding: data, as: UTF8.self)
        if data.isEmpty { state.pipes -= 1 }
      }
      if data.isEmpty { file.readabilityHandler = nil }
    }
    return pipe
  }
}
