import Foundation

/// Lets one thread at a time open or delete a file, without a lock around the code of the program that runs meanwhile: a
/// migration block, or the initializer of a class, may open other realms.
final class OpeningGate: @unchecked Sendable {
  // Sendable: `threads` is used under the condition's lock.
  private let condition = NSCondition()
  /// By the place of a file, the thread that is opening it.
  private var threads: [String: ThreadID] = [:]

  /// Calls `body` while no other thread is inside for the same place. Waits for one that is.
  func opening<Result>(_ place: String, _ body: () throws -> Result) rethrows -> Result {
    enter(place)
    defer { leave(place) }
    return try body()
  }

  private func enter(_ place: String) {
    condition.lock()
    defer { condition.unlock() }
    while let thread = threads[place] {
      if thread == ThreadID.current {
        raise(
          "Realm in its own migration",
          "\(place) is opened by a migrationBlock, or by the initializer of a class, that runs while it is being opened; use "
            + "it after Realm(configuration:) has returned.")
      }
      condition.wait()
    }
    threads[place] = ThreadID.current
  }

  private func leave(_ place: String) {
    condition.lock()
    defer { condition.unlock() }
    threads[place] = nil
    condition.broadcast()
  }
}
