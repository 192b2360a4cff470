import Foundation

/// Measures files and the disk.
struct DiskBounds {
  let count: Int
  let folder: String

  func all(_ rounds: Int) throws -> [Bound] { try files(rounds) + commits(rounds) + openings(rounds) }

  private func files(_ rounds: Int) throws -> [Bound] {
    let bytes = count * FileShape.bytesPerPerson
    return [
      try Bound("1", "a new file of \(bytes >> 20) MiB written and flushed", "ms", rounds: rounds) {
        try written(bytes)
      },
      try Bound("13", "a fifth of that: the clusters without their texts", "ms", rounds: rounds) {
        try written(bytes / 5)
      },
      try Bound("14", "four sevenths of that: what stays of half of the Persons", "ms", rounds: rounds) {
        try written(bytes * 4 / 7)
      },
      try Bound("4d", "such a file read, of which nothing is in the cache", "ms", rounds: rounds) {
        try readFromDisk(bytes)
      },
    ]
  }

  private func commits(_ rounds: Int) throws -> [Bound] {
    let (update, insert) = ([16 << 10, 4 << 10], [15 << 10, 4 << 10])
    let places = "and 4 KiB at another place"
    let engine = "copied and summed before, the file locked meanwhile"
    let nodes = "nodes at random, and asked who shares the file"
    let flushed: [(workloads: String, title: String, sizes: [Int], traits: CommitProbe.Traits)] = [
      ("12", "16 KiB \(places) written", update, []),
      ("12", "16 KiB \(places) written, each begun with", update, .isBegun),
      ("12", "the same, \(engine)", update, [.isBegun, .isOfEngine]),
      ("12", "the same, of \(nodes)", update, [.isBegun, .isOfEngine, .isGathered, .isShared]),
      (
        "12 +key", "the same, and sealed", update,
        [.isBegun, .isOfEngine, .isGathered, .isShared, .isSealed]
      ),
      (
        "12s", "the same, not sealed, to holes", update,
        [.isBegun, .isOfEngine, .isGathered, .isShared, .isScattered]
      ),
      ("12", "8 KiB written to one place", [8 << 10], []),
      ("12b", "15 KiB \(places) written, each begun with", insert, .isBegun),
      ("12b", "the same, \(engine)", insert, [.isBegun, .isOfEngine]),
      ("12b", "the same, of \(nodes)", insert, [.isBegun, .isOfEngine, .isGathered, .isShared]),
      ("12b", "13 KiB written to one place", [13 << 10], []),
    ]
    let relaxed: [(workloads: String, title: String, sizes: [Int], traits: CommitProbe.Traits)] = [
      ("12n", "16 KiB \(places) written, no flush", update, []),
      ("12n", "the same, \(engine)", update, .isOfEngine),
      ("12n", "the same, of \(nodes)", update, [.isOfEngine, .isGathered, .isShared]),
      ("12n", "the same, to holes", update, [.isOfEngine, .isGathered, .isShared, .isScattered]),
      (
        "12n +key", "the same, and sealed", update,
        [.isOfEngine, .isGathered, .isShared, .isScattered, .isSealed]
      ),
      ("12n", "8 KiB written to one place, no flush", [8 << 10], []),
    ]
    func isPossible(_ traits: CommitProbe.Traits) -> Bool {
      !traits.contains(.isSealed) || CommitProbe.canSeal
    }
    let probe = try CommitProbe(folder + "/commits", bytes: count * FileShape.bytesPerPerson)
    return try Bound.spreads(
      "µs", rounds: rounds,
      flushed.filter { isPossible($0.traits) }.map { part in
        Bound.Part(workloads: part.workloads, title: part.title + ", one flush") {
          try probe.commits(part.sizes, part.traits.union(.isFlushed))
        }
      })
      + Bound.medians(
        "µs p50", rounds: rounds,
        relaxed.filter { isPossible($0.traits) }.map { part in
          Bound.Part(workloads: part.workloads, title: part.title) {
            try probe.commits(part.sizes, part.traits)
          }
        })
  }

  private func openings(_ rounds: Int) throws -> [Bound] {
    let bytes = count * FileShape.bytesPerPerson
    return [
      try Bound("15", "a file opened, locked, mapped, its first pages read, and closed", "µs", rounds: rounds)
      {
        try opened(bytes, isFlushed: false)
      },
      try Bound("15", "the same, and flushed before it is believed", "µs", rounds: rounds) {
        try opened(bytes, isFlushed: true)
      },
    ]
  }

  private func written(_ bytes: Int) throws -> Double {
    let path = folder + "/written"
    let content = [UInt8](repeating: 0x5a, count: bytes)
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw BenchmarkError("\(path) can't be made") }
    defer {
      _ = Foundation.close(descriptor)
      unlink(path)
    }
    return try Measure.seconds {
      try BoundFile.write(content, to: descriptor, path)
      try Measure.flush(descriptor, path)
    } * 1e3
  }

  private func readFromDisk(_ bytes: Int) throws -> Double {
    let home = folder + "/cold"
    let path = home + "/file"
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    try BoundFile.make(path, bytes: bytes)
    guard try Measure.evict(home) else { return 0 }
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { throw BenchmarkError("\(path) can't be opened") }
    defer { _ = Foundation.close(descriptor) }
    var content = [UInt8](repeating: 0, count: 1 << 20)
    return try Measure.seconds {
      for start in stride(from: 0, to: bytes, by: content.count) {
        guard pread(descriptor, &content, content.count, off_t(start)) > 0 else {
          throw BenchmarkError("\(path) can't be read")
        }
      }
    } * 1e3
  }

  private func opened(_ bytes: Int, isFlushed: Bool) throws -> Double {
    let path = folder + "/opened"
    try BoundFile.make(path, bytes: bytes)
    var sum: UInt64 = 0
    let samples = try (0..<200).map { _ in
      try Measure.seconds {
        let descriptor = open(path, O_RDWR)
        guard descriptor >= 0 else { throw BenchmarkError("\(path) can't be opened") }
        defer { _ = Foundation.close(descriptor) }
        var lock = flock()
        lock.l_type = Int16(F_RDLCK)
        lock.l_len = 1
        guard fcntl(descriptor, F_SETLK, &lock) == 0 else { throw BenchmarkError("\(path) can't be locked") }
        var status = stat()
        guard fstat(descriptor, &status) == 0,
          let map = mmap(nil, bytes, PROT_READ, MAP_SHARED, descriptor, 0), map != MAP_FAILED
        else { throw BenchmarkError("\(path) can't be mapped") }
        for page in 0..<4 { sum &+= map.load(fromByteOffset: page * FileShape.page, as: UInt64.self) }
        if isFlushed { try Measure.flush(descriptor, path) }
        munmap(map, bytes)
      }
    }
    guard sum == 0 else { throw BenchmarkError("\(path) is not what was written") }
    return Measure.median(samples) * 1e6
  }
}
