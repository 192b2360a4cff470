#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Lets one thread in at a time, in the order they came.
///
/// Unlike a lock it may be entered in one function and left in another, by another thread even.
package final class Gate: @unchecked Sendable {
  // Sendable: all state is behind the mutex.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var nextTicket: UInt64 = 0
  private var serving: UInt64 = 0

  package init() {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func enter() {
    pthread_mutex_lock(mutex)
    let ticket = nextTicket
    nextTicket += 1
    while serving != ticket { pthread_cond_wait(condition, mutex) }
    pthread_mutex_unlock(mutex)
  }

  /// Enters where nobody is in and nobody waits.
  package func tryEnter() -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard serving == nextTicket else { return false }
    nextTicket += 1
    return true
  }

  package func leave() {
    pthread_mutex_lock(mutex)
    serving += 1
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }
}
