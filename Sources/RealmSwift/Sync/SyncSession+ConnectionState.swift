import Synchronization

extension SyncSession {
  /// What an observer of the connection state is told, and when.
  public struct ObservingOptions: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: UInt

    /// Makes options of their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Changes have the new state.
    public static let new = ObservingOptions(rawValue: 1)
    /// Changes have the old state.
    public static let old = ObservingOptions(rawValue: 2)
    /// The observer is also called with the present state, before `observe` returns.
    public static let initial = ObservingOptions(rawValue: 4)
  }

  /// A change of the connection state.
  public struct ConnectionChange: Sendable {
    /// The old state; nil without the option `old`, and in the first call of the option `initial`.
    public let oldValue: ConnectionState?
    /// The new state; nil without the option `new`. `session.connectionState` may have changed again since.
    public let newValue: ConnectionState?
  }

  /// A sequence of the states of the connection: first the present state, then each one that follows.
  ///
  ///     for await state in session.connectionStates { show(state) }
  ///
  /// Each read makes a new sequence. It ends when the session is released, and does not keep the session.
  public var connectionStates: AsyncStream<ConnectionState> {
    let (stream, continuation) = AsyncStream.makeStream(of: ConnectionState.self)
    let end = StreamEnd(continuation)
    let relay = ConnectionRelay(holds: true) { _, new in end.continuation.yield(new) }
    let id = addConnectionObserver { old, new in relay.take(old, new) }
    // Only the session holds the relay, so the stream ends when the session is released. The relay must not be released under the
    // session's lock.
    continuation.onTermination = { [weak self, weak relay] _ in
      guard let relay else { return }
      relay.end()
      withExtendedLifetime(relay) { self?.removeConnectionObserver(id) }
    }
    relay.begin(at: connectionState)
    return stream
  }

  /// Calls `changeHandler` each time the state of the connection changes, until the token is invalidated or released. It follows
  /// the form of key-value observation in Cocoa:
  ///
  ///     let token = session.observe(\.connectionState, options: [.initial]) { session, _ in show(session.connectionState) }
  ///
  /// - Parameters:
  ///   - keyPath: `\.connectionState`. Any other key path stops the program.
  ///   - options: which states a change has, and whether the present state is reported before this function returns.
  ///   - changeHandler: is called on the main queue; in a program that does not serve its main queue, on the queue
  ///     `realm.sync.callbacks`. The first call of the option `initial`, and calls for changes during it, are made on the thread
  ///     that calls this function. The calls never overlap.
  /// - Returns: the token that keeps the observer.
  public func observe(
    _ keyPath: KeyPath<SyncSession, ConnectionState>, options: ObservingOptions = [],
    changeHandler: @escaping @Sendable (_ session: SyncSession, _ change: ConnectionChange) -> Void
  ) -> NotificationToken {
    guard keyPath == \SyncSession.connectionState else {
      raise(
        "Unknown property",
        "SyncSession.observe(_:options:changeHandler:) was given \(keyPath), and tells only of "
          + "\\.connectionState: give that.")
    }
    let relay = ConnectionRelay(holds: options.contains(.initial)) { [weak self] old, new in
      guard let self else { return }
      let change = ConnectionChange(
        oldValue: options.contains(.old) ? old : nil, newValue: options.contains(.new) ? new : nil)
      changeHandler(self, change)
    }
    let id = addConnectionObserver { old, new in relay.take(old, new) }
    let token = NotificationToken { [weak self] in
      relay.end()
      self?.removeConnectionObserver(id)
    }
    if options.contains(.initial) { relay.begin(at: connectionState) }
    return token
  }
}

/// Ends a stream when it is released. Observers of the session keep it, so that happens when the session is released.
private final class StreamEnd: Sendable {
  let continuation: AsyncStream<SyncSession.ConnectionState>.Continuation

  init(_ continuation: AsyncStream<SyncSession.ConnectionState>.Continuation) {
    self.continuation = continuation
  }

  deinit { continuation.finish() }
}

/// Passes the states of a connection on to one observer, in order and one call at a time, even if several threads report them.
final class ConnectionRelay: Sendable {
  typealias Tell = @Sendable (_ old: SyncSession.ConnectionState?, _ new: SyncSession.ConnectionState) -> Void

  private struct State {
    var waiting: [(old: SyncSession.ConnectionState, new: SyncSession.ConnectionState)] = []
    /// Whether a thread is making calls, or the first call is still to be made.
    var isBusy: Bool
    /// The state that the observer was told first. Changes that happened before it are still queued, and are not told.
    var first: SyncSession.ConnectionState?
    var hasEnded = false
  }

  private let state: Mutex<State>
  private let tell: Tell

  /// - Parameters:
  ///   - holds: whether nothing is passed on before `begin(at:)`.
  ///   - tell: the observer. It is called without a lock.
  init(holds: Bool, _ tell: @escaping Tell) {
    state = Mutex(State(isBusy: holds))
    self.tell = tell
  }

  /// Tells the observer the present state, and then the changes that have come in the meantime.
  ///
  /// - Parameter now: the state, read after the observer was registered.
  func begin(at now: SyncSession.ConnectionState) {
    state.withLock { $0.first = now }
    tell(nil, now)
    passOn()
  }

  /// Takes a change of the state.
  func take(_ old: SyncSession.ConnectionState, _ new: SyncSession.ConnectionState) {
    let isMine = state.withLock { state in
      guard !state.hasEnded else { return false }
      state.waiting.append((old, new))
      if state.isBusy { return false }
      state.isBusy = true
      return true
    }
    if isMine { passOn() }
  }

  /// Stops telling. A call that has begun continues.
  func end() {
    state.withLock { state in
      state.hasEnded = true
      state.waiting = []
    }
  }

  private func passOn() {
    while let change = next() { tell(change.old, change.new) }
  }

  private func next() -> (old: SyncSession.ConnectionState, new: SyncSession.ConnectionState)? {
    state.withLock { state in
      while !state.waiting.isEmpty {
        let change = state.waiting.removeFirst()
        if let first = state.first, change.old != first { continue }
        state.first = nil
        return change
      }
      state.isBusy = false
      return nil
    }
  }
}
