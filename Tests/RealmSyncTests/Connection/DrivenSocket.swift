import RealmStorage
import RealmSync
import RealmSyncClient
import Synchronization

/// A WebSocket that a test opens, feeds and closes.
final class DrivenSocket: SyncSocket {
  private struct State {
    var sent: [[UInt8]] = []
    /// The number of messages in `sent` that the server has taken.
    var read = 0
    var givenBytes = 0
    var takenBytes = 0
    var ending: SocketEnd?
  }

  let request: SocketRequest
  private let handler: @Sendable (SocketEvent) -> Void
  private let state = Mutex(State())

  init(_ request: SocketRequest, _ handler: @escaping @Sendable (SocketEvent) -> Void) {
    self.request = request
    self.handler = handler
  }

  // MARK: - What the client does

  func send(_ message: [UInt8]) {
    state.withLock { state in
      if state.ending == nil { state.sent.append(message) }
    }
  }

  func taken(_ bytes: Int) { state.withLock { $0.takenBytes += bytes } }

  func close() { end(.closedHere) }

  /// All messages that the client has sent.
  var frames: [ChannelFrame] { state.withLock { $0.sent }.map { ChannelFrame($0) } }

  /// The channels of the client's hellos, in the order in which it has sent them.
  var hellos: [UInt64] { frames.filter(\.isHello).map(\.channel) }

  /// The channels that the client has closed.
  var left: [UInt64] { frames.filter { $0.bytes.isEmpty }.map(\.channel) }

  /// The messages that the client has sent since the last call.
  func takeSent() -> [[UInt8]] {
    state.withLock { state -> [[UInt8]] in
      defer { state.read = state.sent.count }
      return Array(state.sent[state.read...])
    }
  }

  /// The bytes of the messages that the client was given, and of those that it has worked on (`takenBytes`). Both
  /// include the cost of each message.
  var givenBytes: Int { state.withLock { $0.givenBytes } }
  var takenBytes: Int { state.withLock { $0.takenBytes } }

  /// How the WebSocket has ended; nil while it is open.
  var ending: SocketEnd? { state.withLock { $0.ending } }

  // MARK: - What the server does

  /// Completes the handshake.
  func open() { handler(.opened) }

  func give(_ message: [UInt8]) {
    state.withLock { $0.givenBytes += message.count + SocketLimit.messageCost }
    handler(.message(message))
  }

  func give(_ message: ServerMessage, on channel: UInt64) { give(frame: message.bytes, on: channel) }

  /// Gives a frame. An empty one closes the channel.
  func give(frame: [UInt8], on channel: UInt64) {
    var message: [UInt8] = []
    message.appendVarint(channel)
    give(message + frame)
  }

  func end(_ end: SocketEnd) {
    let isFirst = state.withLock { state -> Bool in
      guard state.ending == nil else { return false }
      state.ending = end
      return true
    }
    if isFirst { handler(.closed(end)) }
  }
}

/// A message of a WebSocket, split into its channel and its bytes.
struct ChannelFrame: Sendable {
  let channel: UInt64
  let bytes: [UInt8]

  init(_ message: [UInt8]) {
    var reader = ByteReader(message)
    channel = reader.varint() ?? 0
    bytes = Array(message.suffix(reader.count))
  }

  /// The message of the client; nil if the bytes are not a message.
  var message: ClientMessage? { try? ClientMessage(bytes: bytes) }

  var isHello: Bool { if case .hello? = message { true } else { false } }
  var isMark: Bool { if case .mark? = message { true } else { false } }
}
