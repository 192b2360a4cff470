import Synchronization

/// The objects that the three parts of a writer share: the gate of transactions, the writer of pages and the leader of commits. All of them are atomic, or
/// have locks of their own.
final class WriterContext: Sendable {
  let store: NodeStore
  let storage: any Storage
  let held: HeldVersions
  let control: ControlBlock
  let group = CommitGroup()
  let meta: MetaPageWriter
  let counters = WriteCounters()
  let namedLimit: NamedLimit
  /// How much too large the file was when the map of its pages was last looked at: told by the writer of pages to who is inside the gate.
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

  /// A meta page or a sync has failed: of what is pending nothing is known, and nobody writes any more.
  var isPoisoned: Bool { poison.load(ordering: .acquiring) }

  func checkPoison() throws(StorageError) {
    if isPoisoned { throw .poisoned(path: storage.path) }
  }

  /// Lets nobody write any more, and nobody vouch for what was written.
  func shut() { poison.store(true, ordering: .releasing) }

  func fail(_ error: StorageError) -> StorageError {
    shut()
    return error
  }

  func checkFork() throws(StorageError) {
    if storage.isForked { throw .forked(path: storage.path) }
  }

  // MARK: - The length of the file

  /// Makes the file longer.
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

/// How much may be kept for named versions.
struct NamedLimit: ~Copyable, Sendable {
  private let bytes: Int?
  /// More was kept when a version was written last: the next transaction gives up this version, the oldest then. 0 for none.
  let excess = Atomic<UInt64>(0)

  /// - Parameter bytes: nil for as much as the newest version takes, and 64 MiB at least.
  init(_ bytes: Int?) { self.bytes = bytes }

  func bytes(beside live: Int) -> Int { bytes ?? max(Self.least, live) }
  private static let least = 64 << 20
}
