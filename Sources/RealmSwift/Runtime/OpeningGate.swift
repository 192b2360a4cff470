import Foundation

/// Lets one thread at a time open or delete a file, without a lock around the code of the program that runs meanwhile: a
/// migration block, or the initializer of a class, may open other realms.
final class OpeningGate: @unchecked Sendable {
  // Sendable: `threads` and `waits` are used under the condition's lock.
  private let condition = NSCondition()
  /// By the place of a file, the thread that is opening it.
  private var threads: [String: ThreadID] = [:]
  /// By thread, the place of the file that it waits for.
  private var waits: [ThreadID: String] = [:]

  /// Calls `body` while no other thread is inside for the same place. Waits for one that is.
  func opening<Result>(_ place: String, _ body: () throws -> Result) rethrows -> Result {
    enter(place)
    defer { leave(place) }
    return try body()
  }

  private func enter(_ place: String) {
    // Not under the lock, which others need.
    if let circle = wait(place) {
      let (opened, others) = (circle[0], circle.dropFirst())
      raise(
        "Realm in its own migration",
        "Don't open \(opened) inside its own migrationBlock, or in the initializer of a class that runs meanwhile: the file is "
          + "still being opened. Use it after Realm(configuration:) has returned."
          + (others.isEmpty
            ? ""
            : " Threads open files in the migrationBlock of one another, in a circle: "
              + "\((circle + [opened]).joined(separator: ", "))."))
    }
  }

  /// Waits until nobody is inside, and is then. Answers the places of files where it would wait for ever, for itself or for threads
  /// that wait for a file that it is opening: that file first.
  private func wait(_ place: String) -> [String]? {
    condition.lock()
    defer { condition.unlock() }
    let current = ThreadID.current
    while threads[place] != nil {
      if let circle = circle(place, current) { return circle }
      waits[current] = place
      condition.wait()
      waits[current] = nil
    }
    threads[place] = current
    return nil
  }

  private func circle(_ place: String, _ current: ThreadID) -> [String]? {
    var places: [String] = []
    var next: String? = place
    while let awaited = next, let thread = threads[awaited] {
      if thread == current { return [awaited] + places }
      places.append(awaited)
      next = waits[thread]
    }
    return nil
  }

  private func leave(_ place: String) {
    condition.lock()
    defer { condition.unlock() }
    threads[place] = nil
    condition.broadcast()
  }
}
