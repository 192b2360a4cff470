#if Sync
  import NIOCore
  import RealmWebSocket

  /// Opens one WebSocket, and reads and writes its frames. It is used on one event loop.
  ///
  /// It stands before the HTTP handlers, which the handshake needs. Bytes behind the handshake never reach them, and
  /// sent frames do not pass them.
  final class SocketChannel: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum State {
      /// There is no WebSocket yet.
      case opening
      case open
      /// This side has sent a close frame and waits for that of the other side. Messages are dropped.
      case closing
      /// The last event was passed on. What arrives is dropped until the other side has closed the connection.
      case ending
      case closed
    }

    let request: SocketRequest
    let peer: NetworkPeer
    let handshake: SocketHandshake
    let eventLoop: any EventLoop
    private let commands: SocketCommands
    /// The receiver of events; nil once it got the last event.
    private var handler: (@Sendable (SocketEvent) -> Void)?
    private(set) var context: ChannelHandlerContext?
    var channel: (any Channel)?
    var state = State.opening
    /// The frames that wait for the end of the handshake.
    private var waiting: [ByteBuffer] = []
    private var hasWritten = false
    private var reader = FrameReader(.client, maximum: SocketLimit.message)
    /// The bytes that have arrived and were not read yet.
    private var pending = ByteBuffer()
    /// The bytes of messages that were passed on and not processed yet, with the cost of each message.
    private var ahead = 0
    private var isDelivering = false
    /// True if the channel has asked for bytes, and the request was held back.
    private var isReadHeld = false
    /// The reason why nothing follows `pending`; nil while the connection exists.
    private var loss: NetworkProblem?
    var connectTimer = LoopTimer()
    var closeTimer = LoopTimer()
    var life: SocketLife

    /// - Throws: `NetworkProblem.invalidAddress` and `NetworkProblem.tls`.
    init(
      _ request: SocketRequest, _ commands: SocketCommands, on eventLoop: any EventLoop,
      _ handler: @escaping @Sendable (SocketEvent) -> Void
    ) throws(NetworkProblem) {
      peer = try NetworkPeer(request.url, .socket, certificate: request.certificate)
      handshake = try SocketHandshake(request, peer.address)
      life = SocketLife(request)
      (self.request, self.commands, self.eventLoop, self.handler) = (request, commands, eventLoop, handler)
    }

    // MARK: - The connection

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
      connectionEnded(.broken(peer.address))
      self.context = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      connectionEnded(NetworkProblem(error, with: peer.address))
    }

    func channelInactive(context: ChannelHandlerContext) {
      // The answer to the handshake may be one that ends with the connection.
      context.fireChannelInactive()
      connectionEnded(.broken(peer.address))
    }

    private func connectionEnded(_ problem: NetworkProblem) {
      switch state {
      case .opening:
        if let refusal = handshake.refusal { drop(.refused(refusal)) } else { drop(.problem(problem)) }
      case .open:
        // Nothing more can arrive. What has arrived is still passed on, however much it is.
        if loss == nil { loss = problem }
        deliver()
      case .closing: drop(.closedHere)
      case .ending: drop(nil)
      case .closed: break
      }
    }

    // MARK: - Commands

    /// Carries out the commands since the last call.
    func follow() {
      for command in commands.take() {
        switch command {
        case .send(let frame):
          switch state {
          case .opening: waiting.append(frame)
          case .open: write(frame)
          case .closing, .ending, .closed: break
          }
        case .taken(let count): noteTaken(count)
        case .close: close()
        }
      }
      flush()
    }

    /// Writes a frame. `flush` hands it to the system.
    func write(_ frame: ByteBuffer, _ promise: EventLoopPromise<Void>? = nil) {
      guard let context else {
        promise?.fail(ChannelError.ioOnClosedChannel)
        return
      }
      life.noteWritten(frame.readableBytes)
      hasWritten = true
      context.write(Self.wrapOutboundOut(frame), promise: promise)
    }

    func flush() {
      guard hasWritten else { return }
      hasWritten = false
      context?.flush()
    }

    // MARK: - Events

    /// Opens the WebSocket, because the handshake is done.
    func becomeOpen() {
      guard state == .opening else { return }
      state = .open
      connectTimer.cancel()
      handler?(.opened)
      for frame in waiting { write(frame) }
      waiting = []
      flush()
      startPinging()
    }

    /// Passes on the last event.
    func finish(_ end: SocketEnd) {
      guard let handler else { return }
      self.handler = nil
      commands.end()
      connectTimer.cancel()
      life.stop()
      handshake.whenDone = nil
      (waiting, pending, ahead) = ([], ByteBuffer(), 0)
      reader = FrameReader(.client, maximum: 0)
      handler(.closed(end))
    }

    // MARK: - Reading

    var isPaused: Bool { state == .open && loss == nil && ahead > SocketLimit.bytesAhead }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var bytes = unwrapInboundIn(data)
      while state == .opening, let part = handshake.nextPart(of: &bytes) {
        context.fireChannelRead(Self.wrapInboundOut(part))
      }
      guard state == .open || state == .closing, bytes.readableBytes > 0 else { return }
      life.noteSign()
      if pending.readableBytes == 0 {
        pending = bytes
      } else {
        pending.writeBuffer(&bytes)
      }
      deliver()
    }

    func read(context: ChannelHandlerContext) {
      if isPaused { isReadHeld = true } else { context.read() }
    }

    func resumeReading() {
      guard isReadHeld, !isPaused else { return }
      isReadHeld = false
      context?.read()
    }

    private func noteTaken(_ count: Int) {
      let wasPaused = isPaused
      ahead = max(0, ahead - max(0, count))
      guard wasPaused && !isPaused else { return }
      life.noteSign()
      deliver()
      resumeReading()
    }

    /// Reads frames from the bytes that have arrived, and passes their messages on.
    func deliver() {
      guard !isDelivering else { return }
      isDelivering = true
      while takesFrames, let event = reader.next(&pending) { take(event) }
      isDelivering = false
      // An empty buffer keeps its memory, and a connection that waits needs none.
      if pending.readableBytes == 0 { pending = ByteBuffer() }
      if let loss {
        if state == .open { drop(.problem(loss)) } else { connectionEnded(loss) }
      }
    }

    private var takesFrames: Bool { (state == .open && !isPaused) || state == .closing }

    private func take(_ event: FrameReader.Event) {
      switch event {
      case .message(let message):
        guard state == .open else { return }
        ahead += message.count + SocketLimit.messageCost
        handler?(.message(message))
      case .ping(let payload): if state == .open { answerPing(payload) }
      case .pong: life.notePong()
      case .close(let code, let reason): noteClose(code, reason)
      case .failure(let failure): fail(failure)
      }
    }
  }
#endif
