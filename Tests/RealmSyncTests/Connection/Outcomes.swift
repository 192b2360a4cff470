import Synchronization

/// Collects outcomes that are told on any queue.
final class Outcomes<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])

  /// The outcomes, oldest first.
  var all: [Value] { values.withLock { $0 } }

  func add(_ value: Value) { values.withLock { $0.append(value) } }
}
