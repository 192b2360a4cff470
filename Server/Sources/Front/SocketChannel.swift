import Logging
import NIOCore
import RealmWebSocket

/// Reads and writes the frames of one WebSocket.
final class SocketChannel: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  enum State {
    case open
    /// This side has said that it ends the WebSocket, and waits for the other side to say so too. Messages that come
    /// are thrown away.
    case closing
    /// Nothing more is sent, and what comes is thrown away until the other side has closed the connection.
    case ending
    case closed
  }

  let connection: Connection
  let loop: ConnectionLoop
  private let handler: any SocketHandler
  private(set) var context: ChannelHandlerContext?
  private(set) var state = State.open
  private var socket: Socket?
  private var reader: FrameReader
  /// The bytes that have come and were not read yet, because the handler has paused.
  private var pending = ByteBuffer()
  private var isDelivering = false
  /// True if the channel wanted to read and this handler has not let it.
  private var isReadHeld = false
  private var closeDeadline = Deadline()
  private var messageDeadline = Deadline()
  /// True while the time for a message that is not complete runs.
  private var isTimed = false
  private var unfinished: UnfinishedShare
  var life: SocketLife

  init(
    _ connection: Connection, _ handler: any SocketHandler, _ share: UnfinishedShare,
    on eventLoop: any EventLoop
  ) {
    (self.connection, self.handler, loop) = (connection, handler, ConnectionLoop(eventLoop))
    unfinished = share
    reader = FrameReader(.server, maximum: connection.limits.maximumMessage)
    life = SocketLife(connection.times)
  }

  // MARK: - The connection

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    let socket = Socket(NIOLoopBound(self, eventLoop: loop.eventLoop), loop)
    self.socket = socket
    awaitPing()
    handler.opened(socket)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    finish()
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish()
    context.fireChannelInactive()
  }

  private func finish() {
    guard state != .closed else { return }
    state = .closed
    loop.close()
    closeDeadline.cancel()
    life.deadline.cancel()
    forgetUnfinished()
    // The handler may keep the socket, and the socket keeps this object.
    socket = nil
    handler.closed()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    connection.logger.debug("A WebSocket fails.", metadata: ["reason": "\(type(of: error))"])
    context.close(promise: nil)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is StopEvent { close(CloseCode.goingAway, "The server stops.") }
    context.fireUserInboundEventTriggered(event)
  }

  // MARK: - Reading

  var isPaused: Bool { state == .open && socket?.isPaused == true }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    life.noteBytes()
    guard state == .open || state == .closing else { return }
    var bytes = unwrapInboundIn(data)
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

  /// Goes on reading if the handler has resumed.
  func goOn() {
    guard !isPaused else { return }
    life.noteBytes()
    if isTimed { awaitMessage() }
    deliver()
    resumeReading()
  }

  private func resumeReading() {
    guard isReadHeld, !isPaused else { return }
    isReadHeld = false
    context?.read()
  }

  private func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
    while takesFrames, let event = reader.next(&pending) { take(event) }
    // A new empty buffer has no memory, and a connection that waits needs none.
    if pending.readableBytes == 0 { pending = ByteBuffer() }
    noteUnfinished()
  }

  private var takesFrames: Bool { (state == .open && !isPaused) || state == .closing }

  private func take(_ event: FrameReader.Event) {
    switch event {
    case .message(let message):
      stopTiming()
      if state == .open { handler.received(message) }
    case .ping(let payload): if state == .open { answerPing(payload) }
    case .pong: break
    case .close(let code, _): noteClose(code)
    case .failure(let failure): fail(failure)
    }
  }

  // MARK: - What is not whole

  /// Counts the bytes that have come and were not taken, and lets the time for an incomplete message run.
  private func noteUnfinished() {
    guard state == .open || state == .closing else { return forgetUnfinished() }
    guard unfinished.set(reader.unfinishedBytes + pending.readableBytes) else { return fail(.tooMuch) }
    if !reader.isUnfinished {
      stopTiming()
    } else if !isTimed {
      isTimed = true
      awaitMessage()
    }
  }

  private func awaitMessage() {
    messageDeadline.set(connection.times.message, on: loop.eventLoop) { [weak self] in self?.messageIsLate() }
  }

  private func messageIsLate() {
    guard state == .open || state == .closing else { return }
    // While this side reads nothing, the message can't come.
    if isPaused { return awaitMessage() }
    fail(.tooSlow)
  }

  private func stopTiming() {
    guard isTimed else { return }
    isTimed = false
    messageDeadline.cancel()
  }

  /// Forgets what is incomplete, because nothing more is read.
  private func forgetUnfinished() {
    stopTiming()
    _ = unfinished.set(0)
    (pending, reader) = (ByteBuffer(), FrameReader(.server, maximum: 0))
  }

  // MARK: - The end

  /// Ends the WebSocket from this side.
  func close(_ code: UInt16, _ reason: String) {
    guard state == .open, let context else { return }
    state = .closing
    connection.logger.debug("A WebSocket is closed.", metadata: ["status": "\(code)"])
    let written = context.eventLoop.makePromise(of: Void.self)
    // Bytes that were sent before may take long, so the time runs only for the answer.
    written.futureResult.assumeIsolated().whenComplete { _ in self.limitClosing() }
    context.writeAndFlush(Self.wrapOutboundOut(FrameWriter(.server).close(code, reason)), promise: written)
    deliver()
    resumeReading()
  }

  private func limitClosing() {
    guard state == .closing || state == .ending else { return }
    closeDeadline.set(connection.times.close, on: loop.eventLoop) { [weak self] in
      self?.context?.close(promise: nil)
    }
  }

  /// Answers that the other side ends the WebSocket. Then this side closes the connection, as a server has to.
  private func noteClose(_ code: UInt16?) {
    guard let context else { return }
    let isAnswer = state == .closing
    state = .ending
    if isAnswer { return context.close(promise: nil) }
    connection.logger.debug("A client closes its WebSocket.", metadata: ["status": "\(code ?? 1005)"])
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenComplete { _ in self.context?.close(promise: nil) }
    context.writeAndFlush(Self.wrapOutboundOut(FrameWriter(.server).close(code, "")), promise: written)
  }

  /// Ends the WebSocket because the other side has broken a rule. The code reaches it only if this side takes what it
  /// still sends. Otherwise the system would tell it of a closed connection before it has read the code.
  private func fail(_ failure: FrameFailure) {
    guard let context else { return }
    connection.logger.notice(
      "A WebSocket is refused. \(failure.text)", metadata: ["status": "\(failure.code)"])
    if state == .open {
      let frame = FrameWriter(.server).close(failure.code, failure.text)
      context.writeAndFlush(Self.wrapOutboundOut(frame), promise: nil)
    }
    state = .ending
    forgetUnfinished()
    limitClosing()
    context.close(mode: .output, promise: nil)
    resumeReading()
  }
}
