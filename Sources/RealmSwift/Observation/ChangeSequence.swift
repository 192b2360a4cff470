import RealmStorage
import Synchronization

/// The changes of a collection, one after another: first `.initial`, then what changed since the one before.
///
///     for await change in realm.objects(Book.self).changes() {
///       if case .update(let books, _, let insertions, _) = change { show(books, insertions) }
///     }
///
/// What happens while the loop's body runs is folded into one change. The sequence ends when the task is cancelled, after an `.error`, and when the object of the collection is deleted
/// it tells that the collection is empty. It is consumed where the realm belongs: the compiler refuses other places.
public struct ChangeSequence<Collection>: AsyncSequence {
  public typealias Element = RealmCollectionChange<Collection>
  public typealias Failure = Never

  fileprivate let begin: (PulledChanges<Element>) -> NotificationToken

  public func makeAsyncIterator() -> Iterator { Iterator(begin: begin) }

  /// Waits for changes. The collection is observed from the first call of `next()` until the iterator goes.
  public struct Iterator: AsyncIteratorProtocol {
    private let changes = PulledChanges<Element>()
    private let begin: (PulledChanges<Element>) -> NotificationToken
    private var token: NotificationToken?

    fileprivate init(begin: @escaping (PulledChanges<Element>) -> NotificationToken) { self.begin = begin }

    public mutating func next() async -> Element? { await next(isolation: nil) }

    /// The next change; nil when the task is cancelled, and after an error.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      // An error that was put is taken first.
      if let change = changes.take() { return change }
      while !changes.isOver, !Task.isCancelled {
        let token = self.token ?? begin(changes)
        self.token = token
        let waiting = changes.waiting
        guard let observation = token.observation, !observation.isEnded else { break }
        observation.ask()
        await withTaskCancellationHandler {
          await withCheckedContinuation(isolation: actor) { waiting.wait($0) }
        } onCancel: {
          waiting.raise()
        }
        if Task.isCancelled { break }
        observation.pull()
        // Nothing where it was changed back meanwhile, or a write transaction is open.
        if let change = changes.take() { return change }
      }
      return end()
    }

    private mutating func end() -> Element? {
      changes.isOver = true
      token = nil
      return nil
    }
  }
}

@available(*, unavailable)
extension ChangeSequence: Sendable {}
@available(*, unavailable)
extension ChangeSequence.Iterator: Sendable {}

/// Changes on their way from an observer to the loop that asks for them. The box is used where the realm belongs.
final class PulledChanges<Element> {
  private var change: Element?
  var isOver = false
  let waiting = Waiting()

  func put(_ change: Element, isLast: Bool) {
    self.change = change
    guard isLast else { return }
    isOver = true
    waiting.raise()
  }

  func take() -> Element? {
    defer { change = nil }
    return change
  }

  /// A task that waits until something is there.
  final class Waiting: Sendable {
    private enum State {
      case idle, raised
      case waiting(CheckedContinuation<Void, Never>)
    }
    private let state = Mutex(State.idle)

    func wait(_ continuation: CheckedContinuation<Void, Never>) {
      let isRaised = state.withLock { state in
        if case .raised = state {
          state = .idle
          return true
        }
        state = .waiting(continuation)
        return false
      }
      if isRaised { continuation.resume() }
    }

    func raise() {
      let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
        if case .waiting(let continuation) = state {
          state = .idle
          return continuation
        }
        state = .raised
        return nil
      }
      waiting?.resume()
    }
  }
}

extension RealmCollection {
  /// The changes of the collection as an asynchronous sequence; see `ChangeSequence`. The parameter and what counts as a modification are those of `observe`.
  public func changes(keyPaths: [String]? = nil) -> ChangeSequence<Self> {
    ChangeSequence { changes in
      let realm = managingRealm("observed")
      realm.session.checkObservable("a \(Self.self)")
      let token = NotificationToken()
      let observation = observation(keyPaths) { told in
        let change = told.of(self)
        if case .error = change {
          changes.put(change, isLast: true)
        } else {
          changes.put(change, isLast: false)
        }
      }
      let waiting = changes.waiting
      observation.wake = { waiting.raise() }
      token.begin(observation)
      return token
    }
  }

  /// The same with key paths of the objects' class.
  public func changes(keyPaths: [PartialKeyPath<Element>]) -> ChangeSequence<Self> where Element: ObjectBase {
    changes(keyPaths: keyPaths.map(PropertyRecorder.joinedNames))
  }
}

extension Observation {
  /// In the scheduler of its realm: takes what it was told to be there.
  fileprivate func pull() {
    let session = life.session
    if session.isWriting { return }
    for call in hub.takeCalls(session, pulling: self) { call.run() }
  }
}
