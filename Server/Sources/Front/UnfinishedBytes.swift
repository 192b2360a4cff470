import Synchronization

/// Counts the bytes of messages that are not complete, and of bodies of requests that are not answered, over all
/// connections.
///
/// Each connection may send one long message. Many messages that never end would take all memory, whatever the limit of
/// one message is.
final class UnfinishedBytes: Sendable {
  private struct State {
    var all = 0
    /// The bytes of each network of clients.
    var byNetwork: [[UInt8]: Int] = [:]
  }

  /// The number of bytes that a connection may have whatever the others have, so that short messages always come
  /// through.
  static let allowance = 16 << 10

  private let limits: FrontLimits
  private let state = Mutex(State())

  init(_ limits: FrontLimits) { self.limits = limits }

  /// The number of bytes that are counted now.
  var count: Int { state.withLock { $0.all } }

  /// Changes the number of bytes of a connection.
  ///
  /// - Parameter network: the network of the client; nil if it is not known.
  /// - Returns: false if there are too many bytes. They count all the same.
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

/// The share that one connection has of the bytes that `UnfinishedBytes` counts. It is used on the event loop of the
/// connection.
struct UnfinishedShare {
  private let all: UnfinishedBytes
  private let network: [UInt8]?
  private var count = 0

  /// - Parameter network: the network of the client; nil if it is not known.
  init(_ all: UnfinishedBytes, _ network: [UInt8]?) { (self.all, self.network) = (all, network) }

  /// Sets the number of bytes that the connection has. When a connection ends, it has to be set to 0.
  ///
  /// - Returns: false if there are too many bytes.
  mutating func set(_ count: Int) -> Bool {
    guard count != self.count else { return true }
    let old = self.count
    self.count = count
    return all.change(from: old, to: count, of: network)
  }
}
