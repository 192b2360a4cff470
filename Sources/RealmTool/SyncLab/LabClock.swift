import Foundation
import RealmStorage

/// The time of the machine in milliseconds, no two times the same.
///
/// Two devices that write within one millisecond would be told apart by their random numbers, and what comes
/// out would differ from run to run.
final class LabClock {
  private var last: UInt64 = 0

  func now() -> UInt64 {
    // A clock that was set back is not waited for.
    for _ in 0..<20 where Self.milliseconds <= last { usleep(100) }
    last = max(Self.milliseconds, last + 1)
    return last
  }

  private static var milliseconds: UInt64 { RealmStorage.Clock.now / 1_000_000 }
}
