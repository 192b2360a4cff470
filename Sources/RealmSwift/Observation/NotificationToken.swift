import Synchronization

/// Keeps an observer: it is told of changes until the token is invalidated, or goes. Keep the token for as long as that.
///
/// A token may be kept, invalidated and let go of on any thread.
public final class NotificationToken: Sendable {
  private struct State: @unchecked Sendable {
    // Sendable: an observation is ended on any thread, and else used by the hub and by the scheduler of its realm.
    var observation: Observation?
    var end: (@Sendable () -> Void)?
    var hasEnded = false
  }
  private let state = Mutex(State())

  init() {}

  /// A token of an observer that is told by other means than the hub.
  init(end: @escaping @Sendable () -> Void) { state.withLock { $0.end = end } }

  deinit { invalidate() }

  /// Ends the observer. In the scheduler of its realm it is told nothing from then on; elsewhere a call that has begun goes on. To call it again does nothing.
  public func invalidate() {
    let ended = state.withLock { state in
      let ended = state
      state = State(hasEnded: true)
      return ended
    }
    ended.observation?.end()
    ended.end?()
  }

  /// The observer is there from now on, unless the token was invalidated meanwhile.
  func begin(_ observation: Observation) {
    let box = State(observation: observation)
    let isEnded = state.withLock { state in
      if state.hasEnded { return true }
      state.observation = box.observation
      return false
    }
    if isEnded { observation.end() } else { observation.hub.add(observation) }
  }

  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  var observation: Observation? { state.withLock { State(observation: $0.observation) }.observation }
}
