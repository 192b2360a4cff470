import Synchronization

/// The messages of all sockets of a user that have come and were not taken in.
///
/// Each socket may have some of them, and a user many sockets. So there is a bound for all together, beyond which those that send stop being
/// read.
final class UserIntake: Sendable {
  private struct State {
    /// Bytes, with what each message takes beside its own.
    var waiting = 0
    /// These are not read until less waits.
    var held: [ObjectIdentifier: AppSocket] = [:]
  }

  static let most = 32 << 20

  private let state = Mutex(State())

  /// A message of a socket has come.
  func add(_ bytes: Int, of socket: AppSocket) {
    // Within the lock, so that a hold and its end come in the order in which they were decided.
    state.withLock { state in
      state.waiting += bytes
      guard state.waiting > Self.most else { return }
      state.held[ObjectIdentifier(socket)] = socket
      socket.hold(true)
    }
  }

  /// A message was taken in.
  func take(_ bytes: Int) {
    state.withLock { state in
      state.waiting -= bytes
      guard state.waiting <= Self.most / 2, !state.held.isEmpty else { return }
      for socket in state.held.values { socket.hold(false) }
      state.held = [:]
    }
  }
}
