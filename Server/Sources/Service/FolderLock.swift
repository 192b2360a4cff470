import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A lock on a file. The system releases it when the process ends.
package final class FolderLock: Sendable {
  private let descriptor: Int32

  /// - Returns: the lock; nil if another program has it.
  init?(_ url: URL) throws {
    let opened = open(url.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard opened >= 0 else {
      throw DataFolder.Problem(
        description: "\(url.path) can't be opened: \(String(cString: strerror(errno))).")
    }
    guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
      close(opened)
      return nil
    }
    descriptor = opened
  }

  deinit { close(descriptor) }
}
