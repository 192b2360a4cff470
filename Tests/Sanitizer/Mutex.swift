#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Replaces the mutex of the standard library, which ThreadSanitizer does not understand. It would not know that what
/// one thread did before it released the lock comes before what the next thread does, and would report each use as a
/// race.
struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  // This is Sendable because the value is used only under the lock.
  private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init(_ value: consuming sending Value) {
    self.value.initialize(to: value)
    // This function is used because several modules have an initializer of the lock's type.
    pthread_mutex_init(lock, nil)
  }

  deinit {
    pthread_mutex_destroy(lock)
    value.deinitialize(count: 1)
    value.deallocate()
    lock.deallocate()
  }

  borrowing func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return try body(&value.pointee)
  }

  borrowing func withLockIfAvailable<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    guard pthread_mutex_trylock(lock) == 0 else { return nil }
    defer { pthread_mutex_unlock(lock) }
    return try body(&value.pointee)
  }
}
