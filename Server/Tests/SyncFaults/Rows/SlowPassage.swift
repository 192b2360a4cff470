import NIOCore
import SyncPrograms
import Synchronization

/// What has become of bytes that went through a slow proxy.
final class SlowNetwork: Sendable {
  struct Counts: Sendable {
    /// Pieces of 1 to 7 bytes that went alone.
    var pieces = 0
    /// Bytes that waited for those behind them.
    var joined = 0
    var delays = 0
    var stalls = 0
    var cuts = 0
  }

  fileprivate struct State {
    var random: SeededNumbers
    var counts = Counts()
    /// Connections are cut by chance.
    var mayCut = true
  }

  fileprivate let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(random: SeededNumbers(seed: seed))) }

  var counts: Counts { state.withLock { $0.counts } }

  /// Cuts no connection any more.
  func endCutting() { state.withLock { $0.mayCut = false } }

  func passage() -> any Passage { SlowPassage(self) }

  fileprivate enum Fate {
    case pieces([Int])
    case join
    /// In milliseconds.
    case wait(Int64)
    case cut
  }

  /// What becomes of so many bytes.
  fileprivate func draw(_ bytes: Int) -> Fate {
    state.withLock { state -> Fate in
      switch state.random.below(1000) {
      case 0..<3 where state.mayCut:
        state.counts.cuts += 1
        return .cut
      case 3..<13:
        state.counts.stalls += 1
        return .wait(Int64(100 + state.random.below(900)))
      case 13..<400:
        // Of many bytes the first ones only, or it takes for ever.
        var lengths: [Int] = []
        var left = min(bytes, 500)
        while left > 0 {
          lengths.append(min(left, 1 + state.random.below(7)))
          left -= lengths[lengths.count - 1]
        }
        state.counts.pieces += lengths.count
        return .pieces(lengths)
      case 400..<600:
        state.counts.joined += 1
        return .join
      case 600..<850:
        state.counts.delays += 1
        return .wait(Int64(1 + state.random.below(40)))
      default: return .wait(0)
      }
    }
  }
}

/// One connection through a slow proxy. What comes in one direction goes on in its order.
private final class SlowPassage: Passage {
  private struct Piece {
    var bytes: ByteBuffer
    /// Milliseconds behind the piece before it.
    var delay: Int64
  }

  private struct Way {
    var waiting: [Piece] = []
    /// A piece is on its way.
    var isBusy = false
    /// Nothing more comes.
    var hasEnded = false
  }

  private let network: SlowNetwork
  private let toServer = Mutex(Way())
  private let toDevice = Mutex(Way())

  /// Bytes wait so many milliseconds for others to join them.
  private static let patience: Int64 = 30

  init(_ network: SlowNetwork) { self.network = network }

  func take(_ bytes: ByteBuffer, _ way: ProxyWay) {
    switch network.draw(bytes.readableBytes) {
    case .cut: return way.cut()
    case .join: add(bytes, way, joins: true, delay: Self.patience)
    case .wait(let delay): add(bytes, way, joins: false, delay: delay)
    case .pieces(let lengths):
      var rest = bytes
      for length in lengths {
        if let piece = rest.readSlice(length: length) { add(piece, way, joins: false, delay: 0) }
      }
      if rest.readableBytes > 0 { add(rest, way, joins: false, delay: 0) }
    }
    sendNext(way)
  }

  /// What waits still goes on before.
  func end(_ way: ProxyWay) {
    change(way) { $0.hasEnded = true }
    sendNext(way)
  }

  private func change<Result: Sendable>(_ way: ProxyWay, _ body: (inout Way) -> Result) -> Result {
    if way.isToServer { return toServer.withLock { body(&$0) } }
    return toDevice.withLock { body(&$0) }
  }

  /// - Parameter joins: the bytes go together with those that wait already, if there are any.
  private func add(_ bytes: ByteBuffer, _ way: ProxyWay, joins: Bool, delay: Int64) {
    change(way) { way -> Void in
      if joins, let last = way.waiting.indices.last {
        way.waiting[last].bytes.writeImmutableBuffer(bytes)
      } else {
        way.waiting.append(Piece(bytes: bytes, delay: delay))
      }
    }
  }

  private func sendNext(_ way: ProxyWay) {
    let next = change(way) { way -> Piece? in
      guard !way.isBusy, !way.waiting.isEmpty else { return nil }
      way.isBusy = true
      return way.waiting.removeFirst()
    }
    guard let next else {
      if change(way, { $0.hasEnded && !$0.isBusy && $0.waiting.isEmpty }) { way.close() }
      return
    }
    way.after(milliseconds: next.delay) { [self] in
      way.send(next.bytes)
      change(way) { $0.isBusy = false }
      sendNext(way)
    }
  }
}
