import Foundation
import Synchronization

/// Somebody has asked this program to end.
package struct Interrupted: Error, CustomStringConvertible {
  package let description = "The program was interrupted."
}

/// Signals that ask this program to end. All waiting ends then, so that what was started is ended and files are removed.
package enum Interruption {
  private static let hasCome = Atomic<Bool>(false)

  package static func watch() {
    // It is there before a handler uses it: a handler may make nothing.
    hasCome.store(false, ordering: .relaxed)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { _ in Interruption.hasCome.store(true, ordering: .relaxed) }
    }
    // A program that has ended takes no orders: that is an error, and no reason to end here too.
    signal(SIGPIPE, SIG_IGN)
  }

  /// - Throws: `Interrupted`.
  package static func check() throws {
    if hasCome.load(ordering: .relaxed) { throw Interrupted() }
  }

  /// Waits so long.
  ///
  /// - Throws: `Interrupted`.
  package static func wait(seconds: Double) throws {
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end {
      try check()
      let left = (end - ContinuousClock.now) / .seconds(1)
      if left > 0 { Thread.sleep(forTimeInterval: min(0.1, left)) }
    }
    try check()
  }
}
