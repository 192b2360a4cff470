import Synchronization

/// Waits for a callback, or for the end of the task.
enum CallbackWait {
  private struct State<Value: Sendable> {
    var continuation: CheckedContinuation<Value, any Error>?
    var result: Result<Value, any Error>?
  }

  private final class Once<Value: Sendable>: Sendable {
    private let state = Mutex(State<Value>())

    func finish(_ result: Result<Value, any Error>) {
      let continuation = state.withLock { state in
        guard state.result == nil else { return nil as CheckedContinuation<Value, any Error>? }
        state.result = result
        defer { state.continuation = nil }
        return state.continuation
      }
      continuation?.resume(with: result)
    }

    func wait(_ continuation: CheckedContinuation<Value, any Error>) {
      let result = state.withLock { state in
        if state.result == nil { state.continuation = continuation }
        return state.result
      }
      if let result { continuation.resume(with: result) }
    }
  }

  /// Waits until the closure that `begin` gets is called.
  ///
  /// - Parameter begin: starts what calls the closure, and returns a function that withdraws it. That function is called after
  ///   the wait, however it ends, so that nothing is left behind.
  /// - Throws: the failure that the closure was called with; `CancellationError` if the task is cancelled first.
  static func wait<Value: Sendable>(
    _isolation actor: isolated (any Actor)? = #isolation,
    _ begin: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> @Sendable () -> Void
  ) async throws -> Value {
    try Task.checkCancellation()
    let once = Once<Value>()
    let withdraw = begin { once.finish($0) }
    defer { withdraw() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { once.wait($0) }
    } onCancel: {
      once.finish(.failure(CancellationError()))
    }
  }
}
