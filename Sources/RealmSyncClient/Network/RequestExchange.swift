#if Sync
  import NIOCore
  import NIOHTTP1

  /// An HTTP request and its answer, over a connection of their own. An exchange is used on one event loop.
  final class RequestExchange: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let request: NetworkRequest
    private let peer: NetworkPeer
    private let head: HTTPRequestHead
    private let eventLoop: any EventLoop
    /// The closure that gets the answer; nil once it was called.
    private var completion: (@Sendable (Result<NetworkAnswer, NetworkProblem>) -> Void)?
    private var collector = AnswerCollector(limit: SocketLimit.answer)
    private var deadline = LoopTimer()
    private var channel: (any Channel)?

    /// Sends a request. The caller must be on the event loop.
    static func start(
      _ request: NetworkRequest, on eventLoop: any EventLoop,
      _ completion: @escaping @Sendable (Result<NetworkAnswer, NetworkProblem>) -> Void
    ) {
      do throws(NetworkProblem) {
        try RequestExchange(request, on: eventLoop, completion).connect()
      } catch {
        completion(.failure(error))
      }
    }

    private init(
      _ request: NetworkRequest, on eventLoop: any EventLoop,
      _ completion: @escaping @Sendable (Result<NetworkAnswer, NetworkProblem>) -> Void
    ) throws(NetworkProblem) {
      peer = try NetworkPeer(request.url, .request, certificate: request.certificate)
      head = try Self.head(of: request, to: peer.address)
      (self.request, self.eventLoop, self.completion) = (request, eventLoop, completion)
    }

    private static func head(
      of request: NetworkRequest, to address: NetworkAddress
    ) throws(NetworkProblem) -> HTTPRequestHead {
      guard HTTPToken.isToken(request.method) else {
        let method = String(reflecting: request.method)
        throw .invalidAddress("\(method) is no method of HTTP. Use one that is like \"POST\".")
      }
      var headers = HTTPHeaders([("Host", address.hostHeader), ("Connection", "close")])
      switch request.method {
      case "GET", "HEAD":
        guard request.body.isEmpty else {
          throw .invalidAddress("A request \(request.method) has no body. Use \"POST\" to send one.")
        }
      default: headers.add(name: "Content-Length", value: "\(request.body.count)")
      }
      try headers.add(request.headers)
      let method = HTTPMethod(rawValue: request.method)
      return HTTPRequestHead(version: .http1_1, method: method, uri: address.target, headers: headers)
    }

    // MARK: - The connection

    private func connect() {
      let timeout = TimeAmount.limit(request.timeout)
      if let timeout {
        deadline.set(timeout, on: eventLoop) { self.finish(.failure(.outOfTime(self.peer.address))) }
      }
      peer.connect(within: timeout, on: eventLoop) { self.begin($0) }
    }

    private func begin(_ result: Result<any Channel, NetworkProblem>) {
      switch result {
      case .failure(let problem): finish(.failure(problem))
      case .success(let channel):
        // The time may be up already.
        guard completion != nil else { return channel.close(mode: .all, promise: nil) }
        self.channel = channel
        do {
          try peer.addTLS(to: channel)
          try NetworkPeer.addHTTP(to: channel)
          try channel.pipeline.syncOperations.addHandler(self)
          try NetworkPeer.startReading(channel)
        } catch {
          fail(error)
        }
      }
    }

    func handlerAdded(context: ChannelHandlerContext) {
      context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
      if !request.body.isEmpty {
        let body = IOData.byteBuffer(ByteBuffer(bytes: request.body))
        context.write(Self.wrapOutboundOut(.body(body)), promise: nil)
      }
      context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard completion != nil else { return }
      switch collector.add(unwrapInboundIn(data)) {
      case .more: break
      case .whole:
        if let answer = collector.answer { finish(.success(answer)) }
      case .tooLong:
        let text = "The answer of \(peer.address.place) is longer than \(SocketLimit.answer) bytes."
        finish(.failure(.damaged("\(text) Ask for less.")))
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error) }

    func channelInactive(context: ChannelHandlerContext) {
      finish(.failure(.broken(peer.address)))
      context.fireChannelInactive()
    }

    /// A connection that is closed as soon as it was opened may cause no other event.
    func handlerRemoved(context: ChannelHandlerContext) { finish(.failure(.broken(peer.address))) }

    private func fail(_ error: any Error) { finish(.failure(NetworkProblem(error, with: peer.address))) }

    private func finish(_ result: Result<NetworkAnswer, NetworkProblem>) {
      guard let completion else { return }
      self.completion = nil
      deadline.cancel()
      collector = AnswerCollector(limit: 0)
      channel?.close(mode: .all, promise: nil)
      channel = nil
      completion(result)
    }
  }
#endif
