import Logging
import NIOCore
import NIOPosix
import Synchronization

/// A server for HTTP/1.1 and WebSockets on one port.
///
/// It reads requests and messages, and knows nothing of their meaning: an `HTTPService` answers the requests, and a
/// `SocketService` says which of them become WebSockets. It runs until `stop`.
///
/// Its log has connections, requests with their path and status, and refusals. It never has headers, queries, bodies
/// and messages.
public final class Front: Sendable {
  /// The port that it listens on.
  public let port: Int
  private let listener: any Channel
  private let group: MultiThreadedEventLoopGroup
  private let parts: FrontParts
  private let isStopped = Mutex(false)

  private init(_ listener: any Channel, _ group: MultiThreadedEventLoopGroup, _ parts: FrontParts) {
    (self.listener, self.group, self.parts) = (listener, group, parts)
    port = listener.localAddress?.port ?? 0
  }

  /// Listens, and serves whoever connects.
  ///
  /// - Throws: `FrontError` if the settings or the files for TLS are wrong, and an error of NIO if the address can't be
  ///   found or is in use.
  public static func start(
    _ settings: FrontSettings, http: any HTTPService, sockets: any SocketService = NoSockets(), logger: Logger
  ) async throws -> Front {
    let parts = try FrontParts(
      settings: settings, http: http, sockets: sockets, logger: logger,
      proxies: TrustedProxies(settings.trustedProxies),
      certificates: settings.tls.map { try Certificates($0) },
      connections: Connections(settings.limits), unfinished: UnfinishedBytes(settings.limits))
    let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, settings.threads))
    do {
      let listener = try await bootstrap(parts, group).bind(host: settings.host, port: settings.port).get()
      let front = Front(listener, group, parts)
      logger.info("The front listens.", metadata: ["address": "\(settings.host)", "port": "\(front.port)"])
      return front
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
  }

  private static func bootstrap(
    _ parts: FrontParts, _ group: MultiThreadedEventLoopGroup
  ) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelInitializer { channel in
        // If the system has no file descriptors left, accepting pauses for 100 ms. Otherwise it would be tried again at
        // once, and again.
        channel.eventLoop.makeCompletedFuture {
          let handler = AcceptBackoffHandler(backoffProvider: { _ in .milliseconds(100) })
          try channel.pipeline.syncOperations.addHandler(handler)
        }
      }
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      // With a greater value, a connection whose reading has stopped would still be read that often.
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelInitializer { channel in parts.start(channel) }
  }

  /// Reads the files of `FrontSettings.tls` again. New connections use what is read. Without TLS the method does
  /// nothing.
  ///
  /// - Throws: `FrontError`. New connections go on with what was read before.
  public func reloadCertificate() throws {
    try parts.certificates?.reload()
    parts.logger.info("The certificate was read again.")
  }

  /// Ends the front.
  ///
  /// It takes no more connections. Requests that have come are answered, and then their connections are closed.
  /// Connections without a request are closed at once. WebSockets are closed with 1001. What is left after the grace is
  /// closed as it is, which takes up to 2 s more with TLS. A second call does nothing.
  public func stop(grace: Duration) async {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    try? await listener.close()
    let channels = parts.connections.stop()
    for channel in channels { channel.pipeline.fireUserInboundEventTriggered(StopEvent()) }
    let eventLoop = group.next()
    let hardClose = eventLoop.scheduleTask(in: TimeAmount(grace)) {
      for channel in channels { channel.close(mode: .all, promise: nil) }
    }
    let closings = channels.map { $0.closeFuture }
    try? await EventLoopFuture<Void>.andAllComplete(closings, on: eventLoop).get()
    hardClose.cancel()
    try? await group.shutdownGracefully()
    parts.logger.info("The front has stopped.")
  }
}
