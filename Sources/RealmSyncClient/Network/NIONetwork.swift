#if Sync
  import NIOCore
  import NIOPosix

  /// The network of the system, over SwiftNIO. One thread serves all connections of the process.
  package final class NIONetwork: SyncNetwork {
    package static let shared = NIONetwork()

    /// The group is never shut down, because connections may be asked for until the process ends.
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private init() {}

    package func send(
      _ request: NetworkRequest,
      _ completion: @escaping @Sendable (Result<NetworkAnswer, NetworkProblem>) -> Void
    ) {
      let eventLoop = group.next()
      eventLoop.execute { RequestExchange.start(request, on: eventLoop, completion) }
    }

    package func connect(
      _ request: SocketRequest, _ handler: @escaping @Sendable (SocketEvent) -> Void
    ) -> any SyncSocket {
      let eventLoop = group.next()
      let channel = NIOLoopBoundBox<SocketChannel?>.makeEmptyBox(eventLoop: eventLoop)
      let commands = SocketCommands()
      eventLoop.execute {
        do throws(NetworkProblem) {
          channel.value = try SocketChannel(request, commands, on: eventLoop, handler)
          channel.value?.connect()
        } catch {
          commands.end()
          handler(.closed(.problem(error)))
        }
      }
      return NIOSocket(channel, commands)
    }
  }
#endif
