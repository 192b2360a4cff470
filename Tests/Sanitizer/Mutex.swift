#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Takes the place of the standard library's, into which ThreadSanitizer can't see: what one thread did before it left is
/// not known to come before what the next does, and each use is told as a race.
struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  // Sendable: the value is reached under the lock only.
  private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init(_ value: consuming sending Value) {
    self.value.initialize(to: value)
    // Not by the initializer of its type, which several modules have.
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
