import Logging
import NIOCore
import NIOHTTP1

/// The handlers in front of the `HTTPHandler` that a WebSocket does not need.
struct HTTPCodec {
  let watch: ByteWatch
  let encoder: HTTPResponseEncoder
  let decoder: ByteToMessageHandler<HTTPRequestDecoder>
}

/// The event that the front stops: requests under way are answered, and no more are taken.
struct StopEvent: Sendable {}

/// Answers the requests of one connection, one at a time and in their order.
///
/// While a request is answered, nothing more is read from the connection, so that a client can't make the
/// server keep what it will answer later. What was read with the request waits in a queue.
final class HTTPHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  enum State {
    /// The handler waits for the head of a request.
    case waiting
    /// A head has come, and its body is coming.
    case receiving(IncomingRequest)
    /// A service has the request.
    case answering(Exchange)
    /// The response has been written, and the client has not taken all of it.
    case writing(keepsAlive: Bool)
    /// The last response is sent, and what still comes is thrown away. If the connection was closed at once while the
    /// client was still sending, the system would tell the client of that before it has read the response.
    case ending
    /// The connection is a WebSocket.
    case upgraded
  }

  /// What is known of a request while it is answered.
  struct Exchange {
    let head: HTTPRequestHead
    let path: String
    let address: String
    let began: NIODeadline
  }

  private enum Item {
    case part(HTTPServerRequestPart)
    case failure(HTTPParserError)
  }

  let connection: Connection
  let codec: HTTPCodec
  let loop: ConnectionLoop
  private(set) var context: ChannelHandlerContext?
  var state = State.waiting
  /// The task in which the service answers.
  var task: Task<Void, Never>?
  private(set) var isStopping = false
  /// True if the channel wanted to read and this handler has not let it.
  private var isReadHeld = false
  private var queue = CircularBuffer<Item>()
  private var isTaking = false
  /// True if so much came at once that some of it was thrown away.
  private(set) var isOverfull = false
  /// True if bytes of the next request have come.
  private(set) var hasBegun = false
  private var hasAnswered = false
  private var deadline = Deadline()
  /// The count of the bytes of the request's body that have come; nil if none have.
  var unfinished: UnfinishedShare?

  private static let maximumQueue = 512

  init(_ connection: Connection, _ codec: HTTPCodec, on eventLoop: any EventLoop) {
    (self.connection, self.codec, loop) = (connection, codec, ConnectionLoop(eventLoop))
  }

  // MARK: - The connection

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    codec.watch.onBytes = { [weak self] in self?.noteBytes() }
    wait(for: connection.times.header)
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
    loop.close()
    task?.cancel()
    task = nil
    deadline.cancel()
    queue.removeAll()
    forgetBody()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch state {
    case .upgraded: context.fireChannelRead(data)
    case .ending: break
    case .waiting, .receiving, .answering, .writing: enqueue(.part(unwrapInboundIn(data)))
    }
  }

  func read(context: ChannelHandlerContext) {
    switch state {
    case .answering, .writing: isReadHeld = true
    case .waiting, .receiving, .ending, .upgraded: context.read()
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch (state, error) {
    case (.upgraded, _): context.fireErrorCaught(error)
    case (.ending, is HTTPParserError), (_, is ByteToMessageDecoderError): break
    case (_, let error as HTTPParserError):
      // If the connection has ended within a request, nobody reads an answer.
      if context.channel.isActive { enqueue(.failure(error)) }
    default:
      connection.logger.debug("A connection fails.", metadata: ["reason": "\(type(of: error))"])
      context.close(promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .upgraded = state { return context.fireUserInboundEventTriggered(event) }
    guard event is StopEvent else { return context.fireUserInboundEventTriggered(event) }
    isStopping = true
    if case .waiting = state, !hasBegun { context.close(promise: nil) }
  }

  // MARK: - The queue

  private func enqueue(_ item: Item) {
    // So much comes without being asked for only if the client ends the connection after it.
    if queue.count >= Self.maximumQueue { isOverfull = true }
    if !isOverfull { queue.append(item) }
    takeQueued()
  }

  private func takeQueued() {
    guard !isTaking else { return }
    isTaking = true
    defer { isTaking = false }
    while takesRequests, let item = queue.popFirst() {
      switch item {
      case .part(let part): take(part)
      case .failure(let error):
        refuse(Refusal(error, isInURL: codec.watch.firstLine > connection.limits.maximumURL))
      }
    }
  }

  private var takesRequests: Bool {
    switch state {
    case .waiting, .receiving: true
    case .answering, .writing, .ending, .upgraded: false
    }
  }

  /// Lets the channel read if it wanted to before and was not let.
  func resumeReading() {
    guard isReadHeld else { return }
    isReadHeld = false
    context?.read()
  }

  // MARK: - Times

  func wait(for time: Duration) {
    deadline.set(time, on: loop.eventLoop) { [weak self] in self?.timeIsUp() }
  }

  func stopWaiting() { deadline.cancel() }

  private func noteBytes() {
    guard case .waiting = state, !hasBegun else { return }
    hasBegun = true
    if hasAnswered { wait(for: connection.times.header) }
  }

  private func timeIsUp() {
    switch state {
    case .waiting where hasBegun, .receiving: refuse(.tooSlow)
    case .waiting, .writing, .ending: context?.close(promise: nil)
    case .answering, .upgraded: break
    }
  }

  /// Makes the connection ready for the next request, after the client has taken the response.
  func becomeReady() {
    state = .waiting
    (hasAnswered, hasBegun) = (true, false)
    codec.watch.restart()
    wait(for: connection.times.idle)
    takeQueued()
    if takesRequests { resumeReading() }
  }
}
