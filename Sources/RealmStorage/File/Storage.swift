#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Bytes that can be read before they are known to be a database.
package protocol ByteSource {
  /// For messages.
  var path: String { get }
  func length() throws(StorageError) -> UInt64
  /// Copies bytes out without touching a mapping. Fewer than asked only at the end of the file.
  func read(_ count: Int, at offset: UInt64) throws(StorageError) -> [UInt8]
  /// Whether another open file holds the lock.
  func isHeldElsewhere(_ lock: StorageLock) -> Bool
}

/// Where a database's bytes live: the one seam all input and output of the engine passes.
///
/// Three storages implement it: a file (`FileStorage`), memory (`MemoryStorage`), and, for tests, a simulated disk
/// that loses power. What was written is seen at once through the mapping; it is durable after `sync`.
///
/// Implementations are safe to call from any thread. The calls that change bytes are one writer's; a meta page may be
/// written, or a sync be in flight, while other pages are written.
package protocol Storage: AnyObject, Sendable, ByteSource {
  /// Names the very file, so that a copy of it is told from it.
  var identity: FileIdentity { get }
  var isReadOnly: Bool { get }
  /// The bytes of the file, mapped for reading. Bytes past the end of the file must not be touched.
  var mapping: Mapping { get }
  /// The boot the storage lives in.
  var boot: BootID { get }
  /// Memory shared by all who have the file open in this boot; nil where nothing can be written beside the file.
  var control: SharedMemory? { get }

  /// Wakes other threads and processes; nil where they have to look by themselves now and then.
  var note: NotePipe? { get }
  /// The database is open: who waits for commits may be woken from now on.
  func openNote()
  /// The database could not be opened: removes what was made beside the file for that, unless others use it by now.
  func removeOwnCompanions()

  /// Syncs are faster where the file was made longer before.
  var gainsFromGrowth: Bool { get }

  func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError)
  /// Begins to write bytes out that are synced soon. A hint: it proves nothing, and what goes wrong is told by the sync.
  func startWriting(_ count: Int, at offset: UInt64)
  func sync(_ kind: SyncKind) throws(StorageError)
  func truncate(to length: UInt64) throws(StorageError)
  /// Makes sure that the mapping can hold `length` bytes; the bytes mapped before stay where they are.
  func reserve(_ length: UInt64) throws(StorageError)
  /// Brings pages into the mapping, so that an unreadable one is an error here and not a signal later.
  func populate(_ count: Int, at offset: UInt64) throws(StorageError)
  /// Much of the file is going to be read: what is not in memory yet is better read in large pieces. A hint.
  func expectMuchReading()
  /// Gives up locks and descriptors. The mapping stays until the storage is released.
  func close()

  // MARK: Locks

  /// Takes a lock; answers false where another open file holds it and `waits` is false.
  func lock(_ lock: StorageLock, waits: Bool) throws(StorageError) -> Bool
  func unlock(_ lock: StorageLock)
  /// The shared memory is the one that whoever opens the file now finds.
  var isControlInPlace: Bool { get }
  /// The path leads to the file that is open.
  var isFileInPlace: Bool { get }
  /// This process was forked from the one that opened the storage: locks and shared memory are not its own.
  var isForked: Bool { get }
}

/// Device and inode of a file; of memory, two numbers nobody else has.
package struct FileIdentity: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  init(_ info: stat) { self.init(device: UInt64(info.st_dev), inode: UInt64(info.st_ino)) }
}

/// What a storage that belongs to one process alone answers.
extension Storage {
  package func lock(_ lock: StorageLock, waits: Bool) throws(StorageError) -> Bool { true }
  package func unlock(_ lock: StorageLock) {}
  package func isHeldElsewhere(_ lock: StorageLock) -> Bool { false }
  package var isControlInPlace: Bool { true }
  package var isFileInPlace: Bool { true }
  package var isForked: Bool { false }
  package var note: NotePipe? { nil }
  package func openNote() {}
  package func removeOwnCompanions() {}
  package func expectMuchReading() {}
}

extension Storage {
  package var gainsFromGrowth: Bool { true }
  package func startWriting(_ count: Int, at offset: UInt64) {}

  /// Writes `bytes`, which need no longer life than the call.
  package func write(_ bytes: [UInt8], at offset: UInt64) throws(StorageError) {
    try write(bytes.span.bytes, at: offset)
  }
}
