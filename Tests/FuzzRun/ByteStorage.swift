import RealmStorage
import Synchronization
import TestSupport

/// A file in memory that is filled anew for each state.
///
/// Its identity and boot stay, so a file made in one is no copy in another.
final class ByteStorage: Storage {
  let path = "fuzzed.realm"
  let identity = FileIdentity(device: 7, inode: 7)
  let isReadOnly = false
  let boot = BootID(first: 1, second: 1)
  let mapping: Mapping
  let control: SharedMemory?
  private let size = Mutex(0)

  private static let capacity = 32 << 20
  /// Words that a control block may use.
  private static let controlWords = 16

  init() throws {
    guard let mapping = Mapping.anonymous(Self.capacity),
      let control = SharedMemory.local(ControlPlace.mostBytes)
    else {
      throw Violation("there is no memory for a storage")
    }
    self.mapping = mapping
    self.control = control
  }

  /// Becomes a file of the first `length` of these bytes, as a new boot finds it.
  ///
  /// - Precondition: no database has the storage open.
  func fill(_ bytes: [UInt8], length: Int) {
    precondition(length <= bytes.count && length <= Self.capacity, "more bytes than the storage takes")
    let old = size.withLock { $0 }
    bytes.withUnsafeBytes { source in
      if length > 0, let base = source.baseAddress { mapping.base.copyMemory(from: base, byteCount: length) }
    }
    if old > length {
      (mapping.base + length).initializeMemory(as: UInt8.self, repeating: 0, count: old - length)
    }
    size.withLock { $0 = length }
    for word in 0..<Self.controlWords { control?[word: word] = 0 }
  }

  func fill(_ bytes: [UInt8]) { fill(bytes, length: bytes.count) }

  /// The whole file.
  var bytes: [UInt8] {
    let count = size.withLock { $0 }
    return read(count, at: 0)
  }

  // MARK: - Storage

  func length() -> UInt64 { UInt64(size.withLock { $0 }) }

  func read(_ count: Int, at offset: UInt64) -> [UInt8] {
    let start = Int(offset)
    let end = min(start + count, size.withLock { $0 })
    guard start < end else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: mapping.base + start, count: end - start))
  }

  func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) {
    let end = offset + UInt64(bytes.byteCount)
    try reserve(end)
    bytes.withUnsafeBytes { source in
      UnsafeMutableRawBufferPointer(start: mapping.base + Int(offset), count: source.count).copyMemory(
        from: source)
    }
    size.withLock { $0 = max($0, Int(end)) }
  }

  func sync(_ kind: SyncKind) {}

  func truncate(to length: UInt64) throws(StorageError) {
    try reserve(length)
    size.withLock { $0 = Int(length) }
  }

  func reserve(_ length: UInt64) throws(StorageError) {
    guard length <= UInt64(mapping.size) else { throw .limitExceeded(.fileSize, path: path) }
  }

  func populate(_ count: Int, at offset: UInt64) {}

  func close() {}
}
