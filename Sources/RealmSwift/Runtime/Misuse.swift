import Synchronization

private let handler = Mutex<(@Sendable (_ name: String, _ reason: String) -> Never)?>(nil)

/// Sets what happens, in tests, when a programmer's error is found, instead of stopping the program. The function must not
/// return.
@_spi(Testing)
public func _setProgrammerErrorHandler(_ new: (@Sendable (_ name: String, _ reason: String) -> Never)?) {
  handler.withLock { $0 = new }
}

/// Stops the program because it has asked for something that makes no sense. Callers do this before they change
/// anything.
///
/// - Parameters:
///   - name: the kind of error.
///   - reason: the class, property and value, and what to do instead.
func raise(_ name: String, _ reason: String) -> Never {
  Logger.shared.log(.fatal, "\(name): \(reason)")
  if let handler = handler.withLock({ $0 }) { handler(name, reason) }
  fatalError("\(name): \(reason)")
}
