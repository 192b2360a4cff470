import Synchronization

/// The objects that the three parts of a writer share: the gate of transactions, the writer of pages and the leader of
/// commits. All of them are atomic, or have locks of their own.
final class WriterContext: Sendable {
  let store: NodeStore
  let storage: any Storage
  let held: HeldVersions
  let control: ControlBlock
  let group = CommitGroup()
  let meta: MetaPageWriter
  let counters = WriteCounters()
  let namedLimit: NamedLimit
  /// How much too large the file was when its page map was last looked at. The page writer stores this for the thread
  /// inside the gate.
  let pressure = Atomic(Mover.Pressure.none)
  private let poison = Atomic<Bool>(false)

  init(
    _ store: NodeStore, _ held: HeldVersions, _ control: ControlBlock, _ meta: MetaPageWriter,
    namedVersionLimit: Int?
  ) {
    self.store = store
    self.held = held
    self.control = control
    self.meta = meta
    storage = store.storage
    namedLimit = NamedLimit(namedVersionLimit)
  }

  // MARK: - Poison

  /// Whether a meta page or a sync has failed. The outcome of all pending versions is then unknown, and this handle
  /// writes no more.
  var isPoisoned: Bool { poison.load(ordering: .acquiring) }

  func checkPoison() throws(StorageError) {
    if isPoisoned { throw .poisoned(path: storage.path) }
  }

  /// Stops all further writing, and keeps the handle from vouching for what was written.
  func shut() { poison.store(true, ordering: .releasing) }

  func fail(_ error: StorageError) -> StorageError {
    shut()
    return error
  }

  func checkFork() throws(StorageError) {
    if storage.isForked { throw .forked(path: storage.path) }
  }

  // MARK: - The length of the file

  /// Makes the file longer by a number of pages of zeros.
  func write(zeros pages: Int, to map: inout PageMap) throws(StorageError) {
    try store.reserve(UInt64((map.pageCount + pages) * FilePlace.page))
    let zeros = [UInt8](repeating: 0, count: min(pages, Self.zeroPages) * FilePlace.page)
    var rest = pages
    while rest > 0 {
      let count = min(rest, Self.zeroPages)
      try storage.write(
        zeros.span.bytes.extracting(first: count * FilePlace.page),
        at: UInt64(map.pageCount * FilePlace.page))
      counters.growthBytes.wrappingAdd(count * FilePlace.page, ordering: .relaxed)
      map.extend(by: count)
      rest -= count
    }
  }
  private static let zeroPages = 64
}

/// The limit for the bytes that are kept for named versions.
struct NamedLimit: ~Copyable, Sendable {
  private let bytes: Int?
  /// The number of the oldest named version if more than the limit was kept when a version was last written; else 0.
  /// The next transaction gives this version up.
  let excess = Atomic<UInt64>(0)

  /// - Parameter bytes: the limit; nil for the size of the newest version, but at least 64 MiB.
  init(_ bytes: Int?) { self.bytes = bytes }

  func bytes(beside live: Int) -> Int { bytes ?? max(Self.least, live) }
  private static let least = 64 << 20
}
