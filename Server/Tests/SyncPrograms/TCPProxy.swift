import NIOCore
import NIOPosix
import Synchronization

/// A proxy between devices and a server of this machine. Each connection has a passage, which decides what is done with
/// its bytes.
package final class TCPProxy: Sendable {
  private struct State {
    var listener: (any Channel)?
    var channels: [ObjectIdentifier: any Channel] = [:]
  }

  private let server: Int
  private let passage: @Sendable () -> any Passage
  private let state = Mutex(State())

  /// - Parameters:
  ///   - server: The port on which the server listens.
  ///   - passage: Makes the passage of a connection that begins.
  package init(for server: Int, passage: @escaping @Sendable () -> any Passage) throws {
    (self.server, self.passage) = (server, passage)
    let listener = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in self.accept(channel) }
      .bind(host: "127.0.0.1", port: 0).wait()
    state.withLock { $0.listener = listener }
  }

  package var address: String {
    let port = state.withLock { $0.listener?.localAddress?.port } ?? 0
    return "http://127.0.0.1:\(port)"
  }

  /// Breaks all connections, and accepts no new ones.
  package func end() {
    let (listener, channels) = state.withLock { state in
      defer { (state.listener, state.channels) = (nil, [:]) }
      return (state.listener, Array(state.channels.values))
    }
    listener?.close(mode: .all, promise: nil)
    for channel in channels { channel.close(mode: .all, promise: nil) }
  }

  // MARK: - Connections

  private func keep(_ channel: any Channel) {
    let id = ObjectIdentifier(channel)
    state.withLock { $0.channels[id] = channel }
    channel.closeFuture.whenComplete { _ in
      // This may be the last reference, so it is released after the lock.
      let gone = self.state.withLock { $0.channels.removeValue(forKey: id) }
      withExtendedLifetime(gone) {}
    }
  }

  private func accept(_ device: any Channel) -> EventLoopFuture<Void> {
    keep(device)
    return ClientBootstrap(group: device.eventLoop)
      .channelOption(.autoRead, value: false)
      .connect(host: "127.0.0.1", port: server)
      .flatMap { server in self.join(device, server) }
  }

  private func join(_ device: any Channel, _ server: any Channel) -> EventLoopFuture<Void> {
    keep(server)
    let passage = self.passage()
    let toServer = Forwarder(passage, ProxyWay(isToServer: true, from: device, to: server))
    let toDevice = Forwarder(passage, ProxyWay(isToServer: false, from: server, to: device))
    return device.pipeline.addHandler(toServer)
      .flatMap { server.pipeline.addHandler(toDevice) }
      .flatMap { server.setOption(.autoRead, value: true) }
      .flatMap { device.setOption(.autoRead, value: true) }
  }
}

/// Decides what is done with the bytes of one connection. All calls come from the thread of the connection.
package protocol Passage: Sendable {
  /// Takes bytes that have come. The passage has to send them on.
  func take(_ bytes: ByteBuffer, _ way: ProxyWay)
  /// Notes that no more bytes come.
  func end(_ way: ProxyWay)
}

extension Passage {
  package func end(_ way: ProxyWay) { way.close() }
}

/// One of the two directions of a connection.
package struct ProxyWay: Sendable {
  package let isToServer: Bool
  fileprivate let from: any Channel
  fileprivate let to: any Channel

  package func send(_ bytes: ByteBuffer) { to.writeAndFlush(bytes, promise: nil) }

  /// Calls `body` on the thread of the connection.
  package func after(milliseconds: Int64, _ body: @escaping @Sendable () -> Void) {
    to.eventLoop.scheduleTask(in: .milliseconds(milliseconds), body)
  }

  /// Closes the side that is sent to, after all bytes that were sent on this way.
  package func close() {
    let to = to
    to.writeAndFlush(ByteBuffer()).whenComplete { _ in to.close(mode: .all, promise: nil) }
  }

  /// Breaks the connection on both sides, after all bytes that were sent on this way.
  ///
  /// - Parameter bytes: The bytes that are sent before.
  package func cut(behind bytes: ByteBuffer = ByteBuffer()) {
    let (from, to) = (from, to)
    to.writeAndFlush(bytes).whenComplete { _ in
      to.close(mode: .all, promise: nil)
      from.close(mode: .all, promise: nil)
    }
  }
}

/// Gives a passage the bytes that one channel reads.
private final class Forwarder: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer

  private let passage: any Passage
  private let way: ProxyWay

  init(_ passage: any Passage, _ way: ProxyWay) { (self.passage, self.way) = (passage, way) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { passage.take(unwrapInboundIn(data), way) }

  func channelInactive(context: ChannelHandlerContext) {
    passage.end(way)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(mode: .all, promise: nil)
  }
}
