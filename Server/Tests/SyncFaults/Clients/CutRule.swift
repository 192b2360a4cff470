import NIOCore
import SyncPrograms
import Synchronization

/// Cuts a WebSocket that goes through a proxy behind an exact number of bytes, once it is asked for.
final class CutRule: Sendable {
  /// The bytes that count.
  enum Direction: String, CaseIterable, Sendable {
    case both
    /// Those that go to the server.
    case up
    /// Those that come from it.
    case down
  }

  private struct State {
    /// The next WebSocket is cut behind so many bytes.
    var next: Int?
    var hasCut = false
  }

  private let direction: Direction
  private let state = Mutex(State())

  init(_ direction: Direction) { self.direction = direction }

  /// The next WebSocket is cut behind so many bytes.
  func cutNext(behind bytes: Int) { state.withLock { $0 = State(next: bytes) } }

  /// No WebSocket is cut any more.
  ///
  /// - Returns: whether one was.
  func end() -> Bool {
    state.withLock { state in
      defer { state = State() }
      return state.hasCut
    }
  }

  /// The bytes behind which a WebSocket that begins is cut; nil where it is not.
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
    /// Nothing has come yet.
    case new
    /// A request, or a WebSocket that is not cut.
    case free
    /// So many bytes may still pass.
    case counted(Int)
    case cut
  }

  /// What becomes of some bytes.
  private enum Decision {
    case pass
    /// So many pass, and behind them the connection is cut.
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
        // The first bytes of a device are its request, as a whole.
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
