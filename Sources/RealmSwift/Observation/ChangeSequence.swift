import RealmStorage
import Synchronization

/// The changes of a collection, one after another: first `.initial`, then each change since the one before.
///
///     for await change in realm.objects(Book.self).changes() {
///       if case .update(let books, _, let insertions, _) = change { show(books, insertions) }
///     }
///
/// Changes that happen while the body of the loop runs are told together as one. The sequence ends when the task is cancelled,
/// and after an `.error`. When the object that the collection belongs to is deleted, the sequence tells that the collection is
/// empty. A sequence can be used only where its realm belongs: the compiler refuses other code.
public struct ChangeSequence<Collection>: AsyncSequence {
  public typealias Element = RealmCollectionChange<Collection>
  /// The sequence tells errors as its last change, and never throws.
  public typealias Failure = Never

  fileprivate let begin: (PulledChanges<Element>) -> NotificationToken

  /// Makes an iterator, which begins to observe at the first call of `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(begin: begin) }

  /// Waits for changes. The collection is observed from the first call of `next()` until the iterator is freed.
  public struct Iterator: AsyncIteratorProtocol {
    private let changes = PulledChanges<Element>()
    private let begin: (PulledChanges<Element>) -> NotificationToken
    private var token: NotificationToken?

    fileprivate init(begin: @escaping (PulledChanges<Element>) -> NotificationToken) { self.begin = begin }

    /// The next change; nil if the task is cancelled, and after an error.
    public mutating func next() async -> Element? { await next(isolation: nil) }

    /// The next change; nil if the task is cancelled, and after an error. The call waits until there is a change.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      // An error that came in the meantime is returned before anything else.
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
        // There is nothing to take if the change was undone in the meantime, or a write transaction is open.
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

/// Holds a change until the loop that asks for it takes it from the observer. It is used only where the realm belongs.
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

  /// Lets a task wait until there is a change.
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
  /// The changes of the collection as an asynchronous sequence; see `ChangeSequence`. The parameter, the preconditions and what
  /// counts as a modification are those of `observe`.
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

  /// The changes of the collection as an asynchronous sequence, with key paths of the class of the objects; see `ChangeSequence`.
  public func changes(keyPaths: [PartialKeyPath<Element>]) -> ChangeSequence<Self> where Element: ObjectBase {
    changes(keyPaths: keyPaths.map(PropertyRecorder.joinedNames))
  }
}

extension Observation {
  /// Takes the change that the observer was woken for, in the scheduler of its realm.
  fileprivate func pull() {
    let session = life.session
    if session.isWriting { return }
    for call in hub.takeCalls(session, pulling: self) { call.run() }
  }
}
