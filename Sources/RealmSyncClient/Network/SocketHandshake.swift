#if Sync
  import NIOCore
  import NIOHTTP1

  /// Asks for a WebSocket, and reads the answer (RFC 6455, section 4.1). A handshake is used on one event loop.
  final class SocketHandshake: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    enum Outcome {
      case accepted
      case ended(SocketEnd)
    }

    /// The greatest number of bytes of the body of an answer that refuses the WebSocket. The rest of a longer body is
    /// not waited for.
    private static let longestRefusal = 64 << 10

    private let address: NetworkAddress
    private let head: HTTPRequestHead
    private let check: HandshakeCheck
    private var collector = AnswerCollector(limit: SocketHandshake.longestRefusal)
    /// The closure that gets the outcome. It is called once.
    var whenDone: ((Outcome) -> Void)?

    /// - Throws: `NetworkProblem.invalidAddress`.
    init(_ request: SocketRequest, _ address: NetworkAddress) throws(NetworkProblem) {
      // The name of a subprotocol may contain an access token, so the message does not show it.
      guard request.subprotocols.allSatisfy({ HTTPToken.isToken($0) }) else {
        throw .invalidAddress(
          "A subprotocol for \(address.place) has characters that HTTP does not allow there. Leave them out.")
      }
      let check = HandshakeCheck(subprotocols: request.subprotocols)
      var headers = HTTPHeaders([
        ("Host", address.hostHeader), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
      ])
      check.addHeaders(to: &headers)
      try headers.add(request.headers)
      head = HTTPRequestHead(version: .http1_1, method: .GET, uri: address.target, headers: headers)
      (self.address, self.check) = (address, check)
    }

    /// The received part of an answer that refuses the WebSocket; nil if there is none.
    var refusal: NetworkAnswer? { collector.answer }

    /// Takes the part of the received bytes that is read next from their front.
    func nextPart(of bytes: inout ByteBuffer) -> ByteBuffer? {
      HandshakeCheck.nextPart(of: &bytes, isInHead: refusal == nil)
    }

    // MARK: - The handler

    func handlerAdded(context: ChannelHandlerContext) {
      context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
      context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard whenDone != nil else { return }
      let part = unwrapInboundIn(data)
      if case .head(let head) = part, head.status.code == 101 { return finish(outcome(of: head)) }
      switch collector.add(part) {
      case .more: break
      case .whole, .tooLong:
        if let refusal { finish(.ended(.refused(refusal))) }
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if let refusal { return finish(.ended(.refused(refusal))) }
      finish(.ended(.problem(NetworkProblem(error, with: address))))
    }

    private func finish(_ outcome: Outcome) {
      guard let whenDone else { return }
      self.whenDone = nil
      whenDone(outcome)
    }

    private func outcome(of head: HTTPResponseHead) -> Outcome {
      guard let fault = check.fault(of: head) else { return .accepted }
      return .ended(.problem(.damaged("What \(address.place) answers \(fault). Check the address.")))
    }
  }
#endif
