#if Sync
  import NIOCore
  import RealmWebSocket

  /// The handle of a WebSocket for its user. The connection is closed when nothing refers to the handle any more.
  final class NIOSocket: SyncSocket {
    private let channel: NIOLoopBoundBox<SocketChannel?>
    private let commands: SocketCommands

    init(_ channel: NIOLoopBoundBox<SocketChannel?>, _ commands: SocketCommands) {
      (self.channel, self.commands) = (channel, commands)
    }

    deinit { add(.close) }

    func send(_ message: [UInt8]) {
      guard !commands.hasEnded else { return }
      // The frame is made here, so that copying it does not delay other connections on the network's thread.
      add(.send(FrameWriter(.client).frame(.binary, message)))
    }

    func taken(_ bytes: Int) { add(.taken(bytes)) }

    func close() { add(.close) }

    private func add(_ command: SocketCommands.Command) {
      guard commands.add(command) else { return }
      channel.eventLoop.execute { [channel] in channel.value?.follow() }
    }
  }
#endif
