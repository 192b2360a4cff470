import Dispatch
import Foundation

/// The source of the time, of random numbers and of delayed calls. Simulations have their own.
package protocol SyncClock: Sendable {
  /// The milliseconds since 1970.
  var now: UInt64 { get }
  /// Calls `body` on a queue after a number of milliseconds.
  func after(_ milliseconds: UInt64, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void)
  /// A random number below a bound, which must not be 0.
  func random(below bound: UInt64) -> UInt64
}

/// The time of the machine.
package struct SystemClock: SyncClock {
  package init() {}

  package var now: UInt64 { UInt64(clamping: Int64(Date().timeIntervalSince1970 * 1000)) }

  package func after(
    _ milliseconds: UInt64, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) {
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(clamping: milliseconds)), execute: body)
  }

  package func random(below bound: UInt64) -> UInt64 { .random(in: 0..<bound) }
}
