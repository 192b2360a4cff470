import RealmSyncClient
import Synchronization

/// A network whose WebSockets a test opens, feeds and closes.
final class DrivenNetwork: SyncNetwork {
  private let all = Mutex<[DrivenSocket]>([])

  /// All WebSockets that the client has asked for, oldest first.
  var sockets: [DrivenSocket] { all.withLock { $0 } }

  func send(
    _ request: NetworkRequest,
    _ completion: @escaping @Sendable (Result<NetworkAnswer, NetworkProblem>) -> Void
  ) {
    completion(.failure(.unreachable("Nobody answers requests here.")))
  }

  func connect(
    _ request: SocketRequest, _ handler: @escaping @Sendable (SocketEvent) -> Void
  ) -> any SyncSocket {
    let socket = DrivenSocket(request, handler)
    all.withLock { $0.append(socket) }
    return socket
  }
}
