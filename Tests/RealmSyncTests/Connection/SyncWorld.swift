import Foundation
import RealmServer
import RealmStorage
import RealmSyncClient
import RealmTestSupport

/// A user's files with their connection, the server of an app if a test wants one, and a clock that only the test
/// advances.
final class SyncWorld {
  let clock: ManualClock
  let network: DrivenNetwork
  let access: DrivenAccess
  /// The changes of the machine's network.
  let changes = NetworkChanges()
  let connection: SyncConnection
  /// The server; nil if the test plays the server.
  let server: NetworkedServer?
  private var files: [NetworkedFile] = []

  /// - Parameters:
  ///   - path: The path of the server's file; nil for a world without a server.
  ///   - drawsGreatest: The value of `ManualClock`'s parameter of that name.
  ///   - change: A change of the server's settings.
  init(
    server path: String? = nil, drawsGreatest: Bool = false,
    _ change: (inout SyncAppSettings) -> Void = { _ in }
  ) throws {
    let clock = ManualClock(drawsGreatest: drawsGreatest)
    let (network, access) = (DrivenNetwork(), DrivenAccess())
    (self.clock, self.network, self.access) = (clock, network, access)
    connection = SyncConnection(network, access, clock: clock, monitor: changes)
    if let path { server = try NetworkedServer(path, network, clock, change) } else { server = nil }
  }

  /// A file that is not started yet.
  ///
  /// - Parameters:
  ///   - predicate: The condition of the file's query; nil if the file asks for nothing.
  ///   - database: The file's database; nil for a new one.
  func file(
    _ predicate: String? = "", recovery: ClientSession.Recovery = .recover, database: Database? = nil
  ) throws -> NetworkedFile {
    let file = try NetworkedFile(connection, clock, recovery, database: database)
    if let predicate { try file.ask(predicate) }
    files.append(file)
    return file
  }

  /// Stops all sessions, so that nothing keeps them in memory.
  func end() {
    for file in files { file.core.stop() }
  }

  // MARK: - Waiting

  /// Looks at a condition until it holds, for a minute at most.
  ///
  /// - Parameters:
  ///   - tick: The milliseconds by which the clock advances before each look.
  ///   - serves: True if the server works meanwhile.
  func until(
    _ what: String, tick: UInt64 = 0, serves: Bool = true, _ isSo: () throws -> Bool
  ) throws {
    let end = ContinuousClock.now + .seconds(60)
    while true {
      clock.advance(tick)
      if serves { try server?.run() }
      if try isSo() { return }
      guard ContinuousClock.now < end else {
        throw Violation("This did not come within a minute: \(what).")
      }
      Thread.sleep(forTimeInterval: 0.001)
    }
  }

  /// Checks for a moment that a condition keeps holding.
  func stays(_ what: String, _ isSo: () throws -> Bool) throws {
    for _ in 0..<30 {
      clock.advance(0)
      try server?.run()
      guard try isSo() else { throw Violation("This did not stay so: \(what).") }
      Thread.sleep(forTimeInterval: 0.001)
    }
  }

  /// The WebSocket of an index, which counts from 0, once the client has asked for it.
  func socket(_ index: Int = 0, tick: UInt64 = 0) throws -> DrivenSocket {
    try until("the WebSocket \(index)", tick: tick) { network.sockets.count > index }
    return network.sockets[index]
  }

  /// The channel of the hello of an index, which counts from 0, in a WebSocket, once the client has said that hello.
  func hello(_ index: Int = 0, _ socket: DrivenSocket, tick: UInt64 = 0) throws -> UInt64 {
    try until("the hello \(index)", tick: tick) { socket.hellos.count > index }
    return socket.hellos[index]
  }

  /// Starts a file, and waits until it has had a step.
  func start(_ file: NetworkedFile) throws {
    file.core.start()
    try until("the first step") { file.notes.all.contains(.changed) }
  }

  /// Waits until there is an outcome, and throws if the outcomes are not these values.
  func until<Value: Equatable & Sendable>(
    _ outcomes: Outcomes<Value>, are values: [Value], tick: UInt64 = 20
  ) throws {
    try until("the end of a wait", tick: tick) { !outcomes.all.isEmpty }
    guard outcomes.all == values else { throw Violation("\(outcomes.all) came in place of \(values).") }
  }
}
