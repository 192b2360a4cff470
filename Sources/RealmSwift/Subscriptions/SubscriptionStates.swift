import Foundation
import RealmStorage
import RealmSyncClient

/// The sequence of the states of a subscription set: first the present state, then each one that follows. It ends after
/// `complete`, `error` or `superseded`, and when the session ends.
///
///     for await state in subscriptions.state { show(state) }
///
/// A plain `for` loop blocks its thread until the next state comes. If such a loop would wait on the main thread while the
/// session is inactive, the program stops, because the state could not change.
public struct SubscriptionStates: Sequence, AsyncSequence {
  /// The states of a subscription set.
  public typealias Element = SyncSubscriptionState
  /// The iteration never throws.
  public typealias Failure = Never

  private let content: SubscriptionContent

  init(_ content: SubscriptionContent) { self.content = content }

  /// Makes an iterator that blocks its thread while it waits for the next state.
  public func makeIterator() -> Iterator { Iterator(SubscriptionStateSteps(content)) }
  /// Makes an iterator that suspends its task while it waits for the next state.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(SubscriptionStateSteps(content)) }

  /// An iterator that blocks its thread while it waits for the next state.
  public struct Iterator: IteratorProtocol {
    private var steps: SubscriptionStateSteps

    fileprivate init(_ steps: SubscriptionStateSteps) { self.steps = steps }

    /// The next state; nil after the last one.
    ///
    /// - Precondition: if it has to wait on the main thread, the session is active. Otherwise the program stops.
    public mutating func next() -> SyncSubscriptionState? {
      guard steps.isToWait else { return steps.next() }
      steps.checkNotEndless()
      SubscriptionWait.block(steps.number, steps.session)
      return steps.next()
    }
  }

  /// An iterator that suspends its task while it waits for the next state.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var steps: SubscriptionStateSteps

    fileprivate init(_ steps: SubscriptionStateSteps) { self.steps = steps }

    /// The next state; nil after the last one, and if the task is cancelled.
    public mutating func next() async -> SyncSubscriptionState? { await next(isolation: nil) }

    /// The next state; nil after the last one, and if the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> SyncSubscriptionState? {
      guard steps.isToWait else { return steps.next() }
      // The error is ignored because the state tells it.
      try? await SubscriptionWait.wait(steps.number, steps.session)
      return steps.next()
    }
  }
}

/// The position of an iterator in the states of a set.
private struct SubscriptionStateSteps {
  private let content: SubscriptionContent
  /// The number of the set that was shown when this was made.
  let number: UInt64
  private var last: SyncSubscriptionState?
  private var isOver = false

  init(_ content: SubscriptionContent) {
    self.content = content
    number = content.shown.number
  }

  var session: SyncSession? { content.realm.syncSession }

  /// Whether the next state has to be waited for: the last returned one is `pending`, and another one can follow.
  var isToWait: Bool { last == .pending && !isOver }

  /// The present state; nil if it was returned already, or if no other state can follow.
  mutating func next() -> SyncSubscriptionState? {
    guard !isOver else { return nil }
    let state = content.state(of: number)
    isOver = state != .pending || state == last
    defer { last = state }
    return state == last ? nil : state
  }

  func checkNotEndless() {
    guard Thread.isMainThread, session?.state != .active else { return }
    raise(
      "Waiting without end",
      "a loop over the states of subscriptions blocks the main thread, and the session of "
        + "\(content.realm.session.file.database.path) is inactive, so that the state can't change: resume() the session "
        + "first, or use for await.")
  }
}
