import Foundation
import Service
import Synchronization
import Testing

/// A user who commits a small change again and again, each after the previous one is acknowledged.
final class Neighbour: Sendable {
  private static let table = "Diary"
  /// The least number of changes that are committed.
  private static let least = 20

  private let socket: Client
  let welcome: WelcomeMessage
  private let isStopped = Mutex(false)

  init(_ server: RunningServer) async throws {
    socket = try await server.newSocket()
    welcome = try await socket.start(on: 1)
    socket.send(Frames.querySet(of: Self.table), on: 1)
  }

  func stop() { isStopped.withLock { $0 = true } }

  /// Commits changes until `stop`.
  ///
  /// - Returns: The time that each change waited for its acknowledgement.
  func commits() async throws -> [Duration] {
    var times: [Duration] = []
    var upload = ClientUpload(welcome, [])
    while !isStopped.withLock({ $0 }) || times.count < Self.least {
      let key = times.count
      upload.changeset = Changesets.objects(Self.table, keys: key..<key + 1, data: [1, 2, 3])
      let began = ContinuousClock.now
      socket.send(upload.frame, on: 1)
      let decided = try await socket.decision(of: upload.sequence, on: 1)
      times.append(ContinuousClock.now - began)
      #expect(decided.reasons.isEmpty)
      #expect(decided.hash == upload.hash)
      upload = upload.next([])
      try await Task.sleep(for: .milliseconds(5))
    }
    return times
  }
}

/// Attacks a server while a neighbour continues to work, and checks how long the neighbour has waited.
///
/// The times are printed. The bound is wide, because the machine may be busy with other things. The environment
/// variable `REALM_TIMED` sets the bound of a machine that does nothing else.
///
/// - Parameter abuse: The name of the attack in the printed text.
func withNeighbour(
  _ server: RunningServer, _ abuse: String, _ body: (Neighbour) async throws -> Void
) async throws {
  let neighbour = try await Neighbour(server)
  let commits = Task { try await neighbour.commits() }
  do {
    try await body(neighbour)
  } catch {
    neighbour.stop()
    _ = try? await commits.value
    throw error
  }
  neighbour.stop()
  let times = try await commits.value.sorted()
  func milliseconds(_ part: Int) -> Int { Int(times[(times.count - 1) * part / 100] / .milliseconds(1)) }
  print(
    "neighbour of \(abuse): \(times.count) commits, p50 \(milliseconds(50)) ms, p99 \(milliseconds(99)) ms, "
      + "slowest \(milliseconds(100)) ms")
  let isTimed = ProcessInfo.processInfo.environment["REALM_TIMED"] != nil
  #expect(milliseconds(99) <= (isTimed ? 250 : 5000))
}

extension RunningServer {
  /// Makes another user.
  func newUser() async throws -> LoggedIn {
    let client = try await Client.connect(to: port)
    defer { client.close() }
    return try await client.logInAnonymously()
  }

  /// Opens a WebSocket of another user.
  func newSocket() async throws -> Client {
    try await Client.socket(at: port, token: newUser().accessToken)
  }

  /// A figure of the app from `/metrics`.
  func metric(_ name: String) async throws -> Int {
    let monitor = try await Client.connect(to: monitorPort)
    defer { monitor.close() }
    let lines = try await monitor.ask("GET /metrics").text.split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("realm_server_\(name){app=\"dev\"") })
    return try #require(line.split(separator: " ").last.flatMap { Int($0) })
  }
}
