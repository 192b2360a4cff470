import Dispatch
import Foundation

/// The time, chance, and what is to be done later. Simulations have their own.
package protocol SyncClock: Sendable {
  /// Milliseconds since 1970.
  var now: UInt64 { get }
  /// Calls `body` on a queue after so many milliseconds.
  func after(_ milliseconds: UInt64, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void)
  /// A number below a bound, which is not 0.
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
