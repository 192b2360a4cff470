public import Dispatch
import Foundation
import Synchronization

extension Realm {
  /// Whether a synced realm is brought up to date before it opens. A realm that is not synced opens at once.
  public enum OpenBehavior: Sendable {
    /// The realm opens with what is in the file.
    case never
    /// If the file is new, the realm opens when all that the server has is in it.
    case once
    /// The realm opens when all that the server has is in it.
    case always
  }

  /// Opens a realm of the actor that calls, such as the main actor. The file is opened, made and compacted on another thread.
  ///
  ///     @MainActor func show() async throws { let realm = try await Realm() }
  ///
  /// - Throws: the same errors as `init(configuration:queue:)`; those of the download; `CancellationError` if the task was
  ///   cancelled.
  public init(
    configuration: Configuration = .defaultConfiguration, _isolation actor: isolated any Actor = #isolation,
    downloadBeforeOpen: OpenBehavior = .never
  ) async throws {
    self = try await Realm.open(
      configuration: configuration, _isolation: actor, downloadBeforeOpen: downloadBeforeOpen)
  }

  /// Opens a realm of an actor. It is used in code that is isolated to the actor. The file is opened, made and compacted on
  /// another thread.
  ///
  ///     actor Store {
  ///       private var realm: Realm!
  ///       func open() async throws { realm = try await Realm(actor: self) }
  ///     }
  ///
  /// - Throws: the same errors as `init(configuration:queue:)`; those of the download; `CancellationError` if the task was
  ///   cancelled.
  public init<A: Actor>(
    configuration: Configuration = .defaultConfiguration, actor: isolated A,
    downloadBeforeOpen: OpenBehavior = .never
  ) async throws {
    self = try await Realm.open(
      configuration: configuration, _isolation: actor, downloadBeforeOpen: downloadBeforeOpen)
  }

  /// Opens a realm of the actor that calls. The file is opened, made and compacted on another thread.
  ///
  /// - Throws: the same errors as `init(configuration:queue:)`; those of the download; `CancellationError` if the task was
  ///   cancelled.
  public static func open(
    configuration: Configuration = .defaultConfiguration, _isolation actor: isolated any Actor = #isolation,
    downloadBeforeOpen: OpenBehavior = .never
  ) async throws -> Realm {
    try Task.checkCancellation()
    let isNew = !Realm.fileExists(for: configuration) && !RealmFile.isOpen(configuration)
    let hold = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<RealmFile.Hold, any Swift.Error>) in
      FileOpener.open(configuration) { continuation.resume(with: $0) }
    }
    defer { hold.end() }
    try Task.checkCancellation()
    if let sync = hold.file.sync, downloadBeforeOpen == .always || (downloadBeforeOpen == .once && isNew) {
      try await CallbackWait.wait { (done: @escaping @Sendable (Result<Void, any Swift.Error>) -> Void) in
        sync.whenUpToDate(for: configuration.syncing) { done($0.map { .failure($0) } ?? .success(())) }
      }
    }
    let (life, view) = try RealmFile.session(configuration, .of(actor))
    return Realm(life, view)
  }

  /// Opens a realm on another thread, and calls `callback` with the realm, or with the error for which it could not be opened. A
  /// synced realm opens when all that its server has is in it.
  ///
  /// - Parameters:
  ///   - callbackQueue: a serial queue, which the realm belongs to and on which `callback` is called.
  ///   - callback: is called once. If the returned task is cancelled first, the callback of a synced realm is called with the
  ///     POSIX error `ECANCELED`, and that of another realm is not called.
  /// - Returns: a task with which the opening can be cancelled.
  @discardableResult
  public static func asyncOpen(
    configuration: Configuration = .defaultConfiguration, callbackQueue: DispatchQueue = .main,
    callback: @escaping (Result<Realm, any Swift.Error>) -> Void
  ) -> AsyncOpenTask {
    let scheduler = Scheduler.of(callbackQueue)
    let task = AsyncOpenTask()
    // The callback is used on its queue only.
    nonisolated(unsafe) let callback = callback
    @Sendable func finish(_ result: Result<RealmFile.Hold, any Swift.Error>) {
      callbackQueue.async {
        guard task.finish() else { return }
        callback(
          Result {
            let hold = try result.get()
            defer { hold.end() }
            let (life, view) = try RealmFile.session(configuration, scheduler)
            return Realm(life, view)
          })
      }
    }
    FileOpener.open(configuration) { result in
      guard case .success(let hold) = result, let sync = hold.file.sync else { return finish(result) }
      task.follow(sync, configuration.syncing) { error in
        finish(error.map { .failure($0) } ?? .success(hold))
      }
    }
    return task
  }

  /// A realm that is being opened.
  public struct AsyncOpenTask: Sendable {
    private struct State {
      var isOver = false
      /// Whether the opening was cancelled before it was known whether the realm is synced.
      var isCancelled = false
      var sync: (any FileSync)?
      /// Closures that wait to know what syncs the file.
      var followers: [@Sendable (any FileSync) -> Void] = []
      /// Ends the wait for the server, and calls the callback.
      var stop: (@Sendable () -> Void)?
    }
    private final class Shared: Sendable {
      let state = Mutex(State())
    }
    private let shared = Shared()

    fileprivate init() {}

    /// Ends the opening, and returns whether the callback is to be called. That is true once. It is false if the
    /// opening was cancelled before the sync of the file was known.
    fileprivate func finish() -> Bool {
      shared.state.withLock { state in
        if state.isOver || (state.isCancelled && state.sync == nil) { return false }
        state = State(isOver: true)
        return true
      }
    }

    /// Waits for the server.
    ///
    /// - Parameter maker: the sync of the configuration with which the realm is opened.
    fileprivate func follow(
      _ sync: any FileSync, _ maker: (any FileSyncMaker)?,
      _ body: @escaping @Sendable ((any Swift.Error)?) -> Void
    ) {
      let followers = shared.state.withLock { state in
        state.sync = sync
        return state.followers
      }
      for follower in followers { follower(sync) }
      let end = sync.whenUpToDate(for: maker, body)
      let stop: @Sendable () -> Void = {
        end()
        body(NSError(domain: NSPOSIXErrorDomain, code: Int(ECANCELED)))
      }
      let isCancelled = shared.state.withLock { state in
        if !state.isOver, !state.isCancelled { state.stop = stop }
        return state.isCancelled
      }
      if isCancelled { stop() }
    }

    /// Calls `body` with the sync of the file, now or as soon as it is known.
    func whenSynced(_ body: @escaping @Sendable (any FileSync) -> Void) {
      let sync = shared.state.withLock { state in
        if state.sync == nil, !state.isOver { state.followers.append(body) }
        return state.sync
      }
      if let sync { body(sync) }
    }

    /// Cancels the opening. A file that is being opened is opened, and closed again. Other callers that open the same file are
    /// not affected.
    public func cancel() {
      let stop = shared.state.withLock { state in
        state.isCancelled = true
        return state.stop.take()
      }
      stop?()
    }
  }
}

/// Opens files on threads that may block, because opening may wait for other transactions, a migration or a compaction.
private enum FileOpener {
  private static let queue = DispatchQueue(label: "io.realm.open", attributes: .concurrent)

  /// Opens a file, and calls `body` on another thread with what keeps the file open.
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
