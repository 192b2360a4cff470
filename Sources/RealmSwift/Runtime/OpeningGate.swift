import Foundation

/// Lets one thread at a time open or delete a file. No lock is held while code of the program runs, because a migration
/// block or the initializer of a class may open other realms.
final class OpeningGate: @unchecked Sendable {
  // Sendable: `threads` and `waits` are used under the condition's lock.
  private let condition = NSCondition()
  /// The thread that is opening each file, by the path of the file.
  private var threads: [String: ThreadID] = [:]
  /// The path of the file for which each thread waits.
  private var waits: [ThreadID: String] = [:]

  /// Calls `body` while no other thread is inside for the same path. Waits for another thread that is inside.
  func opening<Result>(_ place: String, _ body: () throws -> Result) rethrows -> Result {
    enter(place)
    defer { leave(place) }
    return try body()
  }

  private func enter(_ place: String) {
    // The program stops here and not under the lock, because other threads need the lock.
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

  /// Waits until no thread is inside, and enters. If the wait would never end, because this thread itself is inside or
  /// because threads wait for each other in a circle, the answer is the paths of their files instead. The first path is
  /// that of a file that this thread is opening.
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
