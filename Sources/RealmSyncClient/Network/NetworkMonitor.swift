/// Tells when servers may be reached that could not be reached before.
package protocol NetworkMonitor: Sendable {
  /// Calls `body`, on any thread, whenever the machine has a network after it had none, or another one, until what is returned goes.
  func observe(_ body: @escaping @Sendable () -> Void) -> any NetworkObservation
}

/// Ends the calls of a monitor when it goes.
package protocol NetworkObservation: AnyObject, Sendable {}
