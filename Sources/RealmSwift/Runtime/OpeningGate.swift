import Foundation

/// Lets one thread at a time open or delete a file. No lock is held while code of the program runs, since a migration block or
/// the initializer of a class may open other realms.
final class OpeningGate: @unchecked Sendable {
  // Sendable: `threads` and `waits` are used under the condition's lock.
  private let condition = NSCondition()
  /// By the path of a file: the thread that is opening it.
  private var threads: [String: ThreadID] = [:]
  /// By thread: the path of the file that it waits for.
  private var waits: [ThreadID: String] = [:]

  /// Calls `body` while no other thread is inside for the same path. Waits for a thread that is.
  func opening<Result>(_ place: String, _ body: () throws -> Result) rethrows -> Result {
    enter(place)
    defer { leave(place) }
    return try body()
  }

  private func enter(_ place: String) {
    // This is outside of the lock, which other threads need.
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

  /// Waits until no thread is inside, and enters. If it would wait for ever, for itself or for threads that wait for a file that
  /// it is opening, it returns the paths of those files, with the one that it is opening first.
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
