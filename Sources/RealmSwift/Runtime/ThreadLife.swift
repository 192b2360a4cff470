#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif
import Synchronization

/// Tells whether a thread still runs. Code that keeps something on behalf of the thread asks this.
final class ThreadLife: Sendable {
  let thread: ThreadID
  private let ended = Atomic<Bool>(false)

  private init(_ thread: ThreadID) { self.thread = thread }

  var hasEnded: Bool { ended.load(ordering: .acquiring) }

  /// The life of the current thread.
  static var current: ThreadLife {
    if let kept = pthread_getspecific(key) {
      return Unmanaged<ThreadLife>.fromOpaque(kept).takeUnretainedValue()
    }
    let made = ThreadLife(ThreadID.current)
    pthread_setspecific(key, Unmanaged.passRetained(made).toOpaque())
    return made
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    // The system calls this function when a thread ends that has a value for the key.
    let failure = pthread_key_create(&key) { kept in
      #if canImport(Darwin)
        let life = Unmanaged<ThreadLife>.fromOpaque(kept).takeRetainedValue()
      #else
        guard let kept else { return }
        let life = Unmanaged<ThreadLife>.fromOpaque(kept).takeRetainedValue()
      #endif
      life.ended.store(true, ordering: .releasing)
    }
    precondition(failure == 0, "the system gives no more variables to threads")
    return key
  }()
}
