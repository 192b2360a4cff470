import Foundation
import Synchronization

/// Measures of time, memory and file sizes, and statistics of many samples.
enum Measure {
  static func seconds(_ body: () throws -> Void) rethrows -> Double {
    try ContinuousClock().measure(body) / .seconds(1)
  }

  static func median(_ samples: [Double]) -> Double {
    let sorted = samples.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The sample that the fraction `fraction` of all samples do not exceed.
  static func percentile(_ fraction: Double, of samples: [Double]) -> Double {
    let sorted = samples.sorted()
    return sorted[min(sorted.count - 1, Int((Double(sorted.count) * fraction).rounded(.up)) - 1)]
  }

  /// The number of bytes of all files in a folder. An engine's log and lock files count, too.
  static func size(of folder: String) throws -> Int {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
    return try names.reduce(0) { sum, name in
      let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
      guard attributes[.type] as? FileAttributeType == .typeRegular else { return sum }
      return sum + (attributes[.size] as? Int ?? 0)
    }
  }

  /// Flushes all files of a folder to the disk, so that the next writer of one of them need not wait for earlier
  /// writes.
  static func syncAll(in folder: String) throws {
    try forEachFile(in: folder) { descriptor, name in
      guard fsync(descriptor) == 0 else { throw BenchmarkError("\(name) can't be synced") }
    }
  }

  /// The time in seconds for reading all files of a folder, one after another, without using their content.
  static func readAll(in folder: String) throws -> Double {
    var content = [UInt8](repeating: 0, count: 1 << 20)
    return try seconds {
      try forEachFile(in: folder) { descriptor, name in
        var count = 0
        repeat {
          count = read(descriptor, &content, content.count)
          guard count >= 0 else { throw BenchmarkError("\(name) can't be read") }
        } while count > 0
      }
    }
  }

  private static func forEachFile(in folder: String, _ body: (Int32, String) throws -> Void) throws {
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
      guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
      let descriptor = open(folder + "/" + name, O_RDONLY)
      guard descriptor >= 0 else { throw BenchmarkError("\(name) can't be opened") }
      defer { _ = Foundation.close(descriptor) }
      try body(descriptor, name)
    }
  }

  /// Removes a folder's files, which no process has open, from the page cache. Returns false if the system can't do
  /// this.
  static func evict(_ folder: String) throws -> Bool {
    #if os(Linux)
      try syncAll(in: folder)
      var isDone = true
      try forEachFile(in: folder) { descriptor, _ in
        isDone = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0 && isDone
      }
      return isDone
    #else
      return false
    #endif
  }

  /// The number of bytes that this process has passed to write calls so far; nil if the system does not tell.
  static var writtenBytes: Int? {
    guard let counts = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8),
      let line = counts.split(separator: "\n").first(where: { $0.hasPrefix("wchar: ") })
    else { return nil }
    return Int(line.dropFirst(7))
  }

  /// Flushes a file's content to the disk.
  static func flush(_ descriptor: Int32, _ path: String) throws {
    #if os(Linux)
      let refused = fdatasync(descriptor) != 0
    #else
      let refused = fcntl(descriptor, F_FULLFSYNC) != 0
    #endif
    if refused { throw BenchmarkError("\(path) can't be synced") }
  }

  /// The time of a sync of an overwritten 4 KiB page in `folder`, in microseconds. No durable commit can be faster.
  static func syncTime(in folder: String) throws -> Double {
    let path = folder + "/sync-probe"
    try Data(count: 4096).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let descriptor = open(path, O_RDWR)
    guard descriptor >= 0 else { throw BenchmarkError("\(path) can't be opened") }
    defer { _ = Foundation.close(descriptor) }
    let page = [UInt8](repeating: 1, count: 4096)
    let samples = try (0..<200).map { _ in
      try seconds {
        guard pwrite(descriptor, page, page.count, 0) == page.count else {
          throw BenchmarkError("\(path) can't be written")
        }
        try flush(descriptor, path)
      }
    }
    return median(samples) * 1e6
  }
}

/// Watches the anonymous memory of this process, which is what it allocated, without the mapped pages of files.
final class MemoryWatch: Sendable {
  private let isOver = Atomic<Bool>(false)
  private let peak: Mutex<Int>
  private let start: Int

  init() {
    start = Self.anonymousMemory
    peak = Mutex(start)
    Thread.detachNewThread { [self] in
      while !isOver.load(ordering: .relaxed) {
        look()
        usleep(5_000)
      }
    }
  }

  /// Ends the watch. Returns how much the memory grew at most since its start, in bytes.
  func end() -> Int {
    look()
    isOver.store(true, ordering: .relaxed)
    return peak.withLock { $0 } - start
  }

  private func look() {
    let now = Self.anonymousMemory
    peak.withLock { $0 = max($0, now) }
  }

  /// The anonymous memory in bytes. If the system does not tell, it is the peak of all memory.
  private static var anonymousMemory: Int {
    #if os(Linux)
      guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
        let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
        let kibibytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
      else { return 0 }
      return (Int(kibibytes) ?? 0) * 1024
    #else
      var usage = rusage()
      getrusage(RUSAGE_SELF, &usage)
      return Int(usage.ru_maxrss)
    #endif
  }
}
