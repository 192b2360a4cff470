import Synchronization

/// Keeps an observer: the observer is told of changes until its token is invalidated or freed. A program keeps the token for as
/// long as it wants to be told.
///
/// A token may be kept, invalidated and freed on any thread.
public final class NotificationToken: Sendable {
  private struct State: @unchecked Sendable {
    // Sendable: an observation may be ended on any thread. Otherwise the hub and the scheduler of its realm use it.
    var observation: Observation?
    var end: (@Sendable () -> Void)?
    var hasEnded = false
  }
  private let state = Mutex(State())

  init() {}

  /// Makes the token of an observer that the hub does not call.
  init(end: @escaping @Sendable () -> Void) { state.withLock { $0.end = end } }

  deinit { invalidate() }

  /// Ends the observer. If this is called in the scheduler of the observer's realm, the observer is not called any more;
  /// elsewhere, a call that has begun may still be running. To call it again does nothing.
  public func invalidate() {
    let ended = state.withLock { state in
      let ended = state
      state = State(hasEnded: true)
      return ended
    }
    ended.observation?.end()
    ended.end?()
  }

  /// Registers the observer at the hub, unless the token was invalidated in the meantime.
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
