import NIOCore
import Synchronization

/// The event loop of a connection, for work that other threads hand over to it.
///
/// Work that comes after the connection was closed is thrown away. The loop itself may have ended by then, because the
/// front ends its threads when all connections are closed, and a loop that has ended takes no work any more.
final class ConnectionLoop: Sendable {
  let eventLoop: any EventLoop
  private let isOpen = Mutex(true)

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Does work on the event loop, behind all work that was handed over before.
  func run(_ work: @escaping @Sendable () -> Void) {
    // The lock is held while the loop takes the work, so that the connection is not closed in between.
    isOpen.withLock { isOpen in
      if isOpen { eventLoop.execute(work) }
    }
  }

  /// Notes that the connection is closed.
  func close() { isOpen.withLock { $0 = false } }
}
