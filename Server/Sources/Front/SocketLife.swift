import Logging
import NIOCore
import RealmWebSocket

/// The times at which the other side of a WebSocket has last shown that it is there.
struct SocketLife {
  let times: FrontTimes
  var deadline = Deadline()
  /// True if a ping was written and the system has not taken it yet.
  var isPingWaiting = false
  /// True if the answer to a ping was written and the system has not taken it yet.
  var isPongWaiting = false
  /// The content of the ping that is answered next; nil if none waits.
  var nextPong: [UInt8]?
  /// The number of bytes of the frames that were written.
  private var written = 0
  /// The greatest number of these bytes that had been taken whenever it was looked at, about.
  private var taken = 0
  private var lastBytes = NIODeadline.now()
  private var lastTaken = NIODeadline.now()

  init(_ times: FrontTimes) { self.times = times }

  /// Notes that bytes have come, or that they are expected from now on.
  mutating func noteBytes() { lastBytes = .now() }

  mutating func noteWritten(_ count: Int) { written += count }

  /// Whether nothing has come for too long.
  var isSilent: Bool { NIODeadline.now() - lastBytes >= TimeAmount(times.pong) }

  /// Whether nothing was taken for too long, although something waits to be taken.
  ///
  /// - Parameter waiting: the number of bytes that wait in the channel. With TLS it is a little more than was written.
  mutating func isStalled(waiting: Int) -> Bool {
    let now = NIODeadline.now()
    if waiting == 0 || written - waiting > taken {
      taken = max(taken, written - waiting)
      lastTaken = now
    }
    return now - lastTaken >= TimeAmount(times.pong)
  }
}

extension SocketChannel {
  /// Sends a message.
  func send(_ frame: ByteBuffer, _ sent: @escaping @Sendable () -> Void) {
    guard state == .open else { return }
    write(frame) { isWritten in
      if isWritten { sent() }
    }
  }

  private func write(_ frame: ByteBuffer, _ then: @escaping (Bool) -> Void) {
    guard let context else { return }
    life.noteWritten(frame.readableBytes)
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenComplete { result in
      if case .success = result { then(true) } else { then(false) }
    }
    context.writeAndFlush(Self.wrapOutboundOut(frame), promise: written)
  }

  /// Answers a ping. While an answer waits to be taken, only the newest of the pings that come is answered next, so
  /// that a client that reads nothing can't make the server keep answers.
  func answerPing(_ payload: [UInt8]) {
    guard !life.isPongWaiting else {
      life.nextPong = payload
      return
    }
    life.isPongWaiting = true
    write(FrameWriter(.server).frame(.pong, payload)) { isWritten in
      self.life.isPongWaiting = false
      guard isWritten, self.state == .open, let next = self.life.nextPong else { return }
      self.life.nextPong = nil
      self.answerPing(next)
    }
  }

  func awaitPing() {
    life.deadline.set(connection.times.ping, on: loop.eventLoop) { [weak self] in self?.ping() }
  }

  private func ping() {
    guard let context, state != .closed else { return }
    let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    let isStalled = life.isStalled(waiting: waiting)
    if isStalled || (state == .open && !isPaused && life.isSilent) {
      connection.logger.notice("A WebSocket is closed because its client does not answer.")
      return context.close(promise: nil)
    }
    if state == .open && !life.isPingWaiting {
      life.isPingWaiting = true
      write(FrameWriter(.server).frame(.ping, [])) { _ in self.life.isPingWaiting = false }
    }
    awaitPing()
  }
}
