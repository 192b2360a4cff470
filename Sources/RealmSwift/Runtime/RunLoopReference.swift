import CoreFoundation
import Foundation

/// The run loop of a thread, to which other threads can give blocks.
struct RunLoopReference: @unchecked Sendable {
  // Sendable: the two functions that use the loop may be called on any thread.
  private let loop: CFRunLoop

  /// The run loop of the current thread; nil if it is not running.
  static var current: RunLoopReference? {
    guard RunLoop.current.currentMode != nil, let loop = CFRunLoopGetCurrent() else { return nil }
    return RunLoopReference(loop: loop)
  }

  /// Runs a block in the next turn of the loop, which is woken for it.
  func perform(_ block: @escaping @Sendable () -> Void) {
    CFRunLoopPerformBlock(loop, kCFRunLoopCommonModes, block)
    // Giving a block to a loop does not wake it.
    CFRunLoopWakeUp(loop)
  }
}
