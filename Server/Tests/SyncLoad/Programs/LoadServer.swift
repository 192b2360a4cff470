import Foundation

/// A realm-server with an empty folder, for development, on a free port of this machine.
final class LoadServer {
  private let setting: Setting
  private let program: Program
  private let data: URL
  let port: Int

  init(_ setting: Setting) throws {
    self.setting = setting
    let folder = setting.newFolder("server")
    data = folder.appending(path: "data")
    // A server takes 256 connections of one address, but for those of proxies: all clients have one address here.
    program = try Program(
      "realm-server", setting.server,
      [
        "--data", data.path, "--dev", "--port", "0", "--monitor-port", "0", "--come-back", "1", "--log",
        "warning", "--trusted-proxy", "127.0.0.1",
      ], in: folder)
    var port: Int?
    while port == nil { port = Self.port(in: try program.line(within: 30)) }
    self.port = port ?? 0
  }

  /// The port that a line tells; nil of another line.
  private static func port(in line: String) -> Int? {
    guard line.hasPrefix("realm-server listens on ") else { return nil }
    let words = line.split(separator: " ").map { $0.split(separator: ":") }
    return words.lazy.filter { $0.count > 1 }.compactMap { $0.last.flatMap { Int($0) } }.first
  }

  var address: String { "http://127.0.0.1:\(port)" }

  func end() { program.end(bySignal: true) }

  /// Makes a key that logs in a user of its own.
  func key(_ name: String) throws -> String {
    let tool = try Program(
      "realm-server user server-key", setting.server,
      ["user", "server-key", "--data", data.path, "--app", "dev", name], in: setting.newFolder("key"))
    defer { tool.end() }
    let line = try tool.line(within: 30)
    guard let key = line.split(separator: " ").last else {
      throw Program.Failure(description: "realm-server user server-key tells no key.")
    }
    return String(key)
  }

  /// Bytes that the server holds in memory; nil where the system does not tell it.
  var memory: Int? { ProcessFigures.bytes("VmRSS", of: "\(program.number)") }

  /// Seconds of a processor that the server has used; nil where the system does not tell it.
  var processorSeconds: Double? { ProcessFigures.processorSeconds(of: "\(program.number)") }
}
