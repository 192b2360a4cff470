import Foundation

/// Makes small commits without an engine, to a file that has all its pages on disk, like the file of a program that has
/// run for a while.
final class CommitProbe {
  private let path: String
  private let bytes: Int
  private let descriptor: Int32
  private let beside: Int32
  private let map: UnsafeRawPointer
  private var random = SplitMix64(seed: 12)

  /// The steps of a commit.
  struct Traits: OptionSet {
    let rawValue: Int
    /// After each write the system is told to begin writing to the disk, before the commit goes on.
    static let isBegun = Traits(rawValue: 1)
    static let isFlushed = Traits(rawValue: 2)
    /// Only one writer is let in at a time. It changes a copy of what it writes, and adds up all words of it. The sum
    /// is weaker than any checksum, and no slower.
    static let isOfEngine = Traits(rawValue: 4)
    /// The copied bytes come from random nodes of the file, which is mapped.
    static let isGathered = Traits(rawValue: 8)
    /// Each commit is written after a hole behind the commit before it. The hole has up to 64 KiB.
    static let isScattered = Traits(rawValue: 32)
    /// The system is asked for what a process must know that shares a file with others: the length of the file, whether
    /// a reader has locked it, and whether the file beside it is there. The status of the file itself is not asked for,
    /// because that makes the next flush take 45 µs longer.
    static let isShared = Traits(rawValue: 16)
    /// The content is encrypted by the cipher's library, as a cluster of 11 KiB and nodes of 1 KiB.
    static let isSealed = Traits(rawValue: 64)
  }

  init(_ path: String, bytes: Int) throws {
    self.path = path
    self.bytes = bytes
    try BoundFile.make(path, bytes: bytes)
    descriptor = open(path, O_RDWR)
    beside = open(path + ".beside", O_RDWR | O_CREAT, 0o600)
    guard descriptor >= 0, beside >= 0 else { throw BenchmarkError("\(path) can't be opened") }
    guard let map = mmap(nil, bytes, PROT_READ, MAP_SHARED, descriptor, 0), map != MAP_FAILED else {
      throw BenchmarkError("\(path) can't be mapped")
    }
    self.map = UnsafeRawPointer(map)
  }

  deinit {
    munmap(UnsafeMutableRawPointer(mutating: map), bytes)
    _ = Foundation.close(descriptor)
    _ = Foundation.close(beside)
  }

  /// The times of 2,000 commits, in microseconds.
  ///
  /// - Parameter sizes: the size of what is written to a new place, and the size of what is written to the first page.
  func commits(_ sizes: [Int], _ traits: Traits) throws -> [Double] {
    try Measure.flush(descriptor, path)
    var content = [UInt8](repeating: firstBytes(), count: sizes.max() ?? 0)
    var sealed = content
    let original = content
    var place = FileShape.page
    // No page has nodes of two commits. A log, however, goes on where it ended.
    let isLog = sizes.count == 1
    let written = isLog ? sizes[0] : (sizes[0] + FileShape.page - 1) / FileShape.page * FileShape.page
    return try (0..<2_000).map { round in
      let nodes = stride(from: 0, to: content.count, by: Self.node).map { (place: $0, source: somewhere()) }
      let gap = FileShape.page * random.next(below: 16)
      let seconds = try Measure.seconds {
        if traits.contains(.isOfEngine) {
          try lock(Int32(F_WRLCK))
          if traits.contains(.isShared) { try ask() }
          content.withUnsafeMutableBytes { content in
            if traits.contains(.isGathered) {
              gather(nodes, content)
            } else {
              original.withUnsafeBytes { content.copyMemory(from: $0) }
            }
            Self.sum(content, round)
          }
        }
        if traits.contains(.isSealed) { seal(content, round, into: &sealed) }
        try write(traits.contains(.isSealed) ? sealed : content, sizes, at: place, traits)
        if traits.contains(.isOfEngine) { try lock(Int32(F_UNLCK)) }
      }
      place += written + (traits.contains(.isScattered) ? gap : 0)
      if place + written > bytes { place = FileShape.page }
      return seconds * 1e6
    }
  }

  /// The approximate size of a node that a commit copies and that no earlier commit has copied: a cluster, or a leaf of
  /// an index.
  private static let node = 4 << 10

  private func gather(_ nodes: [(place: Int, source: Int)], _ content: UnsafeMutableRawBufferPointer) {
    for node in nodes {
      let end = min(node.place + Self.node, content.count)
      let part = UnsafeMutableRawBufferPointer(rebasing: content[node.place..<end])
      part.copyMemory(from: UnsafeRawBufferPointer(start: map + node.source, count: part.count))
    }
  }

  private func write(_ content: [UInt8], _ sizes: [Int], at place: Int, _ traits: Traits) throws {
    for (index, size) in sizes.enumerated() {
      let start = index == 0 ? place : 0
      guard pwrite(descriptor, content, size, off_t(start)) == size else {
        throw BenchmarkError("\(path) can't be written")
      }
      if traits.contains(.isBegun) { _ = Self.startWriting?(descriptor, Int64(start), Int64(size), 2) }
    }
    if traits.contains(.isFlushed) { try Measure.flush(descriptor, path) }
  }

  /// The sum of the first bytes of all pages. Reading them makes the pages known to the process, like those of a file
  /// in use.
  private func firstBytes() -> UInt8 {
    stride(from: 0, to: bytes, by: FileShape.page).reduce(0) {
      $0 &+ map.load(fromByteOffset: $1, as: UInt8.self)
    }
  }

  private func somewhere() -> Int {
    FileShape.page * (1 + random.next(below: bytes / FileShape.page - 16))
  }

  private static func sum(_ content: UnsafeMutableRawBufferPointer, _ round: Int) {
    content[0] = UInt8(truncatingIfNeeded: round)
    var sum: UInt64 = 0
    for word in content.bindMemory(to: UInt64.self).dropFirst() { sum &+= word }
    content.storeBytes(of: sum, toByteOffset: 8, as: UInt64.self)
  }

  private func seal(_ content: [UInt8], _ round: Int, into sealed: inout [UInt8]) {
    guard let encrypt = Self.encrypt else { return }
    let key = [UInt8](repeating: 7, count: 32)
    var nonce = [UInt8](repeating: 0, count: 12)
    nonce.withUnsafeMutableBytes { $0.storeBytes(of: UInt64(round), toByteOffset: 4, as: UInt64.self) }
    var tag = [UInt8](repeating: 0, count: 16)
    let ends =
      [min(11 << 10, content.count)] + Array(stride(from: 12 << 10, through: content.count, by: 1 << 10))
    content.withUnsafeBufferPointer { plain in
      sealed.withUnsafeMutableBufferPointer { sealed in
        guard let plain = plain.baseAddress, let sealed = sealed.baseAddress else { return }
        var start = 0
        for (node, end) in ends.enumerated() {
          nonce[0] = UInt8(node)
          _ = encrypt(
            sealed + start, &tag, nil, plain + start, UInt64(end - start), plain, 32, nil, nonce, key)
          start = end
        }
      }
    }
  }

  private func lock(_ type: Int32) throws {
    var lock = flock()
    lock.l_type = Int16(type)
    lock.l_len = 1
    guard fcntl(descriptor, F_SETLK, &lock) == 0 else { throw BenchmarkError("\(path) can't be locked") }
  }

  private func ask() throws {
    var (lock, status) = (flock(), stat())
    lock.l_type = Int16(F_RDLCK)
    lock.l_start = 1
    lock.l_len = 1
    guard fcntl(descriptor, F_GETLK, &lock) == 0, lseek(descriptor, 0, SEEK_END) >= bytes,
      fstat(beside, &status) == 0
    else { throw BenchmarkError("\(path) does not tell who shares it") }
  }

  /// Whether the functions of the cipher's library can be found by their names. If not, nothing is encrypted.
  static var canSeal: Bool { encrypt != nil }

  private typealias Encrypt =
    @convention(c) (
      UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt64>?,
      UnsafePointer<UInt8>, UInt64, UnsafePointer<UInt8>, UInt64, UnsafePointer<UInt8>?, UnsafePointer<UInt8>,
      UnsafePointer<UInt8>
    ) -> Int32
  /// The function of the library by which the engine encrypts. The library must first be told to look for what the
  /// processor can do.
  private static let encrypt: Encrypt? = {
    guard let program = dlopen(nil, RTLD_NOW), let begin = dlsym(program, "sodium_init"),
      let encrypt = dlsym(program, "crypto_aead_chacha20poly1305_ietf_encrypt_detached")
    else { return nil }
    _ = unsafeBitCast(begin, to: (@convention(c) () -> Int32).self)()
    return unsafeBitCast(encrypt, to: Encrypt.self)
  }()

  /// The function `sync_file_range`, which Swift's module of the C library lacks. If the system does not have it, the
  /// flush begins all writes.
  private static let startWriting = dlsym(nil, "sync_file_range").map {
    unsafeBitCast($0, to: (@convention(c) (Int32, Int64, Int64, UInt32) -> Int32).self)
  }
}
