import Foundation
import RealmStorage
import RealmSyncClient

/// The states of a set of subscriptions, one after another: first the present one, then what it becomes. It ends behind `complete`,
/// `error` and `superseded`, and where the session ends.
///
///     for await state in subscriptions.state { show(state) }
///
/// A plain `for` blocks its thread until the state has changed. On the main thread that stops the program where the session is inactive,
/// so that it could not change.
public struct SubscriptionStates: Sequence, AsyncSequence {
  public typealias Element = SyncSubscriptionState
  public typealias Failure = Never

  private let content: SubscriptionContent

  init(_ content: SubscriptionContent) { self.content = content }

  public func makeIterator() -> Iterator { Iterator(SubscriptionStateSteps(content)) }
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(SubscriptionStateSteps(content)) }

  /// Blocks its thread while it waits for another state.
  public struct Iterator: IteratorProtocol {
    private var steps: SubscriptionStateSteps

    fileprivate init(_ steps: SubscriptionStateSteps) { self.steps = steps }

    public mutating func next() -> SyncSubscriptionState? {
      guard steps.isToWait else { return steps.next() }
      steps.checkNotEndless()
      SubscriptionWait.block(steps.number, steps.session)
      return steps.next()
    }
  }

  /// Suspends its task while it waits for another state.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var steps: SubscriptionStateSteps

    fileprivate init(_ steps: SubscriptionStateSteps) { self.steps = steps }

    public mutating func next() async -> SyncSubscriptionState? { await next(isolation: nil) }

    /// The next state; nil behind the last, and when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> SyncSubscriptionState? {
      guard steps.isToWait else { return steps.next() }
      // The state tells why it failed.
      try? await SubscriptionWait.wait(steps.number, steps.session)
      return steps.next()
    }
  }
}

/// Where somebody is who goes over the states of a set.
private struct SubscriptionStateSteps {
  private let content: SubscriptionContent
  /// That of the set which was shown when this was made.
  let number: UInt64
  private var last: SyncSubscriptionState?
  private var isOver = false

  init(_ content: SubscriptionContent) {
    self.content = content
    number = content.shown.number
  }

  var session: SyncSession? { content.realm.syncSession }

  /// Nothing is new before the set is shown, refused or superseded.
  var isToWait: Bool { last == .pending && !isOver }

  /// The present state; nil where it was told, or no other can follow.
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
