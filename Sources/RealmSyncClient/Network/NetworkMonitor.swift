/// Reports when servers may be reached that could not be reached before.
package protocol NetworkMonitor: Sendable {
  /// Calls `body`, on any thread, whenever the machine has a network after it had none, or has another network. The
  /// calls end when the returned object is released.
  func observe(_ body: @escaping @Sendable () -> Void) -> any NetworkObservation
}

/// Ends the calls of a monitor when it is released.
package protocol NetworkObservation: AnyObject, Sendable {}
