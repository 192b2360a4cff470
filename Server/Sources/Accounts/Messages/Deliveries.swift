import Synchronization

/// Counts the messages that are being sent, so that there are never too many, and so that closing can wait for them.
final class Deliveries: Sendable {
  private struct State {
    var running = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// The greatest number of messages that are sent at a time.
  static let most = 32
  private let state = Mutex(State())

  /// - Throws: `AccountError.Code.serviceUnavailable` if too many are being sent.
  func begin() throws {
    let isAllowed = state.withLock { state -> Bool in
      guard state.running < Self.most else { return false }
      state.running += 1
      return true
    }
    guard isAllowed else {
      throw AccountError(.serviceUnavailable, "The server is sending too many messages. Try again later.")
    }
  }

  func end() {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.running -= 1
      guard state.running == 0 else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns when no message is being sent.
  func settle() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isSettled = state.withLock { state -> Bool in
        guard state.running > 0 else { return true }
        state.waiting.append(continuation)
        return false
      }
      if isSettled { continuation.resume() }
    }
  }
}
