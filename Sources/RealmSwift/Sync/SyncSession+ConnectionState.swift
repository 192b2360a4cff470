import Synchronization

extension SyncSession {
  /// What an observer of a connection is told, beside the session.
  public struct ObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Changes have the state that there is then.
    public static let new = ObservingOptions(rawValue: 1)
    /// Changes have the state that there was before.
    public static let old = ObservingOptions(rawValue: 2)
    /// The state that there is at first is told too.
    public static let initial = ObservingOptions(rawValue: 4)
  }

  /// How the state of a connection has changed.
  public struct ConnectionChange: Sendable {
    /// The state before; nil without the option `old`, and at the first call of the option `initial`.
    public let oldValue: ConnectionState?
    /// The state now; nil without the option `new`. `session.connectionState` may have gone on since.
    public let newValue: ConnectionState?
  }

  /// The states of the connection, one after another, and at first the one that there is now.
  ///
  ///     for await state in session.connectionStates { show(state) }
  ///
  /// Each use makes a sequence of its own. It ends with the session, which it does not keep.
  public var connectionStates: AsyncStream<ConnectionState> {
    let (stream, continuation) = AsyncStream.makeStream(of: ConnectionState.self)
    let end = StreamEnd(continuation)
    let relay = ConnectionRelay(holds: true) { _, new in end.continuation.yield(new) }
    let id = addConnectionObserver { old, new in relay.take(old, new) }
    // The session alone keeps the relay: the stream ends when that goes. It goes behind the session's lock here.
    continuation.onTermination = { [weak self, weak relay] _ in
      guard let relay else { return }
      relay.end()
      withExtendedLifetime(relay) { self?.removeConnectionObserver(id) }
    }
    relay.begin(at: connectionState)
    return stream
  }

  /// Calls `changeHandler` whenever the state of the connection changes, until the token is invalidated, or goes. It is called as an
  /// observer of Cocoa's key-value observing is:
  ///
  ///     let token = session.observe(\.connectionState, options: [.initial]) { session, _ in show(session.connectionState) }
  ///
  /// - Parameters:
  ///   - keyPath: `\.connectionState`. Another one stops the program.
  ///   - options: what a change has, and whether the state that there is now is told too, before this returns.
  ///   - changeHandler: is called on the main queue; in a program that does not serve its main queue, on the queue
  ///     `realm.sync.callbacks`. The first call of the option `initial`, and what happens during that call, is told by the thread that
  ///     has called this. One call follows another.
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

/// Ends a stream when it goes, and with it the session whose observers keep it.
private final class StreamEnd: Sendable {
  let continuation: AsyncStream<SyncSession.ConnectionState>.Continuation

  init(_ continuation: AsyncStream<SyncSession.ConnectionState>.Continuation) {
    self.continuation = continuation
  }

  deinit { continuation.finish() }
}

/// Passes the states of a connection on to one observer, one call at a time and in order, whatever threads bring them.
final class ConnectionRelay: Sendable {
  typealias Tell = @Sendable (_ old: SyncSession.ConnectionState?, _ new: SyncSession.ConnectionState) -> Void

  private struct State {
    var waiting: [(old: SyncSession.ConnectionState, new: SyncSession.ConnectionState)] = []
    /// A thread makes the calls, or the first one is still to be made.
    var isBusy: Bool
    /// What the observer was told at first. Changes that led there were on their way already, and are not told.
    var first: SyncSession.ConnectionState?
    var hasEnded = false
  }

  private let state: Mutex<State>
  private let tell: Tell

  /// - Parameters:
  ///   - holds: nothing is passed on before `begin(at:)`.
  ///   - tell: is called without a lock.
  init(holds: Bool, _ tell: @escaping Tell) {
    state = Mutex(State(isBusy: holds))
    self.tell = tell
  }

  /// Tells the observer the state that there is now, and then what has come meanwhile.
  ///
  /// - Parameter now: read after the observer was registered.
  func begin(at now: SyncSession.ConnectionState) {
    state.withLock { $0.first = now }
    tell(nil, now)
    passOn()
  }

  /// The state has changed.
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

  /// Tells nothing from now on. A call that has begun goes on.
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
