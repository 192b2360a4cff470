import Synchronization

@testable import RealmStorage

/// Memory that counts the nodes that a database reads for the first time.
final class CountingStorage: Storage {
  private let memory: MemoryStorage
  private let populated = Atomic<Int>(0)
  private let hints = Atomic<Int>(0)

  init() throws { memory = try MemoryStorage(name: "counting") }

  var nodesLookedAt: Int { populated.load(ordering: .relaxed) }
  /// How many times the database announced that it will read much.
  var timesToldOfMuch: Int { hints.load(ordering: .relaxed) }

  var path: String { memory.path }
  var identity: FileIdentity { memory.identity }
  var isReadOnly: Bool { memory.isReadOnly }
  var mapping: Mapping { memory.mapping }
  var boot: BootID { memory.boot }
  var control: SharedMemory? { memory.control }

  func length() throws(StorageError) -> UInt64 { memory.length() }

  func read(_ count: Int, at offset: UInt64) throws(StorageError) -> [UInt8] {
    memory.read(count, at: offset)
  }

  func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) { try memory.write(bytes, at: offset) }

  func sync(_ kind: SyncKind) throws(StorageError) { memory.sync(kind) }

  func truncate(to length: UInt64) throws(StorageError) { try memory.truncate(to: length) }

  func reserve(_ length: UInt64) throws(StorageError) { try memory.reserve(length) }

  func populate(_ count: Int, at offset: UInt64) throws(StorageError) {
    populated.add(1, ordering: .relaxed)
    memory.populate(count, at: offset)
  }

  func expectMuchReading() { hints.add(1, ordering: .relaxed) }

  func close() { memory.close() }
}
