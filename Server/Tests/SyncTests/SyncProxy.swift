import NIOCore
import NIOPosix
import Synchronization

/// A proxy between devices and a server. It counts bytes, can slow them down, and can leave connections without an
/// answer.
final class SyncProxy: Sendable {
  private struct State {
    var listener: (any Channel)?
    var channels: [any Channel] = []
    var bytesToDevices = 0
    /// The number of bytes in a second to devices; nil for no limit.
    var rate: Int?
    /// The time at which the next bytes may pass, if there is a limit.
    var next = NIODeadline.uptimeNanoseconds(0)
    var isMute = false
  }

  private let server: Int
  private let state = Mutex(State())

  private init(_ server: Int) { self.server = server }

  /// Starts a proxy for the server that listens on a port of this machine.
  static func start(for server: Int) async throws -> SyncProxy {
    let proxy = SyncProxy(server)
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in proxy.accept(channel) }
      .bind(host: "127.0.0.1", port: 0).get()
    proxy.state.withLock { $0.listener = listener }
    return proxy
  }

  var address: String {
    let port = state.withLock { $0.listener?.localAddress?.port } ?? 0
    return "http://127.0.0.1:\(port)"
  }

  /// The number of bytes from the server to devices since the start, or since this was set to 0.
  var bytesToDevices: Int {
    get { state.withLock { $0.bytesToDevices } }
    set { state.withLock { $0.bytesToDevices = newValue } }
  }

  /// Limits the bytes that pass to devices in a second; nil removes the limit.
  func slowDown(to rate: Int?) { state.withLock { $0.rate = rate } }

  /// Sets whether new connections are left without an answer.
  func mute(_ isMute: Bool) { state.withLock { $0.isMute = isMute } }

  /// Breaks all connections. New ones can be made.
  func cut() {
    let channels = state.withLock { state in
      defer { state.channels = [] }
      return state.channels
    }
    for channel in channels { channel.close(mode: .all, promise: nil) }
  }

  /// Breaks all connections, and accepts no new ones.
  func stop() async {
    let listener = state.withLock { state in state.listener.take() }
    try? await listener?.close()
    cut()
  }

  // MARK: - Connections

  private func accept(_ device: any Channel) -> EventLoopFuture<Void> {
    let isMute = state.withLock { state in
      state.channels.append(device)
      return state.isMute
    }
    guard !isMute else { return device.eventLoop.makeSucceededVoidFuture() }
    return ClientBootstrap(group: device.eventLoop)
      .channelOption(.autoRead, value: false)
      .connect(host: "127.0.0.1", port: server)
      .flatMap { server in self.join(device, server) }
  }

  private func join(_ device: any Channel, _ server: any Channel) -> EventLoopFuture<Void> {
    state.withLock { $0.channels.append(server) }
    let toServer = Forwarder(server) { _ in nil }
    let toDevice = Forwarder(device) { bytes in self.pass(bytes) }
    return device.pipeline.addHandler(toServer)
      .flatMap { server.pipeline.addHandler(toDevice) }
      .flatMap { server.setOption(.autoRead, value: true) }
      .flatMap { device.setOption(.autoRead, value: true) }
  }

  /// Counts bytes to a device.
  ///
  /// - Returns: The time at which the bytes may pass; nil if they may pass now.
  private func pass(_ bytes: Int) -> NIODeadline? {
    state.withLock { state in
      state.bytesToDevices += bytes
      guard let rate = state.rate else { return nil }
      state.next = max(state.next, .now()) + .nanoseconds(Int64(bytes) * 1_000_000_000 / Int64(rate))
      return state.next
    }
  }
}

/// Sends the bytes that one channel reads to another channel.
private final class Forwarder: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer

  private let other: any Channel
  private let time: @Sendable (Int) -> NIODeadline?

  init(_ other: any Channel, _ time: @escaping @Sendable (Int) -> NIODeadline?) {
    (self.other, self.time) = (other, time)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let (buffer, other) = (unwrapInboundIn(data), other)
    guard let time = time(buffer.readableBytes) else { return other.writeAndFlush(buffer, promise: nil) }
    other.eventLoop.scheduleTask(deadline: time) { other.writeAndFlush(buffer, promise: nil) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    other.close(mode: .all, promise: nil)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(mode: .all, promise: nil)
  }
}
