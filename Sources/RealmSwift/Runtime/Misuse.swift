import Synchronization

private let handler = Mutex<(@Sendable (_ name: String, _ reason: String) -> Never)?>(nil)

/// What happens instead of a trap when a programmer's error is found, in tests. It must not return.
@_spi(Testing)
public func _setProgrammerErrorHandler(_ new: (@Sendable (_ name: String, _ reason: String) -> Never)?) {
  handler.withLock { $0 = new }
}

/// Stops the program, which asked for something that has no meaning. Called before anything was changed.
///
/// - Parameters:
///   - name: what kind of error it is.
///   - reason: which class, property and value, and the way out.
func raise(_ name: String, _ reason: String) -> Never {
  Logger.shared.log(.fatal, "\(name): \(reason)")
  if let handler = handler.withLock({ $0 }) { handler(name, reason) }
  fatalError("\(name): \(reason)")
}
