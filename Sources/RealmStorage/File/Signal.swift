import CRealmPlatform
import Synchronization

/// What threads wait for: each time it is raised, one of those that wait goes on, or all.
///
/// A number that counts up, and the address it stands at: the system puts a thread to sleep only where the number still is
/// what the thread has seen (futex(2); os_sync_wait_on_address(3)). So a wake-up takes no lock that who wakes still has, as a
/// condition does, and all are woken by one call.
package final class Signal: @unchecked Sendable {
  // Sendable: the number is read and changed atomically.
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

  /// How often it was raised, counted around.
  package var count: UInt32 { number.pointee.load(ordering: .sequentiallyConsistent) }

  /// Waits until it is raised once more than `count` times; may return for no reason.
  package func wait(since count: UInt32) {
    waiters.wrappingAdd(1, ordering: .sequentiallyConsistent)
    cp_wait_while(word, count)
    waiters.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }

  package func raise(wakes: Wakes) {
    number.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    // Who is not counted yet finds the number changed, and does not sleep.
    guard waiters.load(ordering: .sequentiallyConsistent) > 0 else { return }
    cp_wake(word, wakes == .all ? 1 : 0)
  }

  // Atomic<UInt32> has the layout of the number it holds.
  private var word: UnsafePointer<UInt32> { UnsafeRawPointer(number).assumingMemoryBound(to: UInt32.self) }
}
