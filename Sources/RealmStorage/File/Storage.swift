/// Where a database's bytes live: the one seam all input and output of the engine passes.
///
/// Three storages implement it: a file (`FileStorage`), memory (`MemoryStorage`), and, for tests, a simulated disk
/// that loses power. What was written is seen at once through the mapping; it is durable after `sync`.
///
/// Implementations are safe to call from any thread. Of the calls that change bytes at most one runs at a time:
/// the writer's.
package protocol Storage: AnyObject, Sendable {
  /// For messages.
  var path: String { get }
  /// Names the very file, so that a copy of it is told from it.
  var identity: FileIdentity { get }
  var isReadOnly: Bool { get }
  /// The bytes of the file, mapped for reading. Bytes past the end of the file must not be touched.
  var mapping: Mapping { get }
  /// The boot the storage lives in.
  var boot: BootID { get }
  /// Memory shared by all who have the file open in this boot; nil where nothing can be written.
  var control: SharedMemory? { get }

  /// Syncs are faster where the file was made longer before.
  var gainsFromGrowth: Bool { get }

  func length() throws(StorageError) -> UInt64
  /// Copies bytes out without touching the mapping. Fewer than asked only at the end of the file.
  func read(_ count: Int, at offset: UInt64) throws(StorageError) -> [UInt8]
  func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError)
  func sync(_ kind: SyncKind) throws(StorageError)
  func truncate(to length: UInt64) throws(StorageError)
  /// Makes sure that the mapping can hold `length` bytes; the bytes mapped before stay where they are.
  func reserve(_ length: UInt64) throws(StorageError)
  /// Brings pages into the mapping, so that an unreadable one is an error here and not a signal later.
  func populate(_ count: Int, at offset: UInt64) throws(StorageError)
  /// Gives up locks and descriptors. The mapping stays until the storage is released.
  func close()
}

/// Device and inode of a file; of memory, two numbers nobody else has.
package struct FileIdentity: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

extension Storage {
  package var gainsFromGrowth: Bool { true }

  /// Writes `bytes`, which need no longer life than the call.
  package func write(_ bytes: [UInt8], at offset: UInt64) throws(StorageError) {
    try write(bytes.span.bytes, at: offset)
  }
}
