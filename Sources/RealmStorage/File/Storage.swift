#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Bytes that the engine can read before it knows that they are a database.
package protocol ByteSource {
  /// The path, or the name of a database in memory. Messages name it.
  var path: String { get }
  func length() throws(StorageError) -> UInt64
  /// Copies bytes out without touching a mapping. The result has fewer bytes than `count` only at the end of the file.
  func read(_ count: Int, at offset: UInt64) throws(StorageError) -> [UInt8]
  /// Whether another open file holds the lock.
  func isHeldElsewhere(_ lock: StorageLock) -> Bool
}

/// The place where the bytes of a database are. All input and output of the engine passes through this protocol.
///
/// Three storages implement it: a file (`FileStorage`), memory (`MemoryStorage`), and, for tests, a simulated disk that
/// loses power. Written bytes are visible in the mapping at once; they are durable after `sync`.
///
/// Implementations are safe to call from any thread. Only one writer at a time calls the methods that change bytes; but
/// a meta page may be written, or a sync be in flight, while other pages are written.
package protocol Storage: AnyObject, Sendable, ByteSource {
  /// Identifies the file itself, so that the engine can tell it from a copy.
  var identity: FileIdentity { get }
  var isReadOnly: Bool { get }
  /// The bytes of the file, mapped for reading. Bytes past the end of the file must not be touched.
  var mapping: Mapping { get }
  /// The boot of the machine in which the storage was opened.
  var boot: BootID { get }
  /// Memory that is shared by all participants that have the file open in this boot; nil if nothing can be written
  /// beside the file.
  var control: SharedMemory? { get }

  /// The pipe that wakes other threads and processes; nil if these have to look for new commits now and then.
  var note: NotePipe? { get }
  /// Tells the storage that the database is open. From now on, threads and processes that wait for commits can be
  /// woken.
  func openNote()
  /// Removes the files that were made beside a database that could not be opened, unless others use them by now.
  func removeOwnCompanions()

  /// True if syncs are faster after the file was made longer in advance.
  var gainsFromGrowth: Bool { get }

  func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError)
  /// Starts to write out bytes that are synced soon. This is a hint: it proves nothing, and the sync reports its
  /// errors.
  func startWriting(_ count: Int, at offset: UInt64)
  func sync(_ kind: SyncKind) throws(StorageError)
  func truncate(to length: UInt64) throws(StorageError)
  /// Makes sure that the mapping can hold `length` bytes. Bytes that were mapped before keep their addresses.
  func reserve(_ length: UInt64) throws(StorageError)
  /// Brings pages into the mapping, so that an unreadable page is an error here and not a signal later.
  func populate(_ count: Int, at offset: UInt64) throws(StorageError)
  /// A hint that much of the file is going to be read, so that bytes not yet in memory are better read in large pieces.
  func expectMuchReading()
  /// Gives up locks and descriptors. The mapping stays until the storage is released.
  func close()

  // MARK: Locks

  /// Takes a lock. Returns false if another open file holds it and `waits` is false.
  func lock(_ lock: StorageLock, waits: Bool) throws(StorageError) -> Bool
  func unlock(_ lock: StorageLock)
  /// True if a process that opens the file now finds the same shared memory.
  var isControlInPlace: Bool { get }
  /// True if the path leads to the open file.
  var isFileInPlace: Bool { get }
  /// True if this process was forked from the one that opened the storage. The locks and the shared memory then belong
  /// to the parent.
  var isForked: Bool { get }
}

/// The device and the inode of a file. A database in memory has two numbers that no other storage has.
package struct FileIdentity: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  init(_ info: stat) { self.init(device: UInt64(info.st_dev), inode: UInt64(info.st_ino)) }
}

/// The answers of a storage that belongs to one process alone.
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

  /// Writes `bytes`, which only have to live until the call returns.
  package func write(_ bytes: [UInt8], at offset: UInt64) throws(StorageError) {
    try write(bytes.span.bytes, at: offset)
  }
}
