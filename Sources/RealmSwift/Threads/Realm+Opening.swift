public import Dispatch
import Synchronization

extension Realm {
  /// Whether a synced realm is brought up to date before it opens. A realm that is not synced opens at once.
  public enum OpenBehavior: Sendable {
    /// It opens with what is in the file.
    case never
    /// Where the file is new, it opens when what the server has is in it.
    case once
    /// It opens when all that the server has is in it.
    case always
  }

  /// Opens a realm of the actor that calls, as the main actor. The file is opened, made and compacted on another thread.
  ///
  ///     @MainActor func show() async throws { let realm = try await Realm() }
  ///
  /// - Throws: as `init(configuration:queue:)`; `CancellationError` where the task was cancelled.
  public init(
    configuration: Configuration = .defaultConfiguration, _isolation actor: isolated any Actor = #isolation,
    downloadBeforeOpen: OpenBehavior = .never
  ) async throws {
    self = try await Realm.open(
      configuration: configuration, _isolation: actor, downloadBeforeOpen: downloadBeforeOpen)
  }

  /// Opens a realm of an actor, which is to be used in code that is isolated to it. The file is opened, made and compacted on
  /// another thread.
  ///
  ///     actor Store {
  ///       private var realm: Realm!
  ///       func open() async throws { realm = try await Realm(actor: self) }
  ///     }
  ///
  /// - Throws: as `init(configuration:queue:)`; `CancellationError` where the task was cancelled.
  public init<A: Actor>(
    configuration: Configuration = .defaultConfiguration, actor: isolated A,
    downloadBeforeOpen: OpenBehavior = .never
  ) async throws {
    self = try await Realm.open(
      configuration: configuration, _isolation: actor, downloadBeforeOpen: downloadBeforeOpen)
  }

  /// Opens a realm of the actor that calls. The file is opened, made and compacted on another thread.
  ///
  /// - Throws: as `init(configuration:queue:)`; `CancellationError` where the task was cancelled.
  public static func open(
    configuration: Configuration = .defaultConfiguration, _isolation actor: isolated any Actor = #isolation,
    downloadBeforeOpen: OpenBehavior = .never
  ) async throws -> Realm {
    try Task.checkCancellation()
    let hold = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<RealmFile.Hold, any Swift.Error>) in
      FileOpener.open(configuration) { continuation.resume(with: $0) }
    }
    defer { hold.end() }
    try Task.checkCancellation()
    let (life, view) = try RealmFile.session(configuration, .of(actor))
    return Realm(life, view)
  }

  /// Opens a realm on another thread, and calls `callback` with it, or with the error for which it could not be opened.
  ///
  /// - Parameters:
  ///   - callbackQueue: a serial queue, which the realm belongs to and `callback` is called on.
  ///   - callback: is called once, unless the task that is answered is cancelled before.
  @discardableResult
  public static func asyncOpen(
    configuration: Configuration = .defaultConfiguration, callbackQueue: DispatchQueue = .main,
    callback: @escaping (Result<Realm, any Swift.Error>) -> Void
  ) -> AsyncOpenTask {
    let scheduler = Scheduler.of(callbackQueue)
    let task = AsyncOpenTask()
    // It is called on its queue.
    nonisolated(unsafe) let callback = callback
    FileOpener.open(configuration) { result in
      callbackQueue.async {
        guard !task.isCancelled else { return }
        callback(
          Result {
            let hold = try result.get()
            defer { hold.end() }
            let (life, view) = try RealmFile.session(configuration, scheduler)
            return Realm(life, view)
          })
      }
    }
    return task
  }

  /// A realm that is being opened.
  public struct AsyncOpenTask: Sendable {
    private final class State: Sendable {
      let isCancelled = Atomic<Bool>(false)
    }
    private let state = State()

    fileprivate init() {}
    fileprivate var isCancelled: Bool { state.isCancelled.load(ordering: .acquiring) }

    /// The callback is not called any more. A file that is being opened is opened, and closed again.
    public func cancel() { state.isCancelled.store(true, ordering: .releasing) }
  }
}

/// Opens files on a thread that may wait: for the transactions of others, for a migration, for a file that is compacted.
private enum FileOpener {
  private static let queue = DispatchQueue(label: "io.realm.open", attributes: .concurrent)

  /// Opens a file, and calls `body` on another thread with what keeps it open.
  static func open(
    _ configuration: Realm.Configuration,
    _ body: @escaping @Sendable (Result<RealmFile.Hold, any Error>) -> Void
  ) {
    queue.async {
      body(
        Result {
          let (life, _) = try RealmFile.session(configuration, .current)
          return withExtendedLifetime(life) { life.session.file.hold() }
        })
    }
  }
}
