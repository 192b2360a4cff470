import Synchronization

/// A database that lives in memory and ends with its storage.
package final class MemoryStorage: Storage {
  package let path: String
  package let identity: FileIdentity
  package let isReadOnly = false
  package let boot = BootID.current
  package let mapping: Mapping
  package let control: SharedMemory?
  package let gainsFromGrowth = false
  private let size = Mutex<UInt64>(0)

  private static let counter = Atomic<UInt64>(0)
  /// The greatest number of bytes that such a database can hold.
  private static let capacity = 1 << 36

  package init(name: String = "memory") throws(StorageError) {
    path = name
    guard let mapping = Mapping.anonymous(Self.capacity),
      let control = SharedMemory.local(ControlPlace.mostBytes)
    else {
      throw .system(call: .map, errno: 12, path: name, offset: nil)
    }
    self.mapping = mapping
    self.control = control
    identity = FileIdentity(
      device: 0, inode: Self.counter.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  package func length() -> UInt64 { size.withLock { $0 } }

  package func read(_ count: Int, at offset: UInt64) -> [UInt8] {
    let end = min(offset + UInt64(count), length())
    guard offset < end else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: mapping.base + Int(offset), count: Int(end - offset)))
  }

  package func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) {
    let end = offset + UInt64(bytes.byteCount)
    try reserve(end)
    bytes.withUnsafeBytes { source in
      UnsafeMutableRawBufferPointer(start: mapping.base + Int(offset), count: source.count).copyMemory(
        from: source)
    }
    size.withLock { $0 = max($0, end) }
  }

  package func sync(_ kind: SyncKind) {}

  package func truncate(to length: UInt64) throws(StorageError) {
    try reserve(length)
    size.withLock { size in
      if length < size {
        let whole = (Int(length) + 4095) / 4096 * 4096
        let rest = UnsafeMutableRawBufferPointer(
          start: mapping.base + Int(length), count: whole - Int(length))
        rest.initializeMemory(as: UInt8.self, repeating: 0)
        mapping.discard(whole..<max(whole, (Int(size) + 4095) / 4096 * 4096))
      }
      size = length
    }
  }

  package func reserve(_ length: UInt64) throws(StorageError) {
    guard length <= UInt64(mapping.size) else { throw .limitExceeded(.memory, path: path) }
  }

  package func populate(_ count: Int, at offset: UInt64) {}

  package func close() {}
}
