import Synchronization

/// Collects what is told, by whatever queue.
final class Outcomes<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])

  /// The oldest first.
  var all: [Value] { values.withLock { $0 } }

  func add(_ value: Value) { values.withLock { $0.append(value) } }
}
