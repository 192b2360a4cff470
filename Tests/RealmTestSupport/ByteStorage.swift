import RealmStorage
import Synchronization

/// A file in memory that is filled anew for each state.
///
/// The identity and the boot are always the same. So a file that was made in one storage does not look like a copy in
/// another one.
package final class ByteStorage: Storage {
  package let path = "fuzzed.realm"
  package let identity = FileIdentity(device: 7, inode: 7)
  package let isReadOnly = false
  package let boot = BootID(first: 1, second: 1)
  package let mapping: Mapping
  package let control: SharedMemory?
  private let size = Mutex(0)

  private static let capacity = 32 << 20
  /// The number of words at the start of the control memory that hold the state of a control block.
  private static let controlWords = 16

  package init() throws {
    guard let mapping = Mapping.anonymous(Self.capacity),
      let control = SharedMemory.local(ControlPlace.mostBytes)
    else {
      throw Violation("there is no memory for a storage")
    }
    self.mapping = mapping
    self.control = control
  }

  /// Makes the storage a file of the first `length` of these bytes, in the state in which a new boot finds it.
  ///
  /// - Precondition: no database has the storage open.
  package func fill(_ bytes: [UInt8], length: Int) {
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

  package func fill(_ bytes: [UInt8]) { fill(bytes, length: bytes.count) }

  /// The whole file.
  package var bytes: [UInt8] {
    let count = size.withLock { $0 }
    return read(count, at: 0)
  }

  // MARK: - Storage

  package func length() -> UInt64 { UInt64(size.withLock { $0 }) }

  package func read(_ count: Int, at offset: UInt64) -> [UInt8] {
    let start = Int(offset)
    let end = min(start + count, size.withLock { $0 })
    guard start < end else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: mapping.base + start, count: end - start))
  }

  package func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) {
    let end = offset + UInt64(bytes.byteCount)
    try reserve(end)
    bytes.withUnsafeBytes { source in
      UnsafeMutableRawBufferPointer(start: mapping.base + Int(offset), count: source.count).copyMemory(
        from: source)
    }
    size.withLock { $0 = max($0, Int(end)) }
  }

  package func sync(_ kind: SyncKind) {}

  package func truncate(to length: UInt64) throws(StorageError) {
    try reserve(length)
    size.withLock { $0 = Int(length) }
  }

  package func reserve(_ length: UInt64) throws(StorageError) {
    guard length <= UInt64(mapping.size) else { throw .limitExceeded(.fileSize, path: path) }
  }

  package func populate(_ count: Int, at offset: UInt64) {}

  package func close() {}
}
