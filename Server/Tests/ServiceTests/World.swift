import Definition
import Foundation
import Front
import Logging
import Service
import Synchronization
import Testing

/// The folder of a server, which is removed with this object.
final class Place: Sendable {
  let folder: DataFolder

  /// - Parameter apps: The definitions by the ids of apps. If it is nil, there is one app in development, `dev`.
  init(_ apps: [String: String]? = nil) throws {
    let name = "service-\(UUID().uuidString)"
    folder = DataFolder(FileManager.default.temporaryDirectory.appendingPathComponent(name).path)
    for (id, text) in apps ?? ["dev": AppDefinition.development(id: "dev")] {
      try folder.add(id, text: text)
    }
  }

  /// The place of a folder that others make.
  init(_ url: URL) { folder = DataFolder(url.path) }

  deinit { try? FileManager.default.removeItem(at: folder.url) }

  var settings: RunningServer.Settings {
    var (front, monitor) = (FrontSettings(), FrontSettings())
    (front.threads, monitor.threads) = (2, 1)
    return RunningServer.Settings(folder: folder, front: front, monitor: monitor)
  }

  /// The folder of an app.
  func app(_ id: String = "dev") -> URL { folder.url.appendingPathComponent(id) }

  /// The file in which a running server writes its address and token for administrators.
  var administration: URL { folder.url.appendingPathComponent("administration.json") }

  func has(_ file: String, of app: String = "dev") -> Bool {
    FileManager.default.fileExists(atPath: self.app(app).appendingPathComponent(file).path)
  }

  /// Makes a request of an administrator.
  func ask(_ request: AdministrationRequest, _ server: RunningServer) async -> AdministrationAnswer {
    await Administration(server.apps, folder).perform(request)
  }

  /// The text of a new key of the server, with which programs log in as one user.
  func serverKey(_ name: String, _ server: RunningServer) async throws -> String {
    let answer = await ask(.serverKey(app: "dev", name: name), server)
    let words = try #require(answer.lines.first).split(separator: " ")
    return String(try #require(words.last))
  }
}

extension Logger {
  static var silent: Logger { Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }) }
}

/// Runs a server for `body`, and stops it in every case.
///
/// The server is gone when this function returns, so that another server may use the folder.
func withServer(
  _ place: Place, logger: Logger = .silent,
  settings change: (inout RunningServer.Settings) -> Void = { _ in },
  _ body: (RunningServer) async throws -> Void
) async throws {
  var settings = place.settings
  change(&settings)
  let server = try await RunningServer.start(settings, logger: logger)
  do {
    try await body(server)
  } catch {
    await server.stop(wait: 0, grace: .milliseconds(50))
    throw error
  }
  await server.stop(wait: 0, grace: .milliseconds(50))
}

/// The text of a definition in which all users may log in and do everything.
func openDefinition(_ id: String = "dev", _ more: String = "") -> String {
  "id: \(id)\ndevelopment: true\nproviders: [anonymous]\n" + more
}

/// Waits until a condition holds.
///
/// - Returns: False if it does not hold within a minute.
func becomes(_ isTrue: () async throws -> Bool) async throws -> Bool {
  for _ in 0..<1200 {
    if try await isTrue() { return true }
    try await Task.sleep(for: .milliseconds(50))
  }
  return false
}

/// The messages of a log, as texts.
final class LogLines: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Keeps all messages of a log, of all levels.
struct LogKeeper: LogHandler {
  let lines: LogLines
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  init(_ lines: LogLines) { self.lines = lines }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    let parts = all.map { "\($0.key)=\($0.value)" }.sorted()
    lines.add("\(event.level) \(event.message) \(parts.joined(separator: " "))")
  }
}
