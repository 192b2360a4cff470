import Foundation
import RealmServer
import RealmStorage
import RealmSyncClient
import RealmTestSupport

/// A user's files and their connection, the server of an app if a test wants one, and a clock that stands still by itself.
final class SyncWorld {
  let clock: ManualClock
  let network: DrivenNetwork
  let access: DrivenAccess
  /// Of the machine's network.
  let changes = NetworkChanges()
  let connection: SyncConnection
  /// Nil where the test is the server.
  let server: NetworkedServer?
  private var files: [NetworkedFile] = []

  /// - Parameters:
  ///   - path: of the server's file; nil for a world without a server.
  ///   - drawsGreatest: as `ManualClock` has it.
  ///   - change: of the server's settings.
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
  ///   - predicate: what it asks for; nil for nothing.
  ///   - database: nil for a new one.
  func file(
    _ predicate: String? = "", recovery: ClientSession.Recovery = .recover, database: Database? = nil
  ) throws -> NetworkedFile {
    let file = try NetworkedFile(connection, clock, recovery, database: database)
    if let predicate { try file.ask(predicate) }
    files.append(file)
    return file
  }

  /// Ends all sessions, so that nothing keeps them.
  func end() {
    for file in files { file.core.stop() }
  }

  // MARK: - Waiting

  /// Goes on until something is so, for a minute at most.
  ///
  /// - Parameters:
  ///   - tick: so many milliseconds of the clock pass with each look.
  ///   - serves: the server works meanwhile.
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

  /// Looks for a moment whether something stays so.
  func stays(_ what: String, _ isSo: () throws -> Bool) throws {
    for _ in 0..<30 {
      clock.advance(0)
      try server?.run()
      guard try isSo() else { throw Violation("This did not stay so: \(what).") }
      Thread.sleep(forTimeInterval: 0.001)
    }
  }

  /// The WebSocket of a number, from 0, once it was asked for.
  func socket(_ index: Int = 0, tick: UInt64 = 0) throws -> DrivenSocket {
    try until("the WebSocket \(index)", tick: tick) { network.sockets.count > index }
    return network.sockets[index]
  }

  /// The channel of the hello of a number, from 0, in a WebSocket, once it was said.
  func hello(_ index: Int = 0, _ socket: DrivenSocket, tick: UInt64 = 0) throws -> UInt64 {
    try until("the hello \(index)", tick: tick) { socket.hellos.count > index }
    return socket.hellos[index]
  }

  /// Starts a file, and waits until it has had a step.
  func start(_ file: NetworkedFile) throws {
    file.core.start()
    try until("the first step") { file.notes.all.contains(.changed) }
  }

  /// Goes on until who waits was told something, which has to be this.
  func until<Value: Equatable & Sendable>(
    _ outcomes: Outcomes<Value>, are values: [Value], tick: UInt64 = 20
  ) throws {
    try until("the end of a wait", tick: tick) { !outcomes.all.isEmpty }
    guard outcomes.all == values else { throw Violation("\(outcomes.all) came in place of \(values).") }
  }
}
