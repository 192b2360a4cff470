#if Sync
  import NIOCore
  import NIOHTTP1
  import NIOWebSocket

  /// Asks for a WebSocket, and reads the answer (RFC 6455, section 4.1). It is used on one event loop.
  final class SocketHandshake: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    enum Outcome {
      case accepted
      case ended(SocketEnd)
    }

    /// Bytes of the body of an answer that refuses the WebSocket. The rest of a longer one is not waited for.
    private static let longestRefusal = 64 << 10

    private let address: NetworkAddress
    private let subprotocols: [String]
    private let head: HTTPRequestHead
    /// It makes and checks the key of the handshake. It has no part in the pipeline.
    private let upgrader: NIOWebSocketClientUpgrader
    private var collector = AnswerCollector(limit: SocketHandshake.longestRefusal)
    /// Called once.
    var whenDone: ((Outcome) -> Void)?

    /// - Throws: `NetworkProblem.invalidAddress`.
    init(_ request: SocketRequest, _ address: NetworkAddress) throws(NetworkProblem) {
      // The name of a subprotocol may hold an access token, and is not shown.
      guard request.subprotocols.allSatisfy({ HTTPToken.isToken($0) }) else {
        throw .invalidAddress(
          "A subprotocol for \(address.place) has characters that HTTP does not allow there. Leave them out.")
      }
      let upgrader = NIOWebSocketClientUpgrader(
        upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
      var headers = HTTPHeaders([
        ("Host", address.hostHeader), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
      ])
      upgrader.addCustom(upgradeRequestHeaders: &headers)
      if !request.subprotocols.isEmpty {
        headers.add(name: "Sec-WebSocket-Protocol", value: request.subprotocols.joined(separator: ", "))
      }
      try headers.add(request.headers)
      head = HTTPRequestHead(version: .http1_1, method: .GET, uri: address.target, headers: headers)
      (self.address, self.upgrader, subprotocols) = (address, upgrader, request.subprotocols)
    }

    /// An answer that refuses the WebSocket, as far as it has come.
    var refusal: NetworkAnswer? { collector.answer }

    /// Takes from the front of what has come as much as is read at once. A part ends with a line, so that it never holds both the
    /// end of a head and what stands behind it, where a WebSocket may begin.
    func nextPart(of bytes: inout ByteBuffer) -> ByteBuffer? {
      let view = bytes.readableBytesView
      guard !view.isEmpty else { return nil }
      let lineEnd = refusal == nil ? view.firstIndex(of: UInt8(ascii: "\n")) : nil
      return bytes.readSlice(length: lineEnd.map { $0 - view.startIndex + 1 } ?? view.count)
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
      let upgrades = head.headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
      let isUpgrade = head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
      guard upgrades, isUpgrade, upgrader.shouldAllowUpgrade(upgradeResponse: head) else {
        return damaged("is no answer to the handshake of a WebSocket")
      }
      // Nothing was offered.
      guard !head.headers.contains(name: "sec-websocket-extensions") else {
        return damaged("has an extension that was not offered")
      }
      let chosen = head.headers["sec-websocket-protocol"]
      let isOffered = chosen.count == 1 && subprotocols.contains(chosen[0])
      guard subprotocols.isEmpty ? chosen.isEmpty : isOffered else {
        return damaged("has no subprotocol that was offered")
      }
      return .accepted
    }

    private func damaged(_ reason: String) -> Outcome {
      .ended(.problem(.damaged("What \(address.place) answers \(reason). Check the address.")))
    }
  }
#endif
