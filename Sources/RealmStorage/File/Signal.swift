import CRealmPlatform
import Synchronization

/// A signal that threads wait for. Each time it is raised, one waiting thread continues, or all of them.
///
/// It consists of a number that counts up, and its address. The system puts a thread to sleep only if the number still
/// has the value that the thread has seen (futex(2); os_sync_wait_on_address(3)). So, unlike with a condition, a woken
/// thread needs no lock that the thread that wakes it may still hold, and one call wakes all.
package final class Signal: @unchecked Sendable {
  // Sendable: all accesses to the number are atomic.
  private let number: UnsafeMutablePointer<Atomic<UInt32>>
  private let waiters = Atomic<Int>(0)

  package enum Wakes { case one, all }

  package init() {
    number = .allocate(capacity: 1)
    number.initialize(to: Atomic(0))
  }

  deinit {
    number.deinitialize(count: 1)
    number.deallocate()
  }

  /// The number of times that the signal was raised. It wraps around.
  package var count: UInt32 { number.pointee.load(ordering: .sequentiallyConsistent) }

  /// Waits until the signal was raised more than `count` times. May also return without a reason.
  package func wait(since count: UInt32) {
    waiters.wrappingAdd(1, ordering: .sequentiallyConsistent)
    cp_wait_while(word, count)
    waiters.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }

  package func raise(wakes: Wakes) {
    number.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    // A thread that is not counted yet finds the number changed, and does not sleep.
    guard waiters.load(ordering: .sequentiallyConsistent) > 0 else { return }
    cp_wake(word, wakes == .all ? 1 : 0)
  }

  // Atomic<UInt32> has the layout of the number it holds.
  private var word: UnsafePointer<UInt32> { UnsafeRawPointer(number).assumingMemoryBound(to: UInt32.self) }
}
