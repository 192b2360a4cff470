import Synchronization

/// Counts the messages of all sockets of a user that have come and were not taken in yet.
///
/// Each socket may have some messages that wait, and a user may have many sockets. So there is a limit for all of them
/// together. Beyond it the sockets that send are not read any more.
final class UserIntake: Sendable {
  private struct State {
    /// The number of bytes that wait, with what each message takes beside its own.
    var waiting = 0
    /// The sockets that are not read until half of `most` waits, or less.
    var held: [ObjectIdentifier: AppSocket] = [:]
  }

  static let most = 32 << 20

  private let state = Mutex(State())

  /// Notes that a message of a socket has come.
  func add(_ bytes: Int, of socket: AppSocket) {
    // This happens within the lock, so that a hold and its end come in the order in which they were decided.
    state.withLock { state in
      state.waiting += bytes
      guard state.waiting > Self.most else { return }
      state.held[ObjectIdentifier(socket)] = socket
      socket.hold(true)
    }
  }

  /// Notes that a message was taken in.
  func take(_ bytes: Int) {
    state.withLock { state in
      state.waiting -= bytes
      guard state.waiting <= Self.most / 2, !state.held.isEmpty else { return }
      for socket in state.held.values { socket.hold(false) }
      state.held = [:]
    }
  }
}
