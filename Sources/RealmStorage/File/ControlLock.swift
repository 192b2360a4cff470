#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The control lock of a storage, held by one thread of one process at a time. A thread that holds it may take it again.
///
/// The lock of the file belongs to the handle: it keeps other handles out, not this one's own threads.
package final class ControlLock: @unchecked Sendable {
  // Sendable: `depth` is reached under the mutex only.
  private let storage: any Storage
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var depth = 0

  package init(_ storage: any Storage) {
    self.storage = storage
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_RECURSIVE))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Answers false where somebody else has it and `waits` is false.
  package func lock(waits: Bool = true) throws(StorageError) -> Bool {
    guard (waits ? pthread_mutex_lock(mutex) : pthread_mutex_trylock(mutex)) == 0 else { return false }
    do throws(StorageError) {
      if depth == 0, try !storage.lock(.control, waits: waits) {
        pthread_mutex_unlock(mutex)
        return false
      }
    } catch {
      pthread_mutex_unlock(mutex)
      throw error
    }
    depth += 1
    return true
  }

  package func unlock() {
    depth -= 1
    if depth == 0 { storage.unlock(.control) }
    pthread_mutex_unlock(mutex)
  }
}
