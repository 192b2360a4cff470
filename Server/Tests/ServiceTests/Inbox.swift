import NIOCore
import Synchronization

/// The error if the other side has closed the connection before the expected bytes came.
struct ConnectionEnded: Error {}

/// The bytes that a client has received.
final class Inbox: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var isClosed = false
    var changes = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func add(_ bytes: [UInt8]) { change { $0.bytes += bytes } }

  func close() { change { $0.isClosed = true } }

  private func change(_ change: (inout State) -> Void) {
    let waiting = state.withLock { state in
      change(&state)
      state.changes += 1
      let waiting = state.waiting
      state.waiting = []
      return waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// True if the other side has closed the connection.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Waits until `take` can take a value from the front of the bytes.
  func next<Value: Sendable>(_ take: (inout [UInt8]) -> Value?) async throws -> Value {
    while true {
      let (value, isClosed, changes) = state.withLock { state in
        (take(&state.bytes), state.isClosed, state.changes)
      }
      if let value { return value }
      if isClosed { throw ConnectionEnded() }
      await waitForChange(after: changes)
    }
  }

  private func waitForChange(after changes: Int) async {
    await withCheckedContinuation { continuation in
      let hasChanged = state.withLock { state in
        if state.changes != changes { return true }
        state.waiting.append(continuation)
        return false
      }
      if hasChanged { continuation.resume() }
    }
  }
}

final class InboxHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let inbox: Inbox

  init(_ inbox: Inbox) { self.inbox = inbox }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    inbox.add(Array(unwrapInboundIn(data).readableBytesView))
  }

  func channelInactive(context: ChannelHandlerContext) {
    inbox.close()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
