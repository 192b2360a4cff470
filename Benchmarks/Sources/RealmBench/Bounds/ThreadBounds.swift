import Foundation

/// Measures threads that wait for the same disk together.
struct ThreadBounds {
  let folder: String

  private static let commits = 4_000
  private static let length = 64 << 20

  func all(_ rounds: Int) throws -> [Bound] {
    try [(8, "12g"), (32, "12g32")].flatMap { (threads, workload) in
      try Bound.medians(
        "ms", rounds: rounds,
        [
          Bound.Part(
            workloads: workload,
            title:
              "\(Self.commits) commits of \(threads) threads through a queue: 8 KiB, one flush for all that wait"
          ) {
            [try shared(threads, path: 8 << 10, own: 0, areMade: false)]
          },
          Bound.Part(
            workloads: workload,
            title:
              "each through a lock of its own turn first: 8 KiB and 8 for each, 4 elsewhere, one flush for all"
          ) {
            [try shared(threads, path: 8 << 10, own: 8 << 10, areMade: true)]
          },
        ])
    }
  }

  /// - Parameters:
  ///   - path: the number of bytes that are written once for all threads that share a flush.
  ///   - own: the number of bytes that are written for each of them.
  ///   - areMade: whether each thread first takes its turn at a lock, to make its change, and the version is written to
  ///     another place.
  private func shared(_ threads: Int, path: Int, own: Int, areMade: Bool) throws -> Double {
    let name = folder + "/threads"
    try BoundFile.make(name, bytes: Self.length)
    let descriptor = open(name, O_RDWR)
    guard descriptor >= 0 else { throw BenchmarkError("\(name) can't be opened") }
    defer { _ = Foundation.close(descriptor) }
    try Measure.flush(descriptor, name)
    let content = [UInt8](repeating: 0x5a, count: path + threads * own)
    var place = 1 << 20
    let queue = CommitQueue { changes in
      let bytes = path + changes.count * own
      if place + bytes > Self.length { place = 1 << 20 }
      guard pwrite(descriptor, content, bytes, off_t(place)) == bytes,
        !areMade || pwrite(descriptor, content, 4 << 10, 0) == 4 << 10
      else { throw BenchmarkError("\(name) can't be written") }
      place += bytes
      try Measure.flush(descriptor, name)
    }
    let turn = Committers.Shared(value: NSLock())
    let change = ScoreChange(id: 0, score: 0)
    let changes = [[ScoreChange]](
      repeating: [ScoreChange](repeating: change, count: Self.commits / threads), count: threads)
    return try Committers.run(changes) {
      { change in
        if areMade { turn.value.withLock {} }
        try queue.add(change)
      }
    }.seconds * 1e3
  }
}
