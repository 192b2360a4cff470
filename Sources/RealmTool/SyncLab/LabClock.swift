import Foundation
import RealmStorage

/// The time of the machine in milliseconds. No two calls return the same time.
///
/// If two devices wrote within one millisecond, their random numbers would decide which write is later, and the result
/// would differ from run to run.
final class LabClock {
  private var last: UInt64 = 0

  func now() -> UInt64 {
    // If the clock was set back, the loop does not wait until it catches up.
    for _ in 0..<20 where Self.milliseconds <= last { usleep(100) }
    last = max(Self.milliseconds, last + 1)
    return last
  }

  private static var milliseconds: UInt64 { RealmStorage.Clock.now / 1_000_000 }
}
