import CRealmPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The pipe `NAME.note`. A byte that is written to it wakes all threads that wait for commits, in all processes.
///
/// No waiter reads the pipe, so none takes a wake-up from another. A waiter learns that something was written, not
/// what.
package final class NotePipe: Sendable {
  private let descriptor: CInt
  /// True if this process made the pipe.
  let wasMade: Bool
  private let forkGeneration = cp_fork_generation()

  /// Opens or makes the pipe. Nil on a file system without pipes, or if something else is at the path.
  init?(path: String) {
    var made: CInt = 0
    descriptor = cp_note_open(path, &made)
    wasMade = made != 0
    guard descriptor >= 0 else { return nil }
    cp_forget_in_child(descriptor)
  }

  deinit { if cp_fork_generation() == forkGeneration { _ = cp_close(descriptor) } }

  package func wake() { _ = cp_note_wake(descriptor) }

  /// A watch of the pipe; nil if the system refuses. A wake-up that comes after this call ends a wait of the watch,
  /// once.
  package func watch() -> Watch? {
    let queue = cp_note_watch(descriptor)
    return queue >= 0 ? Watch(pipe: self, queue: queue) : nil
  }

  package final class Watch: Sendable {
    private let pipe: NotePipe
    private let queue: CInt

    fileprivate init(pipe: NotePipe, queue: CInt) {
      self.pipe = pipe
      self.queue = queue
    }

    deinit { _ = cp_close(queue) }

    /// Waits for a wake-up, or until `limit` has passed. May also return without a wake-up.
    package func wait(_ limit: Duration) {
      let milliseconds = min(max(limit / .milliseconds(1), 1), Double(Int32.max))
      _ = cp_note_wait(queue, CInt(milliseconds.rounded(.up)))
    }
  }

  /// Waits for `time`. Used if there is no pipe.
  package static func pause(_ time: Duration) { usleep(UInt32(max(time / .microseconds(1), 1))) }
}
