import Logging
import NIOCore
import NIOHTTP1
import NIOWebSocket

extension HTTPHandler {
  /// Asks the service whether a connection becomes a WebSocket.
  func decide(_ request: HTTPRequest, _ handshake: Handshake) {
    let (sockets, loop) = (connection.parts.sockets, self.loop)
    let handler = NIOLoopBound(self, eventLoop: loop.eventLoop)
    let protocols = handshake.protocols
    task = Task {
      let decision = await sockets.accept(request, protocols: protocols)
      loop.run { handler.value.follow(decision, protocols) }
    }
  }

  private func follow(_ decision: SocketDecision, _ protocols: [String]) {
    switch decision {
    case .refuse(let response): answer(with: response)
    case .accept(let subprotocol, let makeHandler):
      if isStopping { return answer(with: Refusal.stopping.response) }
      if let subprotocol, !protocols.contains(subprotocol) {
        connection.logger.error("The service has chosen a protocol that the client did not list.")
        return answer(with: Refusal.failed.response)
      }
      accept(subprotocol, makeHandler)
    }
  }

  private func accept(_ subprotocol: String?, _ makeHandler: @escaping @Sendable () -> any SocketHandler) {
    guard case .answering(let exchange) = state, let context else { return }
    let more: HTTPHeaders? = HTTPHeaders(subprotocol.map { [("Sec-WebSocket-Protocol", $0)] } ?? [])
    // Only the headers are taken from this upgrader. It has no part in the pipeline.
    let upgrader = NIOWebSocketServerUpgrader(
      shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(more) },
      upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
    let headers = upgrader.buildUpgradeResponse(
      channel: context.channel, upgradeRequest: exchange.head, initialResponseHeaders: HTTPHeaders())
    headers.assumeIsolated().whenComplete { result in
      switch result {
      case .success(let headers): self.becomeSocket(headers, makeHandler())
      case .failure: self.answer(with: Refusal.malformed.response)
      }
    }
  }

  /// Sends the second half of the handshake, and leaves the connection to a handler for WebSockets.
  private func becomeSocket(_ headers: HTTPHeaders, _ handler: any SocketHandler) {
    guard case .answering(let exchange) = state, let context, context.channel.isActive else { return }
    connection.logger.info(
      "A WebSocket is accepted.",
      metadata: [
        "address": "\(exchange.address)", "path": "\(exchange.path)", "status": "101",
        "ms": "\((NIODeadline.now() - exchange.began).milliseconds)",
      ])
    task = nil
    state = .upgraded
    stopWaiting()
    let head = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers)
    context.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: nil)
    let pipeline = context.pipeline.syncOperations
    do {
      let share = connection.share(of: exchange.head)
      try pipeline.addHandler(SocketChannel(connection, handler, share, on: context.eventLoop))
    } catch {
      return context.close(promise: nil)
    }
    pipeline.removeHandler(codec.encoder, promise: nil)
    pipeline.removeHandler(codec.watch, promise: nil)
    // The decoder is removed later, and passes on what the client has sent behind its handshake.
    pipeline.removeHandler(codec.decoder).assumeIsolated().whenComplete { _ in self.leave() }
  }

  private func leave() {
    guard let context else { return }
    resumeReading()
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }
}
