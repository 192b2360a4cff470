import Logging
import NIOCore
import NIOHTTP1
import NIOSSL

/// What all connections of a front share.
struct FrontParts: Sendable {
  let settings: FrontSettings
  let http: any HTTPService
  let sockets: any SocketService
  let logger: Logger
  let proxies: TrustedProxies
  /// The certificates for TLS; nil for plain connections.
  let certificates: Certificates?
  let connections: Connections
  let unfinished: UnfinishedBytes
}

/// The facts about one connection that its handlers share.
struct Connection: Sendable {
  let peer: IPAddress?
  let parts: FrontParts
  /// A logger that adds the number of the connection and the address of its other end.
  let logger: Logger

  var limits: FrontLimits { parts.settings.limits }
  var times: FrontTimes { parts.settings.times }

  /// The address of the client that a request comes from.
  func address(of head: HTTPRequestHead) -> String {
    client(of: head)?.description ?? ""
  }

  /// A share for counting the bytes that the client of a request has sent and that are not complete.
  func share(of head: HTTPRequestHead) -> UnfinishedShare {
    UnfinishedShare(parts.unfinished, client(of: head)?.network)
  }

  private func client(of head: HTTPRequestHead) -> IPAddress? {
    parts.proxies.client(peer: peer, forwarded: head.headers["x-forwarded-for"])
  }
}

/// The error for a connection that is not admitted.
struct ConnectionRefused: Error {}

extension FrontParts {
  /// Makes an accepted connection ready for HTTP.
  func start(_ channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture { try setUp(channel) }
  }

  private func setUp(_ channel: any Channel) throws {
    let peer = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
    let isProxy = peer.map { proxies.contains($0) } ?? false
    var logger = self.logger
    logger[metadataKey: "address"] = "\(peer?.description ?? "")"
    switch connections.open(channel, address: isProxy ? nil : peer) {
    case .admitted(let number):
      logger[metadataKey: "connection"] = "\(number)"
      noteClosing(channel, number, logger)
    case .refused(let reason, let isToBeTold):
      if isToBeTold { logger.notice("A connection is refused. \(reason)") }
      throw ConnectionRefused()
    }
    try addHandlers(Connection(peer: peer, parts: self, logger: logger), channel)
  }

  private func noteClosing(_ channel: any Channel, _ number: UInt64, _ logger: Logger) {
    let began = NIODeadline.now()
    logger.debug("A connection is opened.")
    channel.closeFuture.whenComplete { [connections] _ in
      connections.close(number)
      logger.debug("A connection is closed.", metadata: ["ms": "\((NIODeadline.now() - began).milliseconds)"])
    }
  }

  private func addHandlers(_ connection: Connection, _ channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    if let certificates {
      try pipeline.addHandler(NIOSSLServerHandler(context: certificates.context))
    }
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = settings.limits.maximumHeaderBytes
    limits.maxHeaderListSize = settings.limits.maximumHeaderBytes
    limits.maxHeaderFieldCount = settings.limits.maximumHeaders
    // Bytes that a client sends behind the handshake of a WebSocket, before it has the answer, are left to the WebSocket.
    let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)
    let codec = HTTPCodec(
      watch: ByteWatch(), encoder: HTTPResponseEncoder(), decoder: ByteToMessageHandler(decoder))
    try pipeline.addHandler(codec.watch)
    try pipeline.addHandler(codec.encoder)
    try pipeline.addHandler(codec.decoder)
    try pipeline.addHandler(HTTPHandler(connection, codec, on: channel.eventLoop))
  }
}

extension TimeAmount {
  /// Whole milliseconds.
  var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
