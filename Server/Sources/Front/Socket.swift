import NIOCore
import RealmWebSocket
import Synchronization

/// One WebSocket, through which messages can be sent. It may be used from any thread.
public final class Socket: Sendable {
  private let channel: NIOLoopBound<SocketChannel>
  private let loop: ConnectionLoop
  private let pauseFlag = Atomic<Bool>(false)

  init(_ channel: NIOLoopBound<SocketChannel>, _ loop: ConnectionLoop) {
    (self.channel, self.loop) = (channel, loop)
  }

  /// Sends a binary message, in one frame. Messages arrive in the order in which one thread sends them.
  ///
  /// The front keeps what the other side does not take, so a sender should wait for `sent` before it sends too much.
  ///
  /// - Parameter sent: called on a thread of the front when the operating system has taken the whole message. It is
  ///   never called if the connection ends before; `SocketHandler.closed` is called then.
  public func send(_ bytes: [UInt8], sent: @escaping @Sendable () -> Void = {}) {
    // The copy is made here, so that the thread of the front is not kept from other connections.
    let frame = FrameWriter(.server).frame(.binary, bytes)
    loop.run { [channel] in channel.value.send(frame, sent) }
  }

  /// Ends the WebSocket after everything that was sent before. Nothing that comes or is sent later is passed on.
  ///
  /// - Parameters:
  ///   - code: a code from 3000 to 4999, or a code that RFC 6455 allows endpoints to send. In place of any other, 1011
  ///     is sent.
  ///   - reason: a text for people. The first 123 bytes of it in UTF-8 are sent.
  public func close(code: UInt16 = 1000, reason: String = "") {
    let code = CloseCode.isSendable(code) ? code : CloseCode.internalError
    loop.run { [channel] in channel.value.close(code, reason) }
  }

  /// Stops reading. No message is received until `resume`, and in the end the client can't send more. A message whose
  /// handling has begun is not affected. While nothing is read, no sign of life is expected either.
  public func pause() { pauseFlag.store(true, ordering: .releasing) }

  /// Goes on reading. Messages that came before `pause` are received first.
  public func resume() {
    pauseFlag.store(false, ordering: .releasing)
    loop.run { [channel] in channel.value.goOn() }
  }

  var isPaused: Bool { pauseFlag.load(ordering: .acquiring) }
}
