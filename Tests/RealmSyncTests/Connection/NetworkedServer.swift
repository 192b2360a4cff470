import RealmServer
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport

/// The server of an app behind a driven network. It works when the test calls `run()`, on the thread of the test.
final class NetworkedServer {
  let app: SyncApp
  /// True if the server opens the WebSockets that clients ask for.
  var accepts = true
  private let network: DrivenNetwork
  private let clock: ManualClock
  private var connections: [ObjectIdentifier: SyncApp.Connection] = [:]
  private var sockets: [SyncApp.Connection: DrivenSocket] = [:]

  init(
    _ path: String, _ network: DrivenNetwork, _ clock: ManualClock,
    _ change: (inout SyncAppSettings) -> Void
  ) throws {
    (self.network, self.clock) = (network, clock)
    var settings = SyncAppSettings()
    settings.fields = [ModelClass.name: ["q"]]
    change(&settings)
    var drawn = SeededGenerator(seed: 7)
    app = try SyncApp(path: path, settings: settings, time: clock.now) { drawn.next() >> 1 | 1 }
  }

  /// Takes the messages that the clients have sent, and answers them.
  func run() throws {
    for socket in network.sockets { try serve(socket) }
    repeat { take(try app.run(time: clock.now)) } while app.hasWork
  }

  private func serve(_ socket: DrivenSocket) throws {
    let id = ObjectIdentifier(socket)
    guard socket.ending == nil else {
      guard let connection = connections.removeValue(forKey: id) else { return }
      sockets[connection] = nil
      return app.disconnect(connection)
    }
    if connections[id] == nil, accepts {
      let connection = try app.connect(user: "anna", time: clock.now)
      connections[id] = connection
      sockets[connection] = socket
      socket.open()
    }
    guard let connection = connections[id] else { return }
    for message in socket.takeSent() {
      take(try app.receive(message, from: connection, time: clock.now))
    }
  }

  private func take(_ actions: [SyncApp.Action]) {
    for action in actions {
      switch action {
      case .send(let message, let connection):
        app.noteSent(message, to: connection)
        sockets[connection]?.give(message.bytes)
      case .close(let connection, let text): sockets.removeValue(forKey: connection)?.end(.code(1002, text))
      }
    }
  }

  /// The number of open channels of all connections.
  func channels() throws -> Int { try app.figures().channels }

  /// The number of the only file that is registered.
  func replica() throws -> UInt64? { try app.figures().oldestReplica }
}
