import NIOCore
import Synchronization

/// The event loop of a connection, for what other threads want done there.
///
/// What comes after the connection was closed is thrown away. The loop itself may have ended by then, because
/// the front ends its threads once all connections are closed, and a loop that has ended takes nothing any
/// more.
final class ConnectionLoop: Sendable {
  let eventLoop: any EventLoop
  private let isOpen = Mutex(true)

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Does something on the event loop, behind all that was handed to it before.
  func run(_ work: @escaping @Sendable () -> Void) {
    // The lock is held while the loop takes the work, so that the connection is not closed in between.
    isOpen.withLock { isOpen in
      if isOpen { eventLoop.execute(work) }
    }
  }

  /// The connection is closed.
  func close() { isOpen.withLock { $0 = false } }
}
