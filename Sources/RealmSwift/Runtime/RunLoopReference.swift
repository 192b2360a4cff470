import CoreFoundation
import Foundation

/// The run loop of a thread, which blocks can be given to from others.
struct RunLoopReference: @unchecked Sendable {
  // Sendable: the two functions that it is used by may be called on any thread.
  private let loop: CFRunLoop

  /// The run loop of the thread that runs, where it is running; nil else.
  static var current: RunLoopReference? {
    guard RunLoop.current.currentMode != nil, let loop = CFRunLoopGetCurrent() else { return nil }
    return RunLoopReference(loop: loop)
  }

  /// Runs a block when the loop turns next, which it does now.
  func perform(_ block: @escaping @Sendable () -> Void) {
    CFRunLoopPerformBlock(loop, kCFRunLoopCommonModes, block)
    // A block alone does not wake a loop that sleeps.
    CFRunLoopWakeUp(loop)
  }
}
