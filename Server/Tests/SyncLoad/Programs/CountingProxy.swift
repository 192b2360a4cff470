import NIOCore
import NIOPosix
import Synchronization

/// Stands between a device and a server, and counts the bytes that go through TCP.
final class CountingProxy: Sendable {
  struct Counts: Sendable {
    var toServer = 0
    var toDevice = 0

    var both: Int { toServer + toDevice }
  }

  private struct State {
    var listener: (any Channel)?
    var channels: [any Channel] = []
    var counts = Counts()
  }

  private let server: Int
  private let state = Mutex(State())

  /// - Parameter server: the port of this machine that the server listens on.
  init(for server: Int) throws {
    self.server = server
    let listener = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in self.accept(channel) }
      .bind(host: "127.0.0.1", port: 0).wait()
    state.withLock { $0.listener = listener }
  }

  var address: String {
    let port = state.withLock { $0.listener?.localAddress?.port } ?? 0
    return "http://127.0.0.1:\(port)"
  }

  /// What has gone since the start, or since it was set to none.
  var counts: Counts {
    get { state.withLock { $0.counts } }
    set { state.withLock { $0.counts = newValue } }
  }

  /// Breaks all connections, and takes no new ones.
  func end() {
    let (listener, channels) = state.withLock { state in
      defer { (state.listener, state.channels) = (nil, []) }
      return (state.listener, state.channels)
    }
    listener?.close(mode: .all, promise: nil)
    for channel in channels { channel.close(mode: .all, promise: nil) }
  }

  // MARK: - Connections

  private func accept(_ device: any Channel) -> EventLoopFuture<Void> {
    state.withLock { $0.channels.append(device) }
    return ClientBootstrap(group: device.eventLoop)
      .channelOption(.autoRead, value: false)
      .connect(host: "127.0.0.1", port: server)
      .flatMap { server in self.join(device, server) }
  }

  private func join(_ device: any Channel, _ server: any Channel) -> EventLoopFuture<Void> {
    state.withLock { $0.channels.append(server) }
    let toServer = Forwarder(server) { bytes in self.state.withLock { $0.counts.toServer += bytes } }
    let toDevice = Forwarder(device) { bytes in self.state.withLock { $0.counts.toDevice += bytes } }
    return device.pipeline.addHandler(toServer)
      .flatMap { server.pipeline.addHandler(toDevice) }
      .flatMap { server.setOption(.autoRead, value: true) }
      .flatMap { device.setOption(.autoRead, value: true) }
  }
}

/// Passes on what one channel reads to another.
private final class Forwarder: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer

  private let other: any Channel
  private let count: @Sendable (Int) -> Void

  init(_ other: any Channel, _ count: @escaping @Sendable (Int) -> Void) {
    (self.other, self.count) = (other, count)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    count(buffer.readableBytes)
    other.writeAndFlush(buffer, promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    other.close(mode: .all, promise: nil)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(mode: .all, promise: nil)
  }
}
