import NIOCore
import SyncPrograms
import Synchronization

/// The random treatment of bytes that go through a slow proxy, and its counts.
final class SlowNetwork: Sendable {
  struct Counts: Sendable {
    /// The number of pieces of 1 to 7 bytes that were sent alone.
    var pieces = 0
    /// The number of times that bytes waited for later ones.
    var joined = 0
    var delays = 0
    var stalls = 0
    var cuts = 0
  }

  fileprivate struct State {
    var random: SeededNumbers
    var counts = Counts()
    /// True if connections are cut at random.
    var mayCut = true
  }

  fileprivate let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(random: SeededNumbers(seed: seed))) }

  var counts: Counts { state.withLock { $0.counts } }

  /// Cuts no more connections.
  func endCutting() { state.withLock { $0.mayCut = false } }

  func passage() -> any Passage { SlowPassage(self) }

  fileprivate enum Fate {
    case pieces([Int])
    case join
    /// A wait, in milliseconds.
    case wait(Int64)
    case cut
  }

  /// Draws what is done with this number of bytes.
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
        // Only the first bytes of many are split, because all of them would take too long.
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

/// A connection through a slow proxy. The bytes of one direction keep their order.
private final class SlowPassage: Passage {
  private struct Piece {
    var bytes: ByteBuffer
    /// The milliseconds between the previous piece and this one.
    var delay: Int64
  }

  private struct Way {
    var waiting: [Piece] = []
    /// True if a piece is waiting for its delay.
    var isBusy = false
    /// True if no more bytes come.
    var hasEnded = false
  }

  private let network: SlowNetwork
  private let toServer = Mutex(Way())
  private let toDevice = Mutex(Way())

  /// The milliseconds that bytes wait for others to join them.
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

  /// Notes that no more bytes come. The waiting bytes are sent before the end.
  func end(_ way: ProxyWay) {
    change(way) { $0.hasEnded = true }
    sendNext(way)
  }

  private func change<Result: Sendable>(_ way: ProxyWay, _ body: (inout Way) -> Result) -> Result {
    if way.isToServer { return toServer.withLock { body(&$0) } }
    return toDevice.withLock { body(&$0) }
  }

  /// - Parameter joins: True if the bytes are sent together with those that already wait, if there are any.
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
