import Foundation
import Synchronization

/// The error if this program was asked to end.
package struct Interrupted: Error, CustomStringConvertible {
  package let description = "The program was interrupted."
}

/// Signals that ask this program to end. They end all waits, so that started programs are ended and files are removed.
package enum Interruption {
  private static let hasCome = Atomic<Bool>(false)

  package static func watch() {
    // The value is made before a handler uses it, because a handler may not allocate memory.
    hasCome.store(false, ordering: .relaxed)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { _ in Interruption.hasCome.store(true, ordering: .relaxed) }
    }
    // A program that has ended accepts no orders. A write to it must be an error instead of the end of this program.
    signal(SIGPIPE, SIG_IGN)
  }

  /// - Throws: `Interrupted`.
  package static func check() throws {
    if hasCome.load(ordering: .relaxed) { throw Interrupted() }
  }

  /// Waits for this number of seconds.
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
