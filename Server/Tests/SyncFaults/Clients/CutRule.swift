import NIOCore
import SyncPrograms
import Synchronization

/// Cuts a WebSocket in a proxy after an exact number of bytes, when it is asked to.
final class CutRule: Sendable {
  /// The direction whose bytes count.
  enum Direction: String, CaseIterable, Sendable {
    case both
    /// From the client to the server.
    case up
    /// From the server to the client.
    case down
  }

  private struct State {
    /// The number of bytes after which the next WebSocket is cut.
    var next: Int?
    var hasCut = false
  }

  private let direction: Direction
  private let state = Mutex(State())

  init(_ direction: Direction) { self.direction = direction }

  /// Cuts the next WebSocket after this number of bytes.
  func cutNext(behind bytes: Int) { state.withLock { $0 = State(next: bytes) } }

  /// Ends the cutting of WebSockets.
  ///
  /// - Returns: True if a WebSocket was cut.
  func end() -> Bool {
    state.withLock { state in
      defer { state = State() }
      return state.hasCut
    }
  }

  /// The number of bytes after which a WebSocket that begins is cut; nil if it is not cut.
  fileprivate func begin() -> Int? { state.withLock { state in state.next.take() } }

  fileprivate func noteCut() { state.withLock { $0.hasCut = true } }

  fileprivate func counts(_ way: ProxyWay) -> Bool {
    switch direction {
    case .both: true
    case .up: way.isToServer
    case .down: !way.isToServer
    }
  }

  func passage() -> any Passage { CutPassage(self) }
}

/// One connection through the proxy.
private final class CutPassage: Passage {
  private enum State {
    /// No bytes have come yet.
    case new
    /// The connection has a request, or a WebSocket that is not cut.
    case free
    /// This number of bytes may still pass.
    case counted(Int)
    case cut
  }

  /// The decision about some bytes.
  private enum Decision {
    case pass
    /// This number of bytes passes, and then the connection is cut.
    case cut(behind: Int)
    case drop
  }

  private let rule: CutRule
  private let state = Mutex(State.new)

  init(_ rule: CutRule) { self.rule = rule }

  func take(_ bytes: ByteBuffer, _ way: ProxyWay) {
    switch decide(bytes, way) {
    case .pass: way.send(bytes)
    case .cut(let count):
      var rest = bytes
      rule.noteCut()
      way.cut(behind: rest.readSlice(length: count) ?? ByteBuffer())
    case .drop: break
    }
  }

  private func decide(_ bytes: ByteBuffer, _ way: ProxyWay) -> Decision {
    state.withLock { state -> Decision in
      if case .new = state {
        // The first bytes of a device are its whole request.
        let isSocket = String(buffer: bytes).prefix { $0 != "\r\n" }.contains("/realm-sync ")
        let count = isSocket ? rule.begin() : nil
        state = if let count { .counted(count) } else { .free }
      }
      switch state {
      case .new, .free: return .pass
      case .cut: return .drop
      case .counted(let left):
        guard rule.counts(way) else { return .pass }
        guard left > bytes.readableBytes else {
          state = .cut
          return .cut(behind: left)
        }
        state = .counted(left - bytes.readableBytes)
        return .pass
      }
    }
  }
}
