import Foundation

/// What files and the disk take.
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
    let (update, insert) = ([16 << 10, 4 << 10], [18 << 10, 4 << 10])
    let places = "and 4 KiB at another place"
    let engine = "copied and summed before, the file locked meanwhile"
    let flushed: [(workloads: String, title: String, sizes: [Int], isBegun: Bool, isOfEngine: Bool)] = [
      ("12", "16 KiB \(places) written", update, false, false),
      ("12", "16 KiB written and begun with, \(places) written", update, true, false),
      ("12", "the same, \(engine)", update, true, true),
      ("12", "8 KiB written to one place", [8 << 10], false, false),
      ("12b", "18 KiB written and begun with, \(places) written", insert, true, false),
      ("12b", "the same, \(engine)", insert, true, true),
      ("12b", "13 KiB written to one place", [13 << 10], false, false),
    ]
    return try Bound.spreads(
      "µs", rounds: rounds,
      flushed.map { part in
        Bound.Part(workloads: part.workloads, title: part.title + ", one flush") {
          try commits(part.sizes, isBegun: part.isBegun, isOfEngine: part.isOfEngine)
        }
      })
      + Bound.medians(
        "µs p50", rounds: rounds,
        [
          Bound.Part(workloads: "12n", title: "16 KiB \(places) written, no flush") {
            try commits(update, isFlushed: false)
          },
          Bound.Part(workloads: "12n", title: "the same, \(engine)") {
            try commits(update, isFlushed: false, isOfEngine: true)
          },
          Bound.Part(workloads: "12n", title: "8 KiB written to one place, no flush") {
            try commits([8 << 10], isFlushed: false)
          },
        ])
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

  /// `sync_file_range`, which Swift's module of the C library leaves out; where there is none the flush begins with all.
  private static let startWriting = dlsym(nil, "sync_file_range").map {
    unsafeBitCast($0, to: (@convention(c) (Int32, Int64, Int64, UInt32) -> Int32).self)
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

  /// A file that has all its pages on disk is written to, as one in its steady state is.
  ///
  /// - Parameters:
  ///   - isBegun: the system is told to begin with what was written first, before more is.
  ///   - isFlushed: each time.
  ///   - isOfEngine: one writer is let in at a time, and changes a copy of what it writes, each word of which it looks at to
  ///     vouch for it: a sum that is weaker than any checksum, and no slower.
  private func commits(
    _ sizes: [Int], isBegun: Bool = false, isFlushed: Bool = true, isOfEngine: Bool = false
  ) throws -> [Double] {
    let path = folder + "/commits"
    let length = 64 << 20
    try BoundFile.make(path, bytes: length)
    let descriptor = open(path, O_RDWR)
    guard descriptor >= 0 else { throw BenchmarkError("\(path) can't be opened") }
    defer { _ = Foundation.close(descriptor) }
    try Measure.flush(descriptor, path)
    let original = [UInt8](repeating: 0x5a, count: sizes.max() ?? 0)
    var content = original
    func lock(_ type: Int32) throws {
      var lock = flock()
      lock.l_type = Int16(type)
      lock.l_len = 1
      guard fcntl(descriptor, F_SETLK, &lock) == 0 else { throw BenchmarkError("\(path) can't be locked") }
    }
    var place = 1 << 20
    return try (0..<2_000).map { round in
      let seconds = try Measure.seconds {
        if isOfEngine {
          try lock(Int32(F_WRLCK))
          content = original
          content[0] = UInt8(truncatingIfNeeded: round)
          content.withUnsafeMutableBytes { bytes in
            var sum: UInt64 = 0
            for word in bytes.bindMemory(to: UInt64.self).dropFirst() { sum &+= word }
            bytes.storeBytes(of: sum, toByteOffset: 8, as: UInt64.self)
          }
        }
        defer { if isOfEngine { try? lock(Int32(F_UNLCK)) } }
        for (index, size) in sizes.enumerated() {
          guard pwrite(descriptor, content, size, index == 0 ? off_t(place) : 0) == size else {
            throw BenchmarkError("\(path) can't be written")
          }
          if isBegun, index == 0 { _ = Self.startWriting?(descriptor, Int64(place), Int64(size), 2) }
        }
        if isFlushed { try Measure.flush(descriptor, path) }
      }
      place = place + sizes[0] < length - (1 << 20) ? place + sizes[0] : 1 << 20
      return seconds * 1e6
    }
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
