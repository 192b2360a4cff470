import Synchronization

/// Counts what has come of messages and of the bodies of requests that are not whole, or not answered, of all connections.
///
/// Each connection may send one long message. Many of them that are never ended would take all memory, whatever the
/// limit of one is.
final class UnfinishedBytes: Sendable {
  private struct State {
    var all = 0
    /// By the networks of the clients.
    var byNetwork: [[UInt8]: Int] = [:]
  }

  /// A connection may have so many bytes whatever the others have, so that short messages always come through.
  static let allowance = 16 << 10

  private let limits: FrontLimits
  private let state = Mutex(State())

  init(_ limits: FrontLimits) { self.limits = limits }

  /// The bytes that are counted now.
  var count: Int { state.withLock { $0.all } }

  /// A connection has another number of bytes than before.
  ///
  /// - Parameter network: of the client; nil where it is not known.
  /// - Returns: false where these are too many. They count all the same.
  fileprivate func change(from old: Int, to new: Int, of network: [UInt8]?) -> Bool {
    state.withLock { state in
      state.all += new - old
      var isFree = state.all <= limits.unfinishedBytes
      if let network {
        let count = state.byNetwork[network, default: 0] + new - old
        state.byNetwork[network] = count > 0 ? count : nil
        isFree = isFree && count <= limits.unfinishedBytesPerAddress
      }
      return isFree || new <= max(old, Self.allowance)
    }
  }
}

/// What one connection has of the bytes that `UnfinishedBytes` counts. It is used on the event loop of the connection.
struct UnfinishedShare {
  private let all: UnfinishedBytes
  private let network: [UInt8]?
  private var count = 0

  /// - Parameter network: of the client; nil where it is not known.
  init(_ all: UnfinishedBytes, _ network: [UInt8]?) { (self.all, self.network) = (all, network) }

  /// Sets how many bytes the connection has. Whoever ends a connection sets 0.
  ///
  /// - Returns: false where these are too many.
  mutating func set(_ count: Int) -> Bool {
    guard count != self.count else { return true }
    let old = self.count
    self.count = count
    return all.change(from: old, to: count, of: network)
  }
}
