import Foundation

/// The amount of work of a test: as much as fits into the suite that everybody runs, or much more of the same with
/// `REALM_SLOW_TESTS=1`.
package enum Slow {
  package static let isAsked = ProcessInfo.processInfo.environment["REALM_SLOW_TESTS"] != nil

  package static func count(_ usual: Int, slow: Int) -> Int { isAsked ? slow : usual }

  /// The seeds of random tests.
  package static func seeds(_ usual: Int, slow: Int) -> Range<UInt64> { 0..<UInt64(count(usual, slow: slow)) }
}
