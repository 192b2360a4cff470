import NIOCore
import Synchronization

/// The connections that are open.
final class Connections: Sendable {
  enum Admission {
    case admitted(UInt64)
    /// The connection is not admitted. Only some refusals are to be logged, so that many of them do not fill the log.
    case refused(String, isToBeTold: Bool)
  }

  private struct Open {
    let channel: any Channel
    /// The network of the client. The connections of one network are counted together. If it is nil, the connection
    /// counts in the total only.
    let network: [UInt8]?
  }

  private struct State {
    var open: [UInt64: Open] = [:]
    var counts: [[UInt8]: Int] = [:]
    var last: UInt64 = 0
    var isStopping = false
    var nextTelling = NIODeadline.distantPast
  }

  private let limits: FrontLimits
  private let state = Mutex(State())

  init(_ limits: FrontLimits) { self.limits = limits }

  /// Admits a connection with a number of its own, or refuses it.
  ///
  /// - Parameter address: the address whose connections are counted; nil for a connection that counts in the total
  ///   only.
  func open(_ channel: any Channel, address: IPAddress?) -> Admission {
    let network = address?.network
    return state.withLock { state in
      if state.isStopping { return .refused("The front stops.", isToBeTold: false) }
      if state.open.count >= limits.connections {
        return .refused("There are too many connections.", isToBeTold: Self.isToBeTold(&state))
      }
      if let network {
        guard state.counts[network, default: 0] < limits.connectionsPerAddress else {
          return .refused(
            "There are too many connections of the address.", isToBeTold: Self.isToBeTold(&state))
        }
        state.counts[network, default: 0] += 1
      }
      state.last += 1
      state.open[state.last] = Open(channel: channel, network: network)
      return .admitted(state.last)
    }
  }

  /// Whether a refusal is to be logged. At most one refusal in a second is.
  private static func isToBeTold(_ state: inout State) -> Bool {
    let now = NIODeadline.now()
    guard now >= state.nextTelling else { return false }
    state.nextTelling = now + .seconds(1)
    return true
  }

  /// Notes that a connection has been closed.
  func close(_ number: UInt64) {
    state.withLock { state in
      guard let closed = state.open.removeValue(forKey: number), let network = closed.network else { return }
      let count = state.counts[network, default: 1] - 1
      state.counts[network] = count > 0 ? count : nil
    }
  }

  /// Admits no more connections.
  ///
  /// - Returns: the connections that are open.
  func stop() -> [any Channel] {
    state.withLock { state in
      state.isStopping = true
      return state.open.values.map(\.channel)
    }
  }
}
