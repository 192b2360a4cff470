import Logging
import NIOCore
import NIOHTTP1

extension HTTPHandler {
  /// Takes a part of a request.
  func take(_ part: HTTPServerRequestPart) {
    switch (part, state) {
    case (.head(let head), .waiting): begin(head)
    case (.body(let bytes), .receiving(let incoming)): add(bytes, to: incoming)
    case (.end, .receiving(let incoming)): complete(incoming)
    default: break
    }
  }

  private func begin(_ head: HTTPRequestHead) {
    do throws(Refusal) {
      let incoming = try IncomingRequest(head, connection.limits)
      state = .receiving(incoming)
      wait(for: connection.times.body)
      if incoming.expectsContinue { sendContinue() }
    } catch {
      refuse(error, head)
    }
  }

  private func sendContinue() {
    let head = HTTPResponseHead(version: .http1_1, status: .continue)
    context?.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: nil)
  }

  private func add(_ bytes: ByteBuffer, to incoming: IncomingRequest) {
    do throws(Refusal) {
      try incoming.add(bytes)
      try count(incoming)
    } catch {
      refuse(error, incoming.head)
    }
  }

  /// Counts the bytes of a body that have come, until the request is answered.
  private func count(_ incoming: IncomingRequest) throws(Refusal) {
    var share = unfinished ?? connection.share(of: incoming.head)
    let isFree = share.set(incoming.body.count)
    unfinished = share
    guard isFree else { throw .tooMuch }
  }

  /// Stops counting the body of the request, which is not kept any more.
  func forgetBody() {
    _ = unfinished?.set(0)
    unfinished = nil
  }

  private func complete(_ incoming: IncomingRequest) {
    stopWaiting()
    let exchange = Exchange(
      head: incoming.head, path: String(incoming.target.written.prefix(200)),
      address: connection.address(of: incoming.head), began: .now())
    state = .answering(exchange)
    let request = incoming.request(address: exchange.address)
    if let handshake = incoming.handshake {
      decide(request, handshake)
    } else {
      respond(to: request)
    }
  }

  private func respond(to request: HTTPRequest) {
    let (http, loop) = (connection.parts.http, self.loop)
    let handler = NIOLoopBound(self, eventLoop: loop.eventLoop)
    task = Task {
      let response = await http.respond(to: request)
      loop.run { handler.value.answer(with: response) }
    }
  }

  // MARK: - Responses

  /// Sends the response of a service.
  func answer(with response: HTTPResponse) {
    guard case .answering(let exchange) = state else { return }
    task = nil
    log(response, exchange)
    // If a client asks for another protocol, the reader of HTTP has stopped behind this request. So no more requests
    // are read.
    let keepsAlive =
      exchange.head.isKeepAlive && !exchange.head.headers.contains(name: "upgrade") && !isStopping
      && !isOverfull
    write(response, to: exchange.head, keepsAlive: keepsAlive)
  }

  private func log(_ response: HTTPResponse, _ exchange: Exchange) {
    connection.logger.info(
      "A request is answered.",
      metadata: [
        "address": "\(exchange.address)", "path": "\(exchange.path)", "status": "\(response.sentStatus)",
        "ms": "\((NIODeadline.now() - exchange.began).milliseconds)",
      ])
  }

  /// Answers a request without asking the service, and ends the connection after it.
  ///
  /// - Parameter head: the head of the request; nil if it has not come.
  func refuse(_ refusal: Refusal, _ head: HTTPRequestHead? = nil) {
    connection.logger.notice(
      "A request is refused. \(refusal.text)", metadata: ["status": "\(refusal.status)"])
    write(refusal.response, to: head, keepsAlive: false)
  }

  private func write(_ response: HTTPResponse, to head: HTTPRequestHead?, keepsAlive: Bool) {
    guard let context else { return }
    state = .writing(keepsAlive: keepsAlive)
    forgetBody()
    wait(for: connection.times.idle)
    let responseHead = response.head(keepsAlive: keepsAlive, isOld: head?.isOld ?? false)
    context.write(Self.wrapOutboundOut(.head(responseHead)), promise: nil)
    if response.mayHaveBody && !response.body.isEmpty && head?.method != .HEAD {
      let body = ByteBuffer(bytes: response.body)
      context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    }
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenComplete { self.noteWritten($0) }
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: written)
  }

  private func noteWritten(_ result: Result<Void, any Error>) {
    guard case .writing(let keepsAlive) = state, let context else { return }
    switch result {
    case .failure: context.close(promise: nil)
    case .success where keepsAlive && !isStopping: becomeReady()
    case .success: end()
    }
  }

  /// Tells the client that no more will come, and waits until it has ended its side.
  private func end() {
    state = .ending
    codec.watch.isClosed = true
    wait(for: connection.times.close)
    context?.close(mode: .output, promise: nil)
    resumeReading()
  }
}
