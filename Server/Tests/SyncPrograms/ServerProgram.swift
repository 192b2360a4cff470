import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A realm-server on a port of this machine. It can be stopped or killed, and started again on the same port with the
/// same data.
package final class ServerProgram {
  /// The folder of the server's data.
  package let data: URL
  /// The port of HTTP and WebSockets.
  package private(set) var port = 0
  /// The port of `/health` and `/metrics`. It changes with each start.
  package private(set) var monitorPort = 0
  private let path: String
  private let folder: URL
  private let options: [String]
  private var program: Program?

  /// Starts a server. Without definitions it makes the app `dev`, in which all users may do everything.
  ///
  /// - Parameters:
  ///   - path: The path of the program realm-server.
  ///   - folder: An unused folder.
  ///   - data: The folder of the server's data; nil for one in `folder`.
  ///   - definitions: The content of the files app.yaml, by the ids of the apps.
  ///   - options: The options besides the folder, the ports, and those that let many clients of one address in.
  package init(
    _ path: String, in folder: URL, data: URL? = nil, definitions: [String: String] = [:],
    options: [String] = []
  ) throws {
    (self.path, self.folder, self.options) = (path, folder, options)
    self.data = data ?? folder.appending(path: "data")
    for (id, text) in definitions {
      let app = self.data.appending(path: id)
      try FileManager.default.createDirectory(at: app, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: app.appending(path: "app.yaml"))
    }
    var attempts = 5
    while program == nil {
      // The system gives no port in this range to a connection, so the port is free when the server starts again.
      port = Int.random(in: 10_000..<30_000)
      attempts -= 1
      do { try start() } catch let failure as Program.Failure {
        // The port may be in use.
        guard attempts > 0 else { throw failure }
      }
    }
  }

  package var address: String { "http://127.0.0.1:\(port)" }

  package var number: Int32 { program?.number ?? 0 }

  package var isRunning: Bool { program?.isRunning ?? false }

  /// Starts the server again after `stop` or `crash`, and waits until it listens.
  package func start() throws {
    // A server accepts 256 connections of one address, except from proxies. All clients have one address here.
    let program = try Program(
      "realm-server", path,
      [
        "--data", data.path, "--dev", "--port", "\(port)", "--monitor-port", "0", "--come-back", "1",
        "--trusted-proxy", "127.0.0.1",
      ] + options, in: folder.appending(path: "run"))
    do {
      port = try Self.port(behind: "realm-server listens on ", of: program)
      monitorPort = try Self.port(behind: "Health and metrics: ", of: program)
    } catch {
      program.end(bySignal: true)
      throw error
    }
    self.program = program
  }

  /// The port in the next line that begins with `beginning`.
  private static func port(behind beginning: String, of program: Program) throws -> Int {
    while true {
      let line = try program.line(within: 30)
      guard line.hasPrefix(beginning) else { continue }
      // The port is the first number after a colon.
      let parts = line.split(separator: ":").dropFirst().map { part in part.prefix { $0.isNumber } }
      if let port = parts.lazy.compactMap({ Int($0) }).first { return port }
      throw program.failure("tells no port in \"\(line)\"")
    }
  }

  // MARK: - The end

  /// Ends the server as an administrator does.
  package func stop() {
    program?.end(bySignal: true)
    program = nil
  }

  /// Kills the server.
  ///
  /// - Returns: The text of its log.
  @discardableResult
  package func crash() throws -> String {
    guard let program else { return "" }
    try program.crash()
    let log = (try? String(contentsOf: program.errors, encoding: .utf8)) ?? ""
    stop()
    return log
  }

  /// Ends the server. The owner of this object removes its folder.
  package func end() { stop() }

  /// The file of the server's log; nil while it does not run.
  package var log: URL? { program?.errors }

  // MARK: - What is asked of it

  /// Runs the program with a command for an administrator.
  ///
  /// - Parameter arguments: The arguments without the folder and the app.
  /// - Returns: The first line of the output.
  @discardableResult
  package func administer(_ arguments: [String], app: String = "dev") throws -> String {
    let tool = try Program(
      "realm-server \(arguments[0])", path, arguments + ["--data", data.path, "--app", app],
      in: folder.appending(path: "tool-\(UUID().uuidString)"))
    defer { tool.end() }
    return try tool.line(within: 60)
  }

  /// Makes a key that logs in its own user.
  package func key(_ name: String) throws -> String {
    let line = try administer(["user", "server-key", name])
    guard let key = line.split(separator: " ").last else {
      throw Program.Failure("realm-server user server-key tells no key.")
    }
    return String(key)
  }

  /// Asks the monitor for `health` or `metrics`.
  ///
  /// - Returns: The status, which is 0 if there is no answer, and the text.
  package func ask(_ name: String) -> (status: Int, text: String) {
    guard let url = URL(string: "http://127.0.0.1:\(monitorPort)/\(name)") else { return (0, "") }
    let answer = Mutex((status: 0, text: ""))
    let hasCome = DispatchSemaphore(value: 0)
    let task = URLSession.shared.dataTask(with: URLRequest(url: url, timeoutInterval: 10)) {
      data, response, _ in
      let status = (response as? HTTPURLResponse)?.statusCode ?? 0
      let text = String(decoding: data ?? Data(), as: UTF8.self)
      answer.withLock { $0 = (status, text) }
      hasCome.signal()
    }
    task.resume()
    hasCome.wait()
    return answer.withLock { $0 }
  }
}
