#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The control lock of a storage. One thread of one process holds it at a time, and may take it again.
///
/// The lock of the file belongs to the handle: it keeps other handles out, but not the threads of the same handle. A
/// mutex does that.
package final class ControlLock: @unchecked Sendable {
  // Sendable: `depth` is used under the mutex only.
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

  /// Takes the lock. Returns false if another thread or handle holds it and `waits` is false.
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
